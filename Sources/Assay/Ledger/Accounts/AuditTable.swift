/// Audit rows: what was done to which account and when, for support staff (STM-2).
extension LedgerSession {
  /// Inserts an audit row.
  ///
  /// - Parameters:
  ///   - action: `merge`, `forget`, `transfer`, `hand` or `debt`.
  ///   - id: The end of the row's key, of which the first 32 bytes are used.
  mutating func audit(
    _ action: StaticString, _ id: Text, owner: Text, other: Text, note: Text?
  ) throws(LedgerSuspension) {
    let row = AuditRow(
      id: AuditRow.id(action, id), action: action, owner: owner, other: other, note: note,
      atMs: context.nowMs)
    if context.engine == .dynamodb { return try dynamoAudit(row) }
    _ = try sql { [(.auditInsert, row.arguments)] }
  }
}
