/// Calls the App Store Server API (docs/spec/app-store-server-api.md): one page after another,
/// each with its own attempts; in the whole exchange at most one change from Production to
/// Sandbox and one second token.
///
///     ready ── asking ──┬── done
///                ▲      ├── next page, hop or second token, at once ── asking
///                │      ├── looking: a report that may be there (EXP-7) ── asking
///                └──────┴── waiting
struct AppStoreStateMachine: ExchangeStateMachine {
  enum State: Equatable {
    case ready, asking, looking, waiting, done
  }

  private(set) var state = State.ready
  private(set) var host: AppStoreHost
  private(set) var hop = EnvironmentSwitch()
  /// The number of failed attempts for the current page (API-52).
  private(set) var failures: Int64 = 0
  private(set) var pages: Int64 = 0
  /// Whether a 401 has led to the one second token (API-55).
  private(set) var hasRenewed = false
  private let task: AppStoreTask
  private let trust: StoreKitTrust
  /// The paging value of the current page; `nil` for the first page.
  private var cursor: Text?
  private(set) var result = AppStoreResult()
  /// Whether `result` has all pages that the request allows.
  private(set) var isRead = false
  /// The failure to report. `other` is Sandbox's failure if the reason is Production's.
  private(set) var failure: AppStoreFailure? = nil
  private var other: AppStoreFailure? = nil
  /// Production's 401 before the change to Sandbox.
  private var unauthorized: AppStoreFailure? = nil
  /// Whether an earlier request may have been executed although no answer came.
  private var isUnclear: Bool
  private var isAlreadyDone = false
  /// Whether Apple has said that it does not have the report, so that it is sent (EXP-7).
  private var isMissing = false
  /// The number of requests so far, from which `spread` varies the waits.
  private(set) var requests: UInt32 = 0

  private static let pauseMs: Int64 = 1000
  private static let longestMs = 60 * Milliseconds.minute

  init(_ context: OperationContext) throws(Refusal) {
    self.init(try AppStoreTask(context), context.trust)
  }

  /// Runs a request that is a part of `reconcile`.
  init(ofRun context: OperationContext) throws(Refusal) {
    self.init(try AppStoreTask(context, toleratesDisagreement: true), context.trust)
  }

  private init(_ task: AppStoreTask, _ trust: StoreKitTrust) {
    self.task = task
    self.trust = trust
    host = task.plan.start
    cursor = task.parameters.cursor
    isUnclear = task.attempt > 1
  }

  /// The most steps for the pages and attempts of this request (EXC-15).
  var maxSteps: Int { task.maxSteps }

  mutating func start(nowMs: Int64) -> ExchangeAction { ask(nowMs: nowMs) }

  mutating func receive(_ reply: ExchangeReply, nowMs: Int64) -> ExchangeAction {
    switch (state, reply) {
    case (.asking, .http(let answer)):
      if (200...299).contains(answer.status) { return read(answer, nowMs: nowMs) }
      return judge(AppStoreFailure(answer, nowMs: nowMs), nowMs: nowMs)
    case (.looking, .http(let answer)): return compare(answer, nowMs: nowMs)
    case (.waiting, .elapsed): return ask(nowMs: nowMs)
    default: return end(Refusal(.internalAssayBug, "EXC-5", at: "step"), .result)
    }
  }

  // MARK: transitions

  private mutating func ask(nowMs: Int64) -> ExchangeAction {
    do throws(Refusal) {
      if isUnclear, task.endpoint.rule == .report, !isMissing {
        let request = try task.lookUp(at: host, nowMs: nowMs)
        state = .looking
        return .request(request)
      }
      isMissing = false
      let request = try task.request(to: host, cursor: cursor, nowMs: nowMs)
      state = .asking
      requests &+= 1
      return .request(request)
    } catch {
      return end(error, .request)
    }
  }

  private mutating func read(_ answer: HTTPResponse, nowMs: Int64) -> ExchangeAction {
    var reading = AppStoreReading(task, trust, host, result, nowMs: nowMs)
    do throws(Refusal) {
      try reading.run(answer)
      result = reading.result
      return try turnPage(nowMs: nowMs)
    } catch {
      return end(error, error.status.family == .rejected ? .result : .answer)
    }
  }

  /// Ends if Apple has the report, and sends it if not (EXP-7).
  private mutating func compare(_ answer: HTTPResponse, nowMs: Int64) -> ExchangeAction {
    guard (200...299).contains(answer.status) else {
      let found = AppStoreFailure(answer, nowMs: nowMs)
      guard found.saysNoReport else { return judge(found, nowMs: nowMs) }
      isMissing = true
      return ask(nowMs: nowMs)
    }
    var reading = AppStoreReading(task, trust, host, result, nowMs: nowMs)
    do throws(Refusal) {
      defer { result = reading.result }
      try reading.runLookUp(answer)
    } catch {
      isRead = error.status == .rejectedExternalPurchaseDisagree
      return end(error, error.status.family == .rejected ? .result : .answer)
    }
    (isAlreadyDone, failure) = (true, nil)
    return finish()
  }

