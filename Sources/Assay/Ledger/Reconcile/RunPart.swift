/// A part of a run, in the order in which they are done (docs/spec/reconcile.md RCN-3).
enum RunPart: NamedCase, Sendable {
  /// The open differences, which may be in order by now.
  case recheck
  /// The notifications that Apple could not deliver, or all of them.
  case failures, events
  /// The claims that are over, the take-backs that are pending, the subscriptions that are due.
  case claims, revocations, subscriptions
  /// The transactions of every customer who is known, or their refunds alone.
  case customers, refunds

  var name: StaticString {
    switch self {
    case .recheck: return "recheck"
    case .failures: return "failures"
    case .events: return "events"
    case .claims: return "claims"
    case .revocations: return "revocations"
    case .subscriptions: return "subscriptions"
    case .customers: return "customers"
    case .refunds: return "refunds"
    }
  }

  /// The request to Apple of which the part consists; `nil` if it asks the ledger alone.
  var appStoreOperation: StaticString? {
    switch self {
    case .recheck, .claims, .revocations: return nil
    case .failures, .events: return "get-notification-history"
    case .subscriptions: return "get-all-subscription-statuses"
    case .customers: return "get-transaction-history"
    case .refunds: return "get-refund-history"
    }
  }
}
