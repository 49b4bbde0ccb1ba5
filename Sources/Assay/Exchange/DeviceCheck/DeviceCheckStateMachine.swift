/// Queries or updates the two bits of a device at Apple, or validates a device token
/// (docs/spec/device-check.md §2), with at most two repetitions after unusable responses and one
/// with a second token after a 401 (DVC-14).
///
///     ready ── asking ──┬── done
///                ▲      └── waiting
///                └─────────────┘
struct DeviceCheckStateMachine: ExchangeStateMachine {
  enum State: Equatable {
    case ready
    /// A request was sent.
    case asking
    /// The repetition of the request waits for its time.
    case waiting
    case done
  }

  private(set) var state = State.ready
  /// The number of unusable responses; the third ends the exchange.
  private(set) var unusable = 0
  /// Whether a 401 has led to the one repetition.
  private(set) var hasRenewed = false
  private let task: DeviceCheckTask
  /// The result of the newest response.
  private var result: DeviceCheckResult
  /// The time at which the exchange began, in milliseconds since 1970 UTC, against which bits are
  /// evaluated (EXC-6).
  private let startMs: Int64

  /// The pauses before repetitions after unusable responses, in milliseconds.
  private static let pauses: [Int64] = [1000, 2000]

  init(_ context: OperationContext) throws(Refusal) {
    let task = try DeviceCheckTask(
      context.request, .of(context.request.kind), context.configuration.deviceCheck)
    self.init(task, nowMs: context.nowMs)
  }

  init(_ task: DeviceCheckTask, nowMs: Int64) {
    self.task = task
    startMs = nowMs
    result = DeviceCheckResult(policy: task.policy, nowMs: nowMs)
  }

  mutating func start(nowMs: Int64) -> ExchangeAction { ask(nowMs: nowMs) }

  mutating func receive(_ reply: ExchangeReply, nowMs: Int64) -> ExchangeAction {
    switch (state, reply) {
    case (.asking, .http(let answer)): return judge(answer, nowMs: nowMs)
    case (.waiting, .elapsed): return ask(nowMs: nowMs)
    default: return end(Refusal(.internalAssayBug, "EXC-5", at: "step"), .result)
    }
  }

  // MARK: transitions

  private mutating func ask(nowMs: Int64) -> ExchangeAction {
    do throws(Refusal) {
      let request = try task.request(nowMs: nowMs)
      state = .asking
      return .request(request)
    } catch {
      return end(error, .request)
    }
  }

  private mutating func judge(_ answer: HTTPResponse, nowMs: Int64) -> ExchangeAction {
    result = DeviceCheckResult(policy: task.policy, nowMs: startMs)
    do throws(Refusal) {
      try result.judge(answer, task)
      state = .done
      return .accepted(nil, capacity: 1024)
    } catch {
      result.note(error.status)
      if answer.status == 401, !hasRenewed {
        hasRenewed = true
        return ask(nowMs: nowMs)
      }
      guard error.status == .unavailableDeviceCheckNoResponse else {
        return end(error, error.status.family == .rejected ? .result : .answer)
      }
      return tryAgain(error, answer, nowMs: nowMs)
    }
  }

  private mutating func tryAgain(
    _ refusal: Refusal, _ answer: HTTPResponse, nowMs: Int64
  ) -> ExchangeAction {
    guard unusable < Self.pauses.count else { return end(refusal, .answer) }
    let pause = Self.pauses[unusable]
    unusable &+= 1
    state = .waiting
    return .wait(
      ExchangeWait(
        notBeforeMs: nowMs &+ pause, reason: answer.status == 429 ? .rateLimited : .retry,
        otherwise: refusal))
  }

  private mutating func end(_ refusal: Refusal, _ check: ExchangeCheck) -> ExchangeAction {
    state = .done
    return .refused(ExchangeRefusal(refusal, check))
  }

  /// A later exchange needs a new device token, which can be used only once and soon (DVC-14).
  func repeatsAt(nowMs: Int64) -> Int64 { nowMs }

  // MARK: document

  func write(_ writer: inout JSONWriter) { result.write(&writer) }

  func writeWarnings(_ writer: inout JSONWriter) {}
}

extension DeviceCheckAnswer.Call {
  fileprivate static func of(_ kind: Operation) -> DeviceCheckAnswer.Call {
    switch kind {
    case .updateDeviceBits: .update
    case .validateDeviceToken: .validate
    default: .query
    }
  }
}
