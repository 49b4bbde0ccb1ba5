/// Counters in DynamoDB: the meters of a day are attributes of one row
/// (docs/spec/ledger-statements.md §3).
extension LedgerSession {
  mutating func dynamoTake(
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

  mutating func dynamoGiveBack(_ meter: Meter, units: Int64) throws(LedgerSuspension) -> Int64? {
    var request = DynamoRequest.update(
      meter.place, "SET #count = #count - :units", if: "#count >= :units",
      [("units", .integer(units))])
    request.attributes = [("count", meter.attribute)]
    return try changedCount(request, meter)
  }

  private mutating func changedCount(
    _ request: DynamoRequest, _ meter: Meter
  ) throws(LedgerSuspension) -> Int64? {
    let (isMade, row) = try dynamoChange(isOnce: true, request)
    guard isMade else { return nil }
    let count = try row?.numbers(after: Meter.attributePrefix).first { $0.name == meter.name }
    guard let count else { throw .shape("results[0].output.Attributes") }
    return count.number
  }
}

extension Meter {
  fileprivate static let attributePrefix: StaticString = "count_"

  fileprivate var attribute: Text {
    Text(Text(stringLiteral: Meter.attributePrefix).utf8 + name.utf8)
  }

  fileprivate var place: DynamoKey { .meters(scope, bucket.name) }
}
