/// The operation `resume-expired-revocations`: hands out unconfirmed take-backs again (STO-35).
struct RevokeDue: StoreOperation {
  private let attempt: Text
  private let leaseMs: Int64
  private let beforeMs: Int64

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.attempt-id`, `.lease`.
  init(_ parameters: StoreParameters) throws(Refusal) {
    attempt = try parameters.attempt()
    leaseMs = try parameters.leaseUntil()
    let minExpiredMs = try parameters["minExpiredMs"]?.integer(0...MemberNode.exactInteger) ?? 0
    beforeMs = parameters.context.nowMs &- minExpiredMs
  }

  var seed: Text { attempt }

  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    let rows = try talk.takeDue(
      .revoked, attempt: attempt, leaseMs: leaseMs, beforeMs: beforeMs)
    return StoreOutcome { writer in
      writer.name("takes")
      writer.beginArray()
      for row in rows {
        TakeBack(row, out: row.outCount, target: row.target)?.write(&writer)
      }
      writer.endArray()
      writer.member("hasMore", boolean: rows.count >= StoreTalk.dueCap)
    }
  }
}
