/// The operation `get-plan`: returns the plan of an account now (STO-45).
struct GetPlan: DurableOperation {
  private let account: Text
  private let context: LedgerContext
  /// The last plan that the host kept; `nil` if there is none or it is too old (docs/spec/ledger.md
  /// §7).
  private let last: (plan: Text, untilMs: Int64?)?

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.account`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    account = try parameters.account("account")
    context = parameters.context
    last = try GetPlan.last(parameters)
  }

  private static func last(
    _ parameters: OperationParameters
  ) throws(Refusal) -> (plan: Text, untilMs: Int64?)? {
    guard let node = parameters["cachedPlan"] else { return nil }
    let context = parameters.context
    let object = try node.object(["plan", "expiresAtMs", "readAtMs"])
    let name = try object.required("plan")
    let plan = try name.text()
    try require(context.configuration.plans.contains(plan), name)
    let untilMs = try object.present("expiresAtMs")?.integer(0...MemberNode.exactInteger)
    let atMs = try object.required("readAtMs").integer(0...MemberNode.exactInteger)
    let age = context.nowMs &- atMs
    guard age >= 0, age <= context.policy.failOpenPlanMaxAgeMs else { return nil }
    if let untilMs, untilMs <= context.nowMs { return nil }
    return (plan, untilMs)
  }

  var jitterSeed: Text { account }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let standing = try Standing.read(account, database)
    let nowMs = context.nowMs
    let isRestricted = standing.restrictions?.oldest != nil
    return OperationResult(
      isRestricted ? Refusal(.rejectedAccountRestricted, "CUS-22", at: "account") : nil
    ) { writer in
      standing.entitlement.write(&writer)
      writer.member("readAtMs", integer: nowMs)
      standing.restrictions?.write(&writer)
    }
  }

  /// Returns the last plan that the host kept; without one, the failure with the default plan.
  func resultWithoutDatabase(_ refusal: Refusal) -> OperationResult? {
    let fallback = context.configuration.plans.first ?? ""
    let last = last
    return OperationResult(last == nil ? refusal : nil) { writer in
      writer.member("plan", last?.plan ?? fallback)
      writer.member("expiresAtMs", integer: last?.untilMs)
      writer.name("subscriptions")
      writer.null()
      writer.member("isCached", boolean: last != nil)
    }
  }
}
