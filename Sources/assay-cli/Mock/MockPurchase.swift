import AssayAuthority

/// A purchase of the state, with the members of `assay mint`'s options.
struct MockPurchase: Sendable {
  var purchase: Purchase
  /// The order id of the customer's e-mail.
  var orderId: String
  /// The number of its last change; a later change has a higher one.
  var sequence: Int64 = 0
  /// The length of a period in milliseconds.
  var periodMs = 30 * Purchase.day
  var isFinished = false
  /// How many times the period was extended.
  var extensions: Int64 = 0
  /// Whether the host has sent consumption information.
  var hasConsumption = false

  static let types: [(word: String, type: Purchase.ProductType)] = [
    ("auto-renewable", .autoRenewable), ("non-renewing", .nonRenewing),
    ("non-consumable", .nonConsumable), ("consumable", .consumable),
  ]

  init(_ purchase: Purchase) {
    self.purchase = purchase
    orderId = "M" + purchase.transactionId.suffix(9)
  }

  /// Reads a purchase.
  ///
  /// - Parameter now: milliseconds since 1970 UTC, for members that the text omits.
  init(_ json: JSONTree, at place: String, app: MockAuthority.App, now: Int64) throws {
    guard case .object(let members) = json else { throw Problem("\(place) is not an object") }
    func value(_ name: String) -> MockValue? {
      json[name].map { MockValue($0, "\(place).\(name)") }
    }
    for member in members where !MockPurchase.names.contains(member.name) {
      throw Problem("\(place).\(Terminal.safe(member.name)): there is no such member")
    }
    var bought = Purchase(now: now)
    bought.bundleId = app.bundleId
    bought.appAppleId = app.appAppleId
    let word = try value("type")?.choice(MockPurchase.types.map(\.word)) ?? "auto-renewable"
    let type = MockPurchase.types.first { $0.word == word }?.type ?? .autoRenewable
    bought = bought.of(try value("product")?.text() ?? bought.productId, type)
    bought.environment = try value("environment")?.choice(["Production", "Sandbox"]) ?? "Sandbox"
    if let bundleId = try value("bundleId")?.text() { bought.bundleId = bundleId }
    if let appId = try value("appId")?.integer(in: 1...Int64.max) { bought.appAppleId = appId }
    self.init(bought)
    try takeIds(value)
    try takeDates(value, now)
    try takeState(value, now)
  }

  private mutating func takeIds(_ value: (String) -> MockValue?) throws {
    if let id = try value("transactionId")?.text() {
      try MintedValues.id(id, "transactionId")
      purchase.transactionId = id
      purchase.originalTransactionId = id
    }
    if let id = try value("originalTransactionId")?.text() {
      try MintedValues.id(id, "originalTransactionId")
      purchase.originalTransactionId = id
    }
    if let id = try value("appTransactionId")?.text() { purchase.appTransactionId = id }
    if let account = try value("account")?.text() {
      try MintedValues.uuid(account, "account")
      purchase.accountToken = account
    }
    orderId = try value("orderId")?.text() ?? "M" + purchase.transactionId.suffix(9)
    if let line = try value("webOrderLineItemId")?.text() { purchase.webOrderLineItemId = line }
    if let group = try value("group")?.text() { purchase.group = group }
    if let quantity = try value("quantity")?.integer(in: 1...1_000_000) {
      purchase.quantity = quantity
    }
  }

  private mutating func takeDates(_ value: (String) -> MockValue?, _ now: Int64) throws {
    if let date = try value("purchased")?.date() {
      purchase.purchaseDate = date
      purchase.originalPurchaseDate = date
      if purchase.expiresDate != nil { purchase.expiresDate = date + 30 * Purchase.day }
    }
    if let date = try value("originalPurchased")?.date() { purchase.originalPurchaseDate = date }
    if let date = try value("expires")?.date() { purchase.expiresDate = date }
    purchase.gracePeriodExpiresDate = try value("graceUntil")?.date()
    if let refunded = value("refunded") {
      let date = refunded.json.boolean == true ? now - 120_000 : try refunded.date()
      revoke(at: date)
    }
  }

