/// The rules of the refund preference (docs/spec/refund-answers.md §3); raw values are their
/// numbers.
enum RefundPreferenceRule: Int, Sendable, CaseIterable {
  case undelivered = 31
  case legal = 32
  case repeated = 33
  case unfulfilled = 34
  case used = 35
  case partlyUsedSubscription = 36
  case partlyUsed = 37
  case unused = 38
  case otherwise = 39

  /// Creates a rule from an id such as "RFA-33"; `nil` if there is no such rule.
  init?(_ id: Text?) {
    guard let id,
      let rule = RefundPreferenceRule.allCases.first(where: {
        id.utf8[...].elementsEqual($0.id)
      })
    else { return nil }
    self = rule
  }

  /// The id, such as "RFA-33".
  var id: StaticString { row.id }

  /// The effect without a configuration.
  var standard: RefundEffect { row.standard }

  private var row: (id: StaticString, standard: RefundEffect) {
    switch self {
    case .undelivered: return ("RFA-31", .grantFull)
    case .legal: return ("RFA-32", .noPreference)
    case .repeated: return ("RFA-33", .decline)
    case .unfulfilled: return ("RFA-34", .grantFull)
    case .used: return ("RFA-35", .decline)
    case .partlyUsedSubscription: return ("RFA-36", .grantProrated)
    case .partlyUsed: return ("RFA-37", .grantProrated)
    case .unused: return ("RFA-38", .grantFull)
    case .otherwise: return ("RFA-39", .noPreference)
    }
  }
}
