/// What a conversation does next.
enum ExchangeAction {
  /// The host sends this.
  case request(HTTPRequest)
  /// The host carries this out in its store.
  case store(StoreStep, StoreContext)
  /// The host grants (STO-21).
  case grant(StoreGrant)
  /// The host comes back later.
  case wait(ExchangeWait)
  /// Everything was verified. The evidence is nil where an answer proves nothing else. `capacity`: bytes that the result takes, about.
  case accepted(VerifiedEvidence?, capacity: Int)
  case refused(ExchangeRefusal)
}
