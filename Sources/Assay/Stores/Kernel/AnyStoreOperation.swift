/// An operation of any kind. (Embedded Swift has no `any` of a protocol.)
class AnyStoreOperation {
  /// The counts on which the largest number of steps depends (EXC-15).
  let size: (purchases: Int, lines: Int)
  let seed: Text
  /// Whether `requestMs` limits the time of the exchange (STO-76).
  let isBounded: Bool

  fileprivate init(size: (purchases: Int, lines: Int), seed: Text, isBounded: Bool) {
    self.size = size
    self.seed = seed
    self.isBounded = isBounded
  }

  static func of<Operation: StoreOperation>(_ operation: Operation) -> AnyStoreOperation {
    StoreOperationBox(operation)
  }

  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    throw .refused(Refusal(.internalAssayBug, "STO-1", at: "operation"))
  }

  func outcomeWithoutStore(_ refusal: Refusal) -> StoreOutcome? { nil }

  func writeRefused(_ refusal: Refusal, _ writer: inout JSONWriter) {}
}

private final class StoreOperationBox<Operation: StoreOperation>: AnyStoreOperation {
  private let operation: Operation

  init(_ operation: Operation) {
    self.operation = operation
    super.init(
      size: operation.size, seed: operation.seed, isBounded: operation.isBounded)
  }

  override func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    try operation.run(&talk)
  }

  override func outcomeWithoutStore(_ refusal: Refusal) -> StoreOutcome? {
    operation.outcomeWithoutStore(refusal)
  }

  override func writeRefused(_ refusal: Refusal, _ writer: inout JSONWriter) {
    operation.writeRefused(refusal, &writer)
  }
}
