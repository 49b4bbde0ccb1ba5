/// Counters. Each change returns the count afterwards, `nil` if it was not made (STO-51).
protocol MeterTable: AnyObject {
  /// Consumes units if the count is at most `room`, which is not negative; creates the row with
  /// them.
  func take(
    _ meter: Meter, units: Int64, room: Int64, ttlMs: Int64
  ) throws(LedgerSuspension) -> Int64?

  /// Releases units if the count has as many.
  func giveBack(_ meter: Meter, units: Int64) throws(LedgerSuspension) -> Int64?
}
