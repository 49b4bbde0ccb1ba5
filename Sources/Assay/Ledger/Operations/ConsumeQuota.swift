/// The operation `consume-quota`: consumes units of an account's daily allowance
/// (docs/spec/ledger.md §5.6).
struct ConsumeQuota: GuardOperation {
  private let meter: Meter
  private let units: Int64
  private let limit: Int64
  /// The meter to which a client falls back (BCK-9); `nil` if there is none.
  private let fallback: Text?
  /// Whether requests pass uncounted while the database is unavailable (docs/spec/ledger.md §7).
  private let failsOpen: Bool
  private let nowMs: Int64

  /// The time for which counters are kept after their day, in milliseconds (BCK-10).
  private static let keptMs = 7 &* Milliseconds.day

  /// - Throws: `misuse.ledger.account`, `.meter`, `.plan`, `.units`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let context = parameters.context
    nowMs = context.nowMs
    let account = try parameters.account("account")
    let name = try ConsumeQuota.meter(parameters)
    let limits = try ConsumeQuota.limits(parameters)
    units =
      try parameters["units"]?.refusing(.misuseLedgerUnits, "STO-50")
      .integer(1...context.policy.maxUnits) ?? 1
    meter = Meter(
      scope: MeterScope.account(account),
      .day(nowMs, offsetMinutes: context.policy.dayOffsetMinutes), name)
    limit = limits.first { $0.meter == name }?.units ?? 0
    fallback = ConsumeQuota.fallback(limits, limit)
    failsOpen = context.policy.failOpenMeters.contains(name)
  }

  private static func meter(_ parameters: OperationParameters) throws(Refusal) -> Text {
    let node = try parameters.needed("meter").refusing(.misuseLedgerMeter, "STO-50")
    let name = try node.text()
    let isKnown = parameters.context.configuration.quotas.contains {
      $0.meters.contains { $0.meter == name }
    }
    try require(isKnown, node)
    return name
  }

  private static func limits(
    _ parameters: OperationParameters
  ) throws(Refusal) -> [(meter: Text, units: Int64)] {
    let node = try parameters.needed("plan").refusing(.misuseLedgerPlan, "STO-50")
    let plan = try node.text()
    let configuration = parameters.context.configuration
    try require(configuration.plans.contains(plan), node)
    return configuration.quotas.first { $0.plan == plan }?.meters ?? []
  }

  /// Returns the plan's meter with the largest limit, if that is larger than `limit`.
  private static func fallback(_ limits: [(meter: Text, units: Int64)], _ limit: Int64) -> Text? {
    var found: (meter: Text, units: Int64)? = nil
    for entry in limits where entry.units > found?.units ?? limit { found = entry }
    return found?.meter
  }

  var jitterSeed: Text { meter.seed(nowMs) }

  func run(_ database: any GuardDatabase) throws(LedgerSuspension) -> OperationResult {
    guard limit > 0 else {
      return end("not-in-plan", .none, Refusal(.rejectedQuotaNotInPlan, "BCK-8", at: "meter"))
    }
    let ttlMs = meter.bucket.endMs &+ Self.keptMs
    guard let used = try meter.take(units: units, limit: limit, ttlMs: ttlMs, from: database) else {
      let headers = MeterHeaders(
        meter, limit: limit, left: 0, isExhausted: true, nowMs: nowMs)
      return end(
        "exhausted", headers, Refusal(.rejectedQuotaExhausted, "STO-51", at: "meter"))
    }
    let headers = MeterHeaders(
      meter, limit: limit, left: limit &- used, isExhausted: false, nowMs: nowMs)
    return end("consumed", headers, used: used)
  }

  func resultWithoutDatabase(_ refusal: Refusal) -> OperationResult? {
    failsOpen && refusal.isWithoutStore ? end("consumed", .none) : nil
  }

  /// - Parameter used: The count afterwards; `nil` if nothing was counted.
  private func end(
    _ outcome: StaticString, _ headers: MeterHeaders, _ refusal: Refusal? = nil,
    used: Int64? = nil
  ) -> OperationResult {
    let (meter, units, limit, fallback) = (meter, units, limit, fallback)
    let isUnmetered = refusal == nil && used == nil
    let left = isUnmetered ? nil : max(0, limit &- (used ?? limit))
    return OperationResult(refusal) { writer in
      writer.member("outcome", outcome)
      writer.member("used", integer: used)
      writer.member("limit", integer: limit)
      writer.member("left", integer: left)
      writer.member("resetAtMs", integer: meter.bucket.endMs)
      writer.member(
        "ticket", used.map { _ in MeterTicket(.take, meter, units: units).text })
      headers.write(&writer)
      writer.member("fallback", fallback)
      if isUnmetered { writer.member("unmetered", boolean: true) }
    }
  }
}

extension Refusal {
  /// Whether the database is unavailable (docs/spec/ledger.md §7); a row of unexpected form is
  /// another failure.
  var isWithoutStore: Bool {
    switch status {
    case .unavailableDatabaseOutcomeUnknown, .unavailableDatabaseContention,
      .unavailableDatabaseStatementFailed,
      .unavailableDatabaseStandby, .unavailableDatabaseUnreachable:
      return true
    default: return false
    }
  }
}
