/// The host's reply to the open step, in the form of that step (EXC-5).
enum ExchangeAnswer {
  case http(HTTPAnswer)
  case store(StoreReply)
  /// The host's reply to a grant step.
  case granted(StoreGrant.Answer)
  /// The host waited; the kernel has checked the time.
  case elapsed

  /// Checks the reply to a wait: an object without members.
  static func elapsed(_ bytes: [UInt8]) throws(Refusal) {
    _ = try ExchangeInput.read(bytes, ExchangeInput.answer).object([])
  }
}
