/// A signed transaction: one purchase, restore or renewal (docs/spec/storekit-payloads.md §2.1).
extension SignedPayload {
  /// The idempotency key of the purchase, under which it is granted once (JWS-94).
  var purchaseKey: Text? {
    ReplayKeys.purchase(
      environment: identity.environment, type: productType,
      transactionId: text("transactionId"),
      originalTransactionId: text("originalTransactionId"),
      webOrderLineItemId: text("webOrderLineItemId"), purchaseDate: time("purchaseDate"))
  }

  /// The product type; `nil` if absent or unknown.
  var productType: ProductType? {
    guard let type = text("type") else { return nil }
    return ProductType(signed: type)
  }

  /// Returns the transaction's facts for a decision; refuses a transaction without the ids that a
  /// decision needs (PAY-7).
  func purchaseFacts() throws(Refusal) -> PurchaseFacts {
    guard let transactionId = text("transactionId"),
      let originalTransactionId = text("originalTransactionId"),
      let productId = text("productId")
    else {
      throw Refusal(.rejectedPayloadIncomplete, "PAY-7", at: missingId ?? "")
    }
    var facts = PurchaseFacts(
      environment: identity.environment, transactionId: transactionId,
      originalTransactionId: originalTransactionId, productId: productId,
      asOfMs: effectiveDate.milliseconds)
    facts.webOrderLineItemId = text("webOrderLineItemId")
    facts.group = text("subscriptionGroupIdentifier")
    facts.type = productType
    facts.typeIsUnknown = text("type") != nil && productType == nil
    facts.start = time("purchaseDate")
    facts.end = time("expiresDate")
    facts.revokedAtMs = time("revocationDate")
    facts.revocationReason = integer("revocationReason")
    facts.revocationType = text("revocationType")
    facts.revocationPercentage = integer("revocationPercentage")
    facts.isUpgraded = fields.boolean("isUpgraded") ?? false
    facts.ownership = text("inAppOwnershipType")
    facts.offerType = integer("offerType")
    facts.offerDiscountType = text("offerDiscountType")
    facts.quantity = integer("quantity") ?? 1
    facts.billingPlan = text("billingPlanType")
    (facts.commitment, facts.commitmentIsOdd) = commitment
    facts.account = account
    facts.downloadId = downloadId
    facts.bundleId = identity.bundleId
    facts.dateRevocation()
    return facts
  }

  /// The ids without which a transaction identifies nothing (PAY-7).
  static let transactionIds: [StaticString] = [
    "transactionId", "originalTransactionId", "productId",
  ]

  /// The name of the first absent id of the three without which a transaction identifies nothing
  /// (PAY-7); `nil` if all are present.
  var missingId: String? {
    for name in SignedPayload.transactionIds where text(name) == nil {
      return Text(stringLiteral: name).string
    }
    return nil
  }
}

extension ProductType {
  /// Creates the type from the `type` of a signed transaction (docs/spec/storekit-payloads.md
  /// §3); `nil` for an unknown one.
  init?(signed type: Text) {
    switch type {
    case "Auto-Renewable Subscription": self = .autoRenewable
    case "Non-Renewing Subscription": self = .nonRenewing
    case "Non-Consumable": self = .nonConsumable
    case "Consumable": self = .consumable
    default: return nil
    }
  }
}
