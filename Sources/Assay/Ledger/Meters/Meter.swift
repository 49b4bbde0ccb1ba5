/// One counter of a span of time: a row of quotas, sign-ups or rate limits (docs/spec/ledger.md
/// §4).
struct Meter: Sendable {
  let scope: Text
  let bucket: MeterBucket
  let name: Text

  init(scope: Text, _ bucket: MeterBucket, _ name: Text) {
    self.scope = scope
    self.bucket = bucket
    self.name = name
  }

  /// Returns a jitter seed: processes that meet on one row have different clocks (STO-70).
  func seed(_ nowMs: Int64) -> Text { Text(scope.utf8 + Array(String(nowMs).utf8)) }

  /// Consumes units while the count stays within the limit.
  ///
  /// - Parameter ttlMs: The time until which the row is kept, in milliseconds since 1970 UTC.
  /// - Returns: The count afterwards; `nil` if the limit is reached.
  func take(
    units: Int64, limit: Int64, ttlMs: Int64, from database: any GuardDatabase
  ) throws(LedgerSuspension) -> Int64? {
    let room = limit &- units
    // No statement runs: an upsert would let one request through at limit 0 (W17).
    guard room >= 0 else { return nil }
    let count = try database.take(self, units: units, room: room, ttlMs: ttlMs)
    if let count, !(units...limit).contains(count) { throw .shape("used") }
    return count
  }

  /// Releases units, never below 0.
  ///
  /// - Returns: The count afterwards; `nil` if there was nothing to release (STO-53).
  func giveBack(units: Int64, to database: any GuardDatabase) throws(LedgerSuspension) -> Int64? {
    let count = try database.giveBack(self, units: units)
    if let count, count < 0 { throw .shape("used") }
    return count
  }
}
