extension Purchase {
  /// The payload of a transaction as StoreKit testing in Xcode writes it: small ids, dates with
  /// fractions of a millisecond, escaped slashes, members of a device.
  public var xcodeTransactionPayload: JSONText {
    with {
      $0.transactionId = "0"
      $0.originalTransactionId = "0"
      $0.webOrderLineItemId = "0"
      $0.appTransactionId = nil
    }.transactionPayload.setting([
      ("environment", .string(xcodeEnvironment)),
      ("purchaseDate", Purchase.fraction(purchaseDate, "485")),
      ("originalPurchaseDate", Purchase.fraction(originalPurchaseDate, "485")),
      ("expiresDate", expiresDate.map { Purchase.fraction($0, "485") } ?? .null),
      ("signedDate", Purchase.fraction(signedDate, "056")),
      ("isUpgraded", false),
      ("deviceVerification", .text("\"AAEC\\/wQF\"")),
      ("deviceVerificationNonce", "5f0c6a1e-7a86-4d0c-b7f5-0c1d0f2a3b4c"),
    ])
  }

  public var xcodeRenewalPayload: JSONText {
    with { $0.originalTransactionId = "0" }.renewalPayload.setting([
      ("environment", .string(xcodeEnvironment)),
      ("signedDate", Purchase.fraction(signedDate, "056")),
      ("recentSubscriptionStartDate", Purchase.distantPast),
      ("renewalDate", expiresDate.map { Purchase.fraction($0, "485") } ?? .null),
    ])
  }

  public var xcodeAppTransactionPayload: JSONText {
    appTransactionPayload.removing("appAppleId").setting([
      ("receiptType", .string(xcodeEnvironment)),
      ("receiptCreationDate", Purchase.fraction(signedDate, "056")),
      ("originalPurchaseDate", Purchase.distantPast),
      ("requestDate", Purchase.fraction(signedDate, "9")),
    ])
  }

  /// The date that Xcode writes for an unknown one: the first day of the year 1.
  public static let distantPast: JSONText = .integer(-62_135_769_600_000)

  /// Returns a date with a fraction of a millisecond.
  public static func fraction(_ ms: Int64, _ digits: String) -> JSONText {
    .text("\(ms).\(digits)")
  }

  private var xcodeEnvironment: String {
    environment == "LocalTesting" ? "LocalTesting" : "Xcode"
  }
}
