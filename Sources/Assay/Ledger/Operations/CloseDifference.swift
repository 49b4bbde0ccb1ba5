/// The operation `close-difference`: a person has settled a difference; only newer evidence opens
/// it again (RCN-42).
struct CloseDifference: DurableOperation {
  private let id: Text
  private let note: Text

  /// - Throws: `misuse.exchange.request`, `malformed.ledger.text`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let node = try parameters.needed("id")
    id = try node.text(64...64)
    note = try OperationParameters.clientText(try parameters.needed("note"), 1...255)
  }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let closed = try database.close(id, note: note)
    return OperationResult { writer in
      let outcome: StaticString = closed.map { $0.isMade ? "closed" : "already" } ?? "none"
      writer.member("outcome", outcome)
      writer.name("difference")
      if let closed { closed.row.write(&writer) } else { writer.null() }
    }
  }
}
