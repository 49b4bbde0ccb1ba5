struct ExchangeWait {
  enum Reason {
    case rateLimited, retry, tooEarly, cooldown

    var name: StaticString {
      switch self {
      case .rateLimited: return "rate-limited"
      case .retry: return "retry"
      case .tooEarly: return "too-early"
      case .cooldown: return "cooldown"
      }
    }
  }

  /// Milliseconds since 1970 UTC.
  let notBeforeMs: Int64
  let reason: Reason
  /// The end of a conversation whose deadline comes before (EXC-16).
  let otherwise: Refusal
}
