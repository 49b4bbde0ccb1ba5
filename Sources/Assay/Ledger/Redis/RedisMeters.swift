/// Counters in Redis (docs/spec/ledger-statements.md §4).
extension LedgerSession {
  mutating func redisTake(
    _ meter: Meter, units: Int64, room: Int64, ttlMs: Int64
  ) throws(LedgerSuspension) -> Int64? {
    let reply = try redis(isOnce: true) {
      GuardCall(
        key: GuardKey.meter(meter), expireMs: ttlMs, create: [("used", .integer(units))],
        tests: [.atMost("used", room)], add: [("used", .integer(units))])
    }
    let count = try reply.count
    guard reply.change != .created || count == units else { throw .shape("used") }
    return reply.change == .none ? nil : count
  }

  /// Releases units; the expiry remains that of the consumption.
  mutating func redisGiveBack(_ meter: Meter, units: Int64) throws(LedgerSuspension) -> Int64? {
    let reply = try redis(isOnce: true) {
      GuardCall(
        key: GuardKey.meter(meter), tests: [.atLeast("used", units)],
        add: [("used", .integer(-units))])
    }
    guard reply.change != .created else { throw .shape("reply[0]") }
    if reply.isAbsent { return nil }
    let count = try reply.count
    return reply.change == .none ? nil : count
  }
}

extension GuardReply {
  fileprivate var count: Int64 {
    get throws(LedgerSuspension) {
      var row = try row(["used"])
      return try row.integer()
    }
  }
}
