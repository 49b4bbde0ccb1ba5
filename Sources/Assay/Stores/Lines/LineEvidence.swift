/// The subscription of a transaction, as the evidence reports it (STO-40).
extension LineRow {
  /// Creates the row; `nil` if the purchase makes none: an unknown product, or an id that cannot be
  /// a key. Consumables are excluded before.
  init?(_ purchase: StorePurchase, owner: Text, _ context: StoreContext) {
    guard let product = purchase.product, purchase.lineKey != nil else { return nil }
    let facts = purchase.facts
    let plans = context.configuration.plans
    environment = Text(stringLiteral: facts.environment.name)
    originalTransactionId = facts.originalTransactionId
    self.owner = owner
    self.product = product.id
    plan = product.plan.flatMap { plans.indices.contains($0) ? plans[$0] : nil } ?? ""
    transactionId = facts.transactionId
    purchasedMs = purchase.purchasedMs
    switch product.type {
    case .autoRenewable: expiresMs = facts.end ?? 0
    case .nonRenewing:
      expiresMs = facts.start.flatMap { start in product.duration?.end(startMs: start) } ?? 0
    case .nonConsumable, .consumable: expiresMs = nil
    }
    graceMs = product.type == .autoRenewable ? purchase.renewal?.graceEnd : nil
    revokedMs = facts.revokedAt
    asOfMs = facts.asOf
    evidence = purchase.evidence.sha256
    updatedMs = context.nowMs
    isWatched = product.type == .autoRenewable && revokedMs == nil && purchase.mayRenew
    nextCheckMs = nextLook(nowMs: context.nowMs)
  }

  /// Creates the row of a subscription whose product has left the catalogue, from newer evidence
  /// that Apple sent: only dates that the row already has are updated (STO-34).
  init(_ row: LineRow, _ purchase: StorePurchase, nowMs: Int64) {
    self = row
    let facts = purchase.facts
    owner = ""
    transactionId = facts.transactionId
    purchasedMs = purchase.purchasedMs
    if row.expiresMs != nil { expiresMs = facts.end ?? row.expiresMs }
    if row.graceMs != nil { graceMs = purchase.renewal?.graceEnd }
    revokedMs = facts.revokedAt
    asOfMs = facts.asOf
    evidence = purchase.evidence.sha256
    updatedMs = nowMs
    isWatched = row.isWatched && revokedMs == nil && purchase.mayRenew
    nextCheckMs = nextLook(nowMs: nowMs)
  }

  /// Returns the time of the next check by the schedule of FLW-7 and the subscription's dates, in
  /// milliseconds since 1970 UTC; `nil` if no newer evidence can come (STO-47).
  func nextLook(nowMs: Int64) -> Int64? {
    guard revokedMs == nil, let expiresMs else { return nil }
    if nowMs < expiresMs { return CheckSchedule.beforeEnd(expiresMs, now: nowMs) }
    let look = CheckSchedule.afterEnd(expiresMs, now: nowMs, mayBeRetried: isWatched)
    guard let graceMs, nowMs < graceMs else { return look }
    return min(look ?? graceMs, graceMs)
  }
}

extension StorePurchase {
  /// Whether renewal is on, unknown, or in billing retry.
  fileprivate var mayRenew: Bool {
    guard let renewal else { return true }
    return renewal.autoRenewStatus != 0 || renewal.isInBillingRetry == true
  }

  /// Whether the purchase changes no subscription: a consumable, an upgraded period, or one that
  /// the policy denies.
  func isLeftOutOfLines(_ policy: Configuration.DecisionPolicy) -> Bool {
    product?.type == .consumable || facts.isUpgraded || policy.denies(facts)
  }

  /// Returns one purchase for each subscription: the latest period in the evidence. An upgraded
  /// period is returned only if there is no other.
  static func lines(_ purchases: [StorePurchase]) -> [StorePurchase] {
    let ids = purchases.map { $0.facts.line }
    return Runs.of(ids, by: ScopedId.precedes).compactMap { run in
      var best: StorePurchase? = nil
      for place in run {
        let purchase = purchases[place]
        if let known = best, !StorePurchase.follows(purchase, known) { continue }
        best = purchase
      }
      return best
    }
  }

  private static func follows(_ next: StorePurchase, _ known: StorePurchase) -> Bool {
    if next.facts.isUpgraded != known.facts.isUpgraded { return known.facts.isUpgraded }
    if next.purchasedMs != known.purchasedMs { return next.purchasedMs > known.purchasedMs }
    return next.facts.asOf > known.facts.asOf
  }
}
