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
  /// The end of a conversation whose deadline comes before (EXC-16).
  let otherwise: Refusal
}
