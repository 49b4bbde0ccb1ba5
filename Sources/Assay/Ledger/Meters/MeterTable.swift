/// Counters on every engine. Each function is one conditional change (STO-51).
extension LedgerSession {
  /// Consumes units while the count stays within the limit; the row is created with them.
  ///
  /// - Parameter ttlMs: The time until which the row is kept, in milliseconds since 1970 UTC.
  /// - Returns: The count afterwards; `nil` if the limit is reached.
  mutating func take(
    _ meter: Meter, units: Int64, limit: Int64, ttlMs: Int64
  ) throws(LedgerSuspension) -> Int64? {
    let room = limit &- units
    // No statement runs: an upsert would let one request through at limit 0 (W17).
    guard room >= 0 else { return nil }
    let count: Int64?
    switch context.engine {
    case .sqlite, .postgres, .mariadb:
      count = try sqlTake(meter, units: units, room: room, ttlMs: ttlMs)
    case .dynamodb: count = try dynamoTake(meter, units: units, room: room, ttlMs: ttlMs)
    case .redis: count = try redisTake(meter, units: units, room: room, ttlMs: ttlMs)
    }
    if let count, !(units...limit).contains(count) { throw .shape("used") }
    return count
  }

  /// Releases units, never below 0.
  ///
  /// - Returns: The count afterwards; `nil` if there was nothing to release (STO-53).
  mutating func giveBack(_ meter: Meter, units: Int64) throws(LedgerSuspension) -> Int64? {
    let count: Int64?
    switch context.engine {
    case .sqlite, .postgres, .mariadb: count = try sqlGiveBack(meter, units: units)
    case .dynamodb: count = try dynamoGiveBack(meter, units: units)
    case .redis: count = try redisGiveBack(meter, units: units)
    }
    if let count, count < 0 { throw .shape("used") }
    return count
  }

  // MARK: SQL

  private mutating func sqlTake(
    _ meter: Meter, units: Int64, room: Int64, ttlMs: Int64
  ) throws(LedgerSuspension) -> Int64? {
    let arguments =
      meter.arguments + [
        ("units", .integer(units)), ("room", .integer(room)), ("delete_after_ms", .integer(ttlMs)),
      ]
    guard context.engine == .mariadb else {
      return try sql(isOnce: true) { [(.quotaConsume, arguments)] }.number(0)
    }
    return try sql(isOnce: true, needsOneConnection: true) {
      [(.quotaOpen, arguments), (.quotaAdd, arguments), (.quotaChanged, [])]
    }.numberIfChanged(2)
  }

  private mutating func sqlGiveBack(
    _ meter: Meter, units: Int64
  ) throws(LedgerSuspension) -> Int64? {
    let arguments = meter.arguments + [("units", .integer(units))]
    guard context.engine == .mariadb else {
      return try sql(isOnce: true) { [(.quotaRelease, arguments)] }.number(0)
    }
    return try sql(isOnce: true, needsOneConnection: true) {
      [(.quotaRelease, arguments), (.quotaChanged, [])]
    }.numberIfChanged(1)
  }
}

extension Meter {
  /// The key's values by column name.
  fileprivate var arguments: LedgerSession.Arguments {
    [("scope", .text(scope)), ("bucket", .text(bucket.name)), ("meter", .text(name))]
  }
}

extension Array where Element == DatabaseResult {
  /// Returns the number that a change returned; `nil` if it changed nothing.
  func number(_ place: Int) throws(LedgerSuspension) -> Int64? {
    guard var row = try rowIfAny(place) else { return nil }
    let number = try row.integer()
    try row.end()
    return number
  }

  /// Returns the number after the preceding change, which MariaDB reports on the same connection;
  /// `nil` if it changed nothing.
  func numberIfChanged(_ place: Int) throws(LedgerSuspension) -> Int64? {
    guard var row = try rowIfAny(place) else {
      throw .shape("results[" + String(place) + "].rows")
    }
    let changed = try row.integer()
    guard changed == 0 || changed == 1 else { throw .shape("column 0") }
    let number = try row.integer()
    try row.end()
    return changed == 1 ? number : nil
  }
}
