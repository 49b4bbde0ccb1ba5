/// A run of `reconcile` over the ledger of one environment and app: its place, and who has it
/// (docs/spec/reconcile.md RCN-2, RCN-10).
struct RunRow: Sendable {
  /// `<environment>/<bundle id>`.
  let id: Text
  /// The attempt id with which the run began.
  var run: Text
  var isOpen = true
  /// The names of the parts, joined by spaces.
  var parts: Text
  /// The time of the notifications that the run asks for, in milliseconds since 1970 UTC.
  var fromMs: Int64
  var untilMs: Int64
  /// The part that the run has reached.
  var part: RunPart
  /// The place in the part: the start of a window or the time of a row, and a page token or the key
  /// of a row.
  var atMs: Int64
  var token: Text = ""
  /// The end of the newest run that finished the part, in milliseconds since 1970 UTC; 0 if none.
  var failuresUntilMs: Int64 = 0
  var eventsUntilMs: Int64 = 0
  var attemptId: Text
  var fencingToken: Int64 = 1
  /// The end of the lease, in milliseconds since 1970 UTC; 0 if nobody has the run.
  var leaseMs: Int64
  var begunAtMs: Int64
  var doneAtMs: Int64? = nil

  static func id(_ environment: Text, _ bundleId: Text) -> Text {
    Text(environment.utf8 + [0x2f] + bundleId.utf8)
  }

  /// Whether this row is held by the attempt that read or wrote `other`.
  func isHeld(as other: RunRow) -> Bool {
    attemptId == other.attemptId && fencingToken == other.fencingToken && run == other.run
  }
}

extension RunRow {
  static let columns: [StaticString] = [
    "id", "run", "state", "parts", "from_ms", "until_ms", "part", "at_ms", "token",
    "failures_until_ms", "events_until_ms", "attempt_id", "fencing_token", "lease_expires_at_ms",
    "begun_at_ms", "done_at_ms",
  ]

  /// Reads a row whose values have the order of `columns`.
  init(_ row: DatabaseRow) throws(LedgerSuspension) {
    var row = row
    id = try row.text()
    run = try row.text()
    switch try row.text() {
    case "open": isOpen = true
    case "done": isOpen = false
    default: throw .shape("state")
    }
    parts = try row.text()
    fromMs = try row.integer()
    untilMs = try row.integer()
    guard let part = RunPart(try row.text()) else { throw .shape("part") }
    self.part = part
    atMs = try row.integer()
    token = try row.text()
    failuresUntilMs = try row.integer()
    eventsUntilMs = try row.integer()
    attemptId = try row.text()
    fencingToken = try row.integer()
    leaseMs = try row.integer()
    begunAtMs = try row.integer()
    doneAtMs = try row.integerIfAny()
    try row.end()
  }

  /// The row's values by column name.
  var arguments: DatabaseCall.Arguments {
    [
      ("id", .text(id)), ("run", .text(run)), ("state", .text(isOpen ? "open" : "done")),
      ("parts", .text(parts)), ("from_ms", .integer(fromMs)), ("until_ms", .integer(untilMs)),
      ("part", .text(Text(stringLiteral: part.name))), ("at_ms", .integer(atMs)),
      ("token", .text(token)), ("failures_until_ms", .integer(failuresUntilMs)),
      ("events_until_ms", .integer(eventsUntilMs)), ("attempt_id", .text(attemptId)),
      ("fencing_token", .integer(fencingToken)), ("lease_expires_at_ms", .integer(leaseMs)),
      ("begun_at_ms", .integer(begunAtMs)), ("done_at_ms", DatabaseValue(doneAtMs)),
    ]
  }
}
