@_spi(AssaySwift) import Assay

/// The lineage of the database that a ledger checked first (STO-78).
actor Lineage {
  private var first: String?

  func saw(_ lineage: String?) -> String? {
    if first == nil { first = lineage }
    return first
  }
}

/// A result that is read from the document of an exchange.
protocol AnswerOfStore: LedgerResult, FactsObject {
  var document: Document { get set }
}

/// The request of one ledger operation, with the time of the call.
struct LedgerRequest {
  let operation: String
  let evidence: [any Facts]
  /// Whether a refusal of the ledger's own is a result and not an error.
  let isAnswer: Bool
  let now: Timestamp
  private let begun = ContinuousClock.now
  var members: [(String, JSON?)]

  init(
    _ operation: String, evidence: [any Facts] = [], isAnswer: Bool = false, at now: Timestamp,
    _ members: [(String, JSON?)] = []
  ) {
    self.operation = operation
    self.evidence = evidence
    self.isAnswer = isAnswer
    self.now = now
    self.members = members
  }

  /// The current time of the exchange, which continues from the time of the call.
  var clock: Timestamp { now.advanced(by: begun.duration(to: .now)) }

  func text(_ engine: String) -> JSON {
    .given([("operation", JSON(operation)), ("engine", JSON(engine))] + members)
  }

  subscript(_ name: String) -> JSON? { members.first { $0.0 == name }?.1 }
}

/// The host's part in an exchange.
struct LedgerEffects {
  var grant: Granting?
  var takeBack: Taking?
  var prepares = false
  var forgets = false
}

extension Ledger {
  /// Runs an exchange; then grants and completes what was claimed under a lease.
  func asking<Result: AnswerOfStore>(
    _ request: LedgerRequest, grant: Granting? = nil, takeBack: Taking? = nil
  ) async throws -> Result {
    let isEvent = request.operation == "apply-event"
    guard request["grantMode"] == "transaction" else {
      var found: Result = try await answer(to: request, LedgerEffects())
      if let takeBack { try await taking(takeBack, request, &found) }
      if let grant { try await paying(grant, request, &found) }
      return found
    }
    guard grant != nil || request.operation == "revoke",
      takeBack != nil || request.operation == "claim"
    else {
      throw AssayError.of(
        .misuseExchangeRequest,
        "grantMode \"transaction\" needs \(isEvent ? "a grant and a take-back" : "its closure")",
        at: "grantMode")
    }
    return try await answer(to: request, LedgerEffects(grant: grant, takeBack: takeBack))
  }

  func creating(_ request: LedgerRequest) async throws -> CreateSchemaResult {
    try await answer(to: request, LedgerEffects(prepares: true))
  }

  func forgetting<Result: AnswerOfStore>(_ request: LedgerRequest) async throws -> Result {
    try await answer(to: request, LedgerEffects(forgets: true))
  }

  /// Checks the schema. A database other than the one that this ledger checked first is refused.
  func checking(_ request: LedgerRequest) async throws -> CheckSchemaResult {
    var request = request
    request.members.append(("lineage", await seen.saw(nil).map { JSON($0) }))
    let found: CheckSchemaResult = try await answer(to: request, LedgerEffects())
    _ = await seen.saw(found.lineage)
    return found
  }

  func answer<Result: AnswerOfStore>(
    to request: LedgerRequest, _ effects: LedgerEffects
  ) async throws -> Result {
    let document = try await converse(request, effects)
    guard document.status == .ok || request.isAnswer && document.isOwnRefusal else {
      throw AssayError(document)
    }
    return try Result(try Members.of(document, "exchange"))
  }

  /// Runs an exchange to its end, or to a wait that is longer than `maxWait`.
  private func converse(
    _ request: LedgerRequest, _ effects: LedgerEffects
  ) async throws -> Document {
    let exchange = try verifier.exchange(
      request.text(engine), evidence: request.evidence, at: request.now)
    guard !exchange.isDone else { return exchange.document }
    try await withExecutor { executor in
      if effects.prepares { try await executor.prepare() }
      while !exchange.isDone {
        guard let answer = try await answer(to: exchange, request, effects, executor) else {
          return
        }
        try exchange.step(answer, at: request.clock)
      }
      if effects.forgets, exchange.document.status == .ok { await executor.forgotten() }
    }
    return exchange.document
  }

