/// Subscriptions on every engine (docs/spec/ledger-statements.md §2, §3).
extension LedgerSession {
  private var isDynamo: Bool { context.engine == .dynamodb }

  /// Inserts the subscription, binds it to its first owner, and overwrites it with later evidence
  /// of that owner (STO-40).
  ///
  /// - Parameter next: The row to store. Its owner is empty for evidence from Apple, which never
  ///   changes the owner.
  /// - Returns: The row before, `nil` for a new one, and the row as stored afterwards.
  mutating func apply(
    _ next: SubscriptionRow, _ evidence: StoredEvidence
  ) throws(LedgerSuspension) -> (before: SubscriptionRow?, after: SubscriptionRow) {
    if isDynamo {
      let (before, after) = try dynamoApply(next, evidence)
      return (try before?.checked(next), try after.checked(next))
    }
    let changes = applying(next, evidence)
    let results = try sql(.single) {
      let read = (SQLStatement.subscriptionRead, next.keyArguments)
      return [read] + changes + [read]
    }
    let before = try results.rowIfAny(0)
    let after = try SubscriptionRow(try results.row(results.count &- 1)).checked(next)
    guard let before else { return (nil, after) }
    return (try SubscriptionRow(before).checked(next), after)
  }

  mutating func subscription(environment: Text, _ id: Text) throws(LedgerSuspension)
    -> SubscriptionRow?
  {
    if isDynamo { return try dynamoSubscription(environment: environment, id) }
    let key: Arguments = [
      ("environment", .text(environment)), ("original_transaction_id", .text(id)),
    ]
    let results = try sql { [(.subscriptionRead, key)] }
    guard let row = try results.rowIfAny(0) else { return nil }
    return try SubscriptionRow(row).checked(environment, id)
  }

  /// Transfers the subscription to another owner, with strictly newer evidence and not too soon
  /// after the last transfer (STO-42). Returns the row as stored afterwards.
  mutating func move(
    _ next: SubscriptionRow, _ evidence: StoredEvidence, from owner: Text, beforeMs: Int64
  ) throws(LedgerSuspension) -> SubscriptionRow {
    if isDynamo {
      return try dynamoMove(next, evidence, from: owner, beforeMs: beforeMs).checked(next)
    }
    let changes = next.changes(nowMs: context.nowMs)
    let kept = keeping(evidence, of: next)
    let results = try sql(.single) {
      let more: Arguments = [
        ("old_owner", .text(owner)), ("before_ms", .integer(beforeMs)),
      ]
      return [(.subscriptionTransfer, changes + more)] + kept + [
        (.subscriptionRead, next.keyArguments)
      ]
    }
    return try SubscriptionRow(try results.row(results.count &- 1)).checked(next)
  }

  /// Returns the statements that insert the subscription, bind it to its first owner, and overwrite
  /// it with later evidence of that owner (STO-40).
  func applying(_ next: SubscriptionRow, _ evidence: StoredEvidence) -> [(SQLStatement, Arguments)]
  {
    var calls: [(SQLStatement, Arguments)] = [(.subscriptionInsert, next.arguments)]
    if !next.owner.isEmpty {
      calls.append((.subscriptionBind, next.keyArguments + [("owner", .text(next.owner))]))
    }
    calls.append((.subscriptionApply, next.changes(nowMs: context.nowMs)))
    return calls + keeping(evidence, of: next)
  }

  /// Returns the statement that keeps the evidence's text. It follows the change of the row, and
  /// writes only if the row names the text (STM-2).
  private func keeping(
    _ evidence: StoredEvidence, of subscription: SubscriptionRow
  ) -> [(SQLStatement, Arguments)] {
    guard context.policy.keepEvidence else { return [] }
    return [(.subscriptionEvidence, arguments(of: evidence) + subscription.keyArguments)]
  }

  /// Returns the subscriptions of an account, the newest first; at most 50.
  mutating func subscriptions(of account: Text) throws(LedgerSuspension) -> [SubscriptionRow] {
    let rows = isDynamo ? try dynamoSubscriptions(of: account) : try sqlSubscriptions(of: account)
    // A row of another owner would give this account a plan that it did not buy (STO-4).
    for row in rows where row.owner != account { throw .shape("owner") }
    return rows
  }

  private mutating func sqlSubscriptions(of account: Text) throws(LedgerSuspension)
    -> [SubscriptionRow]
  {
    let results = try sql { [(.subscriptionsOfAccount, [("owner", .text(account))])] }
    return try subscriptionRows(results, 0)
  }

  /// Deactivates all subscriptions of an account, and returns them as stored afterwards (STO-46).
  mutating func deactivateSubscriptions(of account: Text) throws(LedgerSuspension)
    -> [SubscriptionRow]
  {
    if isDynamo { return try dynamoClear(account) }
    let nowMs = context.nowMs
    let results = try sql {
      let owner: Arguments = [("owner", .text(account)), ("now_ms", .integer(nowMs))]
      return [(.subscriptionDeactivate, owner), (.subscriptionsOfAccount, owner)]
    }
    return try subscriptionRows(results, 1)
  }

  /// Reserves subscriptions whose check is due until `leaseMs`; at most 25 (STO-48).
  mutating func leaseDueSubscriptions(leaseMs: Int64, attemptId: Text) throws(LedgerSuspension)
    -> [SubscriptionRow]
  {
    if isDynamo { return try dynamoLeaseDueSubscriptions(leaseMs: leaseMs, attemptId: attemptId) }
    let arguments: Arguments = [
      ("now_ms", .integer(context.nowMs)), ("lease_expires_at_ms", .integer(leaseMs)),
    ]
    guard context.engine == .mariadb else {
      return try subscriptionRows(try sql { [(.subscriptionsDue, arguments)] }, 0)
    }
    let rows = try subscriptionRows(try sql(.begin) { [(.subscriptionsDueLock, arguments)] }, 0)
    _ = try sql(.commit) { rows.map { (.subscriptionsDueLease, arguments + $0.keyArguments) } }
    return rows
  }

  /// Schedules the next check of each subscription whose lease this sweeper still holds.
  mutating func scheduleNextChecks(_ rows: [SubscriptionRow], leaseMs: Int64)
    throws(LedgerSuspension)
  {
    if isDynamo { return try dynamoScheduleNextChecks(rows, leaseMs: leaseMs) }
    guard !rows.isEmpty else { return }
    let nowMs = context.nowMs
    _ = try sql {
      rows.map { row in
        let look: Arguments = [
          ("next_check_at_ms", DatabaseValue(row.nextCheck(nowMs: nowMs))),
          ("lease_expires_at_ms", .integer(leaseMs)),
        ]
        return (.subscriptionNextCheck, look + row.keyArguments)
      }
    }
  }

  private func subscriptionRows(_ results: [DatabaseResult], _ place: Int) throws(LedgerSuspension)
    -> [SubscriptionRow]
  {
    var rows: [SubscriptionRow] = []
    for row in try results.rows(place) { rows.append(try SubscriptionRow(row)) }
    return rows
  }
}

extension SubscriptionRow {
  fileprivate var keyArguments: LedgerSession.Arguments {
    [
      ("environment", .text(environment)),
      ("original_transaction_id", .text(originalTransactionId)),
    ]
  }

  fileprivate func changes(nowMs: Int64) -> LedgerSession.Arguments {
    arguments + [
      ("now_ms", .integer(nowMs)), ("revoking", .integer(revokedAtMs == nil ? 0 : 1)),
    ]
  }
}
