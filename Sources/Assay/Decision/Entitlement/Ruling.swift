/// The states of the decision table (receipts-decisions.md §3).
enum EntitlementState: Sendable, Equatable {
  case none, superseded, revokedFamily, refunded, active, notStarted, deniedByPolicy
  case grace, billingRetry, expired, stale, owned, once

  var name: StaticString {
    switch self {
    case .none: return "none"
    case .superseded: return "superseded"
    case .revokedFamily: return "revoked-family"
    case .refunded: return "refunded"
    case .active: return "active"
    case .notStarted: return "not-started"
    case .deniedByPolicy: return "denied-by-policy"
    case .grace: return "grace"
    case .billingRetry: return "billing-retry"
    case .expired: return "expired"
    case .stale: return "stale"
    case .owned: return "owned"
    case .once: return "once"
    }
  }
}

/// What else is true of a state; all that match are reported (DCD-9).
enum DecisionFlag: Sendable, Equatable {
  case renewalBooked, cancelled, trial, intro, offer, willNotRenew, changePending
  case priceConsentPending, family, assigned, byThisEvidence

  var name: StaticString {
    switch self {
    case .renewalBooked: return "renewal-booked"
    case .cancelled: return "cancelled"
    case .trial: return "trial"
    case .intro: return "intro"
    case .offer: return "offer"
    case .willNotRenew: return "will-not-renew"
    case .changePending: return "change-pending"
    case .priceConsentPending: return "price-consent-pending"
    case .family: return "family"
    case .assigned: return "assigned"
    case .byThisEvidence: return "by-this-evidence"
    }
  }
}

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
