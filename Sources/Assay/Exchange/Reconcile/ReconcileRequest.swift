/// The parameters of `reconcile`, and the requests to Apple that it makes of them
/// (docs/spec/reconcile.md RCN-1).
struct ReconcileRequest {
  let environment: Text
  let bundleId: Text
  let attemptId: Text
  /// The names of the parts, joined by spaces.
  let parts: Text
  let fromMs: Int64?
  let untilMs: Int64
  let maxRequests: Int64
  let leaseMs: Int64
  let attempts: Int64
  /// Whether purchases that were never granted are claimed for an owner that is known (RCN-25).
  let claimsOwned: Bool
  /// The time after which no step begins, in milliseconds since 1970 UTC (EXC-16).
  let deadlineMs: Int64
  /// The app that the request names.
  private let given: Text?
  private let context: OperationContext

  private static let standardLease = 5 * Milliseconds.minute

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.attempt-id`, `.lease`,
  ///   `config.ledger.customer-key`, `config.exchange.block-missing`, `misuse.app-store.parameter`,
  ///   `unsupported.app-store.environment`.
  init(_ context: OperationContext, _ ledger: LedgerContext) throws(Refusal) {
    self.context = context
    let parameters = OperationParameters(context.request.root, [], ledger)
    let nowMs = context.nowMs
    environment = try OperationParameters.environment(try parameters.needed("environment"))
    attemptId = try parameters.attemptId()
    parts = try Self.parts(parameters["parts"])
    fromMs = try parameters["fromMs"]?.integer(0...MemberNode.exactInteger)
    untilMs = min(nowMs, try parameters["untilMs"]?.integer(0...MemberNode.exactInteger) ?? nowMs)
    maxRequests = try parameters["maxRequests"]?.integer(1...500) ?? 100
    let lease = parameters["leaseMs"]?.refusing(.misuseLedgerLease, "STO-29")
    leaseMs = try lease?.integer(60_000...3_600_000) ?? Self.standardLease
    attempts = try parameters["attempts"]?.integer(AppStoreOptions.attempts) ?? 3
    claimsOwned = try parameters["claim"]?.choice(["report", "owned"]) == 1
    let words = parts.utf8.split(separator: 0x20)
    let needsCustomers = RunPlan.namesOfCustomers.contains { name in
      words.contains { $0.elementsEqual(name) }
    }
    if claimsOwned || needsCustomers { _ = try parameters.customerKey() }
    deadlineMs =
      parameters["deadlineMs"]?.value.integer ?? Milliseconds.sum(nowMs, ExchangeOptions.standard)
    given = try parameters["bundleId"]?.refusing(.misuseAppStoreParameter, "API-21").text()
    bundleId = given ?? context.configuration.apps.first?.bundleId ?? ""
    // Checks environment, app and configuration as a request to Apple does.
    _ = try AppStoreTask(history(nowMs &- 1, nowMs, failures: false, token: "", nowMs: nowMs))
  }

  private static func parts(_ node: MemberNode?) throws(Refusal) -> Text {
    guard let node else { return "failures open" }
    var names: [Text] = []
    for element in try node.elements(1...RunPlan.names.count) {
      let name = Text(stringLiteral: RunPlan.names[try element.choice(RunPlan.names)])
      try require(!names.contains(name), element)
      names.append(name)
    }
    var words: [UInt8] = []
    for name in names { words += (words.isEmpty ? [] : [0x20]) + name.utf8 }
    return Text(words)
  }

  // MARK: requests

  /// Returns the operation that permits a request below Apple's rate limits; `nil` for a test
  /// server, which has none.
  func permit(
    _ operation: StaticString, _ ledger: LedgerContext
  ) throws(Refusal) -> AcquireRatePermit? {
    guard environment != "LocalTesting" else { return nil }
    let request = try request("acquire-rate-permit") { writer in
      writer.member("bundleId", bundleId)
      writer.member("environment", environment)
      writer.member("appStoreOperation", operation)
    }
    return try AcquireRatePermit(OperationParameters(request.root, [], ledger))
  }

  /// Returns the request for a page of Apple's history of notifications.
  ///
  /// - Parameter token: The token of the page; empty for the first one.
  func history(
    _ fromMs: Int64, _ untilMs: Int64, failures: Bool, token: Text, nowMs: Int64
  ) throws(Refusal) -> OperationContext {
    try asking("get-notification-history", nowMs) { writer in
      writer.member("startDate", integer: fromMs)
      writer.member("endDate", integer: max(untilMs, fromMs &+ 1))
      if failures { writer.member("onlyFailures", boolean: true) }
      if !token.isEmpty { writer.member("paginationToken", token) }
    }
  }

  /// Returns the request for the state of a customer's subscriptions.
  func statuses(_ transactionId: Text, nowMs: Int64) throws(Refusal) -> OperationContext {
    try asking("get-all-subscription-statuses", nowMs) { writer in
      writer.member("transactionId", transactionId)
    }
  }

  /// Returns the request for a page of a customer's transactions, or of the refunded ones.
  func transactions(
    of download: DownloadRow, _ part: RunPart, nowMs: Int64
  ) throws(Refusal) -> OperationContext {
    try asking(part == .refunds ? "get-refund-history" : "get-transaction-history", nowMs) {
      writer in
      writer.member("transactionId", download.transactionId)
      if !download[part].isEmpty { writer.member("revision", download[part]) }
    }
  }

  private func asking(
    _ operation: StaticString, _ nowMs: Int64, _ members: (inout JSONWriter) -> Void
  ) throws(Refusal) -> OperationContext {
    let request = try request(operation) { writer in
      writer.member("environment", environment)
      if let given { writer.member("bundleId", given) }
      members(&writer)
      writer.name("options")
      writer.beginObject()
      writer.member("attempts", integer: attempts)
      writer.member("partial", boolean: true)
      writer.endObject()
    }
    return OperationContext(
      request: request, evidence: [], nowMs: nowMs, attempt: 1, trust: context.trust,
      receipts: context.receipts, attest: context.attest, triage: context.triage,
      fingerprint: context.fingerprint, checks: context.checks)
  }

  private func request(
    _ operation: StaticString, _ members: (inout JSONWriter) -> Void
  ) throws(Refusal) -> ExchangeRequest {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("operation", operation)
    members(&writer)
    writer.endObject()
    return try ExchangeRequest(writer.bytes)
  }
}
