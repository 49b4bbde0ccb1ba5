/// The facts of one subscription's renewal info that a decision uses. Times are milliseconds
/// since 1970 UTC.
struct RenewalFacts: Sendable {
  var environment: Environment
  var originalTransactionId: Text
  var productId: Text? = nil
  var autoRenewProductId: Text? = nil
  /// autoRenewStatus: 0 off, 1 on; other values are unknown (DCD-11).
  var autoRenewStatus: Int64? = nil
  var isInBillingRetry: Bool? = nil
  /// The end of the grace period: gracePeriodExpiresDate.
  var graceEnd: Int64? = nil
  /// expirationIntent: 1 cancelled, 2 billing, 3 price, 4 product, 5 other.
  var expirationIntent: Int64? = nil
  /// priceIncreaseStatus: 0 not answered, 1 consented.
  var priceIncreaseStatus: Int64? = nil
  /// What follows the commitment; `nil` if the renewal info has none.
  var commitment: CommitmentRenewal? = nil
  var account: Text? = nil
  var asOfMs: Int64
  var evidenceClass = EvidenceClass.signed
}
