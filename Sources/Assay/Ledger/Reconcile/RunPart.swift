/// A part of a run, in the order in which they are done (docs/spec/reconcile.md RCN-3).
enum RunPart: CaseIterable, Sendable {
  /// The open differences, which may be in order by now.
  case recheck
  /// The notifications that Apple could not deliver, or all of them.
  case failures, events
  /// The claims that are over, the take-backs that are pending, the subscriptions that are due.
  case claims, revocations, subscriptions

  init?(_ name: Text) {
    guard let found = Self.allCases.first(where: { Text(stringLiteral: $0.name) == name }) else {
      return nil
    }
    self = found
  }

  var name: StaticString {
    switch self {
    case .recheck: return "recheck"
    case .failures: return "failures"
    case .events: return "events"
    case .claims: return "claims"
    case .revocations: return "revocations"
    case .subscriptions: return "subscriptions"
    }
  }
}
