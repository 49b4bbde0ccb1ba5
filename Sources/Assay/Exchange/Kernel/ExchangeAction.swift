/// What a conversation does next.
enum ExchangeAction {
  /// The host sends this.
  case request(HTTPRequest)
  /// The host comes back later.
  case wait(ExchangeWait)
  /// Everything was verified. `capacity`: roughly how many bytes the result takes.
  case accepted(VerifiedEvidence, capacity: Int)
  case refused(ExchangeRefusal)
}
