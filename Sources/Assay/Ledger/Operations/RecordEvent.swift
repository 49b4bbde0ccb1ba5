/// The operation `record-event`: records an event, and lets the first attempt handle it (STO-65).
struct RecordEvent: LedgerOperation {
  private let id: Text
  private let attemptId: Text

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.attempt-id`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    id = try OperationParameters.clientText(try parameters.needed("id"), 1...160)
    try require(!id.utf8.contains(0x20), .misuseExchangeRequest, "EXC-1", at: "id")
    attemptId = try parameters.attemptId()
  }

  var jitterSeed: Text { attemptId }

  func run(_ session: inout LedgerSession) throws(LedgerSuspension) -> OperationResult {
    let (first, atMs) = try session.first(id, attemptId)
    let refusal = first == attemptId ? nil : Refusal(.rejectedEventDuplicate, "STO-65", at: "id")
    return OperationResult(refusal) { writer in
      writer.member("outcome", refusal == nil ? "first" : "duplicate")
      writer.member("storedAtMs", integer: atMs)
    }
  }
}
