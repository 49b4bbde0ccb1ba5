/// Asks Apple's verifyReceipt endpoint about one receipt (docs/spec/receipts-triage.md §2):
/// production first, one hop to the other environment, one repetition after 21002,
/// two after unusable answers, each allowed once and in any order (VRR-3, VRR-4,
/// VRR-21).
///
///     ready ── asking ──┬── done
///                ▲      ├── hop, at once ── asking
///                └──────┴── waiting
struct VerifyReceiptConversation: Conversing {
  typealias Endpoint = VerifyReceiptTask.Endpoint

  enum State: Equatable {
    case ready
    /// A request was sent there.
    case asking(Endpoint)
    /// Before the request is sent there again.
    case waiting(Endpoint)
    case done
  }

  private(set) var state = State.ready
  private(set) var hop = OneHop()
  /// Sent so far.
  private(set) var requests: Int64 = 0
  /// Answers that could not be used: the third ends it.
  private(set) var unusable = 0
  /// Whether 21002 was answered with the one repetition.
  private(set) var hasRepeated = false
  private let task: VerifyReceiptTask
  private let trust: ReceiptTrust
  private var response: ReceiptResponse? = nil
  /// Apple's status, if the last answer was a refusal, and where it came from.
  private var refusedStatus: (code: Int64, endpoint: Endpoint)? = nil

  /// Before each repetition after an unusable answer, and after 21002 (VRR-4, VRR-21).
  private static let pauses: [Int64] = [1000, 4000]
  private static let doubtPauseMs: Int64 = 1000

  init(_ context: KindContext) throws(Refusal) {
    let task = try VerifyReceiptTask(
      context.request, context.evidence, context.receipts, context.triage,
      attempt: context.attempt)
    self.init(task, context.receipts)
  }

  init(_ task: VerifyReceiptTask, _ trust: ReceiptTrust) {
    self.task = task
    self.trust = trust
  }

  mutating func begin(nowMs: Int64) -> ExchangeAction { ask(task.start) }

  mutating func take(_ answer: ExchangeAnswer, nowMs: Int64) -> ExchangeAction {
    switch (state, answer) {
    case (.asking(let endpoint), .http(let answer)):
      let (outcome, code) = VerifyReceiptOutcome.of(answer, from: endpoint, trust, nowMs: nowMs)
      refusedStatus = code.flatMap { AppleReceiptStatus.hasFacts($0) ? nil : ($0, endpoint) }
      return follow(outcome, from: endpoint, nowMs: nowMs)
    case (.waiting(let endpoint), .elapsed): return ask(endpoint)
    default: return end(Refusal(.internalAssayBug, "EXC-5", at: "state"), .result)
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

  /// VRR-16: the answer is good; is it about this receipt?
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

  /// VRR-3: 21007 of production and 21008 of Sandbox change the endpoint, once.
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
    _ = hop.take()
    return ask(endpoint.other)
  }

  /// VRR-7: 21002 is no proof of fraud. A second one is the last word.
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
          .unavailableVerifyReceiptNoAnswer, "EXC-16", at: refusal.place, detail: refusal.detail)))
  }

  /// VRR-4: the third unusable answer ends it, whichever endpoint gave it.
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

  func repeatsAt(nowMs: Int64) -> Int64 { nowMs &+ ExchangeTerms.pause(attempt: task.attempt) }

  // MARK: document

  /// VRR-23: `verifyReceipt`, `hops`, `attempts`. Under a refusal by Apple's status the
  /// first has only that and the endpoint's environment.
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
  /// EXC-12: the answer, and the receipt in it when that verified. A transaction
  /// receipt that tells no environment adds nothing that a decision could use (RCP-28).
  fileprivate var items: VerifiedEvidence {
    switch latestReceipt?.receipt {
    case .transaction(let receipt) where receipt.environment.environment != nil:
      return .several([.receiptResponse(self), .transactionReceipt(receipt)])
    case .app(let receipt): return .several([.receiptResponse(self), .appReceipt(receipt)])
    default: return .receiptResponse(self)
    }
  }
}
