/// The operation `advance-device-key-counter`: raises a device key's counter to that of an
/// assertion (STO-63).
struct AdvanceDeviceKeyCounter: DurableOperation {
  private let proof: AttestProof
  private let account: Text
  private let counter: Int64

  /// - Throws: `misuse.exchange.evidence`, `misuse.ledger.account`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let evidence = parameters.evidence
    guard let proof = try AttestProof(evidence), let counter = proof.counter else {
      throw Refusal(.misuseExchangeEvidence, "EXC-2", at: "evidence")
    }
    self.proof = proof
    self.counter = counter
    account = try parameters.account("account")
  }

  var jitterSeed: Text { proof.user }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let (isMade, row) = try database.advance(proof.keyId, owner: account, counter: counter)
    if isMade { return end("advanced") }
    guard let row else { return end("unknown", KeyRow.unknown) }
    if let refusal = row.refusal(to: account) {
      return end(refusal.status == .rejectedDeviceKeyRetired ? "retired" : "other-account", refusal)
    }
    guard row.counter >= counter else { throw .keyMoved }
    return end("replayed", Refusal(.rejectedDeviceKeyReplayed, "STO-63", at: "evidence[0]"))
  }

  private func end(_ outcome: StaticString, _ refusal: Refusal? = nil) -> OperationResult {
    let (id, counter) = (KeyRow.documentId(proof.keyId), counter)
    return OperationResult(refusal) { writer in
      writer.member("outcome", outcome)
      writer.member("keyId", id)
      writer.member("counter", integer: counter)
    }
  }
}
