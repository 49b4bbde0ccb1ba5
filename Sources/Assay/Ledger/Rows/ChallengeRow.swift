/// An issued challenge, stored by its SHA-256 (STO-60).
struct ChallengeRow: Sendable {
  /// SHA-256 of the challenge, lower-case hex.
  let id: Text
  let purpose: Text
  let subject: Text
  let expiresAtMs: Int64
  /// The user that consumed the challenge; `nil` if it is unused.
  var usedBy: Text? = nil
  var usedAtMs: Int64? = nil

  static let columns: [StaticString] = [
    "id", "purpose", "subject", "expires_at_ms", "used_by", "used_at_ms",
  ]

  init(id: Text, purpose: Text, subject: Text, expiresAtMs: Int64) {
    self.id = id
    self.purpose = purpose
    self.subject = subject
    self.expiresAtMs = expiresAtMs
  }

  /// Reads a row whose values have the order of `columns`.
  init(_ row: DatabaseRow) throws(LedgerSuspension) {
    var row = row
    id = try row.text()
    purpose = try row.text()
    subject = try row.text()
    expiresAtMs = try row.integer()
    usedBy = try row.textIfAny()
    usedAtMs = try row.integerIfAny()
    try row.end()
    guard (usedBy == nil) == (usedAtMs == nil) else { throw .shape("used_by") }
  }

  /// The row's values by column name.
  var arguments: DatabaseCall.Arguments {
    [
      ("id", .text(id)), ("purpose", .text(purpose)), ("subject", .text(subject)),
      ("expires_at_ms", .integer(expiresAtMs)), ("used_by", DatabaseValue(usedBy)),
      ("used_at_ms", DatabaseValue(usedAtMs)),
    ]
  }

  /// The time until which the row is kept (docs/spec/ledger.md §4).
  var keptUntilMs: Int64 { Milliseconds.sum(expiresAtMs, Milliseconds.day) }
}
