/// The checks of one call in their order, as a document lists them.
///
/// A check is `true`, `false`, or `null` with the reason why it was not made
/// (DOC-5).
struct Checks: Sendable {
  enum Outcome: Sendable, Equatable {
    case passed
    case failed
    case notMade(Reason)
  }

  enum Reason: Sendable, Equatable {
    case earlierFailed
    case doesNotApply
    case notConfigured
    case noInput

    var text: StaticString {
      switch self {
      case .earlierFailed: return "an earlier check failed"
      case .doesNotApply: return "does not apply to this evidence"
      case .notConfigured: return "not asked for by the configuration"
      case .noInput: return "no input for it"
      }
    }
  }

  let ids: [StaticString]
  private(set) var outcomes: [Outcome]

  init(_ ids: [StaticString]) {
    self.ids = ids
    outcomes = [Outcome](repeating: .notMade(.earlierFailed), count: ids.count)
  }

  /// Runs the check at `index`: it passes when the body returns, and fails with
  /// the refusal that the body throws.
  @inline(__always)
  mutating func make<Result>(
    _ index: Int, _ body: () throws(Refusal) -> Result
  ) throws(Refusal) -> Result {
    do {
      let result = try body()
      mark(index, .passed)
      return result
    } catch {
      mark(index, .failed)
      throw error
    }
  }

  mutating func skip(_ index: Int, _ reason: Reason) { mark(index, .notMade(reason)) }

  mutating func pass(_ index: Int) { mark(index, .passed) }

  mutating func fail(_ index: Int) { mark(index, .failed) }

  private mutating func mark(_ index: Int, _ outcome: Outcome) {
    if index >= 0, index < outcomes.count { outcomes[index] = outcome }
  }

  /// The id of the check that failed; "call" when none was reached.
  var failed: StaticString {
    for (index, outcome) in outcomes.enumerated() where outcome == .failed { return ids[index] }
    return "call"
  }
}
