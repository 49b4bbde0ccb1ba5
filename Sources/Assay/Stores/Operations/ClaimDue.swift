/// The operation `resume-expired`: takes over claims whose client never came back (STO-30).
struct ClaimDue: StoreOperation {
  private let attempt: Text
  private let leaseMs: Int64
  private let beforeMs: Int64
  private let holds: Bool

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.attempt-id`, `.lease`.
  init(_ parameters: StoreParameters) throws(Refusal) {
    attempt = try parameters.attempt()
    leaseMs = try parameters.leaseUntil()
    let minExpiredMs = try parameters["minExpiredMs"]?.integer(0...MemberNode.exactInteger) ?? 0
    beforeMs = parameters.context.nowMs &- minExpiredMs
    holds = try parameters.holds()
  }

  var seed: Text { attempt }

  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    let rows =
      holds
      ? try talk.heldClaims(beforeMs: beforeMs)
      : try talk.takeDue(.claimed, attempt: attempt, leaseMs: leaseMs, beforeMs: beforeMs)
    let (nowMs, holds) = (talk.context.nowMs, holds)
    let claims = rows.map { row in
      var claim = Claim(row, holds ? .held : .resume)
      claim.isRepeated = row.repeats > 1
      return claim
    }
    return StoreOutcome { writer in
      ClaimDue.write("claims", holds ? [] : claims, nowMs, &writer)
      ClaimDue.write("held", holds ? claims : [], nowMs, &writer)
      writer.member("hasMore", boolean: claims.count >= StoreTalk.dueCap)
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
