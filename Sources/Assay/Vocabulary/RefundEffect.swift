/// The effect of a rule of the refund preference (RFA-15). Raw values are the indexes in `names`.
enum RefundEffect: Int, Sendable, Equatable {
  /// The rule never matches.
  case off
  case decline, grantFull, grantProrated
  /// No preference is sent.
  case noPreference
  /// Nothing is sent at all.
  case silent

  private static let names: [StaticString] = [
    "off", "DECLINE", "GRANT_FULL", "GRANT_PRORATED", "none", "silent",
  ]

  /// Creates the effect that `text` names; `nil` for any other text.
  init?(_ text: Text?) {
    guard let text,
      let index = RefundEffect.names.firstIndex(where: { text.utf8[...].elementsEqual($0) })
    else { return nil }
    self.init(rawValue: index)
  }

  var name: StaticString { RefundEffect.names[rawValue] }

  /// The number of Apple's preference, which `send-consumption-data` takes: it knows no shares
  /// (RFA-16).
  var number: Int64 {
    switch self {
    case .grantFull: return 1
    case .decline: return 2
    case .grantProrated: return 3
    case .off, .noPreference, .silent: return 0
    }
  }
}
