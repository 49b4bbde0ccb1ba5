/// The operation `register-device-key`: registers an attested key for an account (STO-62).
struct RegisterDeviceKey: DurableOperation {
  private let row: KeyRow

  /// - Throws: `misuse.exchange.evidence`, `misuse.ledger.account`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let evidence = parameters.evidence
    guard case .attestation(let attestation) = evidence.first else {
      throw Refusal(.misuseExchangeEvidence, "EXC-2", at: "evidence")
    }
    // Evidence that was verified at a stored time is refused (EXC-13).
    _ = try AttestProof(evidence)
    row = KeyRow(
      attestation, owner: try parameters.account("account"), nowMs: parameters.context.nowMs)
  }

  var jitterSeed: Text { row.id }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let (stands, isMade) = try database.insert(row)
    // Another key cannot have the same id, which is the SHA-256 of the key.
    guard stands.publicKey == row.publicKey else { throw .shape("public_key") }
    if let refusal = stands.refusal(to: row.owner) {
      return end(refusal.status == .rejectedDeviceKeyRetired ? "retired" : "other-account", refusal)
    }
    let isNew = database.session.isOurs(isMade, at: stands.createdAtMs)
    return end(isNew ? "registered" : "already", changed: isNew)
  }

  private func end(
    _ outcome: StaticString, _ refusal: Refusal? = nil, changed: Bool = false
  ) -> OperationResult {
    let id = row.documentId
    return OperationResult(refusal) { writer in
      writer.member("outcome", outcome)
      writer.member("keyId", id)
      writer.member("changed", boolean: changed)
    }
  }
}
