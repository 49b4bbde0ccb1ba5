/// Asks the App Store Server API (docs/spec/app-store-server-api.md): page after page, each
/// with its attempts; one hop from Production to Sandbox and one second token in all.
///
///     ready ── asking ──┬── done
///                ▲      ├── next page, hop or second token, at once ── asking
///                └──────┴── waiting
struct AppStoreConversation: Conversing {
  enum State: Equatable {
    case ready, asking, waiting, done
  }

  private(set) var state = State.ready
  private(set) var host: AppStoreHost
  private(set) var hop = OneHop()
  /// Of this page, answers that were nothing (API-52).
  private(set) var failures: Int64 = 0
  private(set) var pages: Int64 = 0
  /// API-55: whether a 401 was answered with the one second token.
  private(set) var hasRenewed = false
  private let task: AppStoreTask
  private let trust: StoreKitTrust
  /// Of this page; nil: the first.
  private var cursor: Text?
  private var result = AppStoreResult()
  /// Whether `result` is whole.
  private var isRead = false
  /// The answer that was no success, and Sandbox's where that is not the reason.
  private var failure: AppStoreFailure? = nil
  private var other: AppStoreFailure? = nil
  /// What Production said before the hop, where that was a 401.
  private var unauthorized: AppStoreFailure? = nil
  /// Requests so far: what the spread of waits comes from.
  private var requests: UInt32 = 0

  private static let pauseMs: Int64 = 1000
  private static let longestMs = 60 * Milliseconds.minute

  init(_ context: KindContext) throws(Refusal) {
    self.init(try AppStoreTask(context), context.trust)
  }

  private init(_ task: AppStoreTask, _ trust: StoreKitTrust) {
    self.task = task
    self.trust = trust
    host = task.plan.start
    cursor = task.parameters.cursor
  }

  /// EXC-15, for what this request may ask for.
  var maxSteps: Int { task.maxSteps }

  mutating func begin(nowMs: Int64) -> ExchangeAction { ask(nowMs: nowMs) }

  mutating func take(_ answer: ExchangeAnswer, nowMs: Int64) -> ExchangeAction {
    switch (state, answer) {
    case (.asking, .http(let answer)):
      if (200...299).contains(answer.status) { return read(answer, nowMs: nowMs) }
      return judge(AppStoreFailure(answer, nowMs: nowMs), nowMs: nowMs)
    case (.waiting, .elapsed): return ask(nowMs: nowMs)
    default: return end(Refusal(.internalAssayBug, "EXC-5", at: "state"), .result)
    }
  }

  // MARK: transitions

  private mutating func ask(nowMs: Int64) -> ExchangeAction {
    do throws(Refusal) {
      let request = try task.request(to: host, cursor: cursor, nowMs: nowMs)
      state = .asking
      requests &+= 1
      return .request(request)
    } catch {
      return end(error, .request)
    }
  }

  private mutating func read(_ answer: HTTPAnswer, nowMs: Int64) -> ExchangeAction {
    var reading = AppStoreReading(task, trust, host, result, nowMs: nowMs)
    do throws(Refusal) {
      try reading.run(answer)
      result = reading.result
      return try turnPage(nowMs: nowMs)
    } catch {
      return end(error, error.status.family == .rejected ? .result : .answer)
    }
  }

  /// API-40, API-41.
  private mutating func turnPage(nowMs: Int64) throws(Refusal) -> ExchangeAction {
    pages &+= 1
    failures = 0
    failure = nil
    guard let paging = task.endpoint.paging, let page = result.last,
      page.present("hasMore")?.boolean == true
    else { return finish() }
    let place = Text(stringLiteral: paging).string
    guard let next = page.present(paging)?.text else {
      throw Refusal(.malformedApiPaging, "API-41", at: place)
    }
    try require(next != cursor, .malformedApiPaging, "API-41", at: place)
    cursor = next
    if pages < task.options.pages { return ask(nowMs: nowMs) }
    result.next = (paging, next)
    return finish()
  }

