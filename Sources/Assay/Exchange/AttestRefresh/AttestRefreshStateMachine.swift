/// Asks Apple for a new App Attest receipt of an attested key (docs/spec/app-attest.md §8): not
/// before the time that the old receipt names, at most until the sixth unusable response, and
/// once more with a second token after a 401 (RFR-6).
///
///     ready ──┬── asking ──┬── done
///             └── waiting ─┘  └── waiting ── asking
struct AttestRefreshStateMachine: ExchangeStateMachine {
  enum State: Equatable {
    case ready
    /// A request was sent.
    case asking
    /// The next request waits for its time.
    case waiting
    case done
  }

  private(set) var state = State.ready
  /// Whether a 401 has led to the one repetition.
  private(set) var hasRenewed = false
  /// The number of unusable responses, those of earlier exchanges for the same request included
  /// (RFR-6).
  private(set) var unusable: Int64
  private let task: AttestRefreshTask
  private var refreshed: AttestReceipt? = nil
  /// The time at which a refresh is worth an attempt, in milliseconds since 1970 UTC (RFR-3);
  /// `nil` if no refresh of this receipt can succeed.
  private var nextRefreshAtMs: Int64?

  private static let unusableCap: Int64 = 6
  private static let minuteMs: Int64 = 60_000
  private static let hourMs: Int64 = 3_600_000
  private static let dayMs: Int64 = 86_400_000

  init(_ context: OperationContext) throws(Refusal) {
    task = try AttestRefreshTask(
      context.evidence, context.attest.receipts, context.configuration.deviceCheck,
      attempt: context.attempt)
    unusable = task.attempt &- 1
    nextRefreshAtMs = nil
    nextRefreshAtMs = usual(context.nowMs)
  }

  mutating func start(nowMs: Int64) -> ExchangeAction {
    guard let notBeforeMs = task.receipt.notBeforeMs, nowMs < notBeforeMs else {
      return ask(nowMs: nowMs)
    }
    return wait(
      until: notBeforeMs, .tooEarly,
      Refusal(.unavailableAttestRefreshTooEarly, "RFR-1", at: "field 19"))
  }

  mutating func receive(_ reply: ExchangeReply, nowMs: Int64) -> ExchangeAction {
    switch (state, reply) {
    case (.asking, .http(let answer)):
      return follow(.of(answer, task, nowMs: nowMs), nowMs: nowMs)
    case (.waiting, .elapsed): return ask(nowMs: nowMs)
    default: return end(Refusal(.internalAssayBug, "EXC-5", at: "step"), .result)
    }
  }

  // MARK: transitions

  /// Sends a request unless field 21, the expiry of the receipt, has passed: Apple then refuses
  /// it, and the app must attest a new key (RFR-1).
  private mutating func ask(nowMs: Int64) -> ExchangeAction {
    do throws(Refusal) {
      guard nowMs < task.receipt.expiresAtMs else {
        nextRefreshAtMs = nil
        throw Refusal(.rejectedAttestRefreshExpired, "RFR-1", at: "field 21")
      }
      let request = try task.request(nowMs: nowMs)
      state = .asking
      nextRefreshAtMs = repeatsAt(nowMs: nowMs)
      return .request(request)
    } catch {
      return end(error, .result)
    }
  }

  private mutating func follow(
    _ outcome: AttestRefreshOutcome, nowMs: Int64
  ) -> ExchangeAction {
    nextRefreshAtMs = usual(nowMs)
    switch outcome {
    case .receipt(let receipt):
      state = .done
      refreshed = receipt
      nextRefreshAtMs = receipt.refreshAtMs
      return .accepted(.attestReceipt(receipt), capacity: 2048 &+ receipt.bytes.count &* 2)
    case .tooEarly(let refusal):
      return later(
        refusal, at: max(task.receipt.notBeforeMs ?? 0, nowMs &+ Self.hourMs), .tooEarly)
    case .unauthorized(let refusal):
      guard hasRenewed else {
        hasRenewed = true
        return ask(nowMs: nowMs)
      }
      return end(refusal, .result)
    case .noData(let refusal):
      nextRefreshAtMs = nil
      return end(refusal, .result)
    case .unusable(let refusal, let pauseMs, let reason):
      return tryAgain(refusal, nowMs: nowMs, pauseMs: pauseMs, reason)
    case .refused(let refusal, let check):
      guard refusal.status.family == .unavailable else { return end(refusal, check) }
      return later(refusal, at: nowMs &+ Self.dayMs, .retry)
    }
  }

  /// Waits 1, 2, 4, 8 and 16 minutes between unusable responses, or longer if Apple asks for it
  /// (RFR-6).
  private mutating func tryAgain(
    _ refusal: Refusal, nowMs: Int64, pauseMs: Int64, _ reason: ExchangeWait.Reason
  ) -> ExchangeAction {
    unusable &+= 1
    guard unusable < Self.unusableCap else {
      return later(refusal, at: nowMs &+ Self.dayMs, reason)
    }
    return wait(until: nowMs &+ max(pauseMs, backOff), reason, refusal)
  }

  /// The pause before the next request in milliseconds, by the number of unusable responses.
  private var backOff: Int64 {
    Self.minuteMs << max(0, min(unusable &- 1, Self.unusableCap &- 2))
  }

  private mutating func wait(
    until notBeforeMs: Int64, _ reason: ExchangeWait.Reason, _ otherwise: Refusal
  ) -> ExchangeAction {
    state = .waiting
    nextRefreshAtMs = notBeforeMs
    return .wait(ExchangeWait(notBeforeMs: notBeforeMs, reason: reason, otherwise: otherwise))
  }

  /// Ends with the time at which another attempt is worthwhile.
  private mutating func later(
    _ refusal: Refusal, at notBeforeMs: Int64, _ reason: ExchangeWait.Reason
  ) -> ExchangeAction {
    state = .done
    nextRefreshAtMs = notBeforeMs
    var ending = ExchangeRefusal(refusal, .answer, notBeforeMs: notBeforeMs)
    ending.reason = reason
    return .refused(ending)
  }

  private mutating func end(_ refusal: Refusal, _ check: ExchangeCheck) -> ExchangeAction {
    state = .done
    return .refused(ExchangeRefusal(refusal, check))
  }

  /// Used if the deadline ended the exchange (EXC-16).
  func repeatsAt(nowMs: Int64) -> Int64 { nowMs &+ backOff }

  /// Returns the scheduled time of the next refresh, counted from now, for a refusal that does
  /// not concern the key (RFR-3).
  private func usual(_ nowMs: Int64) -> Int64? {
    task.receipt.refreshTime(
      afterFailureAt: nowMs, everyMs: task.trust.policy.refreshEveryMs)
  }

  // MARK: document

  /// Writes the new receipt, the digest of the receipt that it replaces, and the time of the next
  /// refresh (RFR-7).
  func write(_ writer: inout JSONWriter) {
    writer.name("attestReceipt")
    if let refreshed {
      writer.beginObject()
      refreshed.writeMembers(&writer)
      writer.member("bytes", base64: refreshed.bytes)
      writer.endObject()
      writer.member("replaces", hex: Digest.sha256.of(task.receipt.bytes))
    } else {
      writer.null()
      writer.name("replaces")
      writer.null()
    }
    writer.member("nextRefreshAtMs", integer: nextRefreshAtMs)
  }

  func writeWarnings(_ writer: inout JSONWriter) {}
}
