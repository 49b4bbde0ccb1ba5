/// Compares the ledger with Apple (docs/spec/reconcile.md): takes the run, works on one page after
/// another, and gives the run back with its place.
///
///     begin ── page of rows ──────────────────────────┐
///       │         ▲                                   ├── next page ── … ── release
///       └── permit ── asking Apple ── apply ──────────┘
///
/// Each part is the machine of an operation of its own, whose failures are handled there; between
/// them the run is a row that the ledger has.
struct ReconcileStateMachine: ExchangeStateMachine {
  private enum Child {
    case none
    case ledger(LedgerStateMachine)
    case appStore(AppStoreStateMachine)
  }

  /// What the open child is for.
  private enum Work {
    case begin, page, permit, ask, release
  }

  private let request: ReconcileRequest
  private let ledger: LedgerContext
  private let report = RunReport()
  private var child = Child.none
  private var work = Work.begin
  /// The number of requests to Apple, and of pages of any kind.
  private var requests: Int64 = 0
  private var pages: Int64 = 0
  private var notifications: Int64 = 0
  /// The refusal to end with after the run was given back; `nil` if the exchange ends well.
  private var ending: ExchangeRefusal? = nil
  /// Whether a page token has died once, so that its window began anew.
  private var hasRestarted = false
  /// The number of subscriptions or customers that Apple does not know, one after another.
  private var unknown = 0

  /// The time that is kept to give the run back, in milliseconds.
  private static let reserveMs: Int64 = 5000
  /// So many unknown ids in sequence are of another app or environment.
  private static let unknownCap = 10
  /// The most steps of one page: a request with its attempts and its permit, and what applies the
  /// answer.
  private static let pageSteps = 500

  /// - Throws: `config.exchange.block-missing`, `config.ledger.not-durable`, and the refusals of
  ///   the request.
  init(_ context: OperationContext) throws(Refusal) {
    ledger = try LedgerStateMachine.ledger(context)
    request = try ReconcileRequest(context, ledger)
  }

  /// The most steps of this request (EXC-15).
  var maxSteps: Int { Int(request.maxRequests) &* Self.pageSteps &+ 200 }

  mutating func start(nowMs: Int64) -> ExchangeAction {
    begin(
      .begin,
      BeginRun(
        environment: request.environment, bundleId: request.bundleId,
        attemptId: request.attemptId, parts: request.parts, fromMs: request.fromMs,
        untilMs: request.untilMs, leaseExpiresAtMs: leaseEnd(nowMs), report: report), nowMs)
  }

  mutating func receive(_ reply: ExchangeReply, nowMs: Int64) -> ExchangeAction {
    switch child {
    case .ledger(var machine):
      let action = machine.receive(reply, nowMs: nowMs)
      child = .ledger(machine)
      return handle(action, nowMs)
    case .appStore(var machine):
      let action = machine.receive(reply, nowMs: nowMs)
      child = .appStore(machine)
      return handle(action, nowMs)
    case .none:
      return .refused(ExchangeRefusal(Refusal(.internalAssayBug, "EXC-5", at: "step"), .result))
    }
  }

  func repeatsAt(nowMs: Int64) -> Int64 { Milliseconds.sum(nowMs, Milliseconds.minute) }

  // MARK: children

  private mutating func begin(
    _ work: Work, _ operation: some LedgerOperation, _ nowMs: Int64
  ) -> ExchangeAction {
    var machine = LedgerStateMachine(AnyLedgerOperation(operation), ledger.at(nowMs))
    self.work = work
    let action = machine.start(nowMs: nowMs)
    child = .ledger(machine)
    return handle(action, nowMs)
  }

  private mutating func handle(_ action: ExchangeAction, _ nowMs: Int64) -> ExchangeAction {
    switch action {
    case .request, .database, .grant: return action
    case .wait(let wait):
      let isInTime = wait.notBeforeMs <= request.deadlineMs &- Self.reserveMs
      if isInTime || work == .begin || work == .release { return action }
      countRequests()
      return stop(ExchangeRefusal(wait), nowMs)
    case .accepted: return end(of: nil, nowMs)
    case .refused(let refusal): return end(of: refusal, nowMs)
    }
  }