  private mutating func finish() -> ExchangeAction {
    isRead = true
    guard result.refused.isEmpty else {
      return end(
        Refusal(.rejectedApiPartial, "API-31", at: result.refused.first?.place ?? ""), .result)
    }
    state = .done
    return .accepted(result.evidence, capacity: result.room)
  }

  // MARK: no success

  private mutating func judge(_ found: AppStoreFailure, nowMs: Int64) -> ExchangeAction {
    failure = found
    if found.status == 401 { return renew(found, nowMs: nowMs) }
    if found.isRetryable { return tryAgain(found, nowMs: nowMs) }
    if found.saysElsewhere(task.endpoint.rule), takeHop() { return ask(nowMs: nowMs) }
    if let unauthorized, (400...499).contains(found.status) {
      // API-55: what Sandbox says of the id explains nothing.
      (failure, other) = (unauthorized, found)
      return end(refused(.noRelease), .result)
    }
    return end(found.refusal, found.refusal.status.family == .rejected ? .result : .answer)
  }

  /// API-55: good tokens are refused now and then, and Production refuses every token for
  /// an app without a release.
  private mutating func renew(_ found: AppStoreFailure, nowMs: Int64) -> ExchangeAction {
    guard hasRenewed else {
      hasRenewed = true
      return ask(nowMs: nowMs)
    }
    if host == .production, takeHop() {
      unauthorized = found
      return ask(nowMs: nowMs)
    }
    return end(refused(host == .production ? .noRelease : .signingKey), .result)
  }

  /// API-54.
  private func refused(_ hint: Explanation) -> Refusal {
    Refusal(.rejectedApiUnauthorized, "API-54", at: "status", hint: hint)
  }

  /// API-2: before anything was read, and once.
  private mutating func takeHop() -> Bool {
    guard task.plan.mayHop, pages == 0, hop.take() else { return false }
    host = .sandbox
    return true
  }

  /// API-52.
  private mutating func tryAgain(_ found: AppStoreFailure, nowMs: Int64) -> ExchangeAction {
    failures &+= 1
    let reason: ExchangeWait.Reason = found.status == 429 ? .rateLimited : .retry
    guard failures < task.options.attempts else {
      state = .done
      var ending = ExchangeRefusal(found.refusal, .answer, notBeforeMs: found.retryAtMs)
      ending.reason = reason
      return .refused(ending)
    }
    state = .waiting
    return .wait(
      ExchangeWait(
        notBeforeMs: found.retryAtMs ?? nowMs &+ spread(pause(failures)), reason: reason,
        otherwise: found.refusal))
  }

  /// 1 s, 4 s, 16 s …
  private func pause(_ number: Int64) -> Int64 {
    var pause = Self.pauseMs
    for _ in 1..<max(1, min(number, 8)) { pause = pause &* 4 }
    return min(pause, Self.longestMs)
  }

  /// Up to a quarter more, so that many conversations that failed together do not come
  /// back together.
  private func spread(_ pause: Int64) -> Int64 {
    var hash = JSON.hashStart &+ requests
    for byte in task.parameters.path { hash = JSON.hash(hash, byte) }
    return pause &+ pause / 4 &* Int64(hash >> 24) / 255
  }

  private mutating func end(_ refusal: Refusal, _ check: ExchangeCheck) -> ExchangeAction {
    state = .done
    return .refused(ExchangeRefusal(refusal, check))
  }

  /// EXC-18: where the waits of this conversation would have gone on.
  func repeatsAt(nowMs: Int64) -> Int64 {
    nowMs &+ pause(task.attempt &+ 3)
  }

  // MARK: document

  /// API-35: `environment`, `result`, `api`.
  func write(_ writer: inout JSONWriter) {
    writer.member("environment", host.environment.name)
    writer.name("result")
    if isRead { result.write(&writer) } else { writer.null() }
    writer.name("api")
    if let failure { failure.write(other: other, &writer) } else { writer.null() }
  }

  func writeWarnings(_ writer: inout JSONWriter) {
    guard unauthorized != nil else { return }
    Warning.write([Warning("production-unauthorized", at: "environment")], &writer)
  }
}
