/// One kind of store operation with its parameters.
protocol StoreOperation {
  /// From the first step to the end, again with every answer.
  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome

  /// What spreads the waits of many hosts (STO-70).
  var seed: Text { get }

  /// EXC-15: what the most of its steps depends on.
  var size: (purchases: Int, lines: Int) { get }

  /// STO-76: whether a request waits for it. A change of the tables takes as long as it takes.
  var isBounded: Bool { get }

  /// What a host is told when its store does not answer; nil: the refusal of the failure
  /// (docs/spec/stores.md §7).
  func outcomeWithoutStore(_ refusal: Refusal) -> StoreOutcome?

  /// The members of a refusal that was no outcome of `run`.
  func writeRefused(_ refusal: Refusal, _ writer: inout JSONWriter)
}

extension StoreOperation {
  var seed: Text { "" }
  var size: (purchases: Int, lines: Int) { (0, 0) }
  var isBounded: Bool { true }
  func outcomeWithoutStore(_ refusal: Refusal) -> StoreOutcome? { nil }
  func writeRefused(_ refusal: Refusal, _ writer: inout JSONWriter) {}
}