  /// Ends after the last page, or requests the next one (API-40). A page that names itself as its
  /// successor would never end (API-41).
  private mutating func turnPage(nowMs: Int64) throws(Refusal) -> ExchangeAction {
    pages &+= 1
    failures = 0
    failure = nil
    guard let paging = task.endpoint.paging, let page = result.last,
      page.present("hasMore")?.boolean == true
    else { return finish() }
    let place = Text(stringLiteral: paging).string
    guard let next = page.present(paging)?.text else {
      throw Refusal(.malformedAppStorePaging, "API-41", at: place)
    }
    try require(next != cursor, .malformedAppStorePaging, "API-41", at: place)
    cursor = next
    if pages < task.options.pages { return ask(nowMs: nowMs) }
    result.next = (paging, next)
    return finish()
  }

  private mutating func finish() -> ExchangeAction {
    isRead = true
    guard result.refused.isEmpty else {
      return end(
        Refusal(.rejectedAppStorePartial, "API-31", at: result.refused.first?.place ?? ""), .result)
    }
    state = .done
    return .accepted(result.evidence, capacity: result.room)
  }

  // MARK: no success

  private mutating func judge(_ found: AppStoreFailure, nowMs: Int64) -> ExchangeAction {
    failure = found
    if found.status == 401 { return renew(found, nowMs: nowMs) }
    if found.isRetryable { return tryAgain(found, nowMs: nowMs) }
    if isUnclear, task.endpoint.rule.isDoneOnce, found.saysDone(task.endpoint.method) {
      isAlreadyDone = true
      failure = nil
      return finish()
    }
    if found.saysElsewhere(task.endpoint.rule), takeHop() { return ask(nowMs: nowMs) }
    if let unauthorized, (400...499).contains(found.status) {
      // Production's 401 is the reason to report: Sandbox merely does not know the id (API-55).
      (failure, other) = (unauthorized, found)
      return end(refused(.noRelease), .result)
    }
    if task.endpoint.rule.isMessaging, found.status == 404, !found.isJSON {
      return end(
        Refusal(.rejectedAppStoreNotFound, "RTM-1", at: "status", hint: .messagingAccess), .result)
    }
    if task.endpoint.rule == .refund, found.status == 403 {
      return end(
        Refusal(
          .rejectedAppStoreForbidden, "ACA-10", at: "status", hint: .signedAddendum), .result)
    }
    return end(found.refusal, found.refusal.status.family == .rejected ? .result : .answer)
  }

  /// Handles a 401: first with a second token, because Apple refuses good tokens now and then;
  /// then in Sandbox, because Production refuses every token for an app without a release
  /// (API-55).
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

  /// Returns the refusal of the token (API-54).
  private func refused(_ hint: Explanation) -> Refusal {
    Refusal(.rejectedAppStoreUnauthorized, "API-54", at: "status", hint: hint)
  }

  /// Changes from Production to Sandbox, once and before any page was read (API-2). Returns
  /// `false` if that is not allowed.
  private mutating func takeHop() -> Bool {
    guard task.plan.mayHop, pages == 0, hop.allowsNext() else { return false }
    host = .sandbox
    return true
  }

  /// Waits before the next attempt for this page, or ends after the last one (API-52).
  private mutating func tryAgain(_ found: AppStoreFailure, nowMs: Int64) -> ExchangeAction {
    failures &+= 1
    if found.status != 429 { isUnclear = true }
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

  /// Returns the pause after a failed attempt in milliseconds: 1 s, 4 s, 16 s …, at most an hour.
  private func pause(_ number: Int64) -> Int64 {
    var pause = Self.pauseMs
    for _ in 1..<max(1, min(number, 8)) { pause = pause &* 4 }
    return min(pause, Self.longestMs)
  }

  /// Adds up to a quarter to `pause`, so that exchanges that failed together do not return
  /// together.
  private func spread(_ pause: Int64) -> Int64 {
    var hash = JSON.hashStart &+ requests
    for byte in task.parameters.path { hash = JSON.hash(hash, byte) }
    return pause &+ pause / 4 &* Int64(hash >> 24) / 255
  }

  private mutating func end(_ refusal: Refusal, _ check: ExchangeCheck) -> ExchangeAction {
    state = .done
    return .refused(ExchangeRefusal(refusal, check))
  }

  /// Continues the waits of this exchange where they ended (EXC-18).
  func repeatsAt(nowMs: Int64) -> Int64 {
    nowMs &+ pause(task.attempt &+ 3)
  }

  // MARK: document

  /// Writes `environment`, `result` and `api` (API-35).
  func write(_ writer: inout JSONWriter) {
    writer.member("environment", host.environment.name)
    writer.name("result")
    if isRead { result.write(&writer) } else { writer.null() }
    writer.name("api")
    if let failure { failure.write(other: other, &writer) } else { writer.null() }
  }

  func writeWarnings(_ writer: inout JSONWriter) {
    var warnings = task.parameters.warnings + result.warnings
    if unauthorized != nil {
      warnings.append(Warning("production-unauthorized", at: "environment"))
    }
    if isAlreadyDone { warnings.append(Warning("already-done", at: "status")) }
    Warning.write(warnings, &writer)
  }
}
