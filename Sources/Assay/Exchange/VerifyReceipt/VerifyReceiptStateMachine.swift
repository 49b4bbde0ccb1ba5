/// Sends one receipt to Apple's verifyReceipt endpoint (docs/spec/receipts-triage.md §2): at most
/// one change of environment, one repetition after 21002 and two after unusable responses, in any
/// order (VRR-3, VRR-4, VRR-21).
///
///     ready ── asking ──┬── done
///                ▲      ├── hop, at once ── asking
///                └──────┴── waiting
struct VerifyReceiptStateMachine: ExchangeStateMachine {
  typealias Endpoint = VerifyReceiptTask.Endpoint

  enum State: Equatable {
    case ready
    /// A request was sent to this endpoint.
    case asking(Endpoint)
    /// The next request, to this endpoint, waits for its time.
    case waiting(Endpoint)
    case done
  }

  private(set) var state = State.ready
  private(set) var hop = EnvironmentSwitch()
  /// The number of requests sent.
  private(set) var requests: Int64 = 0
  /// The number of unusable responses; the third ends the exchange.
  private(set) var unusable = 0
  /// Whether 21002 has led to the one repetition.
  private(set) var hasRepeated = false
  private let task: VerifyReceiptTask
  private let trust: ReceiptTrust
  private var response: ReceiptResponse? = nil
  /// Apple's status and the endpoint of the last response, if that was a refusal.
  private var refusedStatus: (code: Int64, endpoint: Endpoint)? = nil

  /// The pauses after unusable responses in milliseconds (VRR-4); the next is that after 21002
  /// (VRR-21).
  private static let pauses: [Int64] = [1000, 4000]
  private static let doubtPauseMs: Int64 = 1000

  init(_ context: OperationContext) throws(Refusal) {
    let task = try VerifyReceiptTask(
      context.request, context.evidence, context.receipts, context.triage,
      attempt: context.attempt)
    self.init(task, context.receipts)
  }

  init(_ task: VerifyReceiptTask, _ trust: ReceiptTrust) {
    self.task = task
    self.trust = trust
  }

  mutating func start(nowMs: Int64) -> ExchangeAction { ask(task.start) }

  mutating func receive(_ reply: ExchangeReply, nowMs: Int64) -> ExchangeAction {
    switch (state, reply) {
    case (.asking(let endpoint), .http(let answer)):
      let (outcome, code) = VerifyReceiptOutcome.of(answer, from: endpoint, trust, nowMs: nowMs)
      refusedStatus = code.flatMap { AppleReceiptStatus.hasFacts($0) ? nil : ($0, endpoint) }
      return follow(outcome, from: endpoint, nowMs: nowMs)
    case (.waiting(let endpoint), .elapsed): return ask(endpoint)
    default: return end(Refusal(.internalAssayBug, "EXC-5", at: "step"), .result)
    }
  }

  // MARK: transitions

  private mutating func ask(_ endpoint: Endpoint) -> ExchangeAction {
    state = .asking(endpoint)
    requests &+= 1
    return .request(task.request(to: endpoint))
  }

  private mutating func follow(
    _ outcome: VerifyReceiptOutcome, from endpoint: Endpoint, nowMs: Int64
  ) -> ExchangeAction {
    switch outcome {
    case .answer(let response): return judge(response)
    case .otherEnvironment(let refusal, let code):
      return change(from: endpoint, code, refusal)
    case .doubtful(let refusal): return repeatOnce(refusal, at: endpoint, nowMs: nowMs)
    case .unusable(let refusal, let earliest, let reason):
      return tryAgain(refusal, at: endpoint, nowMs: nowMs, notBeforeMs: earliest, reason)
    case .refused(let refusal, let check): return end(refusal, check)
    }
  }

  /// Ends successfully if the response is about the submitted receipt (VRR-16).
  private mutating func judge(_ response: ReceiptResponse) -> ExchangeAction {
    do throws(Refusal) {
      try task.receipt.check(response)
    } catch {
      return end(error, .result)
    }
    state = .done
    self.response = response
    return .accepted(
      response.items, capacity: 2048 &+ response.answer.object.source.count)
  }

