/// Signed renewal info: what the App Store intends to do at the end of a subscription's period
/// (docs/spec/storekit-payloads.md §2.2). Renewal info has no bundle id, so that it proves
/// nothing about the app by itself.
extension SignedPayload {
  func renewalFacts() throws(Refusal) -> RenewalFacts {
    guard let originalTransactionId = text("originalTransactionId") else {
      throw Refusal(.rejectedPayloadIncomplete, "PAY-7", at: "originalTransactionId")
    }
    var facts = RenewalFacts(
      environment: identity.environment, originalTransactionId: originalTransactionId,
      asOfMs: effectiveDate.milliseconds)
    facts.productId = text("productId")
    facts.autoRenewProductId = text("autoRenewProductId")
    facts.autoRenewStatus = integer("autoRenewStatus")
    facts.isInBillingRetry = fields.boolean("isInBillingRetryPeriod")
    facts.graceEnd = time("gracePeriodExpiresDate")
    facts.expirationIntent = integer("expirationIntent")
    facts.priceIncreaseStatus = integer("priceIncreaseStatus")
    facts.commitment = commitmentRenewal
    facts.account = account
    return facts
  }
}
