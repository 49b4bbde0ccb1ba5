import AssayAuthority

/// The facts of a purchase that most tests want to set.
struct PurchaseOptions: ParsableArguments {
  @Option(help: "Product id.")
  var product: String?

  @Option(
    help: "auto-renewable, non-renewing, non-consumable or consumable.",
    completion: .values(["auto-renewable", "non-renewing", "non-consumable", "consumable"]))
  var type = "auto-renewable"

  @Option(
    help: "Production or Sandbox; behind the flag --xcode, Xcode or LocalTesting.",
    completion: .values(["Production", "Sandbox", "Xcode", "LocalTesting"]))
  var environment: String?

  @Option(help: "Bundle id of the app.")
  var bundleId = "com.example.app"

  @Option(help: "appAppleId of the app.")
  var appId: Int64 = 1_234_567_890

  @Option(help: "Transaction id.")
  var transactionId: String?

  @Option(help: "Original transaction id: the line of a subscription.")
  var originalTransactionId: String?

  @Option(help: "appAccountToken, a UUID.")
  var account: String?

  @Option(help: "Quantity.")
  var quantity: Int64 = 1

  @Option(help: "When it was bought: milliseconds, or 2026-01-31T12:00:00Z.")
  var purchased: String?

  @Option(help: "End of the paid period.")
  var expires: String?

  @Option(help: "When Apple signed it; without it, a minute before now.")
  var signed: String?

  @Option(help: "The time that the mint takes as now.")
  var now: String?

  @Flag(help: "The paid period of the subscription ended yesterday.")
  var expired = false

  @Flag(help: "Refunded two minutes before now.")
  var refunded = false

  @Flag(help: "Held through Family Sharing.")
  var family = false

  @Flag(help: "In a free trial.")
  var trial = false

  @Flag(help: "Replaced by an upgrade.")
  var upgraded = false

  @Flag(help: "Renewal info: the customer switched renewal off.")
  var renewalOff = false

  @Flag(help: "Renewal info: Apple retries the payment.")
  var billingRetry = false

  @Option(help: "Renewal info: end of the billing grace period.")
  var graceUntil: String?

  /// Returns the purchase that these options describe, at `now`, milliseconds since 1970 UTC.
  func purchase(now: Int64, xcode: Bool) throws -> Purchase {
    try checkNames(xcode: xcode)
    var purchase = Purchase(now: now)
    let type = try productType()
    try checkKind(type)
    purchase = purchase.of(product ?? PurchaseOptions.product(type), type)
    purchase.environment = environment ?? (xcode ? "Xcode" : "Sandbox")
    purchase.bundleId = bundleId
    purchase.appAppleId = appId
    purchase.accountToken = account
    purchase.quantity = quantity
    let usual =
      purchase.environment == "Production" ? "180000900000001" : purchase.transactionId
    purchase.transactionId = transactionId ?? originalTransactionId ?? usual
    purchase.originalTransactionId = originalTransactionId ?? purchase.transactionId
    try setDates(&purchase, now)
    if refunded {
      purchase.revocationDate = now - 120_000
      purchase.revocationReason = 0
      purchase.revocationType = family ? "FAMILY_REVOKE" : "REFUND_FULL"
    }
    if family { purchase.ownership = "FAMILY_SHARED" }
    if trial {
      purchase.offerType = 1
      purchase.offerDiscountType = "FREE_TRIAL"
    }
    if upgraded { purchase.isUpgraded = true }
    if renewalOff { purchase.autoRenewStatus = 0 }
    if billingRetry { purchase.isInBillingRetryPeriod = true }
    return purchase
  }

