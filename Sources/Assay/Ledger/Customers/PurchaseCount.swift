/// The purchases of an account since a moment, counted to a bound.
struct PurchaseCount: Sendable {
  let purchases: Int64
  /// Those that are revoked now.
  let refunds: Int64

  /// The largest number of purchases that is counted.
  static let cap: Int64 = 101

  init(purchases: Int64, refunds: Int64) throws(LedgerSuspension) {
    guard (0...PurchaseCount.cap).contains(purchases), (0...purchases).contains(refunds) else {
      throw .shape("count")
    }
    self.purchases = purchases
    self.refunds = refunds
  }
}
