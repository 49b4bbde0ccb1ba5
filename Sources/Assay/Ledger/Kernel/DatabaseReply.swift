/// The host's reply to a database step (STO-3).
enum DatabaseReply {
  case results([DatabaseResult])
  /// The engine refused the step.
  case failure(DatabaseFailure)
  /// No reply came from the engine: a time-out or a lost connection.
  case nothing

  /// - Throws: `misuse.exchange.reply` for a wrong form, `misuse.exchange.order`
  ///   for an answer to another step.
  init(_ bytes: [UInt8], to id: Int64) throws(Refusal) {
    let root = try ExchangeInput.read(bytes, ExchangeInput.answer)
      .object(["id", "code", "results", "error"])
    let given = try root.required("id").integer(Int64.min...Int64.max)
    try require(given == id, .misuseExchangeOrder, "EXC-5", at: "id")
    let code = try root.required("code")
    switch try code.integer(0...999) {
    case 0: self = .nothing
    case 200:
      var results: [DatabaseResult] = []
      for entry in try root.required("results").elements() {
        results.append(try DatabaseResult(entry))
      }
      self = .results(results)
    case 500: self = .failure(try DatabaseFailure(try root.required("error")))
    default: throw code.refusal(.range)
    }
  }
}