  /// Goes on after the child has ended.
  private mutating func end(of refused: ExchangeRefusal?, _ nowMs: Int64) -> ExchangeAction {
    switch (work, refused) {
    case (.begin, let refusal?), (.page, let refusal?): return .refused(refusal)
    case (.begin, nil), (.page, nil): return proceed(nowMs)
    case (.permit, let refusal?): return stop(refusal, nowMs)
    case (.permit, nil): return ask(nowMs)
    case (.ask, _):
      countRequests()
      return read(refused, nowMs)
    case (.release, let refusal):
      // What stopped the run is more than that it could not be given back.
      if let last = ending ?? refusal { return .refused(last) }
      return .accepted(nil, capacity: 4096)
    }
  }

  private mutating func countRequests() {
    guard case .appStore(let machine) = child else { return }
    requests &+= Int64(machine.requests)
    child = .none
    asked = machine
  }

  /// The machine of the newest answer.
  private var asked: AppStoreStateMachine? = nil

  // MARK: the run

  /// The run with the lease that begins now; `nil` before it was taken.
  private func held(_ nowMs: Int64) -> RunRow? {
    guard var run = report.run else { return nil }
    if run.isOpen { run.leaseMs = leaseEnd(nowMs) }
    return run
  }

  private func leaseEnd(_ nowMs: Int64) -> Int64 { Milliseconds.sum(nowMs, request.leaseMs) }

  private mutating func proceed(_ nowMs: Int64) -> ExchangeAction {
    guard let run = held(nowMs) else {
      return .refused(ExchangeRefusal(Refusal(.internalAssayBug, "EXC-5", at: "run"), .result))
    }
    guard run.isOpen else { return .accepted(nil, capacity: 4096) }
    let isOver =
      nowMs > request.deadlineMs &- Self.reserveMs || pages >= request.maxRequests
      || requests >= request.maxRequests
    if isOver { return release(run, nowMs) }
    // The lists are lost with the exchange: a request follows each in any case.
    if run.part == .subscriptions, report.due.isEmpty {
      return begin(.page, FindDueSubscriptions(run: run, report: report), nowMs)
    }
    if run.isOfCustomers, report.downloads.isEmpty {
      return begin(.page, FindDueDownloads(run: run, report: report), nowMs)
    }
    pages &+= 1
    switch run.part {
    case .recheck: return begin(.page, RecheckDifferences(run: run, report: report), nowMs)
    case .claims, .revocations:
      return begin(.page, FindLeftBehind(run: run, report: report), nowMs)
    case .failures, .events:
      // A run that was left for days may be at a day of which Apple tells nothing any more.
      let days = RunPlan.days(of: request.environment)
      let floorMs = nowMs &- days &* Milliseconds.day
      if run.token.isEmpty, run.atMs < floorMs &- 23 &* Milliseconds.hour {
        return pass(run, to: floorMs, nowMs)
      }
      return permit(nowMs)
    case .subscriptions, .customers, .refunds: return permit(nowMs)
    }
  }

  /// Gives the run back with its place.
  private mutating func release(_ run: RunRow, _ nowMs: Int64) -> ExchangeAction {
    var next = run
    next.leaseMs = 0
    return begin(.release, MoveRun(run: run, next: next, report: report), nowMs)
  }

  /// Gives the run back, and ends with a refusal (RCN-30).
  private mutating func stop(_ refusal: ExchangeRefusal, _ nowMs: Int64) -> ExchangeAction {
    ending = refusal
    guard let run = report.run else { return .refused(refusal) }
    return release(run, nowMs)
  }

  /// Passes over a time of which Apple tells nothing, and reports it.
  private mutating func pass(
    _ run: RunRow, to startMs: Int64, _ nowMs: Int64
  ) -> ExchangeAction {
    let subject = Text(Array("history:".utf8) + Text(stringLiteral: run.part.name).utf8)
    var gap = DifferenceRow(
      .historyGap, subject, in: request.environment, asOfMs: startMs, run: run.run, nowMs: nowMs)
    gap.detail = Text(String(run.atMs) + "–" + String(startMs))
    var next = run.from(startMs, nowMs: nowMs)
    if next.isOpen { next.leaseMs = run.leaseMs }
    return begin(.page, MoveRun(run: run, next: next, reason: gap, report: report), nowMs)
  }

