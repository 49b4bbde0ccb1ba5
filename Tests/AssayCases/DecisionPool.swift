import AssayAuthority

/// Evidence for decisions about random subsets of it, which must have the properties in
/// Tests/ABI/properties.c.
public struct DecisionPool: Sendable {
  public struct Item: Sendable {
    public var name: String
    public var evidence: EvidenceCase.Evidence
    /// The name of older evidence about the same purchase, which must add nothing to this item.
    public var older: String?
    /// The name of the same evidence with unknown members.
    public var padded: String?
    /// The name of the same purchase, refunded and signed later.
    public var refund: String?
    /// Whether scenarios draw it by itself, not only as the variant of another item.
    public var isPlain = false
    /// The beginnings of its periods, in milliseconds since 1970 UTC.
    public var starts: [Int64] = []
    /// The moments at which its state changes, in milliseconds since 1970 UTC.
    public var moments: [Int64] = []
    public var isSandbox = false
    /// Whether its product is in the catalogue.
    public var isKnown = true
    /// The appAccountToken in it.
    public var account: String?
  }

  public var now: Int64
  public private(set) var items: [Item] = []

  mutating func add(_ item: Item) { items.append(item) }

  var json: JSONText {
    ["now": .integer(now), "items": .array(items.map(\.json))]
  }
}

extension DecisionPool.Item {
  var json: JSONText {
    var entry = evidence.json
    entry.add("name", name)
    entry.add("older", older)
    entry.add("padded", padded)
    entry.add("refund", refund)
    entry.add("account", account)
    func flag(_ name: String, _ value: Bool) { entry = entry.appending(name, .boolean(value)) }
    func times(_ name: String, _ values: [Int64]) {
      entry = entry.appending(name, .array(values.map { .integer($0) }))
    }
    flag("plain", isPlain)
    flag("sandbox", isSandbox)
    flag("known", isKnown)
    times("starts", starts)
    times("moments", moments)
    return entry
  }
}

extension CaseFixture {
  /// Returns subscriptions that were upgraded, shared, refunded, renewed ahead, moved to another
  /// account, in two environments, as every kind of evidence.
  func decisionPool() throws -> DecisionPool {
    var pool = DecisionPool(now: now)
    let mine = "0f8fad5b-d9cb-469f-a165-70867728950e"
    let other = "1f8fad5b-d9cb-469f-a165-70867728950e"
    let month = premium(3, -31, -1) { $0.accountToken = mine }
    let running = period(7, line: 6, -10, 20)
    let renewable: [(String, Purchase)] = [
      ("year", period(1, -30, 335) { $0.accountToken = mine }),
      ("upgrade", premium(2, line: 1, -5, 25) { $0.accountToken = mine }),
      ("month", month),
      ("shared", period(4, -10, 20) { $0.ownership = "FAMILY_SHARED" }),
      ("shared-premium", premium(5, -25, 5) { $0.ownership = "FAMILY_SHARED" }),
      ("ended", period(6, -40, -10)), ("running", running),
      ("booked", period(8, line: 6, 20, 50)), ("ahead", premium(9, 2, 32)),
      (
        "trial",
        period(10, -3, 4) {
          $0.offerType = 1
          $0.offerDiscountType = "FREE_TRIAL"
        }
      ),
      ("theirs", premium(11, -10, 20) { $0.accountToken = other }),
      (
        "extra",
        period(12, of: "com.example.app.extra.monthly", -4, 26) { $0.group = "21400002" }
      ),
      ("stray", period(13, of: "com.example.app.unknown", -8, 22) { $0.accountToken = other }),
      ("tester", purchase),
      (
        "tester-ended",
        purchase.with {
          $0.transactionId = "2000000900000021"
          $0.originalTransactionId = "2000000900000021"
          $0.purchaseDate = day(-40)
          $0.expiresDate = day(-10)
          $0.signedDate = day(-40)
        }
      ),
    ]
    let lasting: [(String, Purchase)] = [
      ("season", season(14, -20)), ("seasons", season(15, -1).with { $0.quantity = 2 }),
      ("shared-season", season(16, -80).with { $0.ownership = "FAMILY_SHARED" }),
      ("lifetime", bought(17, "com.example.app.lifetime", .nonConsumable)),
      ("coins", bought(18, "com.example.app.coins100", .consumable)),
      ("odd", bought(19, "com.example.app.lifetime", .consumable)),
    ]
    for (name, purchase) in renewable + lasting { try add(name, purchase, to: &pool) }
    try addRenewals("month", month, to: &pool)
    try addRenewals("running", running, to: &pool)
    try addRenewals("upgrade", premium(2, line: 1, -5, 25), to: &pool)
    try add(
      "moved", .init(.renewalInfo, try authority.mint(moved(month, to: other).renewalPayload)),
      of: month, account: other, to: &pool)
    for (name, purchase) in [("month", month), ("running", running)] {
      try add(name + " in_app", inAppAnswer(purchase, requestDate: now), of: purchase, to: &pool)
      try add(name + " flat", flatAnswer(purchase), of: purchase, to: &pool)
      try add(
        name + " undated", answer([purchase], requestDate: now, isDated: false), of: purchase,
        account: purchase.accountToken, to: &pool)
      try add(
        name + " answer", answer([purchase], requestDate: now - 3_600_000), of: purchase,
        account: purchase.accountToken, to: &pool)
    }
    try add(
      "receipt",
      .init(.receipt(.transactionReceipt, try receipts.transactionReceipt(purchase))),
      of: purchase, to: &pool)
    try add(
      "app receipt",
      .init(
        .receipt(.appReceipt, try receipts.appReceipt(AppReceiptFacts([purchase], like: purchase)))),
      of: purchase, to: &pool)
    return pool
  }

