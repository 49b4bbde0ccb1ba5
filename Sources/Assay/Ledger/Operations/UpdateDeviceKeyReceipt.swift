/// The operation `update-device-key-receipt`: stores a later receipt of a device key (STO-64).
struct UpdateDeviceKeyReceipt: DurableOperation {
  private let keyId: Text
  private let receipt: KeyRow.Receipt

  /// - Throws: `misuse.exchange.evidence`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let evidence = parameters.evidence
    guard case .attestReceipt(let receipt) = evidence.first else {
      throw Refusal(.misuseExchangeEvidence, "EXC-2", at: "evidence")
    }
    keyId = AttestProof.keyId(receipt.keyId)
    self.receipt = KeyRow.Receipt(receipt)
  }

  var jitterSeed: Text { keyId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    guard let row = try database.keep(receipt, of: keyId) else {
      return end("unknown", nil, KeyRow.unknown)
    }
    guard row.state == .active else { return end("retired", nil, KeyRow.retired) }
    guard row.receipt.createdAtMs >= receipt.createdAtMs else {
      throw .shape("receipt_created_at_ms")
    }
    let isOurs =
      row.receipt.createdAtMs == receipt.createdAtMs && row.receipt.bytes == receipt.bytes
    return end(isOurs ? "kept" : "older", row.receipt.nextRefreshAtMs)
  }

  private func end(
    _ outcome: StaticString, _ nextRefreshAtMs: Int64?, _ refusal: Refusal? = nil
  ) -> OperationResult {
    OperationResult(refusal) { writer in
      writer.member("outcome", outcome)
      writer.member("nextRefreshAtMs", integer: nextRefreshAtMs == 0 ? nil : nextRefreshAtMs)
    }
  }
}
