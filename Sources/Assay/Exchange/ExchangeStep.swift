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
  private let root: MemberNode

  /// - Throws: `misuse.exchange.answer` for another form, `misuse.exchange.order`
  ///   for an answer to another step.
  init(_ bytes: [UInt8], to step: ExchangeStep) throws(Refusal) {
    let known: [StaticString] = step.id == nil ? [] : ["id"]
    root = try ExchangeInput.read(bytes, ExchangeInput.answer).object(known + step.answerMembers)
    guard let id = step.id else { return }
    try require(
      try root.required("id").integer(Int64.min...Int64.max) == id, .misuseExchangeOrder, "EXC-5",
      at: "id")
  }

  subscript(_ name: StaticString) -> MemberNode? { root[name] }
}