  private mutating func takeState(_ value: (String) -> MockValue?, _ now: Int64) throws {
    if try value("family")?.boolean() == true { purchase.ownership = "FAMILY_SHARED" }
    if try value("trial")?.boolean() == true {
      purchase.offerType = 1
      purchase.offerDiscountType = "FREE_TRIAL"
    }
    if try value("upgraded")?.boolean() == true { purchase.isUpgraded = true }
    if try value("renewalOff")?.boolean() == true { purchase.autoRenewStatus = 0 }
    if try value("billingRetry")?.boolean() == true { purchase.isInBillingRetryPeriod = true }
    isFinished = try value("finished")?.boolean() ?? false
    purchase.expirationIntent = try value("expirationIntent")?.integer(in: 1...5)
    sequence = try value("sequence")?.integer(in: 0...1 << 53) ?? 0
    periodMs =
      try value("periodMs")?.integer(in: 60_000...400 * Purchase.day) ?? 30 * Purchase.day
    extensions = try value("extensions")?.integer(in: 0...2) ?? 0
    hasConsumption = try value("consumption")?.boolean() ?? false
  }

  private static let names: Set<String> = [
    "product", "type", "environment", "bundleId", "appId", "transactionId",
    "originalTransactionId", "appTransactionId", "account", "orderId", "webOrderLineItemId",
    "group", "quantity", "purchased", "originalPurchased", "expires", "graceUntil", "refunded",
    "family", "trial", "upgraded", "renewalOff", "billingRetry", "finished", "sequence",
    "expirationIntent", "extensions", "consumption", "periodMs",
  ]

  mutating func revoke(at date: Int64, reason: Int64 = 0) {
    purchase.revocationDate = date
    purchase.revocationReason = reason
    purchase.revocationType = purchase.ownership == "PURCHASED" ? "REFUND_FULL" : "FAMILY_REVOKE"
  }

  /// The purchase in the form that `init` reads.
  var json: JSONText {
    let word = MockPurchase.types.first { $0.type == purchase.type }?.word ?? ""
    var json: JSONText = [
      "product": .string(purchase.productId), "type": .string(word),
      "environment": .string(purchase.environment), "bundleId": .string(purchase.bundleId),
    ]
    func add(_ name: String, _ value: JSONText?) {
      if let value { json = json.appending(name, value) }
    }
    func flag(_ name: String, _ value: Bool) { add(name, value ? .boolean(true) : nil) }
    add("appId", purchase.appAppleId.map { .integer($0) })
    add("transactionId", .string(purchase.transactionId))
    add("originalTransactionId", .string(purchase.originalTransactionId))
    add("appTransactionId", purchase.appTransactionId.map { .string($0) })
    add("account", purchase.accountToken.map { .string($0) })
    add("orderId", .string(orderId))
    add("webOrderLineItemId", purchase.webOrderLineItemId.map { .string($0) })
    add("group", purchase.group.map { .string($0) })
    add("quantity", .integer(purchase.quantity))
    add("purchased", .integer(purchase.purchaseDate))
    add("originalPurchased", .integer(purchase.originalPurchaseDate))
    add("expires", purchase.expiresDate.map { .integer($0) })
    add("graceUntil", purchase.gracePeriodExpiresDate.map { .integer($0) })
    add("refunded", purchase.revocationDate.map { .integer($0) })
    add("expirationIntent", purchase.expirationIntent.map { .integer($0) })
    flag("family", purchase.ownership == "FAMILY_SHARED")
    flag("trial", purchase.offerType == 1 && purchase.offerDiscountType == "FREE_TRIAL")
    flag("upgraded", purchase.isUpgraded == true)
    flag("renewalOff", purchase.autoRenewStatus == 0)
    flag("billingRetry", purchase.isInBillingRetryPeriod == true)
    flag("finished", isFinished)
    flag("consumption", hasConsumption)
    add("sequence", .integer(sequence))
    add("periodMs", periodMs == 30 * Purchase.day ? nil : .integer(periodMs))
    add("extensions", extensions > 0 ? .integer(extensions) : nil)
    return json
  }

  /// Returns the state of a subscription's newest transaction, as subscription statuses have it: 1
  /// active, 2 expired, 3 in billing retry, 4 in the grace period, 5 revoked.
  func status(at now: Int64) -> Int64 {
    if purchase.revocationDate != nil { return 5 }
    if (purchase.expiresDate ?? .max) > now { return 1 }
    if (purchase.gracePeriodExpiresDate ?? 0) > now { return 4 }
    return purchase.isInBillingRetryPeriod == true ? 3 : 2
  }

  /// Returns the purchase with the current time as its signing date.
  func signed(at now: Int64) -> Purchase { purchase.with { $0.signedDate = now } }
}
