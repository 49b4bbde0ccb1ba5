/// The members of an answer of verifyReceipt (docs/spec/receipts-triage.md §2.4): its facts,
/// and beside them what is read by name, or known and never shown.
enum ResponseMembers {
  /// The answer itself.
  static let answer = ResponseTable(
    ResponseFacts.answer + [
      ResponseMember("environment", nil, .text),
      ResponseMember("latest_receipt", nil, .text),
      ResponseMember("status"),
      ResponseMember("receipt"),
      ResponseMember("latest_receipt_info"),
      ResponseMember("latest_expired_receipt_info"),
      ResponseMember("pending_renewal_info"),
      ResponseMember("is-retryable"),
      ResponseMember("exception"),
      // The shared secret: never in an answer, and never in a document.
      ResponseMember("password"),
      ResponseMember("auto_renew_status"),
      ResponseMember("auto_renew_product_id"),
      ResponseMember("expiration_intent"),
      ResponseMember("is_in_billing_retry_period"),
    ])

  /// `receipt` in the iOS 7 style: about the app.
  static let app = ResponseTable(
    ResponseFacts.app + [
      ResponseMember("bundle_id", nil, .text),
      ResponseMember("in_app"),
    ])

  /// One purchase: `receipt` in the iOS 6 style, and every entry of `in_app`,
  /// `latest_receipt_info` and `latest_expired_receipt_info`.
  static let transaction = ResponseTable(ResponseFacts.transaction)

  /// An entry of `pending_renewal_info`; of the answer itself in the iOS 6 style.
  static let renewal = ResponseTable(
    ResponseFacts.renewal + [
      ResponseMember("product_id", nil, .productId),
      ResponseMember("original_transaction_id", nil, .id),
    ])
}
