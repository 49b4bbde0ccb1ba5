/// The states of the decision table (docs/spec/receipts-decisions.md §3).
enum EntitlementState: Sendable, Equatable {
  case none, superseded, familyRevoked, refunded, active, notStarted, deniedByPolicy
  case grace, billingRetry, expired, stale, owned, once

  var name: StaticString {
    switch self {
    case .none: return "none"
    case .superseded: return "upgraded"
    case .familyRevoked: return "family-revoked"
    case .refunded: return "refunded"
    case .active: return "active"
    case .notStarted: return "not-started"
    case .deniedByPolicy: return "denied-by-policy"
    case .grace: return "grace"
    case .billingRetry: return "billing-retry"
    case .expired: return "expired"
    case .stale: return "stale"
    case .owned: return "owned"
    case .once: return "consumable"
    }
  }
}
