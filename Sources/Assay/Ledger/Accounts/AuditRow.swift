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
  var arguments: [(name: StaticString, value: DatabaseValue)] {
    [
      ("id", .text(id)), ("stored_at_ms", .integer(atMs)),
      ("action", .text(Text(stringLiteral: action))), ("owner", .text(owner)),
      ("other", .text(other)), ("note", DatabaseValue(note)),
    ]
  }
}
