/// The operation `retire-device-key`: retires a device key, whose row is kept (STO-64).
struct KeyRetireOperation: StoreOperation {
  private let keyId: Text
  private let account: Text

  /// - Throws: `misuse.ledger.account`, `misuse.exchange.request`.
  init(_ parameters: StoreParameters) throws(Refusal) {
    account = try parameters.account("account")
    keyId = try parameters.keyId()
  }

  var seed: Text { keyId }

  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    let (found, isMade) = try talk.retire(keyId, owner: account)
    guard let row = found else {
      return end("unknown", KeyRow.unknown)
    }
    guard row.owner == account else { return end("foreign", KeyRow.foreign) }
    guard row.state == .retired else { throw .keyMoved }
    let isNew = talk.isOurs(isMade, at: row.usedAtMs)
    return end(isNew ? "retired" : "already", changed: isNew)
  }

  private func end(
    _ outcome: StaticString, _ refusal: Refusal? = nil, changed: Bool = false
  ) -> StoreOutcome {
    StoreOutcome(refusal) { writer in
      writer.member("outcome", outcome)
      writer.member("changed", boolean: changed)
    }
  }
}
