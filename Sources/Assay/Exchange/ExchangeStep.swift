/// Something for the host to carry out, and what its answer looks like (EXC-3).
struct ExchangeStep {
  /// The answer's `id` must equal it; nil: the answer has none, as after a wait.
  let id: Int64?
  /// "request", "store", "grant", "wait".
  let state: StaticString
  /// Of family pending.
  let status: Status
  /// The members that an answer may have, `id` left out.
  let answerMembers: [StaticString]
  /// An answer before this time gets the same step again; nil: any time will do.
  var notBeforeMs: Int64? = nil
  /// Writes the members behind `kind` and `state`.
  let write: (inout JSONWriter) -> Void
}

/// What the host brought for the open step, of the step's own form (EXC-5).
struct ExchangeAnswer {
  private let root: ExchangeInput.Node

  /// - Throws: `misuse.exchange.answer` for another form, `misuse.exchange.order`
  ///   for an answer to another step.
  init(_ bytes: [UInt8], to step: ExchangeStep) throws(Refusal) {
    let text = try ExchangeInput.read(bytes, .misuseExchangeAnswer, "EXC-5")
    let (root, id) = try ExchangeInput.members(.misuseExchangeAnswer, "EXC-5") {
      () throws(Refusal) -> (ExchangeInput.Node, Int64?) in
      guard step.id != nil else { return (try text.object(step.answerMembers), nil) }
      let root = try text.object(["id"] + step.answerMembers)
      guard let id = root["id"] else { throw Refusal(.configDocumentMissing, "EXC-5", at: "id") }
      return (root, try id.integer(Int64.min...Int64.max))
    }
    try require(id == step.id, .misuseExchangeOrder, "EXC-5", at: "id")
    self.root = root
  }

  subscript(_ name: StaticString) -> ExchangeInput.Node? { root[name] }
}
