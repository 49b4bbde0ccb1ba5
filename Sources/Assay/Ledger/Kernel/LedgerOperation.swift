/// One operation of the ledger with its parameters.
protocol LedgerOperation {
  /// Runs the operation from its first step on the session's engine; called again after each reply.
  func run(_ session: LedgerSession) throws(LedgerSuspension) -> OperationResult

  /// The seed of the jitter that spreads the waits of many hosts (STO-70).
  var jitterSeed: Text { get }

  /// The counts on which the largest number of steps depends (EXC-15).
  var size: (purchases: Int, subscriptions: Int) { get }

  /// Whether `requestMs` limits the time of the exchange; `false` for a change of the schema,
  /// which may take long (STO-76).
  var isBounded: Bool { get }

  /// Returns the result to report while the database does not answer; `nil` if the failure itself
  /// is reported (docs/spec/ledger.md §7).
  func resultWithoutDatabase(_ refusal: Refusal) -> OperationResult?

  /// Writes the members of a refusal that `run` did not return as its result.
  func writeRefused(_ refusal: Refusal, _ writer: inout JSONWriter)
}

extension LedgerOperation {
  var jitterSeed: Text { "" }
  var size: (purchases: Int, subscriptions: Int) { (0, 0) }
  var isBounded: Bool { true }
  func resultWithoutDatabase(_ refusal: Refusal) -> OperationResult? { nil }
  func writeRefused(_ refusal: Refusal, _ writer: inout JSONWriter) {}
}
