/// An operation of any kind. (Embedded Swift has `any` of a protocol for classes only, and does not
/// free the object of a class whose initializer has failed.)
struct AnyLedgerOperation {
  /// The counts on which the largest number of steps depends (EXC-15).
  let size: (purchases: Int, subscriptions: Int)
  let jitterSeed: Text
  /// Whether `requestMs` limits the time of the exchange (STO-76).
  let isBounded: Bool
  let run: (LedgerSession) throws(LedgerSuspension) -> OperationResult
  let resultWithoutDatabase: (Refusal) -> OperationResult?
  let writeRefused: (Refusal, inout JSONWriter) -> Void

  init(_ operation: some LedgerOperation) {
    size = operation.size
    jitterSeed = operation.jitterSeed
    isBounded = operation.isBounded
    run = { session throws(LedgerSuspension) in try operation.run(session) }
    resultWithoutDatabase = { operation.resultWithoutDatabase($0) }
    writeRefused = { operation.writeRefused($0, &$1) }
  }
}
