/// The operation `record-event`: records an event, and lets the first attempt handle it (STO-65).
struct OnceOperation: StoreOperation {
  private let id: Text
  private let attempt: Text

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.attempt-id`.
  init(_ parameters: StoreParameters) throws(Refusal) {
    id = try StoreParameters.clientText(try parameters.needed("id"), 1...160)
    try require(!id.utf8.contains(0x20), .misuseExchangeRequest, "EXC-1", at: "id")
    attempt = try parameters.attempt()
  }

  var seed: Text { attempt }

  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    let (first, atMs) = try talk.first(id, attempt)
    let refusal = first == attempt ? nil : Refusal(.rejectedEventDuplicate, "STO-65", at: "id")
    return StoreOutcome(refusal) { writer in
      writer.member("outcome", refusal == nil ? "first" : "duplicate")
      writer.member("storedAtMs", integer: atMs)
    }
  }
}
