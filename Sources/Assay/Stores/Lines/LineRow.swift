/// A row of the subscription lines: one original transaction id of one environment, whose
/// it is, and its newest state (STO-44).
struct LineRow: Sendable {
  var environment: Text
  var originalTransactionId: Text
  /// Empty: nobody's yet.
  var owner: Text
  var product: Text
  /// Informative: the plan is judged by the configuration of the moment.
  var plan: Text
  var transactionId: Text
  var purchasedMs: Int64
  /// nil: it does not end.
  var expiresMs: Int64? = nil
  var graceMs: Int64? = nil
  var revokedMs: Int64? = nil
  var asOfMs: Int64
  /// SHA-256 of the evidence.
  var evidence: Text
  var clearedMs: Int64? = nil
  var moves: Int64 = 0
  var movedMs: Int64 = 0
  var updatedMs: Int64
  /// STO-47: when newer evidence should be asked for; nil: nothing more can come.
  var nextCheckMs: Int64? = nil
  /// Daily looks go on after the first ones.
  var isWatched = false
}

extension LineRow {
  /// It is the row that was asked for (STO-4).
  func checked(_ environment: Text, _ id: Text) throws(StoreStop) -> LineRow {
    guard self.environment == environment, originalTransactionId == id else {
      throw .shape("otx")
    }
    return self
  }

  /// That of the same line.
  func checked(_ other: LineRow) throws(StoreStop) -> LineRow {
    try checked(other.environment, other.originalTransactionId)
  }

  /// In the order of the statements' columns.
  init(_ row: StoreRow) throws(StoreStop) {
    var row = row
    environment = try row.text()
    originalTransactionId = try row.text()
    owner = try row.text()
    product = try row.text()
    plan = try row.text()
    transactionId = try row.text()
    purchasedMs = try row.integer()
    expiresMs = try row.integerIfAny()
    graceMs = try row.integerIfAny()
    revokedMs = try row.integerIfAny()
    asOfMs = try row.integer()
    evidence = try row.text()
    clearedMs = try row.integerIfAny()
    moves = try row.integer()
    movedMs = try row.integer()
    updatedMs = try row.integer()
    nextCheckMs = try row.integerIfAny()
    isWatched = try row.integer() != 0
    try row.end()
  }

  /// By column.
  var arguments: [(name: StaticString, value: StoreValue)] {
    [
      ("env", .text(environment)), ("otx", .text(originalTransactionId)),
      ("owner", .text(owner)), ("product", .text(product)), ("plan", .text(plan)),
      ("txn", .text(transactionId)), ("purchased_ms", .integer(purchasedMs)),
      ("expires_ms", StoreValue(expiresMs)), ("grace_ms", StoreValue(graceMs)),
      ("revoked_ms", StoreValue(revokedMs)), ("asof_ms", .integer(asOfMs)),
      ("evidence", .text(evidence)), ("cleared_ms", StoreValue(clearedMs)),
      ("moves", .integer(moves)), ("moved_ms", .integer(movedMs)),
      ("updated_ms", .integer(updatedMs)), ("next_check_ms", StoreValue(nextCheckMs)),
      ("watch", .integer(isWatched ? 1 : 0)),
    ]
  }

  /// Whether what an account has from it is the same.
  func givesSame(as other: LineRow) -> Bool {
    owner == other.owner && product == other.product && expiresMs == other.expiresMs
      && graceMs == other.graceMs && revokedMs == other.revokedMs
      && clearedMs == other.clearedMs
  }
}