  /// Changes the endpoint once, after 21007 of Production or 21008 of Sandbox (VRR-3).
  private mutating func change(
    from endpoint: Endpoint, _ code: Int64, _ refusal: Refusal?
  ) -> ExchangeAction {
    let isTheOther = code == (endpoint == .production ? 21007 : 21008)
    guard isTheOther, hop.count == 0 else {
      return end(
        Refusal(
          .unavailableVerifyReceiptEnvironmentLoop, "VRR-3", at: "status",
          detail: "Apple's status " + String(code)), .result)
    }
    if let refusal { return end(refusal, .result) }
    _ = hop.allowsNext()
    return ask(endpoint.other)
  }

  /// Repeats the request once after 21002, which Apple also sends for its own temporary faults;
  /// the second one is the result (VRR-7).
  private mutating func repeatOnce(
    _ refusal: Refusal, at endpoint: Endpoint, nowMs: Int64
  ) -> ExchangeAction {
    guard !hasRepeated else {
      return end(refusal.asLastWord(), .result)
    }
    hasRepeated = true
    state = .waiting(endpoint)
    return .wait(
      ExchangeWait(
        notBeforeMs: nowMs &+ Self.doubtPauseMs, reason: .retry,
        otherwise: Refusal(
          .unavailableVerifyReceiptNoResponse, "EXC-16", at: refusal.place, detail: refusal.detail))
    )
  }

  /// Waits and repeats the request; the third unusable response of either endpoint ends the
  /// exchange (VRR-4).
  private mutating func tryAgain(
    _ refusal: Refusal, at endpoint: Endpoint, nowMs: Int64, notBeforeMs: Int64,
    _ reason: ExchangeWait.Reason
  ) -> ExchangeAction {
    guard unusable < Self.pauses.count else {
      state = .done
      var ending = ExchangeRefusal(
        refusal, .answer, notBeforeMs: max(notBeforeMs, repeatsAt(nowMs: nowMs)))
      ending.reason = reason
      return .refused(ending)
    }
    let pause = Self.pauses[unusable]
    unusable &+= 1
    state = .waiting(endpoint)
    return .wait(
      ExchangeWait(
        notBeforeMs: max(notBeforeMs, nowMs &+ pause), reason: reason, otherwise: refusal))
  }

  private mutating func end(_ refusal: Refusal, _ check: ExchangeCheck) -> ExchangeAction {
    state = .done
    return .refused(ExchangeRefusal(refusal, check))
  }

  func repeatsAt(nowMs: Int64) -> Int64 { nowMs &+ ExchangeOptions.pause(attempt: task.attempt) }

  // MARK: document

  /// Writes `verifyReceipt`, `hops` and `attempts` (VRR-23). If Apple's status refused the
  /// receipt, `verifyReceipt` has only that status and the endpoint's environment.
  func write(_ writer: inout JSONWriter) {
    writer.name("verifyReceipt")
    if let response {
      response.write(&writer)
    } else if let refusedStatus {
      writer.beginObject()
      writer.member("appleStatus", integer: refusedStatus.code)
      writer.member("environment", refusedStatus.endpoint.environment.name)
      writer.endObject()
    } else {
      writer.null()
    }
    writer.member("hops", integer: hop.count)
    writer.member("attempts", integer: requests)
  }

  func writeWarnings(_ writer: inout JSONWriter) { response?.writeWarnings(&writer) }
}

extension ReceiptResponse {
  /// The response, and the receipt in it if that was verified (EXC-12). A transaction receipt
  /// without an environment is omitted: no decision can use it (RCP-28).
  fileprivate var items: VerifiedEvidence {
    switch latestReceipt?.receipt {
    case .transaction(let receipt) where receipt.environment.environment != nil:
      return .several([.receiptResponse(self), .transactionReceipt(receipt)])
    case .app(let receipt): return .several([.receiptResponse(self), .appReceipt(receipt)])
    default: return .receiptResponse(self)
    }
  }
}
