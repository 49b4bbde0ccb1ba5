/// Events, each of which is handled at most once (STO-65).
protocol EventTable: AnyObject {
  /// Records an event if it is new. Returns the attempt that recorded it first, and when.
  func first(_ event: EventRow) throws(LedgerSuspension) -> EventRow
}
