/// Subscriptions on every engine (docs/spec/ledger-statements.md §2, §3).
extension StoreTalk {
  private var isDynamo: Bool { context.engine == .dynamodb }

  /// Inserts the subscription, binds it to its first owner, and overwrites it with later evidence
  /// of that owner (STO-40).
  ///
  /// - Parameter next: The row to store. Its owner is empty for evidence from Apple, which never
  ///   changes the owner.
  /// - Returns: The row before, `nil` for a new one, and the row as stored afterwards.
  mutating func apply(
    _ next: LineRow, _ evidence: StoreEvidence
  ) throws(StoreStop) -> (before: LineRow?, after: LineRow) {
    if isDynamo {
      let (before, after) = try dynamoApply(next, evidence)
      return (try before?.checked(next), try after.checked(next))
    }
    let changes = applying(next, evidence)
    let results = try sql(.single) {
      let read = (SQLStatement.lineRead, next.keyArguments)
      return [read] + changes + [read]
    }
    let before = try results.rowIfAny(0)
    let after = try LineRow(try results.row(results.count &- 1)).checked(next)
    guard let before else { return (nil, after) }
    return (try LineRow(before).checked(next), after)
  }

  mutating func line(environment: Text, _ id: Text) throws(StoreStop) -> LineRow? {
    if isDynamo { return try dynamoLine(environment: environment, id) }
    let key: Arguments = [
      ("environment", .text(environment)), ("original_transaction_id", .text(id)),
    ]
    let results = try sql { [(.lineRead, key)] }
    guard let row = try results.rowIfAny(0) else { return nil }
    return try LineRow(row).checked(environment, id)
  }

  /// Transfers the subscription to another owner, with strictly newer evidence and not too soon
  /// after the last transfer (STO-42). Returns the row as stored afterwards.
  mutating func move(
    _ next: LineRow, _ evidence: StoreEvidence, from owner: Text, beforeMs: Int64
  ) throws(StoreStop) -> LineRow {
    if isDynamo {
      return try dynamoMove(next, evidence, from: owner, beforeMs: beforeMs).checked(next)
    }
    let changes = next.changes(nowMs: context.nowMs)
    let kept = keeping(evidence, of: next)
    let results = try sql(.single) {
      let more: Arguments = [
        ("old_owner", .text(owner)), ("before_ms", .integer(beforeMs)),
      ]
      return [(.lineMove, changes + more)] + kept + [(.lineRead, next.keyArguments)]
    }
    return try LineRow(try results.row(results.count &- 1)).checked(next)
  }

  /// Returns the statements that insert the subscription, bind it to its first owner, and overwrite
  /// it with later evidence of that owner (STO-40).
  func applying(_ next: LineRow, _ evidence: StoreEvidence) -> [(SQLStatement, Arguments)] {
    var calls: [(SQLStatement, Arguments)] = [(.lineInsert, next.arguments)]
    if !next.owner.isEmpty {
      calls.append((.lineBind, next.keyArguments + [("owner", .text(next.owner))]))
    }
    calls.append((.lineApply, next.changes(nowMs: context.nowMs)))
    return calls + keeping(evidence, of: next)
  }

  /// Returns the statement that keeps the evidence's text. It follows the change of the row, and
  /// writes only if the row names the text (STM-2).
  private func keeping(
    _ evidence: StoreEvidence, of line: LineRow
  ) -> [(SQLStatement, Arguments)] {
    guard context.policy.keepEvidence else { return [] }
    return [(.lineEvidence, arguments(of: evidence) + line.keyArguments)]
  }

  /// Returns the subscriptions of an account, the newest first; at most 50.
  mutating func lines(of account: Text) throws(StoreStop) -> [LineRow] {
    let rows = isDynamo ? try dynamoLines(of: account) : try sqlLines(of: account)
    // A row of another owner would give this account a plan that it did not buy (STO-4).
    for row in rows where row.owner != account { throw .shape("owner") }
    return rows
  }

  private mutating func sqlLines(of account: Text) throws(StoreStop) -> [LineRow] {
    let results = try sql { [(.linesOfAccount, [("owner", .text(account))])] }
    return try lineRows(results, 0)
  }

  /// Deactivates all subscriptions of an account, and returns them as stored afterwards (STO-46).
  mutating func clearLines(of account: Text) throws(StoreStop) -> [LineRow] {
    if isDynamo { return try dynamoClear(account) }
    let nowMs = context.nowMs
    let results = try sql {
      let owner: Arguments = [("owner", .text(account)), ("now_ms", .integer(nowMs))]
      return [(.lineClear, owner), (.linesOfAccount, owner)]
    }
    return try lineRows(results, 1)
  }

  /// Reserves subscriptions whose check is due until `leaseMs`; at most 25 (STO-48).
  mutating func takeDueLines(leaseMs: Int64, attempt: Text) throws(StoreStop) -> [LineRow] {
    if isDynamo { return try dynamoDueLines(leaseMs: leaseMs, attempt: attempt) }
    let arguments: Arguments = [
      ("now_ms", .integer(context.nowMs)), ("lease_expires_at_ms", .integer(leaseMs)),
    ]
    guard context.engine == .mariadb else {
      return try lineRows(try sql { [(.linesDue, arguments)] }, 0)
    }
    let rows = try lineRows(try sql(.begin) { [(.linesDueLock, arguments)] }, 0)
    _ = try sql(.commit) { rows.map { (.linesDueTake, arguments + $0.keyArguments) } }
    return rows
  }

  /// Schedules the next check of each subscription whose lease this sweeper still holds.
  mutating func planNextLooks(_ rows: [LineRow], leaseMs: Int64) throws(StoreStop) {
    if isDynamo { return try dynamoNextLooks(rows, leaseMs: leaseMs) }
    guard !rows.isEmpty else { return }
    let nowMs = context.nowMs
    _ = try sql {
      rows.map { row in
        let look: Arguments = [
          ("next_check_at_ms", StoreValue(row.nextLook(nowMs: nowMs))),
          ("lease_expires_at_ms", .integer(leaseMs)),
        ]
        return (.lineNextLook, look + row.keyArguments)
      }
    }
  }

  private func lineRows(_ results: [StoreResult], _ place: Int) throws(StoreStop) -> [LineRow] {
    var rows: [LineRow] = []
    for row in try results.rows(place) { rows.append(try LineRow(row)) }
    return rows
  }
}

extension LineRow {
  fileprivate var keyArguments: StoreTalk.Arguments {
    [("environment", .text(environment)), ("original_transaction_id", .text(originalTransactionId))]
  }

  fileprivate func changes(nowMs: Int64) -> StoreTalk.Arguments {
    arguments + [
      ("now_ms", .integer(nowMs)), ("revoking", .integer(revokedAtMs == nil ? 0 : 1)),
    ]
  }
}
