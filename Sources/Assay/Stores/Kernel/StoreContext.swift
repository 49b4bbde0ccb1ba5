/// What an operation knows besides the host's request.
struct StoreContext: Sendable {
  let configuration: Configuration
  let policy: StoresPolicy
  /// Of this exchange: the request's, or that of the policy.
  let dialect: StoreDialect
  /// Of the host's driver.
  let placeholders: StoresPolicy.Placeholders
  /// STO-9: milliseconds since 1970 UTC, of the first call.
  let nowMs: Int64

  init(
    _ configuration: Configuration, _ policy: StoresPolicy, _ dialect: StoreDialect, nowMs: Int64
  ) {
    self.configuration = configuration
    self.policy = policy
    self.dialect = dialect
    self.nowMs = nowMs
    placeholders = policy.placeholders(dialect) ?? .qmark
  }
}
