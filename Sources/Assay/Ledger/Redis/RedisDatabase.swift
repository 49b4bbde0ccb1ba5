/// Counters, challenges and events in Redis: each change is one call of the guard script
/// (docs/spec/ledger-statements.md §4).
final class RedisDatabase: GuardDatabase {
  let session: LedgerSession

  init(_ session: LedgerSession) { self.session = session }

  private func run(
    isOnce: Bool = false, _ call: () -> GuardCall
  ) throws(LedgerSuspension) -> GuardReply {
    let results = try session.run { DatabaseStep(calls: [call().call], isOnce: isOnce) }
    guard let first = results.first, case .reply(let values) = first else {
      throw .shape("results[0]")
    }
    return try GuardReply(values)
  }

  // MARK: counters

  func take(
    _ meter: Meter, units: Int64, room: Int64, ttlMs: Int64
  ) throws(LedgerSuspension) -> Int64? {
    let reply = try run(isOnce: true) {
      GuardCall(
        key: GuardKey.meter(meter), expireMs: ttlMs, create: [("used", .integer(units))],
        tests: [.atMost("used", room)], add: [("used", .integer(units))])
    }
    let count = try reply.count
    guard reply.change != .created || count == units else { throw .shape("used") }
    return reply.change == .none ? nil : count
  }

  /// Releases units; the expiry remains that of the consumption.
  func giveBack(_ meter: Meter, units: Int64) throws(LedgerSuspension) -> Int64? {
    let reply = try run(isOnce: true) {
      GuardCall(
        key: GuardKey.meter(meter), tests: [.atLeast("used", units)],
        add: [("used", .integer(-units))])
    }
    guard reply.change != .created else { throw .shape("reply[0]") }
    if reply.isAbsent { return nil }
    let count = try reply.count
    return reply.change == .none ? nil : count
  }

  // MARK: challenges

  func insert(_ row: ChallengeRow) throws(LedgerSuspension) -> ChallengeRow {
    let reply = try run {
      GuardCall(key: GuardKey.challenge(row.id), expireMs: row.keptUntilMs, create: row.arguments)
    }
    return try ChallengeRow(try reply.row(ChallengeRow.columns))
  }

  func consume(_ asked: ChallengeUse) throws(LedgerSuspension) -> ChallengeRow? {
    let nowMs = session.context.nowMs
    let reply = try run {
      GuardCall(
        key: GuardKey.challenge(asked.id),
        tests: [
          .equal("purpose", asked.purpose), .equal("subject", asked.subject),
          .equal("used_by", ""), .atLeast("expires_at_ms", nowMs &+ 1),
        ], set: [("used_by", .text(asked.by)), ("used_at_ms", .integer(nowMs))])
    }
    return reply.isAbsent ? nil : try ChallengeRow(try reply.row(ChallengeRow.columns))
  }

  // MARK: events

  /// Records an event, unless the server loses what it has when it ends (STO-83).
  func first(_ event: EventRow) throws(LedgerSuspension) -> EventRow {
    if !session.context.policy.redisIsVolatile {
      let info = try RedisInfo(
        try session.run { DatabaseStep(calls: RedisInfo.calls(["persistence"])) })
      guard info["aof_enabled"] != "0" else {
        throw .refused(Refusal(.configLedgerNotDurable, "STO-83", at: "aof_enabled"))
      }
    }
    let reply = try run {
      GuardCall(
        key: GuardKey.once(event.id), expireMs: event.keptUntilMs, create: event.arguments)
    }
    return try EventRow(event.id, try reply.row(EventRow.columns))
  }

  // MARK: schema

  func createSchema(_ lineage: Text) throws(LedgerSuspension) -> OperationResult {
    CreateSchema.end("exists", nil)
  }

  func checkSchema() throws(LedgerSuspension) -> CheckSchema.Found {
    let results = try session.run {
      DatabaseStep(
        calls: [.command(["ROLE"])] + RedisInfo.calls(["server", "memory", "persistence"]))
    }
    guard case .reply(let words)? = results.first else { throw .shape("reply") }
    guard words.first == .text("master") else { throw CheckSchema.standby("ROLE") }
    let info = try RedisInfo(results.dropFirst())
    var found = CheckSchema.Found(hasLineage: false)
    let (policy, most) = (info["maxmemory_policy"], info["maxmemory"])
    if let policy, let most, policy != "noeviction", most != "0" {
      throw .refused(Refusal(.configLedgerEvicting, "STO-83", at: "maxmemory_policy"))
    }
    if info["aof_enabled"] == "0" { found.warnings.append("not-persistent") }
    if policy == nil || most == nil || info["aof_enabled"] == nil {
      found.warnings.append("unknown")
    }
    return found
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
