/// The input of an operation besides the host's request. A class, because every part of an
/// operation receives it, and a copy of the configuration would count references to each of its
/// parts.
final class LedgerContext: Sendable {
  let configuration: Configuration
  /// The policy with the engine of this exchange.
  let policy: LedgerPolicy
  /// The time of the exchange's first call, in milliseconds since 1970 UTC (STO-9).
  let nowMs: Int64

  /// The largest number of rows taken from a due list at once.
  static let dueCap = 25

  /// - Parameter engine: The engine that the request names, or that of the policy.
  init(
    _ configuration: Configuration, _ policy: LedgerPolicy, _ engine: LedgerEngine, nowMs: Int64
  ) {
    self.configuration = configuration
    self.policy = policy.speaking(engine)
    self.nowMs = nowMs
  }

  var engine: LedgerEngine { policy.engine }

  /// Returns this context for an operation that begins later.
  ///
  /// - Parameter nowMs: The time of its first call, in milliseconds since 1970 UTC.
  func at(_ nowMs: Int64) -> LedgerContext {
    LedgerContext(configuration, policy, engine, nowMs: nowMs)
  }
}
