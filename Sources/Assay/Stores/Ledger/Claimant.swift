/// Who claims, and for how long.
struct Claimant: Sendable {
  /// nil: an event from Apple, which speaks for whoever has the purchase.
  let account: Text?
  let attempt: Text
  /// Milliseconds since 1970 UTC: the end of the lease.
  let leaseUntilMs: Int64
  /// STO-27: a lease that is over is left to a person.
  let holds: Bool
}
