/// The operation `complete-revocation`: records that the host has taken back (STO-35).
struct CompleteRevocation: DurableOperation {
  private let purchaseKey: Text
  private let take: TakeBackId
  private let fencingToken: Int64
  /// Units that the host has taken back; `nil` for all that it was to take.
  private let taken: Int64?

  /// - Throws: `misuse.exchange.request`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    purchaseKey = try parameters.purchaseKey()
    take = try TakeBackId(try parameters.needed("takeId"))
    fencingToken = try parameters.needed("fencingToken").integer(0...MemberNode.exactInteger)
    taken = try parameters["taken"]?.integer(0...MemberNode.exactInteger)
  }

  var jitterSeed: Text { take.grantId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    guard let before = try database.ledgerRow(purchaseKey) else { throw .rowMissing }
    let isTheirs = before.isRevoked(under: take)
    guard isTheirs, before.outCount > take.target else {
      return end(before, isTheirs ? "already" : "superseded", debt: 0)
    }
    guard before.fencingToken <= fencingToken else { return end(before, "superseded", debt: 0) }
    let debt = max(0, before.outCount &- take.target &- (taken ?? MemberNode.exactInteger))
    if debt > 0 {
      // Units that could not be taken are recorded for an operator, and are not demanded again.
      try database.insert([
        AuditRow(
          "debt", Text(Hex.encode(Digest.sha256.of(take.text.utf8))), owner: before.owner,
          note: Text(String(debt)), database.session.context)
      ])
    }
    guard let row = try database.taken(purchaseKey, take, fencingToken: fencingToken) else {
      throw .rowMissing
    }
    let isTaken = row.isRevoked(under: take) && row.outCount <= take.target
    return end(row, isTaken ? "taken" : "superseded", debt: isTaken ? debt : 0)
  }

  private func end(_ row: LedgerRow, _ outcome: StaticString, debt: Int64) -> OperationResult {
    let isRefused = outcome.hasSameBytes(as: "superseded")
    let refusal = Refusal(.rejectedClaimSuperseded, "STO-35", at: "takeId")
    return OperationResult(isRefused ? refusal : nil) { writer in
      writer.member("outcome", outcome)
      writer.member("revokedAtMs", integer: row.revokedAtMs)
      writer.member("debt", integer: debt)
      writer.member("changed", boolean: outcome.hasSameBytes(as: "taken"))
    }
  }
}

extension LedgerRow {
  fileprivate func isRevoked(under take: TakeBackId) -> Bool {
    state == .revoked && grantId == take.grantId
  }
}
