import Assay
import AssayAuthority

/// The kind of evidence to verify, by the name that documents use.
enum ProofKind {
  case jws(StoreKitKind)
  case receipt(ReceiptKind)
  /// A response from Apple's verifyReceipt endpoint.
  case answer
  case attestation
  case assertion

  static let nameList = [
    "transaction", "renewal-info", "notification", "app-transaction", "realtime-request",
    "transaction-receipt", "app-receipt", "verify-receipt-response", "attestation", "assertion",
    "attest-receipt",
  ]
  static let names = nameList.joined(separator: ", ")

  init(_ name: String) throws {
    switch name {
    case "transaction": self = .jws(.transaction)
    case "renewal-info": self = .jws(.renewalInfo)
    case "notification": self = .jws(.notification)
    case "app-transaction": self = .jws(.appTransaction)
    case "realtime-request": self = .jws(.realtimeRequest)
    case "transaction-receipt": self = .receipt(.transaction)
    case "app-receipt": self = .receipt(.app)
    case "attest-receipt": self = .receipt(.attest)
    case "verify-receipt-response": self = .answer
    case "attestation": self = .attestation
    case "assertion": self = .assertion
    default:
      throw Problem(
        "there is no kind \(Terminal.safe(name)); there are \(ProofKind.names)"
          + Suggestion.text(for: name, among: ProofKind.nameList))
    }
  }

  /// Returns the name of the kind that triage finds, by members and first bytes alone; `nil` if
  /// it finds none. A wrong kind proves nothing: verification compares it (JWS-75, RCP-5).
  static func name(in triage: Document) -> String? {
    let format = triage.text("triage.format") ?? ""
    let name = format == "jws" ? triage.text("triage.kind") ?? "" : format
    return nameList.contains(name) ? name : nil
  }

  /// Verifies the content of a file.
  ///
  /// - Parameters:
  ///   - subject: the device that an app receipt must belong to.
  ///   - attested: the further inputs for evidence about an attested key.
  func verify(
    _ evidence: [UInt8], by verifier: Verifier, subject: [UInt8]?, attested: AttestedInput? = nil,
    nowMs: Int64
  ) throws -> Document {
    if attested?.isEmpty == false, !isAboutKeys {
      throw Problem(
        "--key-id, --public-key, --counter and --client-data go with attestation, assertion "
          + "and attest-receipt alone")
    }
    switch self {
    case .attestation:
      try refuse(subject)
      guard let attested else { throw Problem(ProofKind.proofAlone) }
      return verifier.verifyAttestation(
        ProofKind.object(evidence), keyId: try attested.key(), clientData: try attested.signed(),
        nowMs: nowMs)
    case .assertion:
      try refuse(subject)
      guard let attested else { throw Problem(ProofKind.proofAlone) }
      guard let key = try attested.point() else {
        throw Problem("--public-key is missing: the key that the attestation reported")
      }
      return verifier.verifyAssertion(
        ProofKind.object(evidence), publicKey: key, counter: attested.counter ?? 0,
        clientData: try attested.signed(), nowMs: nowMs)
    case .receipt(.attest):
      try refuse(subject)
      return verifier.verifyReceipt(
        evidence, kind: .attest, subject: try attested?.point(), nowMs: nowMs)
    case .receipt(let kind):
      return verifier.verifyReceipt(evidence, kind: kind, subject: subject, nowMs: nowMs)
    case .jws(let kind):
      try refuse(subject)
      return verifier.verifyJWS(evidence, kind: kind, nowMs: nowMs)
    case .answer:
      try refuse(subject)
      return verifier.readVerifyReceiptResponse(evidence, nowMs: nowMs)
    }
  }

  /// The word for an accepted document: a response is trusted, not verified.
  var verdict: String {
    if case .answer = self { return "READ" }
    return "VERIFIED"
  }

  private static let proofAlone =
    "an attestation or an assertion decides nothing about purchases; see assay verify"

  private var isAboutKeys: Bool {
    switch self {
    case .attestation, .assertion, .receipt(.attest): return true
    default: return false
    }
  }

  /// Returns the CBOR object, decoded if it is base64, in which apps send it.
  static func object(_ evidence: [UInt8]) -> [UInt8] {
    if let first = evidence.first, first >= 0x80 { return evidence }
    return Base64Text.decodeLeniently(evidence) ?? evidence
  }

  private func refuse(_ subject: [UInt8]?) throws {
    if subject != nil { throw Problem("--subject goes with --kind app-receipt alone") }
  }
}
