/// The host's answer to the open step, in the form of that step (EXC-5).
enum ExchangeAnswer {
  case http(HTTPAnswer)
  case store(StoreReply)
  /// Whether the host granted.
  case granted(StoreGrant.Answer)
  /// The time of a wait has come.
  case elapsed

  /// The answer to a wait: an object without members.
  static func elapsed(_ bytes: [UInt8]) throws(Refusal) {
    _ = try ExchangeInput.read(bytes, ExchangeInput.answer).object([])
  }
}
