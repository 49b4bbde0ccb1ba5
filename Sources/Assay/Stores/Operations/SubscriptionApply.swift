/// The operation `update-subscriptions`: stores verified evidence as the state of subscriptions
/// (STO-40 … 44).
struct SubscriptionApply: StoreOperation {
  /// The account that sent the evidence; `nil` for an App Store notification.
  private let account: Text?
  private let token: AccountCheck
  private let isConfirmed: Bool
  /// The purchases to store, one for each subscription.
  private let purchases: [StorePurchase]

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.account`, `misuse.decision.account`,
  ///   `misuse.exchange.evidence`, `rejected.payload.incomplete`.
  init(_ parameters: StoreParameters) throws(Refusal) {
    let evidence = parameters.evidence
    let configuration = parameters.context.configuration
    account = try parameters.accountIfAny("account")
    token = try AccountCheck(
      parameters["accountToken"], configuration.decision.accountToken, isOfAccount: account != nil)
    isConfirmed = try parameters["confirmTransfer"]?.boolean() ?? false
    purchases = StorePurchase.lines(try StorePurchase.all(evidence, configuration.products))
  }

  /// Creates the part of `apply-event` that updates the subscriptions of these purchases (STO-34).
  ///
  /// - Throws: `misuse.exchange.request`.
  init(event all: [StorePurchase], _ context: StoreContext) throws(Refusal) {
    account = nil
    token = try AccountCheck(nil, context.configuration.decision.accountToken, isOfAccount: false)
    isConfirmed = false
    purchases = StorePurchase.lines(all)
  }

  var seed: Text { account ?? purchases.first?.evidence.sha256 ?? "" }

  var size: (purchases: Int, lines: Int) { (0, purchases.count) }

  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    let lines = try apply(&talk)
    var entitlement: LineEntitlement? = nil
    if let account {
      entitlement = LineEntitlement(try talk.lines(of: account), talk.context)
    }
    return outcome(lines, entitlement)
  }

  func apply(_ talk: inout StoreTalk) throws(StoreStop) -> [AppliedLine] {
    var lines: [AppliedLine] = []
    for purchase in purchases { lines.append(try apply(purchase, &talk)) }
    return lines
  }

  /// Returns the result, which is a refusal only if nothing was applied.
  private func outcome(_ lines: [AppliedLine], _ entitlement: LineEntitlement?) -> StoreOutcome {
    let isApplied = lines.contains { $0.refusal == nil }
    return StoreOutcome(isApplied ? nil : lines.last?.refusal) { writer in
      writer.member("plan", entitlement?.plan)
      writer.member("expiresAtMs", integer: entitlement?.untilMs)
      writer.name("subscriptions")
      writer.beginArray()
      for line in lines { line.write(&writer) }
      writer.endArray()
      writer.member("changed", boolean: lines.contains { $0.changed })
    }
  }

  private func apply(
    _ purchase: StorePurchase, _ talk: inout StoreTalk
  ) throws(StoreStop) -> AppliedLine {
    if let applied = withoutStore(purchase, talk.context) { return applied }
    guard let next = try next(purchase, &talk) else {
      return AppliedLine(
        purchase: purchase, outcome: purchase.product == nil ? .unknownProduct : .excluded)
    }
    let (before, after) = try talk.apply(next, purchase.evidence)
    if let account, after.owner != account {
      return try move(next, from: after, purchase, &talk)
    }
    let isOurs = after.evidence == next.evidence && after.asOfMs == next.asOfMs
    var applied = AppliedLine(purchase: purchase, outcome: isOurs ? .applied : .stale, row: after)
    applied.changed = before.map { !$0.givesSame(as: after) } ?? true
    return applied
  }

  /// Returns the row to store; `nil` if the purchase makes none. If its product has left the
  /// catalogue, an event changes the stored row (STO-34).
  private func next(
    _ purchase: StorePurchase, _ talk: inout StoreTalk
  ) throws(StoreStop) -> LineRow? {
    guard purchase.product == nil else {
      return LineRow(purchase, owner: account ?? "", talk.context)
    }
    let facts = purchase.facts
    let environment = Text(stringLiteral: facts.environment.name)
    let row = try talk.line(environment: environment, facts.originalTransactionId)
    return row.map { LineRow($0, purchase, nowMs: talk.context.nowMs) }
  }

  /// Returns the outcome of a purchase that the evidence alone rules out; `nil` if the ledger must
  /// be read.
  private func withoutStore(_ purchase: StorePurchase, _ context: StoreContext) -> AppliedLine? {
    if purchase.product == nil && (account != nil || purchase.lineKey == nil) {
      return AppliedLine(purchase: purchase, outcome: .unknownProduct)
    }
    if account != nil, let reason = token.refusal(purchase) {
      return AppliedLine(purchase: purchase, outcome: .refused, reason: reason)
    }
    if purchase.isLeftOutOfLines(context.configuration.decision) {
      return AppliedLine(purchase: purchase, outcome: .excluded)
    }
    guard purchase.lineKey != nil else { return AppliedLine(purchase: purchase, outcome: .refused) }
    return nil
  }

  // MARK: another owner

  private func move(
    _ next: LineRow, from row: LineRow, _ purchase: StorePurchase, _ talk: inout StoreTalk
  ) throws(StoreStop) -> AppliedLine {
    let policy = talk.context.policy
    let isNewer = next.asOfMs > row.asOfMs
    var refused = AppliedLine(purchase: purchase, outcome: .otherAccount, row: row)
    refused.canTransfer = policy.transfer == .confirm && isNewer
    guard policy.transfer != .deny, isNewer, policy.transfer == .allow || isConfirmed else {
      return refused
    }
    let beforeMs = talk.context.nowMs &- policy.transferIntervalMs
    let after = try talk.move(next, purchase.evidence, from: row.owner, beforeMs: beforeMs)
    guard after.owner == next.owner else {
      refused.row = after
      if after.movedMs > beforeMs { refused.outcome = .transferTooSoon }
      return refused
    }
    try talk.audit(
      "transfer", next.evidence, owner: next.owner, other: row.owner,
      note: next.originalTransactionId)
    return AppliedLine(purchase: purchase, outcome: .moved, row: after, changed: true)
  }
}
