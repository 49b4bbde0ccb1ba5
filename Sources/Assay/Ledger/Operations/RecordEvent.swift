/// The operation `record-event`: records an event, and lets the first attempt handle it (STO-65).
struct RecordEvent: GuardOperation {
  private let id: Text
  private let attemptId: Text

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.attempt-id`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    id = try OperationParameters.clientText(try parameters.needed("id"), 1...160)
    try require(!id.utf8.contains(0x20), .misuseExchangeRequest, "EXC-1", at: "id")
    attemptId = try parameters.attemptId()
  }

  var jitterSeed: Text { attemptId }

  func run(_ database: any GuardDatabase) throws(LedgerSuspension) -> OperationResult {
    let first = try database.first(
      EventRow(id: id, attemptId: attemptId, atMs: database.session.context.nowMs))
    let refusal =
      first.attemptId == attemptId ? nil : Refusal(.rejectedEventDuplicate, "STO-65", at: "id")
    return OperationResult(refusal) { writer in
      writer.member("outcome", refusal == nil ? "first" : "duplicate")
      writer.member("storedAtMs", integer: first.atMs)
    }
  }
}
