/// A transaction that differs from a genuine one in one respect. Refused variations are the
/// forgeries of `assay mint --forge`; accepted ones mark the limit of a rule.
public struct Variation: Sendable {
  public let rule: String
  public let name: String
  /// The expected status: "ok", or the name of the refusal.
  public let status: String
  public let check: String?
  public let at: String?
  let change: @Sendable (inout JWSTemplate, Base) throws -> Void

  /// The genuine evidence that a variation changes.
  public struct Base: Sendable {
    public let authority: Authority
    public let payload: JSONText
    /// The time of the test in milliseconds since 1970 UTC.
    public let now: Int64

    public init(authority: Authority, payload: JSONText, now: Int64) {
      self.authority = authority
      self.payload = payload
      self.now = now
    }
  }

  init(
    _ rule: String, _ name: String, _ status: String, check: String? = nil,
    at: String? = nil, _ change: @escaping @Sendable (inout JWSTemplate, Base) throws -> Void
  ) {
    self.rule = rule
    self.name = name
    self.status = status
    self.check = check
    self.at = at
    self.change = change
  }

  init(
    _ rule: String, _ name: String, _ status: String, check: String? = nil, at: String? = nil,
    _ change: @escaping @Sendable (inout JWSTemplate) throws -> Void
  ) { self.init(rule, name, status, check: check, at: at) { jws, _ in try change(&jws) } }

  /// Returns the signed JWS.
  public func mint(_ base: Base) throws -> [UInt8] {
    var template = JWSTemplate(payload: base.payload.bytes, chain: base.authority.chain)
    try change(&template, base)
    return try template.signed()
  }

  /// The variations, in the order of the specification.
  public static let all: [Variation] =
    form + json + header + x5c + certificates + shape + signatures + payload

  /// Returns the first refused variation of a rule.
  public static func forgery(_ rule: String) -> Variation? {
    all.first { $0.rule == rule && $0.status != "ok" }
  }
}

extension JWSTemplate {
  /// Replaces the chain in the header, and the key.
  mutating func use(_ chain: CertificateChain) {
    header = JWSTemplate.storeHeader(chain.certificates)
    key = chain.key
  }

  /// Replaces one entry of `x5c`.
  package mutating func replaceEntry(_ place: Int, _ entry: JSONText) {
    guard case .array(var entries)? = header["x5c"], entries.indices.contains(place) else {
      return
    }
    entries[place] = entry
    header = header.setting("x5c", .array(entries))
  }
}

extension Variation {
  /// Whether the variation changes the content of a transaction, and so applies to no other kind.
  public var isOfTransactions: Bool {
    Variation.payload.contains { $0.rule == rule && $0.name == name }
  }
}
