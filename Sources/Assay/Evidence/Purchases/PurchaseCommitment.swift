/// A commitment of several billing periods, of which a transaction pays one (CMT-2).
struct PurchaseCommitment: Sendable, Equatable {
  /// The number of the period, from 1, and the number of all.
  let period: Int64
  let periods: Int64
  /// The end of the last period, in milliseconds since 1970 UTC. It never grants anything (CMT-1).
  let endsAtMs: Int64?
  /// The price of all periods together, in thousandths of the currency unit.
  let price: Int64?
}
