/// The operation `update-subscriptions`: stores verified evidence as the state of subscriptions
/// (STO-40 … 44).
struct UpdateSubscriptions: DurableOperation {
  /// The account that sent the evidence; `nil` for an App Store notification.
  private let account: Text?
  private let token: AccountTokenCheck
  private let isConfirmed: Bool
  /// The purchases to store, one for each subscription.
  private let purchases: [LedgerPurchase]

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.account`, `misuse.decision.account`,
  ///   `misuse.exchange.evidence`, `rejected.payload.incomplete`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let evidence = parameters.evidence
    let configuration = parameters.context.configuration
    account = try parameters.accountIfAny("account")
    token = try AccountTokenCheck(
      parameters["accountToken"], configuration.decision.accountToken, isOfAccount: account != nil)
    isConfirmed = try parameters["confirmTransfer"]?.boolean() ?? false
    let all = try LedgerPurchase.all(evidence, configuration.products)
    let chosen = try parameters.chosen(all)
    try require(
      all.isEmpty || !chosen.isEmpty, .rejectedPayloadIncomplete, "STO-25", at: "transactionIds")
    // An older period of a chosen subscription is not its state.
    let newest = LedgerPurchase.newestOfSubscriptions(all)
    purchases =
      chosen.count == all.count
      ? newest
      : newest.filter { purchase in
        chosen.contains { $0.facts.subscriptionId == purchase.facts.subscriptionId }
      }
  }

  /// Creates the part of `apply-event` that updates the subscriptions of these purchases (STO-34).
  ///
  /// - Throws: `misuse.exchange.request`.
  init(event all: [LedgerPurchase], _ context: LedgerContext) throws(Refusal) {
    account = nil
    token = try AccountTokenCheck(
      nil, context.configuration.decision.accountToken, isOfAccount: false)
    isConfirmed = false
    purchases = LedgerPurchase.newestOfSubscriptions(all)
  }

  var jitterSeed: Text { account ?? purchases.first?.evidence.sha256 ?? "" }

  var size: (purchases: Int, subscriptions: Int) { (0, purchases.count) }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let subscriptions = try apply(database)
    guard let account else { return outcome(subscriptions, nil) }
    let own = subscriptions.compactMap { $0.purchase(of: account) }
    if let key = database.session.context.policy.customerKey {
      let entries = CustomerEntry.all(own, key)
      if !entries.isEmpty { _ = try database.join(entries, to: account) }
    }
    return outcome(subscriptions, try Standing.read(account, database))
  }

  func apply(_ database: any DurableDatabase) throws(LedgerSuspension) -> [UpdatedSubscription] {
    var subscriptions: [UpdatedSubscription] = []
    for purchase in purchases { subscriptions.append(try apply(purchase, database)) }
    return subscriptions
  }

  /// Returns the result, which is a refusal only if nothing was applied.
  private func outcome(
    _ subscriptions: [UpdatedSubscription], _ standing: Standing?
  ) -> OperationResult {
    let isApplied = subscriptions.contains { $0.refusal == nil }
    return OperationResult(isApplied ? nil : subscriptions.last?.refusal) { writer in
      writer.member("plan", standing?.entitlement.plan)
      writer.member("expiresAtMs", integer: standing?.entitlement.untilMs)
      writer.name("subscriptions")
      writer.beginArray()
      for subscription in subscriptions { subscription.write(&writer) }
      writer.endArray()
      writer.member("changed", boolean: subscriptions.contains { $0.changed })
      standing?.restrictions?.write(&writer)
    }
  }

  private func apply(
    _ purchase: LedgerPurchase, _ database: any DurableDatabase
  ) throws(LedgerSuspension) -> UpdatedSubscription {
    if let applied = withoutStore(purchase, database.session.context) { return applied }
    guard let next = try next(purchase, database) else {
      return UpdatedSubscription(
        purchase: purchase, outcome: purchase.product == nil ? .unknownProduct : .excluded)
    }
    let (before, after) = try database.apply(next, purchase.evidence)
    if let account, after.owner != account {
      return try move(next, from: after, purchase, database)
    }
    let isOurs = after.evidence == next.evidence && after.asOfMs == next.asOfMs
    var applied = UpdatedSubscription(
      purchase: purchase, outcome: isOurs ? .applied : .stale, row: after)
    applied.changed = before.map { !$0.givesSame(as: after) } ?? true
    return applied
  }

  /// Returns the row to store; `nil` if the purchase makes none. If its product has left the
  /// catalogue, an event changes the stored row (STO-34).
  private func next(
    _ purchase: LedgerPurchase, _ database: any DurableDatabase
  ) throws(LedgerSuspension) -> SubscriptionRow? {
    guard purchase.product == nil else {
      return SubscriptionRow(purchase, owner: account ?? "", database.session.context)
    }
    let facts = purchase.facts
    let environment = Text(stringLiteral: facts.environment.name)
    let row = try database.subscription(environment: environment, facts.originalTransactionId)
    return row.map { SubscriptionRow($0, purchase, nowMs: database.session.context.nowMs) }
  }

  /// Returns the outcome of a purchase that the evidence alone rules out; `nil` if the ledger must
  /// be read.
  private func withoutStore(_ purchase: LedgerPurchase, _ context: LedgerContext)
    -> UpdatedSubscription?
  {
    if purchase.product == nil && (account != nil || purchase.subscriptionKey == nil) {
      return UpdatedSubscription(purchase: purchase, outcome: .unknownProduct)
    }
    if account != nil, let reason = token.refusal(purchase) {
      return UpdatedSubscription(purchase: purchase, outcome: .refused, reason: reason)
    }
    if purchase.isExcludedFromSubscriptions(context.configuration.decision) {
      return UpdatedSubscription(purchase: purchase, outcome: .excluded)
    }
    guard purchase.subscriptionKey != nil else {
      return UpdatedSubscription(purchase: purchase, outcome: .refused)
    }
    return nil
  }

  // MARK: another owner

  private func move(
    _ next: SubscriptionRow, from row: SubscriptionRow, _ purchase: LedgerPurchase,
    _ database: any DurableDatabase
  ) throws(LedgerSuspension) -> UpdatedSubscription {
    let policy = database.session.context.policy
    let isNewer = next.asOfMs > row.asOfMs
    var refused = UpdatedSubscription(purchase: purchase, outcome: .otherAccount, row: row)
    refused.canTransfer = policy.transfer == .confirm && isNewer
    guard policy.transfer != .deny, isNewer, policy.transfer == .allow || isConfirmed else {
      return refused
    }
    let beforeMs = database.session.context.nowMs &- policy.transferIntervalMs
    var moved = next
    moved.moves = row.moves &+ 1
    let after = try database.move(moved, purchase.evidence, from: row.owner, beforeMs: beforeMs)
    guard after.owner == next.owner else {
      refused.row = after
      if after.movedMs > beforeMs { refused.outcome = .transferTooSoon }
      return refused
    }
    try database.insert([
      AuditRow(
        "transfer", next.evidence, owner: next.owner, other: row.owner,
        note: next.originalTransactionId, database.session.context)
    ])
    return UpdatedSubscription(purchase: purchase, outcome: .moved, row: after, changed: true)
  }
}
