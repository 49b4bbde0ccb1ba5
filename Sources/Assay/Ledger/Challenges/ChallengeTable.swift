/// Challenges on every engine.
extension LedgerSession {
  /// The time for which a row is kept after its challenge expires (docs/spec/ledger.md §4).
  private static let keptMs = Milliseconds.day

  /// Inserts `row` if no row has its id, and returns the stored row.
  mutating func insert(_ row: ChallengeRow) throws(LedgerSuspension) -> ChallengeRow {
    let keptUntilMs = Milliseconds.sum(row.expiresAtMs, Self.keptMs)
    let stands: ChallengeRow
    switch context.engine {
    case .sqlite, .postgres, .mariadb:
      stands = try ChallengeRow(
        try sql {
          [(.challengeInsert, row.arguments), (.challengeRead, [("id", .text(row.id))])]
        }.row(1))
    case .dynamodb: stands = try dynamoInsert(row, ttlMs: keptUntilMs)
    case .redis:
      let reply = try redis {
        GuardCall(
          key: GuardKey.challenge(row.id), expireMs: keptUntilMs, create: row.arguments)
      }
      stands = try ChallengeRow(try reply.row(ChallengeRow.columns))
    }
    guard stands.id == row.id else { throw .shape("id") }
    return stands
  }

  /// Marks a challenge as used if it is unused, unexpired and was issued for the same purpose and
  /// subject.
  ///
  /// - Returns: The row as stored afterwards; `nil` if there is none.
  mutating func consume(
    _ asked: ChallengeUse
  ) throws(LedgerSuspension) -> ChallengeRow? {
    let stands: ChallengeRow?
    switch context.engine {
    case .sqlite, .postgres, .mariadb: stands = try sqlConsume(asked)
    case .dynamodb: stands = try dynamoConsume(asked)
    case .redis: stands = try redisConsume(asked)
    }
    if let stands, stands.id != asked.id { throw .shape("id") }
    return stands
  }

  private mutating func sqlConsume(_ asked: ChallengeUse) throws(LedgerSuspension) -> ChallengeRow?
  {
    let nowMs = context.nowMs
    let results = try sql {
      let arguments: Arguments = [
        ("id", .text(asked.id)), ("purpose", .text(asked.purpose)),
        ("subject", .text(asked.subject)), ("by", .text(asked.by)), ("now_ms", .integer(nowMs)),
      ]
      return [(.challengeConsume, arguments), (.challengeRead, arguments)]
    }
    guard let row = try results.rowIfAny(1) else { return nil }
    return try ChallengeRow(row)
  }

  private mutating func redisConsume(
    _ asked: ChallengeUse
  ) throws(LedgerSuspension) -> ChallengeRow? {
    let nowMs = context.nowMs
    let reply = try redis {
      GuardCall(
        key: GuardKey.challenge(asked.id),
        tests: [
          .equal("purpose", asked.purpose), .equal("subject", asked.subject),
          .equal("used_by", ""), .atLeast("expires_at_ms", nowMs &+ 1),
        ], set: [("used_by", .text(asked.by)), ("used_at_ms", .integer(nowMs))])
    }
    return reply.isAbsent ? nil : try ChallengeRow(try reply.row(ChallengeRow.columns))
  }
}
