/// The operation `deactivate-subscriptions`: deactivates an account's subscriptions, because the
/// client reports no purchases (STO-46).
struct DeactivateSubscriptions: DurableOperation {
  private let account: Text

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.account`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    account = try parameters.account("account")
  }

  var jitterSeed: Text { account }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let keeps = database.session.context.policy.noPurchasesKeeps
    let rows =
      keeps
      ? try database.subscriptions(of: account) : try database.deactivateSubscriptions(of: account)
    let standing = try Standing.read(rows, of: account, database)
    let nowMs = database.session.context.nowMs
    let cleared = rows.count { $0.deactivatedAtMs == nowMs }
    return OperationResult { writer in
      standing.entitlement.write(&writer)
      writer.member("deactivated", integer: Int64(cleared))
      writer.member("changed", boolean: cleared > 0)
      standing.restrictions?.write(&writer)
    }
  }
}
