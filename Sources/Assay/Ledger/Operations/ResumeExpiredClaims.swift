/// The operation `resume-expired`: takes over claims whose client never came back (STO-30).
struct ResumeExpiredClaims: DurableOperation {
  private let attemptId: Text
  private let leaseMs: Int64
  private let beforeMs: Int64
  private let holds: Bool

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.attempt-id`, `.lease`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    attemptId = try parameters.attemptId()
    leaseMs = try parameters.leaseUntil()
    let minExpiredMs = try parameters["minExpiredMs"]?.integer(0...MemberNode.exactInteger) ?? 0
    beforeMs = parameters.context.nowMs &- minExpiredMs
    holds = try parameters.holds()
  }

  var jitterSeed: Text { attemptId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let rows =
      holds
      ? try database.heldClaims(beforeMs: beforeMs)
      : try database.takeDue(.claimed, attemptId: attemptId, leaseMs: leaseMs, beforeMs: beforeMs)
    let (nowMs, holds) = (database.session.context.nowMs, holds)
    let claims = rows.map { row in
      var claim = Claim(row, holds ? .held : .resume)
      claim.isRepeated = row.repeats > 1
      return claim
    }
    return OperationResult { writer in
      ResumeExpiredClaims.write("claims", holds ? [] : claims, nowMs, &writer)
      ResumeExpiredClaims.write("held", holds ? claims : [], nowMs, &writer)
      writer.member("hasMore", boolean: claims.count >= LedgerContext.dueCap)
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
