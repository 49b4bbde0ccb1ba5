/// A challenge that was handed out, by the SHA-256 of it (STO-60).
struct ChallengeRow: Sendable {
  /// SHA-256, lower-case hex.
  let id: Text
  let purpose: Text
  let subject: Text
  let expiresMs: Int64
  /// nil: nobody yet.
  var usedBy: Text? = nil
  var usedMs: Int64? = nil

  static let columns: [StaticString] = [
    "id", "purpose", "subject", "expires_ms", "used_by", "used_ms",
  ]

  init(id: Text, purpose: Text, subject: Text, expiresMs: Int64) {
    self.id = id
    self.purpose = purpose
    self.subject = subject
    self.expiresMs = expiresMs
  }

  /// In the order of the columns.
  init(_ row: StoreRow) throws(StoreStop) {
    var row = row
    id = try row.text()
    purpose = try row.text()
    subject = try row.text()
    expiresMs = try row.integer()
    usedBy = try row.textIfAny()
    usedMs = try row.integerIfAny()
    try row.end()
    guard (usedBy == nil) == (usedMs == nil) else { throw .shape("used_by") }
  }

  /// By column.
  var arguments: StoreTalk.Arguments {
    [
      ("id", .text(id)), ("purpose", .text(purpose)), ("subject", .text(subject)),
      ("expires_ms", .integer(expiresMs)), ("used_by", StoreValue(usedBy)),
      ("used_ms", StoreValue(usedMs)),
    ]
  }
}
