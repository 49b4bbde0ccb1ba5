import AssayAuthority

/// One call of the library and its expected result. The same cases run in every language: in Swift
/// as these values, elsewhere from the JSON file.
public struct EvidenceCase: Sendable {
  public var name: String
  /// The rule of the specification that is tested, such as "JWS-20".
  public var rule: String
  public var call: Call
  public var expect: Expectation

  public enum Call: Sendable {
    /// Verifies a JWS. `now` is milliseconds since 1970 UTC; `verifier` a name of the table.
    case verifyJWS(verifier: String, kind: EvidenceKind, jws: EvidenceText, now: Int64)
    /// Verifies a receipt. `subject` is the device that an app receipt must belong to, or the
    /// public key that an App Attest receipt must be about.
    case verifyReceipt(
      verifier: String, kind: ReceiptEvidenceKind, receipt: EvidenceText, subject: [UInt8]?,
      now: Int64)
    case triage(verifier: String, blob: EvidenceText, now: Int64)
    case readVerifyReceiptResponse(verifier: String, body: EvidenceText, now: Int64)
    /// Verifies an attestation. `clientDataKind` is 1 for the data, 2 for their hash.
    case verifyAttestation(
      verifier: String, attestation: EvidenceText, keyId: [UInt8], clientDataKind: Int32,
      clientData: EvidenceText, now: Int64)
    /// Verifies an assertion. `counter` is the stored one.
    case verifyAssertion(
      verifier: String, assertion: EvidenceText, publicKey: [UInt8], counter: UInt32,
      clientDataKind: Int32, clientData: EvidenceText, now: Int64)
    /// Reads the key set, verifies the texts of `earlier` with it, each at its own time, and then
    /// the token.
    case verifyToken(
      verifier: String, jwks: EvidenceText, earlier: [EarlierToken], token: EvidenceText,
      now: Int64)
    case keysetNew(jwks: EvidenceText)
    /// Verifies each piece of evidence at `now`, then makes the request.
    case exchange(verifier: String, request: EvidenceText, evidence: [Evidence], now: Int64)
    /// Runs a transcript: a request, then pairs of an expected step and its reply. The document
    /// after the last reply is compared with the case's own expectation.
    case transcript(
      verifier: String, request: EvidenceText, evidence: [Evidence], now: Int64, steps: [Step])
    /// Verifies each piece of evidence at `now`, then decides.
    case decide(verifier: String, evidence: [Evidence], account: String?, now: Int64)
    /// Checks stored dates; `nil` if a date does not exist.
    case checkExpiry(expires: Int64?, grace: Int64?, revoked: Int64?, now: Int64)
    /// Makes a verifier; `config` is the raw text of a configuration.
    case verifierNew(config: EvidenceText)
  }

  public struct Evidence: Sendable {
    /// One piece of evidence; its case is the call that verifies it.
    public enum Proof: Sendable {
      case jws(EvidenceKind, [UInt8])
      case receipt(ReceiptEvidenceKind, [UInt8])
      /// A verifyReceipt response.
      case answer([UInt8])
      /// An attestation with the client data that were signed.
      case attestation([UInt8], keyId: [UInt8], clientData: [UInt8])
      case assertion([UInt8], publicKey: [UInt8], counter: UInt32, clientData: [UInt8])
      /// A key set, which needs no verifier.
      case keyset([UInt8])
    }

    public var proof: Proof
    /// A verifier other than the one that decides; `nil` if the same verifies.
    public var verifier: String?

    public init(_ proof: Proof, verifier: String? = nil) {
      self.proof = proof
      self.verifier = verifier
    }

    public init(_ kind: EvidenceKind, _ jws: [UInt8], verifier: String? = nil) {
      self.init(.jws(kind, jws), verifier: verifier)
    }
  }

  /// A token that the same key set has verified before.
  public struct EarlierToken: Sendable {
    public var token: EvidenceText
    public var now: Int64
  }

  /// One pair of a transcript.
  public struct Step: Sendable {
    /// The expectation of the document before the reply.
    public var expect: Expectation
    /// The host's reply, handed in at `now`.
    public var answer: EvidenceText
    public var now: Int64
  }

  public struct Expectation: Sendable {
    /// "ok", or the name of the refusal.
    public var status: String
    /// The expected `error.check`.
    public var check: String?
    /// The expected `error.at`.
    public var at: String?
    /// The beginning of the expected `error.hint`.
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

/// The receipts that `verify_receipt` accepts, by their names in documents.
public enum ReceiptEvidenceKind: String, Sendable, CaseIterable {
  case transactionReceipt = "transaction-receipt"
  case appReceipt = "app-receipt"
  case attestReceipt = "attest-receipt"
}

/// The text of evidence, or the recipe of a text too long to store.
public enum EvidenceText: Sendable {
  case bytes([UInt8])
  case repeated(prefix: [UInt8], unit: [UInt8], count: Int, suffix: [UInt8])

  /// Returns the same text `count` times.
  static func text(_ unit: String, times count: Int) -> EvidenceText {
    .repeated(prefix: [], unit: Array(unit.utf8), count: count, suffix: [])
  }

  public var bytes: [UInt8] {
    switch self {
    case .bytes(let bytes): return bytes
    case .repeated(let prefix, let unit, let count, let suffix):
      // Doubling is fast enough in an unoptimized build.
      let whole = unit.count * count
      var units = unit
      while units.count < whole { units += units.prefix(whole - units.count) }
      return prefix + units.prefix(whole) + suffix
    }
  }
}
