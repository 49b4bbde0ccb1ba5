/// What was done to an account and when, for support staff (STM-2).
struct AuditRow: Sendable {
  let id: Text
  let action: StaticString
  let owner: Text
  let other: Text
  let note: Text?
  let atMs: Int64

  static func id(_ action: StaticString, _ id: Text) -> Text {
    Text(Text(stringLiteral: action).utf8 + [0x23] + id.utf8.prefix(32))
  }

  /// The row's values by column name.
  var arguments: DatabaseCall.Arguments {
    [
      ("id", .text(id)), ("stored_at_ms", .integer(atMs)),
      ("action", .text(Text(stringLiteral: action))), ("owner", .text(owner)),
      ("other", .text(other)), ("note", DatabaseValue(note)),
    ]
  }
}

extension AuditRow {
  /// - Parameters:
  ///   - action: `merge`, `transfer`, `hand` or `debt`.
  ///   - id: The end of the row's key, of which the first 32 bytes are used.
  init(
    _ action: StaticString, _ id: Text, owner: Text, other: Text = "", note: Text?,
    _ context: LedgerContext
  ) {
    self.init(
      id: AuditRow.id(action, id), action: action, owner: owner, other: other, note: note,
      atMs: context.nowMs)
  }
}
