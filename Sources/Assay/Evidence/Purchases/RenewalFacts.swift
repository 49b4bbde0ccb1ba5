/// What a decision needs of the renewal of one line (original transaction id).
struct RenewalFacts: Sendable {
  var environment: Environment
  var originalTransactionId: Text
  var productId: Text? = nil
  var autoRenewProductId: Text? = nil
  /// autoRenewStatus: 0 off, 1 on; other values are not known (DCD-11).
  var autoRenewStatus: Int64? = nil
  var isInBillingRetry: Bool? = nil
  /// gracePeriodExpiresDate.
  var graceEnd: Int64? = nil
  /// 1 cancelled, 2 billing, 3 price, 4 product, 5 other.
  var expirationIntent: Int64? = nil
  /// 0 not answered, 1 consented.
  var priceIncreaseStatus: Int64? = nil
  var account: Text? = nil
  var asOf: Int64
  var evidenceClass = EvidenceClass.signed
}
