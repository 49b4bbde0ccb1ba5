/// The members and enums of StoreKit's payloads (docs/spec/storekit-payloads.md §2, §3).
enum StoreKitMembers {
  // MARK: enums

  static let environments: [StaticString] = ["Production", "Sandbox", "Xcode", "LocalTesting"]
  static let types: [StaticString] = [
    "Auto-Renewable Subscription", "Non-Consumable", "Consumable", "Non-Renewing Subscription",
  ]
  static let ownershipTypes: [StaticString] = ["PURCHASED", "FAMILY_SHARED", "ASSIGNED"]
  static let transactionReasons: [StaticString] = ["PURCHASE", "RENEWAL"]
  static let revocationTypes: [StaticString] = ["REFUND_FULL", "REFUND_PRORATED", "FAMILY_REVOKE"]
  static let offerDiscountTypes: [StaticString] = [
    "FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT", "ONE_TIME",
  ]
  static let billingPlanTypes: [StaticString] = ["BILLED_UPFRONT", "MONTHLY"]
  static let consumptionRequestReasons: [StaticString] = [
    "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
  ]
  static let platforms: [StaticString] = ["iOS", "macOS", "tvOS", "visionOS"]
  static let externalTokenTypes: [StaticString] = ["SERVICES", "ACQUISITION"]
  /// MIGRATE is an older spelling of MIGRATION.
  static let notificationTypes: [StaticString] = [
    "SUBSCRIBED", "DID_RENEW", "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "EXPIRED",
    "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "OFFER_REDEEMED", "PRICE_INCREASE",
    "REFUND", "REFUND_DECLINED", "REFUND_REVERSED", "CONSUMPTION_REQUEST", "REVOKE",
    "RENEWAL_EXTENDED", "RENEWAL_EXTENSION", "ONE_TIME_CHARGE", "EXTERNAL_PURCHASE_TOKEN",
    "RESCIND_CONSENT", "METADATA_UPDATE", "MIGRATION", "MIGRATE", "PRICE_CHANGE", "TEST",
  ]
  static let subtypes: [StaticString] = [
    "INITIAL_BUY", "RESUBSCRIBE", "UPGRADE", "DOWNGRADE", "AUTO_RENEW_ENABLED",
    "AUTO_RENEW_DISABLED", "VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE",
    "PRODUCT_NOT_FOR_SALE", "GRACE_PERIOD", "BILLING_RECOVERY", "PENDING", "ACCEPTED", "SUMMARY",
    "FAILURE", "UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER",
  ]
  static let advancedCommercePeriods: [StaticString] = ["P1W", "P1M", "P2M", "P3M", "P6M", "P1Y"]
  static let advancedCommerceOfferPeriods: [StaticString] = [
    "P3D", "P1W", "P2W", "P1M", "P2M", "P3M", "P6M", "P9M", "P1Y",
  ]
  static let advancedCommerceOfferReasons: [StaticString] = [
    "ACQUISITION", "WIN_BACK", "RETENTION",
  ]
  static let advancedCommerceRefundReasons: [StaticString] = [
    "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
    "MODIFY_ITEMS_REFUND", "SIMULATE_REFUND_DECLINE",
  ]
  static let advancedCommerceRefundTypes: [StaticString] = ["FULL", "PRORATED", "CUSTOM"]
  static let priceIncreaseInfoStatuses: [StaticString] = ["SCHEDULED", "PENDING", "ACCEPTED"]

  // MARK: nested objects (§2.6)

