/// A row of the index: an account at the key of an id of Apple's (CUS-3).
struct CustomerRow: Sendable {
  let id: Text
  var account: Text
  let role: CustomerRole
  let firstSeenAtMs: Int64
  let lastSeenAtMs: Int64

  /// The columns in the order of contract/store/tables.tsv.
  static let columns: [StaticString] = [
    "id", "account", "role", "first_seen_at_ms", "last_seen_at_ms",
  ]

  init(_ row: DatabaseRow) throws(LedgerSuspension) {
    var row = row
    id = try row.text()
    account = try row.text()
    guard let role = CustomerRole(rawValue: try row.integer()) else { throw .shape("role") }
    self.role = role
    firstSeenAtMs = try row.integer()
    lastSeenAtMs = try row.integer()
    try row.end()
  }

  init(_ entry: CustomerEntry, of account: Text, nowMs: Int64) {
    id = entry.key.text
    self.account = account
    role = entry.role
    firstSeenAtMs = nowMs
    lastSeenAtMs = nowMs
  }

  /// The row's values by column name.
  var arguments: DatabaseCall.Arguments {
    [
      ("id", .text(id)), ("account", .text(account)), ("role", .integer(role.rawValue)),
      ("first_seen_at_ms", .integer(firstSeenAtMs)), ("last_seen_at_ms", .integer(lastSeenAtMs)),
    ]
  }

  /// The largest number of rows of a key or an account in a reply; one more than is counted.
  static let cap = 51

  /// The time for which a row that was seen is not written again, in milliseconds.
  static let freshMs: Int64 = 3_600_000
}
