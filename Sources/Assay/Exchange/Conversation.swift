/// What a conversation does next.
enum ExchangeMove {
  /// The host carries this out.
  case step(ExchangeStep)
  /// The end: a document of any status but the pending ones.
  case done(Document)
}

/// One kind's side of a conversation that needs the host's hands: a subclass says
/// what to ask for, and what the answers come to. `Exchange` keeps the order of
/// the steps.
///
/// A method that refuses with family misuse leaves the conversation as it was;
/// every other refusal ends it.
class Conversation {
  /// As the request names it.
  let kind: StaticString

  init(kind: StaticString) { self.kind = kind }

  /// The first step, or the end of a conversation that needs none.
  func begin(nowMs: Int64) throws(Refusal) -> ExchangeMove {
    throw Refusal(.internalAssayBug, "EXC-3", at: "begin")
  }

  /// What follows on the answer to the open step.
  ///
  /// - Throws: `misuse.exchange.answer` where the answer is not of its form.
  func take(_ answer: ExchangeAnswer, nowMs: Int64) throws(Refusal) -> ExchangeMove {
    throw Refusal(.internalAssayBug, "EXC-3", at: "take")
  }
}