  static let transactionCommitment = MemberTable([
    Member("billingPeriodNumber", .number(1...12)),
    Member("commitmentExpiresDate", .time),
    Member("commitmentPrice", .integer),
    Member("totalBillingPeriods", .integer),
  ])
  static let renewalCommitment = MemberTable([
    Member("commitmentAutoRenewProductId", .text),
    Member("commitmentAutoRenewStatus", .number(0...1)),
    Member("commitmentRenewalBillingPlanType", .name(billingPlanTypes)),
    Member("commitmentRenewalDate", .time),
    Member("commitmentRenewalPrice", .integer),
  ])
  static let advancedCommerceDescriptors = MemberTable([
    Member("description", .text),
    Member("displayName", .text),
  ])
  static let advancedCommerceOffer = MemberTable([
    Member("periodCount", .number(1...12)),
    Member("price", .integer),
    Member("period", .name(advancedCommerceOfferPeriods)),
    Member("reason", .name(advancedCommerceOfferReasons)),
  ])
  static let advancedCommerceRefund = MemberTable([
    Member("refundAmount", .integer),
    Member("refundDate", .time),
    Member("refundReason", .name(advancedCommerceRefundReasons)),
    Member("refundType", .name(advancedCommerceRefundTypes)),
  ])
  static let advancedCommerceTransactionItem = MemberTable([
    Member("SKU", .text),
    Member("description", .text),
    Member("displayName", .text),
    Member("offer", .object(advancedCommerceOffer)),
    Member("price", .integer),
    Member("refunds", .objects(advancedCommerceRefund)),
    Member("revocationDate", .time),
  ])
  static let advancedCommerceTransaction = MemberTable([
    Member("descriptors", .object(advancedCommerceDescriptors)),
    Member("estimatedTax", .integer),
    Member("items", .objects(advancedCommerceTransactionItem)),
    Member("period", .name(advancedCommercePeriods)),
    Member("requestReferenceId", .text),
    Member("taxCode", .text),
    Member("taxExclusivePrice", .integer),
    Member("taxRate", .text),
  ])
  static let advancedCommercePriceIncrease = MemberTable([
    Member("dependentSKUs", .texts),
    Member("price", .integer),
    Member("status", .name(priceIncreaseInfoStatuses)),
  ])
  static let advancedCommerceRenewalItem = MemberTable([
    Member("SKU", .text),
    Member("description", .text),
    Member("displayName", .text),
    Member("offer", .object(advancedCommerceOffer)),
    Member("price", .integer),
    Member("priceIncreaseInfo", .object(advancedCommercePriceIncrease)),
  ])
  static let advancedCommerceRenewal = MemberTable([
    Member("consistencyToken", .text),
    Member("descriptors", .object(advancedCommerceDescriptors)),
    Member("items", .objects(advancedCommerceRenewalItem)),
    Member("period", .name(advancedCommercePeriods)),
    Member("requestReferenceId", .text),
    Member("taxCode", .text),
  ])

  // MARK: payloads (§2.1 … §2.5)

  static let transaction = MemberTable([
    Member("signedDate", .time, decisive: true),
    Member("transactionId", .text, decisive: true),
    Member("originalTransactionId", .text, decisive: true),
    Member("webOrderLineItemId", .text, decisive: true),
    Member("productId", .text, decisive: true),
    Member("subscriptionGroupIdentifier", .text, decisive: true),
    Member("type", .name(types), decisive: true),
    Member("quantity", .quantity, decisive: true),
    Member("inAppOwnershipType", .name(ownershipTypes), decisive: true),
    Member("purchaseDate", .time, decisive: true),
    Member("originalPurchaseDate", .time, decisive: true),
    Member("expiresDate", .time, decisive: true),
    Member("revocationDate", .time, decisive: true),
    Member("revocationReason", .number(0...1), decisive: true),
    Member("revocationType", .name(revocationTypes), decisive: true),
    Member("revocationPercentage", .integer, decisive: true),
    Member("isUpgraded", .boolean, decisive: true),
    Member("offerType", .number(1...4), decisive: true),
    Member("appAccountToken", .text, decisive: true),
    Member("appTransactionId", .text, decisive: true),
    Member("previousOriginalTransactionId", .text, decisive: true),
    Member("environment", .name(environments), decisive: true),
    Member("bundleId", .text, decisive: true),
    Member("offerIdentifier", .text),
    Member("offerPeriod", .text),
    Member("offerDiscountType", .name(offerDiscountTypes)),
    Member("storefront", .text),
    Member("storefrontId", .text),
    Member("transactionReason", .name(transactionReasons)),
    Member("currency", .text),
    Member("price", .integer),
    Member("advancedCommerceInfo", .object(advancedCommerceTransaction)),
    Member("billingPlanType", .name(billingPlanTypes)),
    Member("commitmentInfo", .object(transactionCommitment)),
    Member("deviceVerification", .text),
    Member("deviceVerificationNonce", .text),
  ])

