/// The answer of the decision table for one transaction. Times: milliseconds
/// since 1970 UTC.
struct Ruling: Sendable {
  var state: EntitlementState
  /// "DEC-10": the row that gave the state.
  var row: StaticString
  var entitled = false
  var flags: [DecisionFlag] = []
  /// revocationReason (DEC-5) or expirationIntent (DEC-17), as Apple numbers them.
  var reason: Int64? = nil
  /// The first moment after the entitlement, or when a refund ended it; nil
  /// where nothing is granted, since hosts store it (DCD-25).
  var until: Int64? = nil
  /// Where nothing is granted: the end of what was bought.
  var wouldBeUntil: Int64? = nil
  var bookedUntil: Int64? = nil
  var graceUntil: Int64? = nil
  /// Newer evidence would say more than this does.
  var stale = false
  var nextCheck: Int64? = nil

  var isRevoked: Bool { state == .refunded || state == .revokedFamily }

  init(_ state: EntitlementState, _ row: StaticString) {
    self.state = state
    self.row = row
  }
}
