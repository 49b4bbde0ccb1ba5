/// Carries a store operation through its steps: repeats what the engine did not carry out,
/// and tells what is unclear (STO-70, STO-71). The operation itself knows of no failures.
///
///     asking ──┬── next step, at once ── asking
///        ▲     ├── grant ── asking
///        └── waiting ◄── busy
struct StoreConversation: Conversing {
  private let operation: AnyStoreOperation
  private let context: StoreContext
  /// Of the steps so far, in order.
  private var answers: [StoreTalk.Answer] = []
  /// Where the open transaction began.
  private var transactionStart: Int? = nil
  private var open = StoreStep(calls: [])
  /// STO-70.
  private var repetitions: Int64 = 0
  private var outcome: StoreOutcome? = nil
  private var refusal: Refusal? = nil

  private static let repetitionCap: Int64 = 3

  init(_ operation: AnyStoreOperation, _ context: StoreContext) {
    self.operation = operation
    self.context = context
  }

  /// EXC-15, where it depends on the evidence.
  var maxSteps: Int? { operation.maxSteps }

  mutating func begin(nowMs: Int64) -> ExchangeAction { advance(nowMs: nowMs) }

  mutating func take(_ answer: ExchangeAnswer, nowMs: Int64) -> ExchangeAction {
    switch answer {
    case .store(.results(let results)):
      guard results.count == open.calls.count else {
        return end(
          Refusal(.unavailableStoreReplyShape, "STO-4", at: "results"))
      }
      if let failure = results.compactMap({ $0.failure }).first {
        return judge(failure, nowMs: nowMs)
      }
      answers.append(.results(results))
      if open.transaction == .commit { transactionStart = nil }
    case .store(.failure(let failure)): return judge(failure, nowMs: nowMs)
    case .store(.nothing):
      return tryAgain(
        Refusal(.unavailableStoreUnclear, "STO-71", at: "code"), isUnclear: true, nowMs: nowMs)
    case .granted(.done): answers.append(.granted(.done))
    case .granted(.cancelled(let result)):
      if let failure = result.failure { return judge(failure, nowMs: nowMs) }
      answers.append(.granted(result))
    case .granted(.failed):
      return end(Refusal(.unavailableLedgerInProgress, "STO-32", at: "grant"))
    case .elapsed where answersWait: answers.append(.waited(atMs: nowMs))
    case .elapsed: break
    case .http: return end(Refusal(.internalAssayBug, "EXC-5", at: "state"))
    }
    return advance(nowMs: nowMs)
  }

  /// The wait is the operation's own, not the one before a repetition.
  private var answersWait = false

  // MARK: transitions

  private mutating func advance(nowMs: Int64) -> ExchangeAction {
    var talk = StoreTalk(context, answers)
    answersWait = false
    do throws(StoreStop) {
      return end(try operation.run(&talk))
    } catch {
      switch error {
      case .step(let step):
        open = step
        if step.transaction == .begin { transactionStart = answers.count }
        return .store(step, context)
      case .grant(let grant): return .grant(grant)
      case .wait(let untilMs):
        answersWait = true
        return .wait(
          ExchangeWait(
            notBeforeMs: max(nowMs, untilMs), reason: .busy,
            otherwise: Refusal(.unavailableApiPaced, "STO-66", at: "for")))
      case .refused(let refusal): return end(refusal)
      }
    }
  }

  private mutating func judge(_ failure: StoreFailure, nowMs: Int64) -> ExchangeAction {
    let code = failure.code.string
    switch failure.kind(context.dialect) {
    case .busy:
      return tryAgain(
        Refusal(.unavailableStoreContention, "STO-70", at: "error.code", detail: code),
        isUnclear: false, nowMs: nowMs)
    case .unclear:
      return tryAgain(
        Refusal(.unavailableStoreUnclear, "STO-71", at: "error.code", detail: code),
        isUnclear: true, nowMs: nowMs)
    case .fatal:
      return end(Refusal(.unavailableStoreEngine, "STO-71", at: "error.code", detail: code))
    case .standby: return end(Refusal(.unavailableStoreStandby, "STO-74", at: "error.code"))
    }
  }

  /// The step again, or its whole transaction, which the executor has rolled back.
  private mutating func tryAgain(
    _ refusal: Refusal, isUnclear: Bool, nowMs: Int64
  ) -> ExchangeAction {
    if isUnclear && open.isOnce || repetitions >= Self.repetitionCap { return end(refusal) }
    let pause = (20 << repetitions) &+ spread(20 << repetitions)
    repetitions &+= 1
    if let start = transactionStart {
      answers.removeLast(answers.count &- start)
      transactionStart = nil
    }
    return .wait(
      ExchangeWait(
        notBeforeMs: Milliseconds.sum(nowMs, pause), reason: .busy, otherwise: refusal))
  }

  /// Less than the pause itself, by the attempt id, so that those who met do not meet again.
  private func spread(_ pause: Int64) -> Int64 {
    var hash = JSON.hashStart &+ UInt32(truncatingIfNeeded: repetitions)
    for byte in operation.seed.utf8 { hash = JSON.hash(hash, byte) }
    return pause &* Int64(hash >> 24) / 256
  }

  private mutating func end(_ found: StoreOutcome) -> ExchangeAction {
    outcome = found
    if let refusal = found.refusal {
      return .refused(ExchangeRefusal(refusal, .result))
    }
    return .accepted(nil, capacity: 2048)
  }

  private mutating func end(_ found: Refusal) -> ExchangeAction {
    if found.status.family == .unavailable, let instead = operation.outcomeWithoutStore(found) {
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
    }
  }

  func writeWarnings(_ writer: inout JSONWriter) {}
}
