/// Rows that say what happened to whom, for people (STM-2).
extension StoreTalk {
  /// - Parameters:
  ///   - what: `link`, `forget`, `move` or `hand`.
  ///   - id: makes the row's key with it; of a longer one the first 32 characters.
  mutating func audit(
    _ what: StaticString, _ id: Text, owner: Text, other: Text, note: Text?
  ) throws(StoreStop) {
    let row = AuditRow(
      id: AuditRow.id(what, id), what: what, owner: owner, other: other, note: note,
      atMs: context.nowMs)
    if context.dialect == .dynamodb { return try dynamoAudit(row) }
    _ = try sql { [(.auditInsert, row.arguments)] }
  }
}