  static let renewal = MemberTable([
    Member("signedDate", .time, decisive: true),
    Member("originalTransactionId", .text, decisive: true),
    Member("productId", .text, decisive: true),
    Member("autoRenewProductId", .text, decisive: true),
    Member("autoRenewStatus", .number(0...1), decisive: true),
    Member("isInBillingRetryPeriod", .boolean, decisive: true),
    Member("gracePeriodExpiresDate", .time, decisive: true),
    Member("renewalDate", .time, decisive: true),
    Member("expirationIntent", .number(1...5), decisive: true),
    Member("offerType", .number(1...4), decisive: true),
    Member("appAccountToken", .text, decisive: true),
    Member("appTransactionId", .text, decisive: true),
    Member("environment", .name(environments), decisive: true),
    Member("priceIncreaseStatus", .number(0...1)),
    Member("offerIdentifier", .text),
    Member("offerPeriod", .text),
    Member("offerDiscountType", .name(offerDiscountTypes)),
    Member("recentSubscriptionStartDate", .time),
    Member("currency", .text),
    Member("renewalPrice", .integer),
    Member("eligibleWinBackOfferIds", .texts),
    Member("advancedCommerceInfo", .object(advancedCommerceRenewal)),
    Member("commitmentInfo", .object(renewalCommitment)),
    Member("renewalBillingPlanType", .name(billingPlanTypes)),
    Member("deviceVerification", .text),
    Member("deviceVerificationNonce", .text),
  ])

  static let appTransaction = MemberTable([
    Member("receiptCreationDate", .time, decisive: true),
    Member("receiptType", .name(environments), decisive: true),
    Member("appAppleId", .integer, decisive: true),
    Member("bundleId", .text, decisive: true),
    Member("originalPurchaseDate", .time, decisive: true),
    Member("appTransactionId", .text, decisive: true),
    Member("applicationVersion", .text),
    Member("versionExternalIdentifier", .integer),
    Member("originalApplicationVersion", .text),
    Member("deviceVerification", .text),
    Member("deviceVerificationNonce", .text),
    Member("preorderDate", .time),
    Member("originalPlatform", .name(platforms)),
    Member("requestDate", .time),
  ])

  static let realtimeRequest = MemberTable([
    Member("signedDate", .time, decisive: true),
    Member("originalTransactionId", .text, decisive: true),
    Member("appAppleId", .integer, decisive: true),
    Member("productId", .text, decisive: true),
    Member("requestIdentifier", .text, decisive: true),
    Member("environment", .name(environments), decisive: true),
    Member("userLocale", .text),
  ])

  static let notificationData = MemberTable([
    Member("environment", .name(environments), decisive: true),
    Member("appAppleId", .integer, decisive: true),
    Member("bundleId", .text, decisive: true),
    Member("signedTransactionInfo", .text, decisive: true),
    Member("signedRenewalInfo", .text, decisive: true),
    Member("status", .number(1...5), decisive: true),
    Member("bundleVersion", .text),
    Member("consumptionRequestReason", .name(consumptionRequestReasons)),
  ])
  static let notificationSummary = MemberTable([
    Member("environment", .name(environments), decisive: true),
    Member("appAppleId", .integer, decisive: true),
    Member("bundleId", .text, decisive: true),
    Member("productId", .text, decisive: true),
    Member("requestIdentifier", .text, decisive: true),
    Member("storefrontCountryCodes", .texts),
    Member("succeededCount", .integer),
    Member("failedCount", .integer),
  ])
  static let notificationExternalPurchaseToken = MemberTable([
    Member("externalPurchaseId", .text, decisive: true),
    Member("appAppleId", .integer, decisive: true),
    Member("bundleId", .text, decisive: true),
    Member("tokenCreationDate", .time),
    Member("tokenExpirationDate", .time),
    Member("tokenType", .name(externalTokenTypes)),
  ])
  static let notificationAppData = MemberTable([
    Member("environment", .name(environments), decisive: true),
    Member("appAppleId", .integer, decisive: true),
    Member("bundleId", .text, decisive: true),
    Member("signedAppTransactionInfo", .text, decisive: true),
  ])

  static let notification = MemberTable([
    Member("signedDate", .time, decisive: true),
    Member("notificationType", .name(notificationTypes), decisive: true),
    Member("subtype", .name(subtypes), decisive: true),
    Member("notificationUUID", .text, decisive: true),
    Member("version", .text, decisive: true),
    Member("data", .object(notificationData), decisive: true),
    Member("summary", .object(notificationSummary), decisive: true),
    Member("externalPurchaseToken", .object(notificationExternalPurchaseToken), decisive: true),
    Member("appData", .object(notificationAppData), decisive: true),
  ])

  static func table(_ kind: StoreKitKind) -> MemberTable {
    switch kind {
    case .transaction: return transaction
    case .renewal: return renewal
    case .notification: return notification
    case .appTransaction: return appTransaction
    case .realtimeRequest: return realtimeRequest
    }
  }
}
