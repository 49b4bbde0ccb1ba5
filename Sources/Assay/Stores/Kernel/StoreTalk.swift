/// An operation's view of the store. An operation is code from top to bottom that asks
/// for steps; it is run again with every answer, and each step that it asks for was
/// answered before or is the next one handed out. What it decides depends on nothing
/// else (docs/spec/stores.md §3), so a run repeats the one before.
struct StoreTalk {
  /// An answer to a step of an operation.
  enum Answer {
    case results([StoreResult])
    /// `.done`, or why DynamoDB cancelled the host's transaction.
    case granted(StoreResult)
    /// The time, in milliseconds since 1970 UTC, at which the host came back.
    case waited(atMs: Int64)
  }

  let context: StoreContext
  /// A step was handed out again: the change that it asks for may be made already.
  let isRepeated: Bool
  private let answers: [Answer]
  private var taken = 0

  init(_ context: StoreContext, _ answers: [Answer], isRepeated: Bool) {
    self.context = context
    self.isRepeated = isRepeated
    self.answers = answers
  }

  /// STO-31: whether a change is this exchange's own. What another one made in the same moment
  /// has its time, too; a step that was repeated may have met its own change.
  ///
  /// - Parameters:
  ///   - isMade: the row was another before it.
  ///   - madeMs: what the row says.
  func isOurs(_ isMade: Bool, at madeMs: Int64?) -> Bool {
    (isMade || isRepeated) && madeMs == context.nowMs
  }

  private mutating func next() -> Answer? {
    guard taken < answers.count else { return nil }
    defer { taken &+= 1 }
    return answers[taken]
  }

  /// Carries out a step; as many results as it has calls.
  mutating func run(_ step: () -> StoreStep) throws(StoreStop) -> [StoreResult] {
    guard let answer = next() else { throw .step(step()) }
    guard case .results(let results) = answer else { throw .outOfStep }
    return results
  }

  /// Hands out a grant step; the host's transaction, where it holds all of it.
  @discardableResult
  mutating func grant(_ grant: () -> StoreGrant) throws(StoreStop) -> StoreResult {
    guard let answer = next() else { throw .grant(grant()) }
    guard case .granted(let result) = answer else { throw .outOfStep }
    return result
  }

  /// The time at which the host came back.
  mutating func wait(untilMs: Int64) throws(StoreStop) -> Int64 {
    guard let answer = next() else { throw .wait(untilMs: untilMs) }
    guard case .waited(let atMs) = answer else { throw .outOfStep }
    return atMs
  }
}

extension StoreStop {
  fileprivate static var outOfStep: StoreStop {
    .refused(Refusal(.internalAssayBug, "STO-1", at: "step"))
  }
}
