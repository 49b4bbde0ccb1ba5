/// An operation of any kind. (Embedded Swift has no `any` of a protocol.)
class AnyLedgerOperation {
  /// The counts on which the largest number of steps depends (EXC-15).
  let size: (purchases: Int, subscriptions: Int)
  let jitterSeed: Text
  /// Whether `requestMs` limits the time of the exchange (STO-76).
  let isBounded: Bool

  fileprivate init(size: (purchases: Int, subscriptions: Int), jitterSeed: Text, isBounded: Bool) {
    self.size = size
    self.jitterSeed = jitterSeed
    self.isBounded = isBounded
  }

  static func of<Operation: LedgerOperation>(_ operation: Operation) -> AnyLedgerOperation {
    LedgerOperationBox(operation)
  }

  func run(_ session: inout LedgerSession) throws(LedgerSuspension) -> OperationResult {
    throw .refused(Refusal(.internalAssayBug, "STO-1", at: "operation"))
  }

  func resultWithoutDatabase(_ refusal: Refusal) -> OperationResult? { nil }

  func writeRefused(_ refusal: Refusal, _ writer: inout JSONWriter) {}
}

private final class LedgerOperationBox<Operation: LedgerOperation>: AnyLedgerOperation {
  private let operation: Operation

  init(_ operation: Operation) {
    self.operation = operation
    super.init(
      size: operation.size, jitterSeed: operation.jitterSeed, isBounded: operation.isBounded)
  }

  override func run(_ session: inout LedgerSession) throws(LedgerSuspension) -> OperationResult {
    try operation.run(&session)
  }

  override func resultWithoutDatabase(_ refusal: Refusal) -> OperationResult? {
    operation.resultWithoutDatabase(refusal)
  }

  override func writeRefused(_ refusal: Refusal, _ writer: inout JSONWriter) {
    operation.writeRefused(refusal, &writer)
  }
}