  /// Calls `body` with a new executor, and rolls back what is open however `body` ends.
  func withExecutor(
    _ body: (any LedgerExecutor) async throws -> Void
  ) async throws {
    let executor = try await open()
    do {
      try await body(executor)
    } catch {
      await executor.rollBack()
      throw error
    }
    await executor.rollBack()
  }

  /// Performs the open step and returns the reply; `nil` if the wait is too long.
  private func answer(
    to exchange: Exchange, _ request: LedgerRequest, _ effects: LedgerEffects,
    _ executor: any LedgerExecutor
  ) async throws -> JSON? {
    let document = exchange.document
    switch exchange.stepName {
    case "database":
      return try await executor.run(try Members.of(document, "exchange", "database").text)
    case "grant":
      let step = try Members.of(document, "exchange", "grant")
      if try await grants(step, effects, executor) {
        return try await executor.run(step.text)
      }
      await executor.rollBack()
      let id = try step.needed(step.integer("id"), "grant.id")
      return ["id": JSON(id), "code": 500]
    case "http":
      guard let send else {
        throw AssayError.of(
          .misuseExchangeRequest, "\(request.operation) needs `send` of the ledger", at: "http")
      }
      return try await send(try Members.of(document, "exchange", "http").text)
    case "wait":
      let asked = try Members.of(document, "exchange")
      let end = try asked.needed(asked.time("notBeforeMs"), "notBeforeMs")
      let now = request.clock
      // DynamoDB takes half a minute to create a table.
      let maxWait = effects.prepares ? max(maxWait, .seconds(60)) : maxWait
      if end > now.advanced(by: maxWait) { return nil }
      if end > now {
        let (left, isOver) = end.milliseconds.subtractingReportingOverflow(now.milliseconds)
        try await Task.sleep(for: isOver ? maxWait : .milliseconds(left))
      }
      return [:]
    default: throw AssayError.unreadable(document, at: "step")
    }
  }

  /// Calls the host's grant or take-back in the open transaction. Returns whether it acted.
  private func grants(
    _ step: Members, _ effects: LedgerEffects, _ executor: any LedgerExecutor
  ) async throws -> Bool {
    if step.text("what") == "take" {
      guard let takeBack = effects.takeBack else { throw AssayError.unreadable(step.document) }
      return try await takeBack(TakeBack(take: try Take(step), executor: executor)) != .later
    }
    guard let grant = effects.grant else { throw AssayError.unreadable(step.document) }
    return try await grant(try Grant(step, executor))
  }

  /// Returns this many random bytes as base64url.
  static func made(_ count: Int) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    var text = ""
    var left = count &* 8
    while left > 0 {
      // The last letter has only the remaining bits.
      let random = UInt8.random(in: 0..<64)
      let bits = left < 6 ? random & (0x3f << UInt8(truncatingIfNeeded: 6 &- left)) : random
      text.append(alphabet[Int(bits & 0x3f)])
      left &-= 6
    }
    return text
  }
}

extension GetPlanResult {
  /// The members of this result that `get-plan` accepts as the cached plan.
  var kept: JSON {
    .given([
      ("plan", JSON(plan)), ("expiresAtMs", expiresAt.map { JSON($0.milliseconds) }),
      ("readAtMs", readAt.map { JSON($0.milliseconds) }),
    ])
  }
}

extension JSON {
  init(milliseconds duration: Duration) {
    self.init(Timestamp(milliseconds: 0).advanced(by: duration).milliseconds)
  }
}

extension Members {
  /// The JSON of the object as it was written.
  var text: JSON { JSON(text: value.json) }
}

extension Document {
  /// Whether the ledger itself refused, with an outcome of the purchase.
  fileprivate var isOwnRefusal: Bool {
    guard status.family == .rejected || "\(status)".hasPrefix("unavailable.claim.") else {
      return false
    }
    return value?.member("exchange")?.member("outcome")?.text != nil
  }
}
