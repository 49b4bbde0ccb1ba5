/// `claim.resume`: one known claim whose lease is over, taken up by support (STO-30).
final class ClaimResume: StoreOperation {
  private let purchaseKey: Text
  private let claimant: Claimant
  private let note: Text?

  /// - Throws: `misuse.exchange.request`, `misuse.store.account`, `.attempt`, `.lease`.
  init(_ parameters: StoreParameters) throws(Refusal) {
    purchaseKey = try parameters.purchaseKey()
    let isResolved = try parameters.isResolved()
    claimant = Claimant(
      account: try parameters.account("account"), attempt: try parameters.attempt(),
      leaseUntilMs: try parameters.leaseUntil(),
      holds: isResolved ? false : try parameters.holds())
    note = try parameters.note("note")
  }

  override var seed: Text { claimant.attempt }

  override func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    guard let row = try talk.ledgerRow(purchaseKey) else { throw .rowMissing }
    let claim = try talk.judge(row, claimant, nil, nil)
    if let note, claim.outcome.isOurs {
      try talk.audit(
        "hand", claimant.attempt, owner: claimant.account ?? "", other: "", note: note)
    }
    let nowMs = talk.context.nowMs
    return StoreOutcome(claim.refusal) { writer in
      writer.member("outcome", claim.outcome.name)
      writer.name("answer")
      if let answer = claim.answer { writer.string(answer) } else { writer.null() }
      writer.name("claims")
      writer.beginArray()
      claim.write(nowMs: nowMs, &writer)
      writer.endArray()
    }
  }
}

/// `claim.due`: claims whose client never came back (STO-30).
final class ClaimDue: StoreOperation {
  private let attempt: Text
  private let leaseMs: Int64
  private let beforeMs: Int64
  private let holds: Bool

  /// - Throws: `misuse.exchange.request`, `misuse.store.attempt`, `.lease`.
  init(_ parameters: StoreParameters) throws(Refusal) {
    attempt = try parameters.attempt()
    leaseMs = try parameters.leaseUntil()
    let olderMs = try parameters["olderMs"]?.integer(0...MemberNode.exactInteger) ?? 0
    beforeMs = parameters.context.nowMs &- olderMs
    holds = try parameters.holds()
  }

  override var seed: Text { attempt }

  override func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    let rows =
      holds
      ? try talk.heldClaims(beforeMs: beforeMs)
      : try talk.takeDueClaims(attempt: attempt, leaseMs: leaseMs, beforeMs: beforeMs)
    let (nowMs, holds) = (talk.context.nowMs, holds)
    let claims = rows.map { Claim($0, holds ? .held : .resume) }
    return StoreOutcome { writer in
      ClaimDue.write("claims", holds ? [] : claims, nowMs, &writer)
      ClaimDue.write("held", holds ? claims : [], nowMs, &writer)
      writer.member("more", boolean: claims.count >= StoreTalk.dueCap)
    }
  }

  private static func write(
    _ name: StaticString, _ claims: [Claim], _ nowMs: Int64, _ writer: inout JSONWriter
  ) {
    writer.name(name)
    writer.beginArray()
    for claim in claims { claim.write(nowMs: nowMs, &writer) }
    writer.endArray()
  }
}
