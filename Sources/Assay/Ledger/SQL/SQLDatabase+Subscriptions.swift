/// Subscriptions.
extension SQLDatabase {
  func subscription(environment: Text, _ id: Text) throws(LedgerSuspension) -> SubscriptionRow? {
    let key: Arguments = [
      ("environment", .text(environment)), ("original_transaction_id", .text(id)),
    ]
    let results = try run { [(.subscriptionRead, key)] }
    guard let row = try results.rowIfAny(0) else { return nil }
    return try SubscriptionRow(row).checked(environment, id)
  }

  func apply(
    _ next: SubscriptionRow, _ evidence: StoredEvidence
  ) throws(LedgerSuspension) -> (before: SubscriptionRow?, after: SubscriptionRow) {
    let changes = applying(next, evidence)
    let results = try run(.single) {
      let read = (SQLStatement.subscriptionRead, next.keyArguments)
      return [read] + changes + [read]
    }
    let before = try results.rowIfAny(0)
    let after = try SubscriptionRow(try results.row(results.count &- 1)).checked(next)
    guard let before else { return (nil, after) }
    return (try SubscriptionRow(before).checked(next), after)
  }

  /// Returns the statements that insert the subscription, bind it to its first owner, and overwrite
  /// it with later evidence of that owner (STO-40).
  func applying(
    _ next: SubscriptionRow, _ evidence: StoredEvidence
  ) -> [(SQLStatement, Arguments)] {
    var calls: [(SQLStatement, Arguments)] = [(.subscriptionInsert, next.arguments)]
    if !next.owner.isEmpty {
      calls.append((.subscriptionBind, next.keyArguments + [("owner", .text(next.owner))]))
    }
    calls.append((.subscriptionApply, next.changes(nowMs: context.nowMs)))
    return calls + keeping(evidence, .subscriptionEvidence, next.keyArguments)
  }

  func move(
    _ next: SubscriptionRow, _ evidence: StoredEvidence, from owner: Text, beforeMs: Int64
  ) throws(LedgerSuspension) -> SubscriptionRow {
    let changes = next.changes(nowMs: context.nowMs)
    let kept = keeping(evidence, .subscriptionEvidence, next.keyArguments)
    let results = try run(.single) {
      let more: Arguments = [
        ("old_owner", .text(owner)), ("before_ms", .integer(beforeMs)),
      ]
      return [(.subscriptionTransfer, changes + more)] + kept + [
        (.subscriptionRead, next.keyArguments)
      ]
    }
    return try SubscriptionRow(try results.row(results.count &- 1)).checked(next)
  }

  func subscriptions(of account: Text) throws(LedgerSuspension) -> [SubscriptionRow] {
    let results = try run { [(.subscriptionsOfAccount, [("owner", .text(account))])] }
    return try results.subscriptions(0).owned(by: account)
  }

  func deactivateSubscriptions(of account: Text) throws(LedgerSuspension) -> [SubscriptionRow] {
    let nowMs = context.nowMs
    return try run {
      let owner: Arguments = [("owner", .text(account)), ("now_ms", .integer(nowMs))]
      return [(.subscriptionDeactivate, owner), (.subscriptionsOfAccount, owner)]
    }.subscriptions(1)
  }

  func leaseDueSubscriptions(leaseMs: Int64) throws(LedgerSuspension) -> [SubscriptionRow] {
    let arguments: Arguments = [
      ("now_ms", .integer(context.nowMs)), ("lease_expires_at_ms", .integer(leaseMs)),
    ]
    guard isMariaDB else {
      return try run { [(.subscriptionsDue, arguments)] }.subscriptions(0)
    }
    let rows = try run(.begin) { [(.subscriptionsDueLock, arguments)] }.subscriptions(0)
    _ = try run(.commit) { rows.map { (.subscriptionsDueLease, arguments + $0.keyArguments) } }
    return rows
  }

  func scheduleNextChecks(_ rows: [SubscriptionRow], leaseMs: Int64) throws(LedgerSuspension) {
    let nowMs = context.nowMs
    _ = try run {
      rows.map { row in
        let look: Arguments = [
          ("next_check_at_ms", DatabaseValue(row.nextCheck(nowMs: nowMs))),
          ("lease_expires_at_ms", .integer(leaseMs)),
        ]
        return (.subscriptionNextCheck, look + row.keyArguments)
      }
    }
  }
}

extension [DatabaseResult] {
  fileprivate func subscriptions(_ place: Int) throws(LedgerSuspension) -> [SubscriptionRow] {
    try rows(place).map { row throws(LedgerSuspension) in try SubscriptionRow(row) }
  }
}

extension SubscriptionRow {
  fileprivate var keyArguments: DatabaseCall.Arguments {
    [
      ("environment", .text(environment)),
      ("original_transaction_id", .text(originalTransactionId)),
    ]
  }

  fileprivate func changes(nowMs: Int64) -> DatabaseCall.Arguments {
    arguments + [
      ("now_ms", .integer(nowMs)), ("revoking", .integer(revokedAtMs == nil ? 0 : 1)),
    ]
  }
}
