/// `subscription.apply`: verified evidence becomes the state of a line (STO-40 … 44).
struct SubscriptionApply: StoreOperation {
  private enum Outcome {
    case applied, stale, moved, otherAccount, moveTooSoon, leftOut, unknownProduct, refused

    var name: StaticString {
      switch self {
      case .applied: return "applied"
      case .stale: return "stale"
      case .moved: return "moved"
      case .otherAccount: return "other-account"
      case .moveTooSoon: return "move-too-soon"
      case .leftOut: return "left-out"
      case .unknownProduct: return "unknown-product"
      case .refused: return "refused"
      }
    }

    var refusal: Refusal? {
      switch self {
      case .applied, .stale, .moved, .leftOut: return nil
      case .otherAccount: return Refusal(.rejectedLedgerOtherAccount, "STO-42", at: "lines")
      case .moveTooSoon: return Refusal(.rejectedLedgerMoveTooSoon, "STO-42", at: "lines")
      case .unknownProduct: return Refusal(.rejectedIdentityProduct, "STO-24", at: "lines")
      case .refused: return Refusal(.rejectedLedgerId, "RPL-3", at: "lines")
      }
    }
  }

  private struct Applied {
    let purchase: StorePurchase
    var outcome: Outcome
    var reason: Refusal? = nil
    /// As it stands then; nil: there is none.
    var row: LineRow? = nil
    var canMove = false
    var changed = false

    var refusal: Refusal? { reason ?? outcome.refusal }
  }

  /// nil: an event from Apple.
  private let account: Text?
  private let token: AccountCheck
  private let isConfirmed: Bool
  /// One for each line.
  private let purchases: [StorePurchase]

  /// - Throws: `misuse.exchange.request`, `misuse.store.account`, `misuse.decide.account`,
  ///   `misuse.exchange.evidence`, `rejected.payload.incomplete`.
  init(_ parameters: StoreParameters, _ evidence: [VerifiedEvidence]) throws(Refusal) {
    let configuration = parameters.context.configuration
    account = try parameters.accountIfAny("account")
    token = try AccountCheck(
      parameters["accountToken"], configuration.decide.account, isOfAccount: account != nil)
    isConfirmed = try parameters["confirm"]?.boolean() ?? false
    purchases = StorePurchase.lines(try StorePurchase.all(evidence, configuration.products))
  }

  var seed: Text { account ?? purchases.first?.evidence.sha256 ?? "" }

  var maxSteps: Int? { 7 &* purchases.count &+ 10 }

  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    var lines: [Applied] = []
    for purchase in purchases { lines.append(try apply(purchase, &talk)) }
    var entitlement: LineEntitlement? = nil
    if let account {
      entitlement = LineEntitlement(try talk.lines(of: account), talk.context)
    }
    return outcome(lines, entitlement)
  }

  /// What is refused decides where nothing was applied.
  private func outcome(_ lines: [Applied], _ entitlement: LineEntitlement?) -> StoreOutcome {
    let isApplied = lines.contains { $0.refusal == nil }
    return StoreOutcome(isApplied ? nil : lines.last?.refusal) { writer in
      writer.member("plan", entitlement?.plan)
      writer.member("until", integer: entitlement?.untilMs)
      writer.name("lines")
      writer.beginArray()
      for line in lines { SubscriptionApply.write(line, &writer) }
      writer.endArray()
      writer.member("changed", boolean: lines.contains { $0.changed })
    }
  }

  private static func write(_ line: Applied, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("outcome", line.outcome.name)
    if let reason = line.reason { writer.member("status", reason.status.name) }
    writer.member("transactionId", line.purchase.facts.transactionId)
    writer.member("changed", boolean: line.changed)
    if line.outcome == .otherAccount { writer.member("canMove", boolean: line.canMove) }
    writer.name("line")
    if let row = line.row, line.outcome != .otherAccount, line.outcome != .moveTooSoon {
      LineEntitlement.write(row, counts: row.revokedMs == nil && row.clearedMs == nil, &writer)
    } else {
      writer.null()
    }
    writer.endObject()
  }

  private func apply(
    _ purchase: StorePurchase, _ talk: inout StoreTalk
  ) throws(StoreStop) -> Applied {
    if let applied = withoutStore(purchase, talk.context) { return applied }
    guard let next = LineRow(purchase, owner: account ?? "", talk.context) else {
      return Applied(purchase: purchase, outcome: .leftOut)
    }
    let (before, after) = try talk.apply(next, purchase.evidence)
    if let account, after.owner != account {
      return try move(next, from: after, purchase, &talk)
    }
    let isOurs = after.evidence == next.evidence && after.asOfMs == next.asOfMs
    var applied = Applied(purchase: purchase, outcome: isOurs ? .applied : .stale, row: after)
    applied.changed = before.map { !$0.givesSame(as: after) } ?? true
    return applied
  }

  /// What needs no statement.
  private func withoutStore(_ purchase: StorePurchase, _ context: StoreContext) -> Applied? {
    if purchase.product == nil {
      return Applied(purchase: purchase, outcome: .unknownProduct)
    }
    if account != nil, let reason = token.refusal(purchase) {
      return Applied(purchase: purchase, outcome: .refused, reason: reason)
    }
    if purchase.isLeftOutOfLines(context.configuration.decide) {
      return Applied(purchase: purchase, outcome: .leftOut)
    }
    guard purchase.lineKey != nil else { return Applied(purchase: purchase, outcome: .refused) }
    return nil
  }

  // MARK: another owner

  private func move(
    _ next: LineRow, from row: LineRow, _ purchase: StorePurchase, _ talk: inout StoreTalk
  ) throws(StoreStop) -> Applied {
    let policy = talk.context.policy
    let isNewer = next.asOfMs > row.asOfMs
    var refused = Applied(purchase: purchase, outcome: .otherAccount, row: row)
    refused.canMove = policy.transfer == .ask && isNewer
    guard policy.transfer != .deny, isNewer, policy.transfer == .move || isConfirmed else {
      return refused
    }
    let beforeMs = talk.context.nowMs &- policy.moveEveryMs
    let after = try talk.move(next, purchase.evidence, from: row.owner, beforeMs: beforeMs)
    guard after.owner == next.owner else {
      refused.row = after
      if after.movedMs > beforeMs { refused.outcome = .moveTooSoon }
      return refused
    }
    try talk.audit(
      "move", next.evidence, owner: next.owner, other: row.owner, note: next.originalTransactionId)
    return Applied(purchase: purchase, outcome: .moved, row: after, changed: true)
  }
}