  private func season(_ id: Int64, _ from: Int64) -> Purchase {
    bought(id, "com.example.app.season", .nonRenewing).with { $0.purchaseDate = day(from) }
  }

  private func bought(_ id: Int64, _ product: String, _ type: Purchase.ProductType) -> Purchase {
    period(id, -15, 0).of(product, type)
  }

  private func moved(_ purchase: Purchase, to account: String) -> Purchase {
    purchase.with {
      $0.accountToken = account
      $0.signedDate = now - 3_000_000
    }
  }

  /// Adds a JWS, one signed before it, the same with unknown members, and its refund.
  private func add(_ name: String, _ purchase: Purchase, to pool: inout DecisionPool) throws {
    func put(_ suffix: String, _ changed: Purchase, _ change: (inout DecisionPool.Item) -> Void)
      throws
    {
      let payload = changed.transactionPayload
      var plain = item(name + suffix, .init(.transaction, try authority.mint(payload)), changed)
      plain.padded = name + suffix + " padded"
      change(&plain)
      pool.add(plain)
      let unknown = payload.appending("somethingNew", ["a": 1]).appending("flag", true)
      pool.add(
        item(
          name + suffix + " padded", .init(.transaction, try authority.mint(unknown)), changed))
    }
    try put("", purchase.with { $0.signedDate = min($0.signedDate, now - 10_800_000) }) {
      $0.isPlain = true
      $0.refund = name + " refund"
    }
    try put(" again", purchase.with { $0.signedDate = now - 7_200_000 }) {
      $0.isPlain = true
      $0.older = name
      $0.refund = name + " refund"
    }
    try put(
      " refund",
      purchase.with {
        $0.signedDate = now - 1_800_000
        $0.revocationDate = now - 2_000_000
        $0.revocationReason = 0
      }
    ) {
      $0.isPlain = true
      $0.older = name + " again"
    }
  }

  private func addRenewals(
    _ name: String, _ purchase: Purchase, to pool: inout DecisionPool
  ) throws {
    let changes: [(String, (inout Purchase) -> Void)] = [
      ("on", { _ in }), ("off", { $0.autoRenewStatus = 0 }),
      (
        "grace",
        {
          $0.isInBillingRetryPeriod = true
          $0.gracePeriodExpiresDate = (purchase.expiresDate ?? 0) + 16 * Purchase.day
        }
      ),
      ("retry", { $0.isInBillingRetryPeriod = true }),
      (
        "cancelled",
        {
          $0.autoRenewStatus = 0
          $0.isInBillingRetryPeriod = false
          $0.expirationIntent = 1
        }
      ),
      ("odd", { $0.expirationIntent = 77 }),
    ]
    for (place, (suffix, change)) in changes.enumerated() {
      var told = purchase.with { $0.signedDate = now - 900_000 + Int64(place % 3) * 1000 }
      change(&told)
      try add(
        name + " " + suffix, .init(.renewalInfo, try authority.mint(told.renewalPayload)), of: told,
        account: told.accountToken, to: &pool)
    }
  }

  private func add(
    _ name: String, _ evidence: EvidenceCase.Evidence, of purchase: Purchase,
    account: String? = nil, to pool: inout DecisionPool
  ) throws {
    var found = item(name, evidence, purchase)
    found.isPlain = true
    found.account = account
    pool.add(found)
  }

  private func item(
    _ name: String, _ evidence: EvidenceCase.Evidence, _ purchase: Purchase
  ) -> DecisionPool.Item {
    var item = DecisionPool.Item(name: name, evidence: evidence)
    item.starts = [purchase.purchaseDate]
    item.moments = [
      purchase.purchaseDate, purchase.expiresDate, purchase.gracePeriodExpiresDate,
    ].compactMap { $0 }
    item.isSandbox = purchase.environment == "Sandbox"
    item.isKnown = purchase.productId != "com.example.app.unknown"
    item.account = purchase.accountToken
    return item
  }
}
