/// The operation `get-device-key`: returns what the verification of an assertion needs (STO-64).
struct GetDeviceKey: DurableOperation {
  private let keyId: Text
  /// The account that must own the key; `nil` if any may.
  private let account: Text?

  /// - Throws: `misuse.ledger.account`, `misuse.exchange.request`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    account = try parameters.accountIfAny("account")
    keyId = try parameters.keyId()
  }

  var jitterSeed: Text { keyId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    guard let row = try database.keyRow(keyId) else { return end("unknown", nil, KeyRow.unknown) }
    guard account == nil || row.owner == account else {
      return end("other-account", nil, KeyRow.foreign)
    }
    guard row.state == .active else { return end("retired", nil, KeyRow.retired) }
    return end("found", row)
  }

  private func end(
    _ outcome: StaticString, _ row: KeyRow?, _ refusal: Refusal? = nil
  ) -> OperationResult {
    OperationResult(refusal) { writer in
      writer.member("outcome", outcome)
      writer.name("key")
      if let row { row.write(&writer) } else { writer.null() }
    }
  }
}

extension KeyRow {
  /// Writes the row without its account.
  fileprivate func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("keyId", documentId)
    writer.member("publicKey", publicKey)
    writer.member("counter", integer: counter)
    writer.member("appId", app)
    writer.member("environment", environment)
    writer.member("createdAtMs", integer: createdAtMs)
    writer.member("usedAtMs", integer: usedAtMs)
    writer.member("receipt", receipt.bytes)
    writer.member(
      "nextRefreshAtMs", integer: receipt.nextRefreshAtMs == 0 ? nil : receipt.nextRefreshAtMs)
    writer.member("risk", integer: receipt.risk)
    writer.endObject()
  }
}
