/// The operation `resume`: resumes one known claim whose lease has expired, for support
/// (STO-30).
struct ClaimResume: StoreOperation {
  private let purchaseKey: Text
  private let claimant: Claimant
  private let note: Text?

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.account`, `.attempt-id`, `.lease`.
  init(_ parameters: StoreParameters) throws(Refusal) {
    purchaseKey = try parameters.purchaseKey()
    let (isResolved, holds) = (try parameters.isResolved(), try parameters.holds())
    claimant = Claimant(
      account: try parameters.account("account"), attempt: try parameters.attempt(),
      leaseExpiresAtMs: try parameters.leaseUntil(),
      holds: holds && !isResolved)
    note = try parameters.note("note")
  }

  var seed: Text { claimant.attempt }

  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    guard let row = try talk.ledgerRow(purchaseKey) else { throw .rowMissing }
    let claim = try talk.judge(row, claimant, nil, nil)
    if let note, claim.outcome.isOurs {
      try talk.audit(
        "hand", claimant.attempt, owner: claimant.account ?? "", other: "", note: note)
    }
    let nowMs = talk.context.nowMs
    return StoreOutcome(claim.refusal) { writer in
      writer.member("outcome", claim.outcome.name)
      writer.name("clientResult")
      if let answer = claim.answer { writer.string(answer) } else { writer.null() }
      writer.name("claims")
      writer.beginArray()
      claim.write(nowMs: nowMs, &writer)
      writer.endArray()
    }
  }
}
