/// The operation `lift-restriction`: lifts the restrictions of an account that have one reason
/// (CUS-23).
struct LiftRestriction: DurableOperation {
  private let account: Text
  private let reason: Text
  private let note: Text
  private let attemptId: Text

  /// - Throws: `config.ledger.customer-key`, `misuse.exchange.request`, `misuse.ledger.account`,
  ///   `.attempt-id`, `malformed.ledger.text`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    _ = try parameters.customerKey()
    account = try parameters.account("account")
    let place = try parameters.needed("reason").choice(Restriction.reasons)
    reason = Text(stringLiteral: Restriction.reasons[place])
    note = try OperationParameters.clientText(try parameters.needed("note"), 1...255)
    attemptId = try parameters.attemptId()
  }

  var jitterSeed: Text { attemptId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    // The audit row comes first: a restriction that is lifted is the only thing that led to it.
    try database.insertEach([
      AuditRow("lift", attemptId, owner: account, other: "", note: note, database.session.context)
    ])
    let (before, after) = try database.lift(reason, of: account)
    let isLifted = before.contains { $0.reason == reason } || database.session.isRepeated
    return OperationResult { writer in
      writer.member("outcome", isLifted ? "lifted" : "none")
      after.write(&writer)
    }
  }
}
