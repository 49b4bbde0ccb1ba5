/// The members of a verifyReceipt response (docs/spec/receipts-triage.md §2.4): its facts, and
/// members that are read by name or known but never reported.
enum ResponseMembers {
  /// The members at the top of the response.
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
      // The shared secret: never part of a response, and never to be reported.
      ResponseMember("password"),
      ResponseMember("auto_renew_status"),
      ResponseMember("auto_renew_product_id"),
      ResponseMember("expiration_intent"),
      ResponseMember("is_in_billing_retry_period"),
    ])

  /// The members of `receipt` in the iOS 7 style, which describes the app.
  static let app = ResponseTable(
    ResponseFacts.app + [
      ResponseMember("bundle_id", nil, .text),
      ResponseMember("in_app"),
    ])

  /// The members of one purchase: `receipt` in the iOS 6 style, and every entry of `in_app`,
  /// `latest_receipt_info` and `latest_expired_receipt_info`.
  static let transaction = ResponseTable(ResponseFacts.transaction)

  /// The members of an entry of `pending_renewal_info`; in the iOS 6 style, of the response
  /// itself.
  static let renewal = ResponseTable(
    ResponseFacts.renewal + [
      ResponseMember("product_id", nil, .productId),
      ResponseMember("original_transaction_id", nil, .id),
    ])
}
