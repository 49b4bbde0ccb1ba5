/// The operation `resume-expired-revocations`: hands out unconfirmed take-backs again (STO-35).
struct ResumeExpiredRevocations: DurableOperation {
  private let attemptId: Text
  private let leaseMs: Int64
  private let beforeMs: Int64

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.attempt-id`, `.lease`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    attemptId = try parameters.attemptId()
    leaseMs = try parameters.leaseUntil()
    let minExpiredMs = try parameters["minExpiredMs"]?.integer(0...MemberNode.exactInteger) ?? 0
    beforeMs = parameters.context.nowMs &- minExpiredMs
  }

  var jitterSeed: Text { attemptId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let rows = try database.takeDue(
      .revoked, attemptId: attemptId, leaseMs: leaseMs, beforeMs: beforeMs)
    return OperationResult { writer in
      writer.name("takes")
      writer.beginArray()
      for row in rows {
        TakeBack(row, out: row.outCount, target: row.target)?.write(&writer)
      }
      writer.endArray()
      writer.member("hasMore", boolean: rows.count >= LedgerContext.dueCap)
    }
  }
}
