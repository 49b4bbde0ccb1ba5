/// The operation `complete`: records that the host has granted (docs/spec/ledger.md §5.2).
struct CompleteClaim: DurableOperation {
  private let purchaseKey: Text
  private let account: Text
  private let grantId: Text
  private let fencingToken: Int64
  private let note: Text?

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.account`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    purchaseKey = try parameters.purchaseKey()
    account = try parameters.account("account")
    grantId = try parameters.needed("grantId").text(64...64)
    fencingToken =
      try parameters["fencingToken"]?.integer(1...MemberNode.exactInteger)
      ?? MemberNode.exactInteger
    note = try parameters.note("note")
  }

  var jitterSeed: Text { grantId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let (found, isMade) = try database.complete(
      purchaseKey, owner: account, grantId: grantId, fencingToken: fencingToken, note: note)
    guard let row = found else { throw .rowMissing }
    let isOurs = row.owner == account && row.grantId == grantId
    switch row.state {
    case .granted where isOurs:
      let isOurs = database.session.isOurs(isMade, at: row.grantedAtMs)
      return end("granted", "granted", row, changed: isOurs)
    case .revoked where isOurs:
      return end(
        "revoked", "refused-final", row, changed: false,
        Refusal(.rejectedPurchaseRevoked, "RFD-3", at: "grantId"))
    default:
      return end(
        "superseded", "deferred", row, changed: false,
        Refusal(.rejectedClaimSuperseded, "STO-26", at: "grantId"))
    }
  }

  /// Writes the members of a result without a completion: the host has granted, and the next
  /// attempt completes the claim (STO-20).
  func writeRefused(_ refusal: Refusal, _ writer: inout JSONWriter) {
    writer.member("outcome", "resume")
    writer.member("clientResult", "deferred")
    writer.member("retryAfterMs", integer: 1000)
    writer.member("changed", boolean: false)
  }

  private func end(
    _ outcome: StaticString, _ answer: StaticString, _ row: LedgerRow, changed: Bool,
    _ refusal: Refusal? = nil
  ) -> OperationResult {
    OperationResult(refusal) { writer in
      writer.member("outcome", outcome)
      writer.member("clientResult", answer)
      writer.member("grantedAtMs", integer: row.grantedAtMs)
      writer.member("revokedAtMs", integer: row.revokedAtMs)
      writer.member("changed", boolean: changed)
    }
  }
}
