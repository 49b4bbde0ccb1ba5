/// An event, as the attempt recorded it that handles it (STO-65).
struct EventRow: Sendable {
  let id: Text
  let attemptId: Text
  let atMs: Int64

  static let columns: [StaticString] = ["attempt_id", "stored_at_ms"]

  /// The row's values by column name.
  var arguments: DatabaseCall.Arguments {
    [("id", .text(id)), ("attempt_id", .text(attemptId)), ("stored_at_ms", .integer(atMs))]
  }

  /// The time until which the row is kept (docs/spec/ledger.md §4).
  var keptUntilMs: Int64 { Milliseconds.sum(atMs, 30 &* Milliseconds.day) }
}

extension EventRow {
  /// Reads a row whose values have the order of `columns`.
  init(_ id: Text, _ row: DatabaseRow) throws(LedgerSuspension) {
    var row = row
    self.id = id
    attemptId = try row.text()
    atMs = try row.integer()
    try row.end()
  }
}
