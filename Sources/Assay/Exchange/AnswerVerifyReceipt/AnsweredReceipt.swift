/// A verified receipt that is answered in Apple's words.
enum AnsweredReceipt {
  case transaction(TransactionReceipt)
  case app(AppReceipt)

  var style: ResponseStyle {
    if case .app = self { return .ios7 }
    return .ios6
  }

  /// `nil` if nothing that is signed implies the environment (RCP-29).
  var environment: Environment? {
    switch self {
    case .transaction(let receipt): return receipt.environment.environment
    case .app(let receipt): return receipt.environment
    }
  }

  var bundleId: Text {
    switch self {
    case .transaction(let receipt): return receipt.info.text(.bid) ?? ""
    case .app(let receipt): return receipt.bundleId
    }
  }

  /// The decoded receipt.
  var bytes: [UInt8] {
    switch self {
    case .transaction(let receipt): return receipt.transport.bytes
    case .app(let receipt): return receipt.transport.bytes
    }
  }

  /// The moment whose state the receipt reports, in milliseconds since 1970 UTC.
  var asOfMs: Int64 {
    switch self {
    case .transaction(let receipt): return receipt.info.purchaseDateMs ?? 0
    case .app(let receipt): return receipt.creationDate
    }
  }

  /// The purchases, in the order of the receipt.
  var transactions: [AnsweredTransaction] {
    switch self {
    case .transaction(let receipt): return [AnsweredTransaction(receipt.info)]
    case .app(let receipt):
      return receipt.attributes.purchases.map {
        AnsweredTransaction($0, receipt.attributes, asOfMs: receipt.creationDate)
      }
    }
  }

  init?(_ evidence: VerifiedEvidence) {
    switch evidence {
    case .transactionReceipt(let receipt): self = .transaction(receipt)
    case .appReceipt(let receipt): self = .app(receipt)
    default: return nil
    }
  }

  /// Verifies a receipt as Apple's endpoint would, whatever its age and its product (VRE-16,
  /// VRE-19), and as the receipt of one endpoint (VRE-18).
  ///
  /// - Throws: `rejected.verify-receipt.environment` for a genuine receipt of the other endpoint,
  ///   `rejected.environment.not-accepted` for one of Xcode, and the refusals of the verification.
  init(
    _ transport: Transport, endpoint: Environment, _ trust: ReceiptTrust, nowMs: Int64
  ) throws(Refusal) {
    let verified: AnsweredReceipt
    do throws(Refusal) {
      if transport.form == .list {
        var verification = TransactionReceiptVerification(trust, nowMs: nowMs, isForAnswer: true)
        verified = .transaction(try verification.run(transport))
      } else {
        var verification = AppReceiptVerification(
          trust, subject: nil, nowMs: nowMs, isForAnswer: true)
        verified = .app(try verification.run(transport))
      }
    } catch {
      // The environment is checked after everything that a signature proves, so that these
      // receipts are genuine.
      let isOther =
        error.status == .rejectedEnvironmentNotAccepted
        || (error.status == .rejectedEnvironmentMissing && endpoint == .production)
      throw isOther ? AnsweredReceipt.otherEndpoint : error.inside("receipt-data")
    }
    let told = verified.environment
    try require(
      told != .xcode, .rejectedEnvironmentNotAccepted, "VRE-18", at: "receipt-data",
      hint: .ofXcode)
    try require(
      (told == .production) == (endpoint == .production), .rejectedVerifyReceiptEnvironment,
      "VRE-18", at: "receipt-data")
    self = verified
  }

  private static var otherEndpoint: Refusal {
    Refusal(.rejectedVerifyReceiptEnvironment, "VRE-18", at: "receipt-data")
  }
}
