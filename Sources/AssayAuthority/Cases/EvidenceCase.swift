/// One call of the library and what it has to answer. The same cases run in
/// every language; in Swift as these values, elsewhere from the JSON file.
public struct EvidenceCase: Sendable {
  public var name: String
  /// The rule of the specification that decides, "JWS-20".
  public var rule: String
  public var call: Call
  public var expect: Expectation

  public enum Call: Sendable {
    /// `now` is milliseconds since 1970 UTC; `verifier` a name of the table.
    case verifyJWS(verifier: String, kind: EvidenceKind, jws: EvidenceText, now: Int64)
    /// Each piece is verified at `now` first, then decided about.
    case decide(verifier: String, evidence: [Evidence], account: String?, now: Int64)
    /// `nil` is a date that does not exist.
    case checkExpiry(expires: Int64?, grace: Int64?, revoked: Int64?, now: Int64)
    /// `config` is the raw text of a configuration.
    case verifierNew(config: EvidenceText)
  }

  public struct Evidence: Sendable {
    public var kind: EvidenceKind
    public var jws: [UInt8]
    /// Another verifier than the one that decides.
    public var verifier: String?

    public init(_ kind: EvidenceKind, _ jws: [UInt8], verifier: String? = nil) {
      self.kind = kind
      self.jws = jws
      self.verifier = verifier
    }
  }

  public struct Expectation: Sendable {
    /// "ok", or the name of the refusal.
    public var status: String
    /// `error.check`.
    public var check: String?
    /// `error.at`.
    public var at: String?
    public var facts: [(path: String, value: Fact)]

    public init(
      _ status: String, check: String? = nil, at: String? = nil,
      facts: [(path: String, value: Fact)] = []
    ) {
      self.status = status
      self.check = check
      self.at = at
      self.facts = facts
    }
  }

  /// What stands at a dotted path of the document; steps that are numbers are
  /// places in arrays.
  public enum Fact: Sendable, Equatable, ExpressibleByStringInterpolation,
    ExpressibleByIntegerLiteral
  {
    case text(String)
    case integer(Int64)
    /// Absent, or JSON null.
    case null

    public init(stringLiteral value: String) { self = .text(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
  }
}

/// The text of evidence, or the recipe of one that is too long to keep.
public enum EvidenceText: Sendable {
  case bytes([UInt8])
  case repeated(prefix: [UInt8], unit: [UInt8], count: Int, suffix: [UInt8])

  public var bytes: [UInt8] {
    switch self {
    case .bytes(let bytes): return bytes
    case .repeated(let prefix, let unit, let count, let suffix):
      var bytes = prefix
      bytes.reserveCapacity(prefix.count + unit.count * count + suffix.count)
      for _ in 0..<count { bytes += unit }
      return bytes + suffix
    }
  }
}
