/// Events, each of which is handled at most once, on every engine (STO-65).
extension LedgerSession {
  private static let columns: [StaticString] = ["attempt_id", "stored_at_ms"]
  /// The time for which an event is kept (docs/spec/ledger.md §4).
  private static let keptMs = 30 &* Milliseconds.day

  /// Records an event if it is new. Returns the attempt that recorded it first, and when.
  mutating func first(_ id: Text, _ attemptId: Text) throws(LedgerSuspension) -> (Text, atMs: Int64)
  {
    let arguments: Arguments = [
      ("id", .text(id)), ("attempt_id", .text(attemptId)),
      ("stored_at_ms", .integer(context.nowMs)),
    ]
    let keptUntilMs = Milliseconds.sum(context.nowMs, Self.keptMs)
    var row: DatabaseRow
    switch context.engine {
    case .sqlite, .postgres, .mariadb:
      row = try sql { [(.eventInsert, arguments), (.eventRead, arguments)] }.row(1)
    case .dynamodb:
      let (isMade, item) = try dynamoChange(
        .insert(.once(id), arguments + [("ttl", .integer(keptUntilMs / 1000))]))
      if isMade { return (attemptId, context.nowMs) }
      guard let item else { throw .shape("results[0].error.item") }
      row = try item.row(Self.columns)
    case .redis:
      if !context.policy.redisIsVolatile {
        let info = try RedisInfo(
          try run { DatabaseStep(calls: RedisInfo.calls(["persistence"])) })
        guard info["aof_enabled"] != "0" else {
          throw .refused(Refusal(.configLedgerNotDurable, "STO-83", at: "aof_enabled"))
        }
      }
      let reply = try redis {
        GuardCall(key: GuardKey.once(id), expireMs: keptUntilMs, create: arguments)
      }
      row = try reply.row(Self.columns)
    }
    let first = (try row.text(), atMs: try row.integer())
    try row.end()
    return first
  }
}
