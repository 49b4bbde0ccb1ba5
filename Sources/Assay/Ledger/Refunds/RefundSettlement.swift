/// What became of an answer (RFA-6).
struct RefundSettlement: Sendable {
  enum Result: Sendable {
    case sent, silent, late
    case failed(Text)
    /// Sending failed, and may succeed later.
    case unavailable
    /// The case is assessed again at that time, in milliseconds since 1970 UTC.
    case wait(untilMs: Int64)
  }

  /// The end of Apple's wait, by which questions about one transaction differ.
  let dueAtMs: Int64
  let said: RefundSaid
  let result: Result
  /// The time of the settlement, in milliseconds since 1970 UTC.
  let nowMs: Int64

  /// Whether the answer is to the question that the row has.
  func isAbout(_ row: RefundRow) -> Bool { row.askedAtMs > 0 && row.dueAtMs == dueAtMs }

  /// Returns the row to store; `nil` if the stored one stays. What was sent counts, whatever was
  /// stored before it; nothing else changes a settled case.
  func next(_ row: RefundRow) -> RefundRow? {
    guard isAbout(row) else { return nil }
    var next = row
    switch result {
    case .unavailable: return nil
    case .wait(let untilMs):
      guard row.state == .open else { return nil }
      next.leaseMs = max(row.leaseMs, min(untilMs, row.dueAtMs))
      return next.leaseMs == row.leaseMs ? nil : next
    case .sent:
      guard row.sentAtMs == nil else { return nil }
      next.sentAtMs = nowMs
      if row.state != .decided { next.state = .sent }
      next.status = nil
    case .silent, .late, .failed:
      guard row.state == .open else { return nil }
      next.state = closed
      if case .failed(let status) = result { next.status = status }
    }
    next.said = said
    next.settledAtMs = nowMs
    next.leaseMs = 0
    return next
  }

  private var closed: RefundRow.State {
    switch result {
    case .silent: return .silent
    case .late: return .late
    default: return .failed
    }
  }
}
