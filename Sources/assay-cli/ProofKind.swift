import Assay

/// What evidence must turn out to be, by the name that documents use.
enum ProofKind {
  case jws(StoreKitKind)
  case receipt(ReceiptKind)
  /// An answer of Apple's verifyReceipt endpoint.
  case answer

  static let names =
    "transaction, renewal, notification, app-transaction, realtime-request, "
    + "transaction-receipt, app-receipt, verify-receipt"

  init(_ name: String) throws {
    switch name {
    case "transaction": self = .jws(.transaction)
    case "renewal": self = .jws(.renewal)
    case "notification": self = .jws(.notification)
    case "app-transaction": self = .jws(.appTransaction)
    case "realtime-request": self = .jws(.realtimeRequest)
    case "transaction-receipt": self = .receipt(.transaction)
    case "app-receipt": self = .receipt(.app)
    case "verify-receipt": self = .answer
    default: throw Problem("there is no kind \(name); there are \(ProofKind.names)")
    }
  }

  /// Verifies what a file holds.
  ///
  /// - Parameter subject: the device that an app receipt must belong to.
  func verify(
    _ evidence: [UInt8], by verifier: Verifier, subject: [UInt8]?, nowMs: Int64
  ) throws -> Document {
    switch self {
    case .receipt(let kind):
      return verifier.verifyReceipt(evidence, kind: kind, subject: subject, nowMs: nowMs)
    case .jws(let kind):
      try refuse(subject)
      return verifier.verifyJWS(evidence, kind: kind, nowMs: nowMs)
    case .answer:
      try refuse(subject)
      return verifier.readVerifyReceipt(evidence, nowMs: nowMs)
    }
  }

  /// What a good outcome is called: an answer is believed, not verified.
  var verdict: String {
    if case .answer = self { return "READ" }
    return "VERIFIED"
  }

  private func refuse(_ subject: [UInt8]?) throws {
    if subject != nil { throw Problem("--subject goes with --kind app-receipt alone") }
  }
}
