/// Challenges in DynamoDB (docs/spec/ledger-statements.md §3).
extension LedgerSession {
  mutating func dynamoInsert(
    _ row: ChallengeRow, ttlMs: Int64
  ) throws(LedgerSuspension) -> ChallengeRow {
    let request = DynamoRequest.insert(
      .challenge(row.id), row.arguments + [("ttl", .integer(ttlMs / 1000))])
    let (isMade, item) = try dynamoChange(request)
    if isMade { return row }
    guard let item else { throw .shape("results[0].error.item") }
    return try ChallengeRow(try item.row(ChallengeRow.columns))
  }

  mutating func dynamoConsume(_ asked: ChallengeUse) throws(LedgerSuspension) -> ChallengeRow? {
    let request = DynamoRequest.update(
      .challenge(asked.id), "SET #used_by = :by, #used_at_ms = :now",
      if: """
        #purpose = :purpose AND #subject = :subject AND #expires_at_ms > :now \
        AND (attribute_not_exists(#used_by) OR #used_by = :by)
        """,
      [
        ("by", .text(asked.by)), ("now", .integer(context.nowMs)),
        ("purpose", .text(asked.purpose)), ("subject", .text(asked.subject)),
      ])
    let (isMade, item) = try dynamoChange(request)
    guard let item else {
      if isMade { throw .shape("results[0].output.Attributes") }
      return nil
    }
    return try ChallengeRow(try item.row(ChallengeRow.columns))
  }
}
