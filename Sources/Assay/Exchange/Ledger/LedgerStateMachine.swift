/// Runs a ledger operation step by step: repeats statements that the engine did not run, and
/// reports uncertain ones (STO-70, STO-71). The operation itself has no code for failures.
///
///     asking ──┬── next step, at once ── asking
///        ▲     ├── grant ── asking, or a read of the row, if the grant ended the transaction
///        └── waiting ◄── busy, lost, unreachable
struct LedgerStateMachine: ExchangeStateMachine {
  private let operation: AnyLedgerOperation
  private let context: LedgerContext
  /// The replies to the steps so far, in order.
  private var replies: [LedgerSession.Answer] = []
  /// The index in `replies` at which the open transaction began; `nil` if none is open.
  private var transactionStart: Int? = nil
  private var open = DatabaseStep(calls: [])
  /// The repetitions after contention or an uncertain failure (STO-70).
  private var repetitions: Int64 = 0
  /// The number of transactions whose database session was lost (STO-39).
  private var losses: Int64 = 0
  /// Whether a connection has failed once; the second failure ends the exchange (STO-77).
  private var wasUnreachable = false
  /// The purchase key of the newest grant step.
  private var granting: Text = ""
  /// Whether the grant ended the transaction, so that the open step reads the row outside of it
  /// (STO-38).
  private var isBroken = false
  private var committed: Bool? = nil
  private var outcome: OperationResult? = nil
  private var refusal: Refusal? = nil

  private static let repetitionCap: Int64 = 3
  private static let lossCap: Int64 = 2
  /// The most steps for all repetitions together, waits included (EXC-15).
  private static let repetitionSteps = 30

  /// - Throws: `config.exchange.block-missing`, `config.ledger.not-durable`,
  ///   `config.ledger.not-shared`, `config.document.missing` at `ledger.table`, and the refusals
  ///   of the operation.
  init(_ context: OperationContext) throws(Refusal) {
    let ledger = try Self.ledger(context)
    let operation = try context.operation(
      OperationParameters(context.request.root, context.evidence, ledger))
    self.init(operation, ledger)
  }

  /// Runs an operation that is a part of another one.
  init(_ operation: AnyLedgerOperation, _ context: LedgerContext) {
    self.operation = operation
    self.context = context
  }

