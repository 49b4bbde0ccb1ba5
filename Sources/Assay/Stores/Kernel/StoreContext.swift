/// What an operation knows besides the host's request. A class: it goes from hand to hand, and
/// a copy of the configuration would count each of its parts.
final class StoreContext: Sendable {
  let configuration: Configuration
  /// In the dialect of this exchange.
  let policy: StoresPolicy
  /// STO-9: milliseconds since 1970 UTC, of the first call.
  let nowMs: Int64

  /// - Parameter dialect: the request's, or that of the policy.
  init(
    _ configuration: Configuration, _ policy: StoresPolicy, _ dialect: StoreDialect, nowMs: Int64
  ) {
    self.configuration = configuration
    self.policy = policy.speaking(dialect)
    self.nowMs = nowMs
  }

  var dialect: StoreDialect { policy.dialect }
}
