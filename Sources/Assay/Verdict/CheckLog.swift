/// The checks of one call in their order, as a document lists them.
///
/// A check is `true`, `false`, or `null` with the reason why it was skipped (DOC-5). The open
/// check passes when another one is entered or the evidence is accepted; a refusal fails it.
struct CheckLog: Sendable {
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

  /// The list of a call that has no checks.
  static let empty = CheckLog([])

  let ids: [StaticString]
  /// The reason why each check was skipped; `nil` if it passed.
  private(set) var reasons: [Reason?]
  private(set) var open: Int? = nil

  init(_ ids: [StaticString]) {
    self.ids = ids
    reasons = [Reason?](repeating: .earlierFailed, count: ids.count)
  }

  mutating func enter(_ index: Int) {
    leave()
    open = index
  }

  /// Closes the open check, if any, which has passed.
  mutating func leave() {
    if let open { mark(open, nil) }
    open = nil
  }

  /// Marks the check at `index` as skipped. If it is open, it counts as neither passed nor
  /// failed.
  mutating func skip(_ index: Int, _ reason: Reason) {
    if open != index { leave() }
    open = nil
    mark(index, reason)
  }

  private mutating func mark(_ index: Int, _ reason: Reason?) {
    if index >= 0, index < reasons.count { reasons[index] = reason }
  }

  /// The id of the check that a refusal fails; "call" if no check is open.
  var failed: StaticString {
    guard let open, open >= 0, open < ids.count else { return "call" }
    return ids[open]
  }
}