  /// Returns the ledger that the request names, after checking that it can have the operation.
  ///
  /// - Throws: as `init(_:)`, but for the refusals of the operation.
  static func ledger(_ context: OperationContext) throws(Refusal) -> LedgerContext {
    let (request, configuration) = (context.request, context.configuration)
    guard let policy = configuration.ledger else {
      throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "ledger")
    }
    let engine = try Self.engine(request, policy)
    try require(
      engine != .redis || request.kind.row.engines == .any, .configLedgerNotDurable, "STO-13",
      at: "engine")
    try require(
      engine != .sqlite || policy.shared, .configLedgerNotShared, "STO-13", at: "ledger.shared")
    try policy.requireTable(of: engine)
    return LedgerContext(configuration, policy, engine, nowMs: context.nowMs)
  }

  /// Returns the engine that the request names, or the configured one (STO-1).
  private static func engine(
    _ request: ExchangeRequest, _ policy: LedgerPolicy
  ) throws(Refusal) -> LedgerEngine {
    guard let node = request["engine"], !node.value.isNull else { return policy.engine }
    return try LedgerBlock.engine(node)
  }

  /// Returns the most steps, repetitions included (EXC-15).
  func maxSteps(_ bound: StepBound) -> Int {
    bound.most(purchases: operation.size.purchases, subscriptions: operation.size.subscriptions)
      &+ Self.repetitionSteps
  }

  /// The most milliseconds for all steps together (STO-76); `nil` if only the exchange's deadline
  /// applies.
  var requestMs: Int64? { operation.isBounded ? context.policy.requestMs : nil }

  mutating func start(nowMs: Int64) -> ExchangeAction { advance(nowMs: nowMs) }

  mutating func receive(_ reply: ExchangeReply, nowMs: Int64) -> ExchangeAction {
    if isBroken { return read(reply) }
    switch reply {
    case .database(.results(let results)):
      guard results.count == open.calls.count else {
        return end(
          Refusal(.unavailableDatabaseUnexpectedReply, "STO-4", at: "results"))
      }
      if let failure = results.compactMap({ $0.failure }).first {
        return evaluate(failure, nowMs: nowMs)
      }
      replies.append(.results(results))
      if open.transaction == .commit { transactionStart = nil }
    case .database(.failure(let failure)):
      if let absent = open.absentCode, failure.isCode(absent) {
        replies.append(.results(open.calls.map { _ in .done }))
      } else {
        return evaluate(failure, nowMs: nowMs)
      }
    case .database(.nothing): return lose(at: "code", nowMs: nowMs)
    case .granted(.done): replies.append(.granted(.done))
    case .granted(.cancelled(let result)):
      if let failure = result.failure { return evaluate(failure, nowMs: nowMs) }
      replies.append(.granted(result))
    case .granted(.lost): return lose(at: "code", nowMs: nowMs)
    case .granted(.refused(let failure)): return evaluateGrant(failure, nowMs: nowMs)
    case .granted(.failed): return endGrant()
    case .elapsed where repliesWait: replies.append(.waited(atMs: nowMs))
    case .elapsed: break
    case .http: return end(Refusal(.internalAssayBug, "EXC-5", at: "step"))
    }
    return advance(nowMs: nowMs)
  }

  /// Whether the open wait is the operation's own, and not the pause before a repetition.
  private var repliesWait = false

  // MARK: transitions

  private mutating func advance(nowMs: Int64) -> ExchangeAction {
    let session = LedgerSession(context, replies, isRepeated: repetitions > 0 || losses > 0)
    repliesWait = false
    do throws(LedgerSuspension) {
      return end(try operation.run(session))
    } catch {
      switch error {
      case .step(let step):
        open = step
        if step.transaction == .begin { transactionStart = replies.count }
        return .database(step, context)
      case .grant(let grant):
        granting = grant.purchaseKey
        return .grant(grant)
      case .wait(let untilMs):
        repliesWait = true
        return .wait(
          ExchangeWait(
            notBeforeMs: max(nowMs, untilMs), reason: .busy,
            otherwise: Refusal(
              .unavailableAppStoreLocalRateLimit, "STO-66", at: "appStoreOperation")))
      case .refused(let refusal): return end(refusal)
      }
    }
  }

  private mutating func evaluate(_ failure: DatabaseFailure, nowMs: Int64) -> ExchangeAction {
    let code = failure.code.string
    switch failure.kind(context.engine, isInTransaction: open.transaction != nil) {
    case .busy:
      return tryAgain(
        Refusal(.unavailableDatabaseContention, "STO-70", at: "error.code", detail: code),
        isUnclear: false, nowMs: nowMs)
    case .unclear:
      return tryAgain(
        Refusal(.unavailableDatabaseOutcomeUnknown, "STO-71", at: "error.code", detail: code),
        isUnclear: true, nowMs: nowMs)
    case .lost: return lose(at: "error.code", detail: code, nowMs: nowMs)
    case .unreachable:
      let refusal = Refusal(
        .unavailableDatabaseUnreachable, "STO-77", at: "error.code", detail: code)
      if wasUnreachable { return end(refusal) }
      wasUnreachable = true
      return again(after: Self.unreachableMs, refusal, nowMs: nowMs)
    case .fatal:
      return end(
        Refusal(.unavailableDatabaseStatementFailed, "STO-71", at: "error.code", detail: code))
    case .standby: return end(Refusal(.unavailableDatabaseStandby, "STO-74", at: "error.code"))
    case .evicting: return end(Refusal(.configLedgerEvicting, "STO-83", at: "error.code"))
    case .transaction: return readAfterGrant()
    }
  }

  /// The pause before the one repetition of a failed connection (STO-77).
  private static let unreachableMs: Int64 = 100

  /// Ends the exchange unless the engine's code means that the same grant may succeed now
  /// (STO-32).
  private mutating func evaluateGrant(_ failure: DatabaseFailure, nowMs: Int64) -> ExchangeAction {
    switch failure.kind(context.engine, isInTransaction: true) {
    case .busy, .lost, .transaction: return evaluate(failure, nowMs: nowMs)
    default: return endGrant()
    }
  }

  private mutating func endGrant() -> ExchangeAction {
    end(Refusal(.unavailableClaimInProgress, "STO-32", at: "grant"))
  }

  /// Handles a lost reply. A transaction begins anew at most twice: uncommitted changes were
  /// rolled back, and committed ones are found by its first read (STO-39).
  private mutating func lose(
    at place: String, detail: String = "", nowMs: Int64
  ) -> ExchangeAction {
    guard transactionStart != nil else {
      return tryAgain(
        Refusal(.unavailableDatabaseOutcomeUnknown, "STO-71", at: place, detail: detail),
        isUnclear: true, nowMs: nowMs)
    }
    let refusal = Refusal(.unavailableDatabaseOutcomeUnknown, "STO-39", at: place, detail: detail)
    if losses >= Self.lossCap { return end(refusal) }
    losses &+= 1
    return again(after: 20 &+ spread(20), refusal, nowMs: nowMs)
  }

  private mutating func tryAgain(
    _ refusal: Refusal, isUnclear: Bool, nowMs: Int64
  ) -> ExchangeAction {
    if isUnclear && open.isOnce || repetitions >= Self.repetitionCap { return end(refusal) }
    let pause = (20 << repetitions) &+ spread(20 << repetitions)
    repetitions &+= 1
    return again(after: pause, refusal, nowMs: nowMs)
  }

  /// Waits, then repeats the step, or the whole transaction, which the executor has rolled back.
  private mutating func again(
    after pause: Int64, _ refusal: Refusal, nowMs: Int64
  ) -> ExchangeAction {
    if let start = transactionStart {
      replies.removeLast(replies.count &- start)
      transactionStart = nil
    }
    return .wait(
      ExchangeWait(
        notBeforeMs: Milliseconds.sum(nowMs, pause), reason: .busy, otherwise: refusal))
  }

  /// Reads the purchase's row outside of the transaction that the grant has ended, on a
  /// connection of the executor's own (STO-38).
  private mutating func readAfterGrant() -> ExchangeAction {
    guard context.engine.isSQL, !granting.isEmpty else { return endBroken() }
    isBroken = true
    open = DatabaseStep(calls: [.sql(.ledgerRead, [("purchase_key", .text(granting))])])
    return .database(open, context)
  }

  private mutating func read(_ reply: ExchangeReply) -> ExchangeAction {
    if case .database(.results(let results)) = reply {
      do throws(LedgerSuspension) {
        let row = try results.rowIfAny(0)
        committed =
          try row.map { row throws(LedgerSuspension) in try LedgerRow(row).state == .claimed }
          ?? false
      } catch {
        committed = nil
      }
    }
    return endBroken()
  }

  private mutating func endBroken() -> ExchangeAction {
    end(Refusal(.misuseLedgerTransaction, "STO-38", at: "grant"))
  }

  /// Returns less than `pause`, varied by the attempt id, so that two exchanges that collided do
  /// not collide again.
  private func spread(_ pause: Int64) -> Int64 {
    var hash = JSON.hashStart &+ UInt32(truncatingIfNeeded: repetitions)
    for byte in operation.jitterSeed.utf8 { hash = JSON.hash(hash, byte) }
    return pause &* Int64(hash >> 24) / 256
  }

  private mutating func end(_ found: OperationResult) -> ExchangeAction {
    outcome = found
    if let refusal = found.refusal {
      return .refused(ExchangeRefusal(refusal, .result))
    }
    return .accepted(nil, capacity: 2048)
  }

  private mutating func end(_ found: Refusal) -> ExchangeAction {
    if found.status.family == .unavailable, let instead = operation.resultWithoutDatabase(found) {
      return end(instead)
    }
    refusal = found
    return .refused(ExchangeRefusal(found, .answer))
  }

  func repeatsAt(nowMs: Int64) -> Int64 { Milliseconds.sum(nowMs, 1000) }

  func write(_ writer: inout JSONWriter) {
    if let outcome {
      outcome.write(&writer)
    } else if let refusal {
      operation.writeRefused(refusal, &writer)
      if refusal.status == .misuseLedgerTransaction {
        writer.name("committed")
        if let committed { writer.boolean(committed) } else { writer.null() }
      }
    } else {
      // The driver ended the exchange: its deadline has passed, or no step was left.
      operation.writeRefused(
        Refusal(.unavailableExchangeDeadline, "EXC-16", at: "deadlineMs"), &writer)
    }
  }

  func writeWarnings(_ writer: inout JSONWriter) {}
}
