/// One kind of store operation with its parameters; a class so that all kinds have one
/// type.
class StoreOperation {
  /// From the first step to the end, again with every answer.
  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    throw .refused(Refusal(.internalAssayBug, "STO-1", at: "kind"))
  }

  /// What spreads the waits of many hosts (STO-70).
  var seed: Text { "" }

  /// EXC-15; nil: that of the kind's row.
  var maxSteps: Int? { nil }

  /// What a host is told when its store does not answer; nil: the refusal of the failure
  /// (docs/spec/stores.md §7).
  func outcomeWithoutStore(_ refusal: Refusal) -> StoreOutcome? { nil }

  /// The members of a refusal that was no outcome of `run`.
  func writeRefused(_ refusal: Refusal, _ writer: inout JSONWriter) {}
}
