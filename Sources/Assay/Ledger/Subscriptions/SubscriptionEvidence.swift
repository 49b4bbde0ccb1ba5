/// The subscription of a transaction, as the evidence reports it (STO-40).
extension SubscriptionRow {
  /// Creates the row; `nil` if the purchase makes none: an unknown product, or an id that cannot be
  /// a key. Consumables are excluded before.
  init?(_ purchase: LedgerPurchase, owner: Text, _ context: LedgerContext) {
    guard let product = purchase.product, purchase.subscriptionKey != nil else { return nil }
    let facts = purchase.facts
    let plans = context.configuration.plans
    environment = Text(stringLiteral: facts.environment.name)
    originalTransactionId = facts.originalTransactionId
    self.owner = owner
    self.product = product.id
    plan = product.plan.flatMap { plans.indices.contains($0) ? plans[$0] : nil } ?? ""
    transactionId = facts.transactionId
    purchasedAtMs = purchase.purchasedAtMs
    switch product.type {
    case .autoRenewable: expiresAtMs = facts.end ?? 0
    case .nonRenewing:
      expiresAtMs = facts.start.flatMap { start in product.duration?.end(startMs: start) } ?? 0
    case .nonConsumable, .consumable: expiresAtMs = nil
    }
    graceExpiresAtMs = product.type == .autoRenewable ? purchase.graceEnd : nil
    revokedAtMs = facts.revokedAtMs
    asOfMs = facts.asOfMs
    evidence = purchase.evidence.sha256
    updatedMs = context.nowMs
    isWatched = product.type == .autoRenewable && revokedAtMs == nil && purchase.mayRenew
    keep(facts.commitment)
    nextCheckAtMs = nextCheck(nowMs: context.nowMs)
  }

  /// Creates the row of a subscription whose product has left the catalogue, from newer evidence
  /// that Apple sent: only dates that the row already has are updated (STO-34).
  init(_ row: SubscriptionRow, _ purchase: LedgerPurchase, nowMs: Int64) {
    self = row
    let facts = purchase.facts
    owner = ""
    transactionId = facts.transactionId
    purchasedAtMs = purchase.purchasedAtMs
    if row.expiresAtMs != nil { expiresAtMs = facts.end ?? row.expiresAtMs }
    if row.graceExpiresAtMs != nil { graceExpiresAtMs = purchase.graceEnd }
    revokedAtMs = facts.revokedAtMs
    asOfMs = facts.asOfMs
    evidence = purchase.evidence.sha256
    updatedMs = nowMs
    isWatched = row.isWatched && revokedAtMs == nil && purchase.mayRenew
    keep(facts.commitment)
    nextCheckAtMs = nextCheck(nowMs: nowMs)
  }

  private mutating func keep(_ commitment: PurchaseCommitment?) {
    commitmentEndsAtMs = commitment?.endsAtMs
    commitmentPeriod = commitment?.period
    commitmentOf = commitment?.periods
  }

  /// Returns the time of the next check by the schedule of FLW-7 and the subscription's dates, in
  /// milliseconds since 1970 UTC; `nil` if no newer evidence can come (STO-47).
  func nextCheck(nowMs: Int64) -> Int64? {
    guard revokedAtMs == nil, let expiresAtMs else { return nil }
    if nowMs < expiresAtMs { return CheckSchedule.beforeEnd(expiresAtMs, now: nowMs) }
    let look = CheckSchedule.afterEnd(
      expiresAtMs, now: nowMs, mayBeRetried: isWatched,
      lastDay: commitmentOf == nil ? CheckSchedule.lastDay : CheckSchedule.lastDayOfCommitment)
    guard let graceExpiresAtMs, nowMs < graceExpiresAtMs else { return look }
    return min(look ?? graceExpiresAtMs, graceExpiresAtMs)
  }
}

extension LedgerPurchase {
  /// The end of the grace period; `nil` also for a month of a commitment, which has none (CMT-4).
  fileprivate var graceEnd: Int64? { facts.isBilledMonthly ? nil : renewal?.graceEnd }

  /// Whether renewal is on, unknown, or in billing retry.
  fileprivate var mayRenew: Bool {
    guard let renewal else { return true }
    return renewal.autoRenewStatus != 0 || renewal.isInBillingRetry == true
  }

  /// Whether the purchase changes no subscription: a consumable, an upgraded period, or one that
  /// the policy denies.
  func isExcludedFromSubscriptions(_ policy: Configuration.DecisionPolicy) -> Bool {
    product?.type == .consumable || facts.isUpgraded || policy.denies(facts)
  }

  /// Returns one purchase for each subscription: the latest period in the evidence. An upgraded
  /// period is returned only if there is no other.
  static func newestOfSubscriptions(_ purchases: [LedgerPurchase]) -> [LedgerPurchase] {
    let ids = purchases.map { $0.facts.subscriptionId }
    return EqualRuns.of(ids, by: ScopedId.precedes).compactMap { run in
      var best: LedgerPurchase? = nil
      for place in run {
        let purchase = purchases[place]
        if let known = best, !LedgerPurchase.follows(purchase, known) { continue }
        best = purchase
      }
      return best
    }
  }

  private static func follows(_ next: LedgerPurchase, _ known: LedgerPurchase) -> Bool {
    if next.facts.isUpgraded != known.facts.isUpgraded { return known.facts.isUpgraded }
    if next.purchasedAtMs != known.purchasedAtMs { return next.purchasedAtMs > known.purchasedAtMs }
    return next.facts.asOfMs > known.facts.asOfMs
  }
}
