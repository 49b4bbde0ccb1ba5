/// The checks of one call in their order, as a document lists them.
///
/// A check is `true`, `false`, or `null` with the reason why it was not made
/// (DOC-5). The one that is open has passed once another is entered, or when the
/// evidence is accepted; a refusal fails it.
struct Ledger: Sendable {
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

  /// A call without checks.
  static let empty = Ledger([])

  let ids: [StaticString]
  /// nil: passed.
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

  /// The open check, if any, has passed, and none is entered.
  mutating func leave() {
    if let open { mark(open, nil) }
    open = nil
  }

  /// The check at `index` is not made; what was found on the way to that does not
  /// count.
  mutating func skip(_ index: Int, _ reason: Reason) {
    if open != index { leave() }
    open = nil
    mark(index, reason)
  }

  private mutating func mark(_ index: Int, _ reason: Reason?) {
    if index >= 0, index < reasons.count { reasons[index] = reason }
  }

  /// Under a refusal: the id of the check that it fails; "call" when none is open.
  var failed: StaticString {
    guard let open, open >= 0, open < ids.count else { return "call" }
    return ids[open]
  }
}
