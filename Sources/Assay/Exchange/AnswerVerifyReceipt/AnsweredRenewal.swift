/// The renewal info of one subscription as verifyReceipt writes it (VRE-35).
struct AnsweredRenewal {
  let facts: RenewalFacts
  let priceConsentStatus: Int64?
  let promotionalOfferId: Text?
  let offerCodeName: Text?

  /// Takes signed renewal info; `nil` if it names no subscription.
  init?(_ payload: SignedPayload) {
    guard let facts = try? payload.renewalFacts() else { return nil }
    self.facts = facts
    // 1 does not distinguish a consent from a notice.
    priceConsentStatus = facts.priceIncreaseStatus == 0 ? 0 : nil
    let offer = payload.text("offerIdentifier")
    promotionalOfferId = payload.integer("offerType") == 2 ? offer : nil
    offerCodeName = payload.integer("offerType") == 3 ? offer : nil
  }

  /// Takes the renewal info of an answer of Apple's that the host has kept.
  init(_ renewal: ResponseRenewal, _ facts: RenewalFacts) {
    self.facts = facts
    priceConsentStatus = renewal.fields.number("price_consent_status")
    promotionalOfferId = renewal.fields.text("promotional_offer_id")
    offerCodeName = renewal.fields.text("offer_code_ref_name")
  }

  /// Writes an entry of `pending_renewal_info`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.present("expiration_intent", decimal: facts.expirationIntent)
    writer.present("auto_renew_product_id", facts.autoRenewProductId)
    writer.member("original_transaction_id", facts.originalTransactionId)
    writer.present(
      "is_in_billing_retry_period", decimal: facts.isInBillingRetry.map { $0 ? 1 : 0 })
    writer.present("product_id", facts.productId)
    writer.present("auto_renew_status", decimal: facts.autoRenewStatus)
    writer.date(.grace, facts.graceEnd)
    writer.present("price_increase_status", decimal: facts.priceIncreaseStatus)
    writer.present("price_consent_status", decimal: priceConsentStatus)
    writer.present("promotional_offer_id", promotionalOfferId)
    writer.present("offer_code_ref_name", offerCodeName)
    writer.endObject()
  }

  /// Writes the members at the top of an answer in the iOS 6 style, where the status is a number
  /// (VRE-36).
  func writeMembers(_ writer: inout JSONWriter) {
    if let status = facts.autoRenewStatus { writer.member("auto_renew_status", integer: status) }
    writer.present("auto_renew_product_id", facts.autoRenewProductId)
    writer.present("expiration_intent", decimal: facts.expirationIntent)
    writer.present(
      "is_in_billing_retry_period", decimal: facts.isInBillingRetry.map { $0 ? 1 : 0 })
  }
}
