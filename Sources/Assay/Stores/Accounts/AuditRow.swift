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

  /// The row's values by column name.
  var arguments: [(name: StaticString, value: StoreValue)] {
    [
      ("id", .text(id)), ("at_ms", .integer(atMs)),
      ("what", .text(Text(stringLiteral: what))), ("owner", .text(owner)),
      ("other", .text(other)), ("note", StoreValue(note)),
    ]
  }
}
