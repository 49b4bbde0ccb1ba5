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

struct AuditRow: Sendable {
  let id: Text
  let what: StaticString
  let owner: Text
  let other: Text
  let note: Text?
  let atMs: Int64

  static func id(_ what: StaticString, _ id: Text) -> Text {
    Text(Text(stringLiteral: what).utf8 + [0x23] + id.utf8.prefix(32))
  }

  /// By column.
  var arguments: [(name: StaticString, value: StoreValue)] {
    [
      ("id", .text(id)), ("at_ms", .integer(atMs)),
      ("what", .text(Text(stringLiteral: what))), ("owner", .text(owner)),
      ("other", .text(other)), ("note", StoreValue(note)),
    ]
  }
}
