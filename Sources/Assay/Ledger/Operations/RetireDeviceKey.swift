/// The operation `retire-device-key`: retires a device key, whose row is kept (STO-64).
struct RetireDeviceKey: DurableOperation {
  private let keyId: Text
  private let account: Text

  /// - Throws: `misuse.ledger.account`, `misuse.exchange.request`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    account = try parameters.account("account")
    keyId = try parameters.keyId()
  }

  var jitterSeed: Text { keyId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let (found, isMade) = try database.retire(keyId, owner: account)
    guard let row = found else {
      return end("unknown", KeyRow.unknown)
    }
    guard row.owner == account else { return end("other-account", KeyRow.foreign) }
    guard row.state == .retired else { throw .keyMoved }
    let isNew = database.session.isOurs(isMade, at: row.usedAtMs)
    return end(isNew ? "retired" : "already", changed: isNew)
  }

  private func end(
    _ outcome: StaticString, _ refusal: Refusal? = nil, changed: Bool = false
  ) -> OperationResult {
    OperationResult(refusal) { writer in
      writer.member("outcome", outcome)
      writer.member("changed", boolean: changed)
    }
  }
}
