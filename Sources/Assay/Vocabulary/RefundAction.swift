/// What to do about Apple's question about a refund (RFA-12).
enum RefundAction: Sendable {
  case send, silent, late, wait

  var name: StaticString {
    switch self {
    case .send: return "send"
    case .silent: return "silent"
    case .late: return "late"
    case .wait: return "wait"
    }
  }

  /// The status of a document with this answer; `nil` for `send`.
  var refusal: Status? {
    switch self {
    case .send: return nil
    case .silent: return .rejectedRefundSilent
    case .late: return .rejectedRefundLate
    case .wait: return .unavailableRefundWait
    }
  }
}
