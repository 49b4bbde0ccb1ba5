import AssayAuthority

/// One call of the library and what it must return. The same cases run in
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
    /// `subject` is what an app receipt must belong to, or the public key that an
    /// App Attest receipt must be about.
    case verifyReceipt(
      verifier: String, kind: ReceiptEvidenceKind, receipt: EvidenceText, subject: [UInt8]?,
      now: Int64)
    case triage(verifier: String, blob: EvidenceText, now: Int64)
    case readVerifyReceipt(verifier: String, body: EvidenceText, now: Int64)
    /// `clientDataKind` is 1 for the data, 2 for their hash.
    case verifyAttestation(
      verifier: String, attestation: EvidenceText, keyId: [UInt8], clientDataKind: Int32,
      clientData: EvidenceText, now: Int64)
    /// `counter` is the stored one.
    case verifyAssertion(
      verifier: String, assertion: EvidenceText, publicKey: [UInt8], counter: UInt32,
      clientDataKind: Int32, clientData: EvidenceText, now: Int64)
    /// The key set is read first; then the texts of `earlier` are verified with it, each
    /// at its own time, and at last the token.
    case verifyToken(
      verifier: String, jwks: EvidenceText, earlier: [EarlierToken], token: EvidenceText,
      now: Int64)
    case keysetNew(jwks: EvidenceText)
    /// Each piece is verified at `now` first; then the request is made.
    case exchange(verifier: String, request: EvidenceText, evidence: [Evidence], now: Int64)
    /// A transcript: a request, then pairs of the step that is expected and its
    /// answer; what comes after the last answer is the case's own expectation.
    case conversation(
      verifier: String, request: EvidenceText, evidence: [Evidence], now: Int64, steps: [Step])
    /// Each piece is verified at `now` first, then decided about.
    case decide(verifier: String, evidence: [Evidence], account: String?, now: Int64)
    /// `nil` is a date that does not exist.
    case checkExpiry(expires: Int64?, grace: Int64?, revoked: Int64?, now: Int64)
    /// `config` is the raw text of a configuration.
    case verifierNew(config: EvidenceText)
  }

  public struct Evidence: Sendable {
    /// What is handed in, and by which call it is verified.
    public enum Proof: Sendable {
      case jws(EvidenceKind, [UInt8])
      case receipt(ReceiptEvidenceKind, [UInt8])
      /// An answer of verifyReceipt.
      case answer([UInt8])
      /// App Attest, with client data that were signed.
      case attestation([UInt8], keyId: [UInt8], clientData: [UInt8])
      case assertion([UInt8], publicKey: [UInt8], counter: UInt32, clientData: [UInt8])
      /// A key set, which needs no verifier.
      case keyset([UInt8])
    }

    public var proof: Proof
    /// A verifier other than the one that decides.
    public var verifier: String?

    public init(_ proof: Proof, verifier: String? = nil) {
      self.proof = proof
      self.verifier = verifier
    }

    public init(_ kind: EvidenceKind, _ jws: [UInt8], verifier: String? = nil) {
      self.init(.jws(kind, jws), verifier: verifier)
    }
  }

  /// A token that the same key set has seen before.
  public struct EarlierToken: Sendable {
    public var token: EvidenceText
    public var now: Int64
  }

  /// One pair of a transcript.
  public struct Step: Sendable {
    /// What the document before the answer says.
    public var expect: Expectation
    /// What the host hands in, at `now`.
    public var answer: EvidenceText
    public var now: Int64
  }

  public struct Expectation: Sendable {
    /// "ok", or the name of the refusal.
    public var status: String
    /// `error.check`.
    public var check: String?
    /// `error.at`.
    public var at: String?
    /// How `error.hint` begins.
    public var hint: String?
    public var facts: [(path: String, value: Fact)]

    public init(
      _ status: String, check: String? = nil, at: String? = nil, hint: String? = nil,
      facts: [(path: String, value: Fact)] = []
    ) {
      self.status = status
      self.check = check
      self.at = at
      self.hint = hint
      self.facts = facts
    }
  }

  public typealias Fact = ExpectedFact
}

/// The receipts that `verify_receipt` takes, by their names in documents.
public enum ReceiptEvidenceKind: String, Sendable, CaseIterable {
  case transactionReceipt = "transaction-receipt"
  case appReceipt = "app-receipt"
  case attestReceipt = "attest-receipt"
}

/// The text of evidence, or the recipe of one that is too long to keep.
public enum EvidenceText: Sendable {
  case bytes([UInt8])
  case repeated(prefix: [UInt8], unit: [UInt8], count: Int, suffix: [UInt8])

  /// So often the same text.
  static func text(_ unit: String, times count: Int) -> EvidenceText {
    .repeated(prefix: [], unit: Array(unit.utf8), count: count, suffix: [])
  }

  public var bytes: [UInt8] {
    switch self {
    case .bytes(let bytes): return bytes
    case .repeated(let prefix, let unit, let count, let suffix):
      // Doubled, since nothing here is optimised.
      let whole = unit.count * count
      var units = unit
      while units.count < whole { units += units.prefix(whole - units.count) }
      return prefix + units.prefix(whole) + suffix
    }
  }
}
