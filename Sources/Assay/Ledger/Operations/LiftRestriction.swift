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
    let restrictions = try database.restrictions(of: account)
    let lifted = restrictions.filter { $0.reason == reason }
    if !lifted.isEmpty {
      // The audit row comes first: killed after it, the restriction is there and is lifted again.
      try database.insert([
        AuditRow("lift", attemptId, owner: account, other: "", note: note, database.session.context)
      ])
      try database.lift(lifted.ordered { Text.precedes($0.source, $1.source) })
    }
    let left = restrictions.filter { $0.reason != reason }
    return OperationResult { writer in
      writer.member("outcome", lifted.isEmpty ? "none" : "lifted")
      left.write(&writer)
    }
  }
}
