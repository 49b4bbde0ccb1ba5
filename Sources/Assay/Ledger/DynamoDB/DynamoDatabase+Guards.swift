/// Counters, challenges and events. The meters of a day are attributes of one row.
extension DynamoDatabase {
  func take(
    _ meter: Meter, units: Int64, room: Int64, ttlMs: Int64
  ) throws(LedgerSuspension) -> Int64? {
    var request = DynamoRequest.update(
      meter.place, "SET #count = if_not_exists(#count, :zero) + :units, #ttl = :ttl",
      if: "attribute_not_exists(#count) OR #count <= :room",
      [
        ("zero", .integer(0)), ("units", .integer(units)), ("ttl", .integer(ttlMs / 1000)),
        ("room", .integer(room)),
      ])
    request.attributes = [("count", meter.attribute)]
    return try changedCount(request, meter)
  }

  func giveBack(_ meter: Meter, units: Int64) throws(LedgerSuspension) -> Int64? {
    var request = DynamoRequest.update(
      meter.place, "SET #count = #count - :units", if: "#count >= :units",
      [("units", .integer(units))])
    request.attributes = [("count", meter.attribute)]
    return try changedCount(request, meter)
  }

  private func changedCount(
    _ request: DynamoRequest, _ meter: Meter
  ) throws(LedgerSuspension) -> Int64? {
    let (isMade, row) = try change(isOnce: true, request)
    guard isMade else { return nil }
    let count = try row?.numbers(after: Meter.attributePrefix).first { $0.name == meter.name }
    guard let count else { throw .shape("results[0].output.Attributes") }
    return count.number
  }

  func insert(_ row: ChallengeRow) throws(LedgerSuspension) -> ChallengeRow {
    let ttl = DatabaseValue.integer(row.keptUntilMs / 1000)
    guard let item = try insert(.challenge(row.id), row.arguments + [("ttl", ttl)]) else {
      return row
    }
    return try ChallengeRow(try item.row(ChallengeRow.columns))
  }

  func consume(_ asked: ChallengeUse) throws(LedgerSuspension) -> ChallengeRow? {
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
    guard let (_, item) = try update(request) else { return nil }
    return try ChallengeRow(try item.row(ChallengeRow.columns))
  }

  func first(_ event: EventRow) throws(LedgerSuspension) -> EventRow {
    let ttl = DatabaseValue.integer(event.keptUntilMs / 1000)
    guard let item = try insert(.once(event.id), event.arguments + [("ttl", ttl)]) else {
      return event
    }
    return try EventRow(event.id, try item.row(EventRow.columns))
  }
}

extension Meter {
  fileprivate static let attributePrefix: StaticString = "count_"

  fileprivate var attribute: Text {
    Text(Text(stringLiteral: Meter.attributePrefix).utf8 + name.utf8)
  }

  fileprivate var place: DynamoKey { .meters(scope, bucket.name) }
}
