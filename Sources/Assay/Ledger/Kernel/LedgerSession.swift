/// An operation's access to the database.
///
/// An operation is code without callbacks that requests steps. It runs again from the beginning
/// after each reply: a step with a recorded reply returns it, and the first one without is handed
/// out. Decisions depend on these replies and on the first call only (docs/spec/ledger.md §3), so
/// that a run repeats the previous one.
final class LedgerSession {
  /// A recorded reply to a step of an operation.
  enum Answer {
    case results([DatabaseResult])
    /// `.done`, or the reasons for which DynamoDB cancelled the host's transaction.
    case granted(DatabaseResult)
    /// The time, in milliseconds since 1970 UTC, at which the host came back.
    case waited(atMs: Int64)
  }

  let context: LedgerContext
  /// Whether a step was handed out more than once, so that its change may already have been made.
  let isRepeated: Bool
  private let answers: [Answer]
  private var taken = 0

  init(_ context: LedgerContext, _ answers: [Answer], isRepeated: Bool) {
    self.context = context
    self.isRepeated = isRepeated
    self.answers = answers
  }

  /// Whether a change was made by this exchange (STO-31).
  ///
  /// The stored time does not decide alone: another exchange may have made the same change in the
  /// same millisecond, and a repeated step may find its own change.
  ///
  /// - Parameters:
  ///   - isMade: Whether the row was different before the change.
  ///   - madeMs: The time of the change in the stored row, in milliseconds since 1970 UTC.
  func isOurs(_ isMade: Bool, at madeMs: Int64?) -> Bool {
    (isMade || isRepeated) && madeMs == context.nowMs
  }

  private func next() -> Answer? {
    guard taken < answers.count else { return nil }
    defer { taken &+= 1 }
    return answers[taken]
  }

  /// Executes a step and returns one result for each call.
  func run(_ step: () -> DatabaseStep) throws(LedgerSuspension) -> [DatabaseResult] {
    guard let answer = next() else { throw .step(step()) }
    guard case .results(let results) = answer else { throw .outOfStep }
    return results
  }

  /// Hands out a grant step. Returns the result of the transaction if the host executes all of
  /// it.
  @discardableResult
  func grant(_ grant: () -> GrantStep) throws(LedgerSuspension) -> DatabaseResult {
    guard let answer = next() else { throw .grant(grant()) }
    guard case .granted(let result) = answer else { throw .outOfStep }
    return result
  }

  /// Waits, and returns the time at which the host came back, in milliseconds since 1970 UTC.
  func wait(untilMs: Int64) throws(LedgerSuspension) -> Int64 {
    guard let answer = next() else { throw .wait(untilMs: untilMs) }
    guard case .waited(let atMs) = answer else { throw .outOfStep }
    return atMs
  }
}

extension LedgerSuspension {
  /// The refusal of a reply or an engine to which only a fault of the library leads.
  static var outOfStep: LedgerSuspension {
    .refused(Refusal(.internalAssayBug, "STO-1", at: "step"))
  }
}
