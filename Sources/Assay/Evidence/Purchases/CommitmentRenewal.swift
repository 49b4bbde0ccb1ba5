/// What follows a commitment, by the renewal info of its subscription (CMT-2).
struct CommitmentRenewal: Sendable, Equatable {
  /// 0 off, 1 on; other values are unknown (DCD-11).
  let status: Int64?
  let productId: Text?
  let billingPlan: Text?
  /// Milliseconds since 1970 UTC.
  let atMs: Int64?
  /// The price of the next commitment, in thousandths of the currency unit.
  let price: Int64?
}