  // MARK: Apple

  private mutating func permit(_ nowMs: Int64) -> ExchangeAction {
    guard let operation = report.run?.part.appStoreOperation else { return proceed(nowMs) }
    do throws(Refusal) {
      guard let permit = try request.permit(operation, ledger.at(nowMs)) else { return ask(nowMs) }
      return begin(.permit, permit, nowMs)
    } catch {
      return stop(ExchangeRefusal(error, .request), nowMs)
    }
  }

  private mutating func ask(_ nowMs: Int64) -> ExchangeAction {
    guard let run = report.run else { return proceed(nowMs) }
    do throws(Refusal) {
      let context: OperationContext
      if run.isInHistory {
        context = try request.history(
          run.atMs, run.windowEndMs, failures: run.part == .failures, token: run.token,
          nowMs: nowMs)
      } else if let download = report.downloads.first, run.isOfCustomers {
        context = try request.transactions(of: download, run.part, nowMs: nowMs)
      } else {
        let id = report.due.first?.originalTransactionId ?? ""
        context = try request.statuses(id, nowMs: nowMs)
      }
      var machine = try AppStoreStateMachine(ofRun: context)
      work = .ask
      let action = machine.start(nowMs: nowMs)
      child = .appStore(machine)
      return handle(action, nowMs)
    } catch {
      return stop(ExchangeRefusal(error, .request), nowMs)
    }
  }

  /// Applies the answer, or what its refusal means (RCN-30).
  private mutating func read(_ refused: ExchangeRefusal?, _ nowMs: Int64) -> ExchangeAction {
    guard let run = held(nowMs), let answer = asked else { return proceed(nowMs) }
    asked = nil
    if answer.isRead { return apply(answer.result, run, nowMs) }
    guard let refused else { return proceed(nowMs) }
    switch answer.failure?.code {
    case 4_000_012 where run.isInHistory:
      let start = RunPlan.laterStart(than: run.atMs, of: request.environment, nowMs: nowMs)
      if let start { return pass(run, to: start, nowMs) }
    case 4_000_014 where run.isInHistory, 4_000_017 where run.isInHistory:
      guard !run.token.isEmpty, !hasRestarted else {
        return stop(
          ExchangeRefusal(
            Refusal(.malformedAppStorePaging, "RCN-30", at: "paginationToken"), .answer), nowMs)
      }
      hasRestarted = true
      var next = run
      next.token = ""
      return begin(.page, MoveRun(run: run, next: next, report: report), nowMs)
    case 4_000_005 where run.isOfCustomers:
      guard let download = report.downloads.first, !download[run.part].isEmpty else {
        return reportUnknown(refused, run, nowMs)
      }
      // Once more from the start, in the next exchange too.
      var next = download
      next[run.part] = ""
      report.downloads[0] = next
      return begin(
        .page,
        MoveRun(run: run, next: run, asked: .download(next, over: download), report: report), nowMs)
    case 4_040_010, 4_040_005, 4_040_001, 4_000_006:
      if !run.isInHistory { return reportUnknown(refused, run, nowMs) }
    default: break
    }
    return stop(refused, nowMs)
  }

  private mutating func apply(
    _ answer: AppStoreResult, _ run: RunRow, _ nowMs: Int64
  ) -> ExchangeAction {
    let evidence = answer.evidence?.items ?? []
    if evidence.isEmpty, answer.refused.count > 1, let first = answer.refused.first,
      answer.refused.allSatisfy({ $0 == first })
    {
      // All of them: the configuration is wrong, not the texts.
      return stop(ExchangeRefusal(first, .result), nowMs)
    }
    let token = answer.next?.value
    if let token, token.count > 255 {
      return stop(
        ExchangeRefusal(
          Refusal(.malformedAppStorePaging, "RCN-6", at: "paginationToken"), .answer), nowMs)
    }
    let next = run.isInHistory ? run.after(page: token, nowMs: nowMs) : run
    do throws(Refusal) {
      let asked = try asked(answer, run, nowMs)
      let operation = try ApplyHistory(
        evidence, refused: answer.refusals, claimsOwned: request.claimsOwned, asked: asked,
        run: run, next: next, report, ledger.at(nowMs))
      notifications &+= Int64(answer.notifications.count)
      unknown = 0
      leave(asked, hasMore: token != nil)
      return begin(.page, operation, nowMs)
    } catch {
      return stop(ExchangeRefusal(error, .result), nowMs)
    }
  }

