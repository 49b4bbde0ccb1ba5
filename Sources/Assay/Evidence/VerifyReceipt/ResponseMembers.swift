/// The members of an answer of verifyReceipt (docs/spec/receipts-triage.md §2.4).
enum ResponseMembers {
  static let receiptTypes: [StaticString] = [
    "Production", "ProductionVPP", "ProductionSandbox", "ProductionVPPSandbox",
  ]
  static let ownershipTypes: [StaticString] = ["PURCHASED", "FAMILY_SHARED"]

  /// The answer itself.
  static let answer = ResponseTable([
    ResponseMember("cancellation_reason", "cancellationReason", .code(0...1), flat: true),
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
  static let app = ResponseTable([
    ResponseMember("receipt_type", "receiptType", .name(receiptTypes)),
    ResponseMember("adam_id", "adamId", .number),
    ResponseMember("app_item_id", "appItemId", .number),
    ResponseMember("bundle_id", nil, .text),
    ResponseMember("application_version", "applicationVersion", .text),
    ResponseMember("download_id", "downloadId", .id),
    ResponseMember("version_external_identifier", "versionExternalIdentifier", .number),
    ResponseMember("receipt_creation_date", "receiptCreationDate", .date),
    ResponseMember("receipt_creation_date_ms"),
    ResponseMember("receipt_creation_date_pst"),
    ResponseMember("request_date", "requestDate", .date),
    ResponseMember("request_date_ms"),
    ResponseMember("request_date_pst"),
    ResponseMember("original_purchase_date", "originalPurchaseDate", .date),
    ResponseMember("original_purchase_date_ms"),
    ResponseMember("original_purchase_date_pst"),
    ResponseMember("original_application_version", "originalApplicationVersion", .text),
    ResponseMember("expiration_date", "expirationDate", .farDate),
    ResponseMember("expiration_date_ms"),
    ResponseMember("expiration_date_pst"),
    ResponseMember("preorder_date", "preorderDate", .date),
    ResponseMember("preorder_date_ms"),
    ResponseMember("preorder_date_pst"),
    ResponseMember("in_app"),
  ])

  /// One purchase: `receipt` in the iOS 6 style, and every entry of `in_app`,
  /// `latest_receipt_info` and `latest_expired_receipt_info`.
  static let transaction = ResponseTable([
    ResponseMember("quantity", "quantity", .quantity),
    ResponseMember("product_id", "productId", .productId),
    ResponseMember("transaction_id", "transactionId", .id),
    ResponseMember("original_transaction_id", "originalTransactionId", .id),
    ResponseMember("web_order_line_item_id", "webOrderLineItemId", .id),
    ResponseMember("purchase_date", "purchaseDate", .date),
    ResponseMember("purchase_date_ms"),
    ResponseMember("purchase_date_pst"),
    ResponseMember("original_purchase_date", "originalPurchaseDate", .date),
    ResponseMember("original_purchase_date_ms"),
    ResponseMember("original_purchase_date_pst"),
    ResponseMember("expires_date", "expiresDate", .expiry),
    ResponseMember("expires_date_ms"),
    ResponseMember("expires_date_pst"),
    ResponseMember("expires_date_formatted"),
    ResponseMember("expires_date_formatted_pst"),
    ResponseMember("cancellation_date", "cancellationDate", .date),
    ResponseMember("cancellation_date_ms"),
    ResponseMember("cancellation_date_pst"),
    ResponseMember("cancellation_reason", "cancellationReason", .code(0...1)),
    ResponseMember("is_trial_period", "isTrialPeriod", .flag),
    ResponseMember("is_in_intro_offer_period", "isInIntroOfferPeriod", .flag),
    ResponseMember("promotional_offer_id", "promotionalOfferId", .text),
    ResponseMember("offer_code_ref_name", "offerCodeRefName", .text),
    ResponseMember("in_app_ownership_type", "inAppOwnershipType", .name(ownershipTypes)),
    ResponseMember("is_upgraded", "isUpgraded", .flag),
    ResponseMember("subscription_group_identifier", "subscriptionGroupIdentifier", .id),
    ResponseMember("app_account_token", "appAccountToken", .text),
    ResponseMember("bid", "bid", .text, flat: true),
    ResponseMember("bvrs", "bvrs", .text, flat: true),
    ResponseMember("item_id", "itemId", .id, flat: true),
    ResponseMember("app_item_id", "appItemId", .number, flat: true),
    ResponseMember(
      "version_external_identifier", "versionExternalIdentifier", .number, flat: true),
    ResponseMember("unique_identifier", "uniqueIdentifier", .deviceId, flat: true),
    ResponseMember("unique_vendor_identifier", "uniqueVendorIdentifier", .deviceId, flat: true),
  ])

  /// An entry of `pending_renewal_info`; of the answer itself in the iOS 6 style.
  static let renewal = ResponseTable([
    ResponseMember("product_id", nil, .productId),
    ResponseMember("original_transaction_id", nil, .id),
    ResponseMember("auto_renew_product_id", "autoRenewProductId", .productId),
    ResponseMember("auto_renew_status", "autoRenewStatus", .onOff),
    ResponseMember("is_in_billing_retry_period", "isInBillingRetryPeriod", .flag),
    ResponseMember("expiration_intent", "expirationIntent", .code(1...5)),
    ResponseMember("grace_period_expires_date", "gracePeriodExpiresDate", .date),
    ResponseMember("grace_period_expires_date_ms"),
    ResponseMember("grace_period_expires_date_pst"),
    ResponseMember("price_consent_status", "priceConsentStatus", .code(0...1)),
    ResponseMember("price_increase_status", "priceIncreaseStatus", .code(0...1)),
    ResponseMember("offer_code_ref_name", "offerCodeRefName", .text),
    ResponseMember("promotional_offer_id", "promotionalOfferId", .text),
  ])
}
