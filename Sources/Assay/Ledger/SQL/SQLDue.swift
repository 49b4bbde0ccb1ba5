/// Due lists on SQL engines (docs/spec/ledger-statements.md §2, "Due lists").
extension LedgerSession {
  mutating func sqlDue(
    _ state: LedgerRow.State, attemptId: Text, leaseMs: Int64, beforeMs: Int64
  ) throws(LedgerSuspension) -> [LedgerRow] {
    let arguments: Arguments = [
      ("state", .text(Text(stringLiteral: state.name))),
      ("attempt_id", .text(attemptId)), ("lease_expires_at_ms", .integer(leaseMs)),
      ("before_ms", .integer(beforeMs)),
    ]
    // Reads the rows of this attempt, also those taken by a step whose reply was lost.
    let own: (SQLStatement, Arguments) = (.claimsOwn, arguments)
    let rows: [LedgerRow]
    if context.engine == .mariadb {
      // MariaDB 10.6 has no UPDATE … RETURNING: rows are locked, then changed one by one.
      let due = try ledgerRows(try sql(.begin) { [(.claimsDueLock, arguments)] }, 0)
      let results = try sql(.commit) {
        due.map { (.claimsDueTake, arguments + [("purchase_key", .text($0.purchaseKey))]) } + [own]
      }
      rows = try ledgerRows(results, due.count)
    } else {
      rows = try ledgerRows(try sql { [(.claimsDue, arguments), own] }, 1)
    }
    for row in rows where row.attemptId != attemptId { throw .shape("attempt_id") }
    return rows
  }
}