  /// Returns what the answer is about, as it is stored after the answer; `nil` for a window of the
  /// history of notifications.
  ///
  /// - Throws: `malformed.app-store.paging` for a revision that cannot be stored (RCN-6).
  private func asked(
    _ answer: AppStoreResult, _ run: RunRow, _ nowMs: Int64
  ) throws(Refusal) -> AskedRow? {
    if run.part == .subscriptions { return report.due.first.map { .subscription($0) } }
    guard run.isOfCustomers, let download = report.downloads.first else { return nil }
    var next = download
    if let revision = answer.last?.present("revision")?.text, !revision.isEmpty {
      let isShort = revision.utf8.count <= 255 && revision.utf8.allSatisfy { $0 > 0x1f }
      try require(isShort, .malformedAppStorePaging, "RCN-6", at: "revision")
      next[run.part] = revision
    }
    // A clock that went back must not list the customer again.
    if answer.next == nil { next.askedAtMs = max(nowMs, run.begunAtMs) }
    return .download(next, over: download)
  }

  /// Takes what was asked off its list, unless Apple has more of it.
  private func leave(_ asked: AskedRow?, hasMore: Bool) {
    switch asked {
    case .subscription?: report.due.removeFirst()
    case .download(let next, _)?:
      if hasMore { report.downloads[0] = next } else { report.downloads.removeFirst() }
    case nil: break
    }
  }

  /// Reports that Apple does not know a subscription or a customer, and goes on to the next one.
  private mutating func reportUnknown(
    _ refused: ExchangeRefusal, _ run: RunRow, _ nowMs: Int64
  ) -> ExchangeAction {
    unknown &+= 1
    guard unknown < Self.unknownCap else { return stop(refused, nowMs) }
    var row: DifferenceRow
    let asked: AskedRow
    if run.isOfCustomers, let download = report.downloads.first {
      row = DifferenceRow(
        .unknownAtApple, DifferenceRow.download(download.id), in: request.environment,
        asOfMs: 0, run: run.run, nowMs: nowMs)
      row.transactionId = download.transactionId
      var next = download
      next.askedAtMs = max(nowMs, run.begunAtMs)
      asked = .download(next, over: download)
    } else if let subscription = report.due.first {
      row = DifferenceRow(
        .unknownAtApple, DifferenceRow.subscription(subscription.originalTransactionId),
        in: request.environment, asOfMs: subscription.asOfMs, run: run.run, nowMs: nowMs)
      row.transactionId = subscription.transactionId
      row.originalTransactionId = subscription.originalTransactionId
      row.product = subscription.product
      row.purchasedAtMs = subscription.purchasedAtMs
      asked = .subscription(subscription)
    } else {
      return stop(refused, nowMs)
    }
    leave(asked, hasMore: false)
    return begin(
      .page, MoveRun(run: run, next: run, reason: row, asked: asked, report: report), nowMs)
  }

  // MARK: document

  func write(_ writer: inout JSONWriter) {
    let run = report.run
    let open = run.flatMap { $0.isOpen ? $0 : nil }
    writer.member("run", run?.run)
    writer.member("hasMore", boolean: open != nil)
    writer.member("resumed", boolean: report.isResumed)
    writer.name("part")
    if let open { writer.string(open.part.name) } else { writer.null() }
    writer.member("atMs", integer: open.flatMap { $0.isInHistory ? $0.atMs : nil })
    writer.member("fromMs", integer: run?.fromMs)
    writer.member("untilMs", integer: run?.untilMs)
    writer.member("requests", integer: requests)
    writer.member("notifications", integer: notifications)
    report.write(&writer)
    writer.member("notBeforeMs", integer: ending?.notBeforeMs)
    writer.member("retryAfterMs", integer: report.retryAfterMs)
  }

  func writeWarnings(_ writer: inout JSONWriter) { Warning.write([], &writer) }
}
