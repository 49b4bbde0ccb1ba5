/// What Apple decided about a refund (RFA-47).
enum RefundOutcome: CaseIterable, Sendable {
  case refunded, declined, reversed

  init?(_ name: Text) {
    guard let found = Self.allCases.first(where: { Text(stringLiteral: $0.name) == name }) else {
      return nil
    }
    self = found
  }

  /// Creates the outcome of a notification; `nil` for a type that is no decision.
  init?(notificationType type: Text) {
    switch type {
    case "REFUND": self = .refunded
    case "REFUND_DECLINED": self = .declined
    case "REFUND_REVERSED": self = .reversed
    default: return nil
    }
  }

  var name: StaticString {
    switch self {
    case .refunded: return "refunded"
    case .declined: return "declined"
    case .reversed: return "reversed"
    }
  }
}