  private func checkNames(xcode: Bool) throws {
    if let product { try MintedValues.name(product, "--product") }
    try MintedValues.name(bundleId, "--bundle-id")
    try MintedValues.require(appId > 0, "--app-id", "\(appId)", "give a number above 0")
    if let transactionId { try MintedValues.id(transactionId, "--transaction-id") }
    if let originalTransactionId {
      try MintedValues.id(originalTransactionId, "--original-transaction-id")
    }
    if let account { try MintedValues.uuid(account, "--account") }
    try MintedValues.require(
      (1...1_000_000).contains(quantity), "--quantity", "\(quantity)", "give 1 to 1000000")
    let (signed, local) = (["Production", "Sandbox"], ["Xcode", "LocalTesting"])
    if let environment, !(xcode ? local : signed).contains(environment) {
      try MintedValues.require(
        !local.contains(environment), "--environment", environment,
        "it goes with the flag --xcode: give --xcode --environment \(environment)")
      try MintedValues.require(
        !signed.contains(environment), "--environment", environment,
        "Xcode signs for Xcode and LocalTesting alone: leave --xcode out")
      try MintedValues.require(
        false, "--environment", environment,
        "there are Production and Sandbox; behind the flag --xcode, Xcode and LocalTesting")
    }
  }

  /// Refuses options that only a subscription has, or that no consumable has.
  private func checkKind(_ type: Purchase.ProductType) throws {
    if type != .autoRenewable {
      for (option, isGiven) in [
        ("--expired", expired), ("--trial", trial), ("--upgraded", upgraded),
        ("--renewal-off", renewalOff), ("--billing-retry", billingRetry),
        ("--grace-until", graceUntil != nil),
      ] where isGiven {
        throw Problem("\(option) is for auto-renewable subscriptions, not for \(self.type)")
      }
    }
    if type == .consumable || type == .nonConsumable, expires != nil {
      throw Problem("--expires is for subscriptions, not for \(self.type)")
    }
    if type == .consumable, family { throw Problem("--family: consumables are not shared") }
    if expired, expires != nil || purchased != nil {
      throw Problem("--expired sets the dates: leave --purchased and --expires out")
    }
  }

  private func setDates(_ purchase: inout Purchase, _ now: Int64) throws {
    if let purchased {
      purchase.purchaseDate = try MintedValues.date(purchased, "--purchased")
      purchase.originalPurchaseDate = purchase.purchaseDate
      if purchase.expiresDate != nil {
        purchase.expiresDate = purchase.purchaseDate + 30 * Purchase.day
      }
    }
    if expired, purchase.type == .autoRenewable {
      purchase.purchaseDate = now - 31 * Purchase.day
      purchase.originalPurchaseDate = purchase.purchaseDate
      purchase.expiresDate = now - Purchase.day
    }
    if let expires {
      let end = try MintedValues.date(expires, "--expires")
      try MintedValues.require(
        end > purchase.purchaseDate, "--expires", expires,
        "the period began later, at \(purchase.purchaseDate): give --purchased too")
      purchase.expiresDate = end
    }
    if let signed {
      purchase.signedDate = try MintedValues.date(signed, "--signed")
    } else if purchase.purchaseDate <= now {
      purchase.signedDate = max(purchase.signedDate, purchase.purchaseDate)
    }
    try MintedValues.require(
      purchase.signedDate >= purchase.purchaseDate, signed == nil ? "--purchased" : "--signed",
      signed ?? purchased ?? "\(purchase.signedDate)",
      "nothing is signed before it was bought, at \(purchase.purchaseDate)")
    if let graceUntil {
      let end = try MintedValues.date(graceUntil, "--grace-until")
      let paid = purchase.expiresDate ?? purchase.purchaseDate
      try MintedValues.require(
        end > paid, "--grace-until", graceUntil,
        "grace begins where the paid period ends, at \(paid)")
      purchase.gracePeriodExpiresDate = end
    }
  }

  private func productType() throws -> Purchase.ProductType {
    switch type {
    case "auto-renewable": return .autoRenewable
    case "non-renewing": return .nonRenewing
    case "non-consumable": return .nonConsumable
    case "consumable": return .consumable
    default:
      throw Problem(
        "--type \(type): there are auto-renewable, non-renewing, non-consumable, consumable")
    }
  }

  private static func product(_ type: Purchase.ProductType) -> String {
    switch type {
    case .autoRenewable: return "com.example.app.premium.monthly"
    case .nonRenewing: return "com.example.app.season"
    case .nonConsumable: return "com.example.app.lifetime"
    case .consumable: return "com.example.app.coins100"
    }
  }
}
