/// The host's reply to the open step, in the form of that step (EXC-5).
enum ExchangeReply {
  case http(HTTPResponse)
  case database(DatabaseReply)
  /// The host's reply to a grant step.
  case granted(GrantStep.Answer)
  /// The host waited; the driver has checked the time.
  case elapsed

  /// Checks the reply to a wait: an object without members.
  static func elapsed(_ bytes: [UInt8]) throws(Refusal) {
    _ = try ExchangeInput.read(bytes, ExchangeInput.answer).object([])
  }
}
