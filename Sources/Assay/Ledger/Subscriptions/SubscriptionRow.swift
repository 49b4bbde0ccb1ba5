/// The stored state of a subscription: one original transaction id of one environment, its owner
/// and its newest state (STO-44).
struct SubscriptionRow: Sendable {
  var environment: Text
  var originalTransactionId: Text
  /// The owning account; empty while no account owns the subscription.
  var owner: Text
  var product: Text
  /// The plan when the row was written, for support only: decisions use the current configuration.
  var plan: Text
  var transactionId: Text
  var purchasedAtMs: Int64
  /// The end in milliseconds since 1970 UTC; `nil` if the subscription has none.
  var expiresAtMs: Int64? = nil
  var graceExpiresAtMs: Int64? = nil
  var revokedAtMs: Int64? = nil
  var asOfMs: Int64
  /// SHA-256 of the evidence, lower-case hex.
  var evidence: Text
  var deactivatedAtMs: Int64? = nil
  var moves: Int64 = 0
  var movedMs: Int64 = 0
  var updatedMs: Int64
  /// The time from which newer evidence should be requested, in milliseconds since 1970 UTC; `nil`
  /// if none can come (STO-47).
  var nextCheckAtMs: Int64? = nil
  /// Whether daily checks follow the first ones after the end.
  var isWatched = false
  /// The end of the commitment, in milliseconds since 1970 UTC, and the number of its paid period
  /// of how many; `nil` without a commitment (CMT-9). The end grants nothing (CMT-1).
  var commitmentEndsAtMs: Int64? = nil
  var commitmentPeriod: Int64? = nil
  var commitmentOf: Int64? = nil
}

extension SubscriptionRow {
  /// Returns `self` if its key is the requested one; an engine that returns another row is refused
  /// (STO-4).
  func checked(_ environment: Text, _ id: Text) throws(LedgerSuspension) -> SubscriptionRow {
    guard self.environment == environment, originalTransactionId == id else {
      throw .shape("original_transaction_id")
    }
    return self
  }

  /// Returns `self` if it is a row of the same subscription as `other`.
  func checked(_ other: SubscriptionRow) throws(LedgerSuspension) -> SubscriptionRow {
    try checked(other.environment, other.originalTransactionId)
  }

  /// Reads a row whose values have the order of the statements' columns.
  init(_ row: DatabaseRow) throws(LedgerSuspension) {
    var row = row
    environment = try row.text()
    originalTransactionId = try row.text()
    owner = try row.text()
    product = try row.text()
    plan = try row.text()
    transactionId = try row.text()
    purchasedAtMs = try row.integer()
    expiresAtMs = try row.integerIfAny()
    graceExpiresAtMs = try row.integerIfAny()
    revokedAtMs = try row.integerIfAny()
    asOfMs = try row.integer()
    evidence = try row.text()
    deactivatedAtMs = try row.integerIfAny()
    moves = try row.integer()
    movedMs = try row.integer()
    updatedMs = try row.integer()
    nextCheckAtMs = try row.integerIfAny()
    isWatched = try row.integer() != 0
    commitmentEndsAtMs = try row.integerIfAny()
    commitmentPeriod = try row.integerIfAny()
    commitmentOf = try row.integerIfAny()
    try row.end()
  }

  /// The row's values by column name.
  var arguments: DatabaseCall.Arguments {
    [
      ("environment", .text(environment)),
      ("original_transaction_id", .text(originalTransactionId)),
      ("owner", .text(owner)), ("product", .text(product)), ("plan", .text(plan)),
      ("transaction_id", .text(transactionId)), ("purchased_at_ms", .integer(purchasedAtMs)),
      ("expires_at_ms", DatabaseValue(expiresAtMs)),
      ("grace_expires_at_ms", DatabaseValue(graceExpiresAtMs)),
      ("revoked_at_ms", DatabaseValue(revokedAtMs)), ("as_of_ms", .integer(asOfMs)),
      ("evidence", .text(evidence)), ("deactivated_at_ms", DatabaseValue(deactivatedAtMs)),
      ("transfers", .integer(moves)), ("transferred_at_ms", .integer(movedMs)),
      ("updated_at_ms", .integer(updatedMs)), ("next_check_at_ms", DatabaseValue(nextCheckAtMs)),
      ("is_renewing", .integer(isWatched ? 1 : 0)),
      ("commitment_ends_at_ms", DatabaseValue(commitmentEndsAtMs)),
      ("commitment_period", DatabaseValue(commitmentPeriod)),
      ("commitment_of", DatabaseValue(commitmentOf)),
    ]
  }

  /// Whether both rows entitle the same owner to the same product until the same dates.
  func givesSame(as other: SubscriptionRow) -> Bool {
    owner == other.owner && product == other.product && expiresAtMs == other.expiresAtMs
      && graceExpiresAtMs == other.graceExpiresAtMs && revokedAtMs == other.revokedAtMs
      && deactivatedAtMs == other.deactivatedAtMs
  }
}

extension [SubscriptionRow] {
  /// Returns `self` if `account` owns all of the rows: one of another owner would give this account
  /// a plan that it did not buy (STO-4).
  func owned(by account: Text) throws(LedgerSuspension) -> [SubscriptionRow] {
    for row in self where row.owner != account { throw .shape("owner") }
    return self
  }
}
