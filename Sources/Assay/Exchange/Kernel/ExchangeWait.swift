struct ExchangeWait {
  enum Reason {
    case rateLimited, retry, tooEarly, cooldown, busy

    var name: StaticString {
      switch self {
      case .rateLimited: return "rate-limited"
      case .retry: return "retry"
      case .tooEarly: return "too-early"
      case .cooldown: return "cooldown"
      case .busy: return "busy"
      }
    }
  }

  /// Milliseconds since 1970 UTC.
  let notBeforeMs: Int64
  let reason: Reason
  /// The refusal to end with if the deadline comes before `notBeforeMs` (EXC-16).
  let otherwise: Refusal
}
