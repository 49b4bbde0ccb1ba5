/// Counters, challenges and events.
extension SQLDatabase {
  func take(
    _ meter: Meter, units: Int64, room: Int64, ttlMs: Int64
  ) throws(LedgerSuspension) -> Int64? {
    try number(
      .quotaConsume, mariaDB: [.quotaOpen, .quotaAdd, .quotaChanged],
      meter.arguments + [
        ("units", .integer(units)), ("room", .integer(room)), ("delete_after_ms", .integer(ttlMs)),
      ])
  }

  func giveBack(_ meter: Meter, units: Int64) throws(LedgerSuspension) -> Int64? {
    try number(
      .quotaRelease, mariaDB: [.quotaRelease, .quotaChanged],
      meter.arguments + [("units", .integer(units))])
  }

  func insert(_ row: ChallengeRow) throws(LedgerSuspension) -> ChallengeRow {
    let results = try run {
      [(.challengeInsert, row.arguments), (.challengeRead, [("id", .text(row.id))])]
    }
    return try ChallengeRow(try results.row(1))
  }

  func consume(_ asked: ChallengeUse) throws(LedgerSuspension) -> ChallengeRow? {
    let nowMs = context.nowMs
    let results = try run {
      let arguments: Arguments = [
        ("id", .text(asked.id)), ("purpose", .text(asked.purpose)),
        ("subject", .text(asked.subject)), ("by", .text(asked.by)), ("now_ms", .integer(nowMs)),
      ]
      return [(.challengeConsume, arguments), (.challengeRead, arguments)]
    }
    guard let row = try results.rowIfAny(1) else { return nil }
    return try ChallengeRow(row)
  }

  func first(_ event: EventRow) throws(LedgerSuspension) -> EventRow {
    let arguments = event.arguments
    let results = try run { [(.eventInsert, arguments), (.eventRead, arguments)] }
    return try EventRow(event.id, try results.row(1))
  }
}

extension Meter {
  /// The key's values by column name.
  fileprivate var arguments: DatabaseCall.Arguments {
    [("scope", .text(scope)), ("bucket", .text(bucket.name)), ("meter", .text(name))]
  }
}
