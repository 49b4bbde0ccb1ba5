/// The operation `acquire-rate-permit`: acquires permission for one request to Apple in this
/// second, or waits for one of the next (STO-66).
struct AcquireRatePermit: GuardOperation {
  private let scope: Text
  private let kind: Text
  /// Requests per second; `nil` if Apple states no limit.
  private let limit: Int64?
  /// The number of this attempt, 1 … 64 (EXC-18).
  private let attempt: Int64
  private let nowMs: Int64

  private static let waitCap: Int64 = 5
  private static let spreadMs: Int64 = 250

  /// - Throws: `misuse.exchange.request`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let context = parameters.context
    let bundleId = try AcquireRatePermit.bundleId(
      parameters["bundleId"], context.configuration.apps)
    let place = try parameters.needed("environment").choice(["Production", "Sandbox"])
    let environment: Environment = place == 0 ? .production : .sandbox
    let node = try parameters.needed("appStoreOperation")
    kind = try node.text()
    guard let row = AppStoreLimits.row(kind) else { throw node.refusal(.range) }
    limit = AcquireRatePermit.limit(row, environment, context.policy)
    scope = MeterScope.apple(environment, bundleId)
    attempt = try parameters["attempt"]?.integer(1...64) ?? 1
    nowMs = context.nowMs
  }

  /// Returns the app that the request names, or the only one configured.
  private static func bundleId(
    _ node: MemberNode?, _ apps: [Configuration.App]
  ) throws(Refusal) -> Text {
    guard let node else {
      guard let only = apps.first, apps.count == 1 else {
        throw Refusal(.misuseExchangeRequest, "STO-66", at: "bundleId")
      }
      return only.bundleId
    }
    let bundleId = try node.text()
    try require(apps.contains { $0.bundleId == bundleId }, node)
    return bundleId
  }

  /// Returns the configured requests per second, or half of Apple's number; for Sandbox a tenth.
  private static func limit(
    _ row: (operation: StaticString, perSecond: Int64?), _ environment: Environment,
    _ policy: LedgerPolicy
  ) -> Int64? {
    let configured = policy.rateLimits.first {
      Text(stringLiteral: $0.operation) == Text(stringLiteral: row.operation)
    }
    guard let pace = configured?.perSecond ?? row.perSecond.map({ max(1, $0 / 2) }) else {
      return nil
    }
    return environment == .production ? pace : max(1, pace / 10)
  }

  var jitterSeed: Text { Text(scope.utf8 + Array(String(nowMs).utf8)) }

  func run(_ database: any GuardDatabase) throws(LedgerSuspension) -> OperationResult {
    guard let limit else { return end(nil) }
    var clock = nowMs
    for waits in 0...Self.waitCap {
      let bucket = MeterBucket.second(clock)
      let meter = Meter(scope: scope, bucket, kind)
      let ttlMs = bucket.endMs &+ Milliseconds.hour
      let used = try meter.take(units: 1, limit: limit, ttlMs: ttlMs, from: database)
      if let used { return end(used) }
      guard waits < Self.waitCap else { break }
      clock = try database.session.wait(untilMs: bucket.endMs &+ spread(waits))
    }
    return end(nil, Refusal(.unavailableAppStoreLocalRateLimit, "STO-66", at: "appStoreOperation"))
  }

  /// Spreads the retries of waiting processes over the first 250 ms of the second.
  private func spread(_ waits: Int64) -> Int64 {
    (attempt &* 61 &+ waits &* 97) % (Self.spreadMs &+ 1)
  }

  /// Whether `requestMs` limits the exchange: `false`, since waits are for Apple, not the database.
  var isBounded: Bool { false }

  /// Lets the request pass while the database is unavailable: Apple still limits the rate itself.
  func resultWithoutDatabase(_ refusal: Refusal) -> OperationResult? {
    refusal.isWithoutStore ? end(nil, isUnpaced: true) : nil
  }

  private func end(
    _ used: Int64?, _ refusal: Refusal? = nil, isUnpaced: Bool = false
  ) -> OperationResult {
    let limit = limit
    return OperationResult(refusal) { writer in
      writer.member("outcome", refusal == nil ? "acquired" : "limited")
      writer.member("used", integer: used)
      writer.member("limit", integer: limit)
      if isUnpaced { writer.member("unlimited", boolean: true) }
    }
  }
}
