/// The operation `resume`: resumes one known claim whose lease has expired, for support
/// (STO-30).
struct ResumeClaim: DurableOperation {
  private let purchaseKey: Text
  private let request: ClaimRequest
  private let note: Text?

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.account`, `.attempt-id`, `.lease`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    purchaseKey = try parameters.purchaseKey()
    let (isResolved, holds) = (try parameters.isResolved(), try parameters.holds())
    request = ClaimRequest(
      account: try parameters.account("account"), attemptId: try parameters.attemptId(),
      leaseExpiresAtMs: try parameters.leaseUntil(),
      holdsExpiredLease: holds && !isResolved)
    note = try parameters.note("note")
  }

  var jitterSeed: Text { request.attemptId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    guard let row = try database.ledgerRow(purchaseKey) else { throw .rowMissing }
    let claim = try ClaimEvaluation(request: request, purchase: nil, database: database).claim(row)
    if let note, claim.outcome.needsGrant {
      try database.insert([
        AuditRow(
          "hand", request.attemptId, owner: request.account ?? "", note: note,
          database.session.context)
      ])
    }
    let nowMs = database.session.context.nowMs
    return OperationResult(claim.refusal) { writer in
      writer.member("outcome", claim.outcome.name)
      writer.name("clientResult")
      if let answer = claim.clientResult { writer.string(answer) } else { writer.null() }
      writer.name("claims")
      writer.beginArray()
      claim.write(nowMs: nowMs, &writer)
      writer.endArray()
    }
  }
}
