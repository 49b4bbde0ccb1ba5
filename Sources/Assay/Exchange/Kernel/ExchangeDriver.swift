/// The part that all exchanges with steps share: ids, step bound, deadline, clock and documents
/// (docs/spec/documents-and-exchanges.md §2). The meaning of a step belongs to `Machine`.
struct ExchangeDriver<Machine: ExchangeStateMachine> {
  private enum Open {
    case request(id: Int64)
    case database(id: Int64)
    case grant(id: Int64, hasItem: Bool)
    case wait(ExchangeWait)

    var step: StaticString {
      switch self {
      case .request: return "http"
      case .database: return "database"
      case .grant: return "grant"
      case .wait: return "wait"
      }
    }
  }

  private var machine: Machine
  private let terms: ExchangeOptions
  /// The latest time given, in milliseconds since 1970 UTC; an earlier one does not set the clock
  /// back (EXC-17).
  private var clock: Int64
  /// The number of steps issued so far (EXC-15); also the id of the newest step.
  private var steps: Int64 = 0
  /// The name of the newest step, as its document has it.
  private var last: StaticString = "none"
  /// The step that waits for a reply; `nil` if the exchange has ended.
  private var open: Open?
  private var progress = ExchangeProgress.started

  /// - Parameter nowMs: milliseconds since 1970 UTC, already checked to lie in the accepted
  ///   window.
  init(_ machine: Machine, _ terms: ExchangeOptions, nowMs: Int64) {
    self.machine = machine
    self.terms = terms
    clock = nowMs
  }

  var isOpen: Bool { open != nil }

  /// Returns the first step, or the result.
  mutating func begin() -> Document { carryOn(machine.start(nowMs: clock)) }

  /// Processes the reply to the open step and returns the next step or the result. A refusal of
  /// family misuse changes nothing.
  mutating func step(_ bytes: [UInt8], nowMs: Int64) -> Document {
    do throws(Refusal) {
      try require(TimeWindow.contains(nowMs), .misuseCallNow, "EXC-17", at: "now_ms")
      guard let open else { throw Refusal(.misuseExchangeOrder, "EXC-5") }
      switch open {
      case .request(let id):
        var answer = try HTTPResponse(bytes, to: id)
        defer { answer.wipe() }
        clock = max(clock, nowMs)
        return carryOn(machine.receive(.http(answer), nowMs: clock))
      case .database(let id):
        let reply = try DatabaseReply(bytes, to: id)
        clock = max(clock, nowMs)
        return carryOn(machine.receive(.database(reply), nowMs: clock))
      case .grant(let id, let hasItem):
        let answer = try GrantStep.answer(bytes, to: id, hasItem: hasItem)
        clock = max(clock, nowMs)
        return carryOn(machine.receive(.granted(answer), nowMs: clock))
      case .wait(let wait):
        try ExchangeReply.elapsed(bytes)
        clock = max(clock, nowMs)
        guard clock >= wait.notBeforeMs else { return documents.pending(wait, terms) }
        return carryOn(machine.receive(.elapsed, nowMs: clock))
      }
    } catch {
      return ExchangeDocument(
        operation: terms.kind.name, configuration: terms.configuration,
        progress: .misused(.answer)
      ).misused(error)
    }
  }

  // MARK: what comes next

  private mutating func carryOn(_ action: ExchangeAction) -> Document {
    switch action {
    case .request(let request):
      guard clock < terms.deadlineMs else { return outOfTime() }
      guard count(.request(id: steps &+ 1)) else { return tooManySteps() }
      return documents.pending(request, id: steps)
    case .database(let step, let context):
      guard clock < terms.deadlineMs else { return outOfTime() }
      guard count(.database(id: steps &+ 1)) else { return tooManySteps() }
      return documents.pending(step, context, id: steps)
    case .grant(let grant):
      guard count(.grant(id: steps &+ 1, hasItem: grant.item != nil)) else { return tooManySteps() }
      return documents.pending(grant, id: steps)
    case .wait(let wait):
      guard wait.notBeforeMs <= terms.deadlineMs else { return end(ExchangeRefusal(wait)) }
      guard count(.wait(wait)) else { return tooManySteps() }
      return documents.pending(wait, terms)
    case .accepted(let evidence, let capacity):
      open = nil
      progress = .accepted
      return documents.done(
        evidence, room: capacity, warnings: { machine.writeWarnings(&$0) }
      ) { machine.write(&$0) }
    case .refused(let refusal): return end(refusal)
    }
  }

  /// Counts a step and opens it. Returns `false` if the operation has no step left (EXC-15).
  private mutating func count(_ step: Open) -> Bool {
    guard steps < Int64(terms.maxSteps) else { return false }
    steps &+= 1
    last = step.step
    open = step
    return true
  }

  private mutating func tooManySteps() -> Document {
    end(ExchangeRefusal(Refusal(.internalAssayBug, "EXC-15", at: "steps"), .result))
  }

  /// Ends the exchange because no further step fits before the deadline; the last reply has been
  /// processed (EXC-16).
  private mutating func outOfTime() -> Document {
    let reached = (step: last, steps: steps)
    return end(
      ExchangeRefusal(Refusal(.unavailableExchangeDeadline, "EXC-16", at: "deadlineMs"), .result)
    ) { writer in
      writer.name("reached")
      writer.beginObject()
      writer.member("step", reached.step)
      writer.member("steps", integer: reached.steps)
      writer.endObject()
    }
  }

  private mutating func end(
    _ ending: ExchangeRefusal, _ more: (inout JSONWriter) -> Void = { _ in }
  ) -> Document {
    open = nil
    progress = .refused(ending.check)
    return documents.refused(ending.refusal.hinted(as: terms.kind.row.hints)) { writer in
      machine.write(&writer)
      more(&writer)
      guard ending.refusal.isWorthRepeating else { return }
      terms.writeRetry(
        notBeforeMs: ending.notBeforeMs ?? machine.repeatsAt(nowMs: clock), ending.reason,
        &writer)
    }
  }

  private var documents: ExchangeDocument {
    ExchangeDocument(
      operation: terms.kind.name, configuration: terms.configuration, progress: progress)
  }
}

extension Refusal {
  /// Whether the same request may be sent again later (DOC-4).
  fileprivate var isWorthRepeating: Bool {
    let table = StatusTable.entry(status.code)?.retryClass ?? "never"
    return (retryClass ?? table).hasSameBytes(as: "later")
  }
}
