/// The plan that an account has now from its subscriptions, by the current configuration (STO-45).
struct PlanEntitlement: Sendable {
  let plan: Text
  /// The end of the plan, in milliseconds since 1970 UTC; `nil` for the default plan, or for one
  /// without end.
  let untilMs: Int64?
  let subscriptions: [(row: SubscriptionRow, counts: Bool)]

  init(_ rows: [SubscriptionRow], _ context: LedgerContext) {
    let rule = ActiveRule(rows, context)
    var best: (rank: Int, untilMs: Int64?)? = nil
    var evaluated: [(row: SubscriptionRow, counts: Bool)] = []
    for row in rows {
      let end = rule.end(of: row)
      evaluated.append((row, end != nil))
      guard let end, let rank = context.configuration.products.product(row.product)?.plan else {
        continue
      }
      let untilMs = end == .max ? nil : end
      if let known = best, known.rank > rank { continue }
      if let known = best, known.rank == rank, known.untilMs ?? .max >= end { continue }
      best = (rank, untilMs)
    }
    let plans = context.configuration.plans
    if let best, plans.indices.contains(best.rank) {
      (plan, untilMs) = (plans[best.rank], best.untilMs)
    } else {
      (plan, untilMs) = (plans.first ?? "", nil)
    }
    subscriptions = evaluated
  }

  /// Returns this entitlement with the default plan, which a restricted account has (CUS-22).
  func restricted(_ context: LedgerContext) -> PlanEntitlement {
    PlanEntitlement(
      plan: context.configuration.plans.first ?? "", untilMs: nil, subscriptions: subscriptions)
  }

  private init(
    plan: Text, untilMs: Int64?, subscriptions: [(row: SubscriptionRow, counts: Bool)]
  ) {
    self.plan = plan
    self.untilMs = untilMs
    self.subscriptions = subscriptions
  }

  func write(_ writer: inout JSONWriter) {
    writer.member("plan", plan)
    writer.member("expiresAtMs", integer: untilMs)
    writer.name("subscriptions")
    writer.beginArray()
    for subscription in subscriptions {
      PlanEntitlement.write(subscription.row, counts: subscription.counts, &writer)
    }
    writer.endArray()
  }

  static func write(_ row: SubscriptionRow, counts: Bool, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("environment", row.environment)
    writer.member("originalTransactionId", row.originalTransactionId)
    writer.member("transactionId", row.transactionId)
    writer.member("productId", row.product)
    writer.member("plan", row.plan)
    writer.member("purchasedAtMs", integer: row.purchasedAtMs)
    writer.member("expiresAtMs", integer: row.expiresAtMs)
    writer.member("graceExpiresAtMs", integer: row.graceExpiresAtMs)
    writer.member("revokedAtMs", integer: row.revokedAtMs)
    writer.member("deactivatedAtMs", integer: row.deactivatedAtMs)
    writer.member("asOfMs", integer: row.asOfMs)
    writer.member("nextCheckAtMs", integer: row.nextCheckAtMs)
    writer.member("isActive", boolean: counts)
    writer.endObject()
  }
}

/// The rule by which a subscription is active (STO-45).
private struct ActiveRule {
  private let context: LedgerContext
  /// Whether Sandbox subscriptions are not active, by policy or because the account has one of
  /// Production with a known product (DCD-23).
  private let sandboxIsShadowed: Bool

  init(_ rows: [SubscriptionRow], _ context: LedgerContext) {
    self.context = context
    let configuration = context.configuration
    switch configuration.decision.sandbox {
    case .equal: sandboxIsShadowed = false
    case .never: sandboxIsShadowed = true
    case .below:
      sandboxIsShadowed = rows.contains {
        $0.environment == "Production" && configuration.products.product($0.product) != nil
      }
    }
  }

  /// Returns the end of an active subscription, in milliseconds since 1970 UTC, `Int64.max` if it
  /// has no end; `nil` if the subscription is not active now.
  func end(of row: SubscriptionRow) -> Int64? {
    guard row.revokedAtMs == nil, row.deactivatedAtMs == nil, isAccepted(row),
      let product = context.configuration.products.product(row.product)
    else { return nil }
    guard let expiresAtMs = row.expiresAtMs else {
      return product.type == .nonConsumable ? .max : nil
    }
    let decision = context.configuration.decision
    var end = expiresAtMs
    if decision.gracePeriod, let graceEnd = row.graceExpiresAtMs { end = max(end, graceEnd) }
    if row.isWatched { end = max(end, Milliseconds.sum(expiresAtMs, decision.renewalLeewayMs)) }
    return context.nowMs < end ? end : nil
  }

  private func isAccepted(_ row: SubscriptionRow) -> Bool {
    let environments = context.configuration.environments
    let name = row.environment.utf8[...]
    guard let environment = environments.first(where: { name.elementsEqual($0.name) }) else {
      return false
    }
    return environment == .production || !sandboxIsShadowed
      || context.configuration.decision.sandbox == .equal
  }
}
