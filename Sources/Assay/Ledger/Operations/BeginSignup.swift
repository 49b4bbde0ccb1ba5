/// The operation `begin-signup`: decides if this address may create an account today
/// (docs/spec/ledger.md §5.7). The password itself is never passed in (STO-59).
struct BeginSignup: GuardOperation {
  private let address: SourceAddress
  private let bucket: MeterBucket
  private let createdLimit: Int64
  private let attemptLimit: Int64
  /// The refusal of the credentials, which precedes any counter (BCK-12).
  private let fault: Refusal?
  private let nowMs: Int64

  /// - Throws: `misuse.exchange.request`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let context = parameters.context
    let policy = context.policy.signup
    address = SourceAddress(try parameters["address"]?.text())
    createdLimit = address.isKnown ? policy.limit : policy.unknownLimit
    attemptLimit = policy.attemptLimit
    bucket = .day(context.nowMs)
    nowMs = context.nowMs
    let passwordBytes =
      try parameters["passwordBytes"]?.integer(0...MemberNode.exactInteger) ?? 0
    fault = SignupCredentials.fault(
      parameters["username"], passwordBytes: passwordBytes, policy)
  }

  private func meter(_ name: Text) -> Meter {
    Meter(scope: MeterScope.signup(address), bucket, name)
  }

  var jitterSeed: Text { meter("attempts").seed(nowMs) }

  func run(_ database: any GuardDatabase) throws(LedgerSuspension) -> OperationResult {
    if let fault { return end("malformed", .none, fault) }
    let created = meter("created")
    let ttlMs = bucket.endMs &+ Self.keptMs(database.session.context.engine)
    guard
      try meter("attempts").take(units: 1, limit: attemptLimit, ttlMs: ttlMs, from: database)
        != nil,
      let used = try created.take(units: 1, limit: createdLimit, ttlMs: ttlMs, from: database)
    else {
      return end(
        "exhausted", MeterHeaders(retryAt: bucket.endMs, nowMs: nowMs),
        Refusal(.rejectedSignupExhausted, "STO-56", at: "address"), left: 0)
    }
    return end(
      "admitted", .none, left: createdLimit &- used,
      ticket: MeterTicket(.admit, created, units: 1).text)
  }

  /// Returns the time for which counters are kept after their day, in milliseconds (BCK-13): longer
  /// on Redis, whose server would delete them at once if its clock were days ahead (STO-82).
  private static func keptMs(_ engine: LedgerEngine) -> Int64 {
    (engine == .redis ? 7 : 2) &* Milliseconds.day
  }

  private func end(
    _ outcome: StaticString, _ headers: MeterHeaders, _ refusal: Refusal? = nil,
    left: Int64? = nil, ticket: Text? = nil
  ) -> OperationResult {
    let bucket = bucket
    return OperationResult(refusal) { writer in
      writer.member("outcome", outcome)
      writer.member("ticket", ticket)
      writer.member("left", integer: left)
      writer.member("resetAtMs", integer: bucket.endMs)
      headers.write(&writer)
    }
  }
}
