/// The outcome of the decision table for one transaction. Times are milliseconds since 1970 UTC.
struct TableOutcome: Sendable {
  var state: EntitlementState
  /// The row that determined the state: "DEC-10".
  var row: StaticString
  var entitled = false
  var flags: [DecisionFlag] = []
  /// Apple's revocationReason (DEC-5) or expirationIntent (DEC-17).
  var reason: Int64? = nil
  /// The first moment after the entitlement, or when a refund ended it; `nil` if nothing is
  /// granted, because hosts store this date (DCD-25).
  var until: Int64? = nil
  /// The end of the purchased period if nothing is granted.
  var wouldExpireAtMs: Int64? = nil
  var nextPeriodExpiresAtMs: Int64? = nil
  var graceExpiresAtMs: Int64? = nil
  /// Whether newer evidence could change the state.
  var stale = false
  var nextCheckAtMs: Int64? = nil

  var isRevoked: Bool { state == .refunded || state == .familyRevoked }

  init(_ state: EntitlementState, _ row: StaticString) {
    self.state = state
    self.row = row
  }
}
