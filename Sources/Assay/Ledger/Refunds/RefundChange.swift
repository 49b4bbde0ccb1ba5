/// A change of a case. Whatever the order in which questions and decisions arrive, the row ends
/// with the newest question and the newest decision (RFA-1, RFA-47).
enum RefundChange {
  /// Apple asks: the row has the question, and is open.
  case ask(RefundRow)
  /// Apple has decided: the row has the outcome and its time.
  case decide(RefundRow)
  case settle(Text, RefundSettlement)

  var id: Text {
    switch self {
    case .ask(let row), .decide(let row): return row.id
    case .settle(let id, _): return id
    }
  }

  /// The row to insert before the change if there is none: one without question and decision; `nil`
  /// if the change needs a row.
  var blank: RefundRow? {
    switch self {
    case .ask(let row), .decide(let row):
      var blank = row
      blank.notificationId = ""
      blank.askedAtMs = 0
      blank.state = .decided
      blank.outcome = nil
      blank.outcomeAtMs = 0
      blank.outcomeShare = nil
      return blank
    case .settle: return nil
    }
  }

  /// Returns the row to store; `nil` if the stored one stays.
  func next(_ row: RefundRow) -> RefundRow? {
    switch self {
    case .ask(let asked): return RefundChange.next(row, asking: asked)
    case .decide(let decided): return RefundChange.next(row, deciding: decided)
    case .settle(_, let settlement): return settlement.next(row)
    }
  }

  private static func next(_ row: RefundRow, asking asked: RefundRow) -> RefundRow? {
    // Apple's retries may be signed anew: the UUID tells that they are the same question (NTF-10).
    let isSame = !row.notificationId.isEmpty && row.notificationId == asked.notificationId
    guard !isSame, row.askedAtMs < asked.askedAtMs else { return nil }
    var next = asked
    next.outcomeAtMs = row.outcomeAtMs
    guard row.outcomeAtMs >= asked.askedAtMs else { return next }
    next.state = .decided
    next.outcome = row.outcome
    next.outcomeShare = row.outcomeShare
    return next
  }

  private static func next(_ row: RefundRow, deciding decided: RefundRow) -> RefundRow? {
    guard row.outcomeAtMs < decided.outcomeAtMs else { return nil }
    var next = row
    next.outcomeAtMs = decided.outcomeAtMs
    // A decision about an earlier question says nothing of the newer one.
    guard row.askedAtMs <= decided.outcomeAtMs else { return next }
    next.outcome = decided.outcome
    next.outcomeShare = decided.outcomeShare
    if row.state == .open {
      next.state = .decided
      next.leaseMs = 0
    }
    return next
  }
}
