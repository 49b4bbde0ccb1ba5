/// The operation `deactivate-subscriptions`: deactivates an account's subscriptions, because the
/// client reports no purchases (STO-46).
struct DeactivateSubscriptions: LedgerOperation {
  private let account: Text

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.account`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    account = try parameters.account("account")
  }

  var jitterSeed: Text { account }

  func run(_ session: inout LedgerSession) throws(LedgerSuspension) -> OperationResult {
    let keeps = session.context.policy.noPurchasesKeeps
    let rows =
      keeps
      ? try session.subscriptions(of: account) : try session.deactivateSubscriptions(of: account)
    let entitlement = PlanEntitlement(rows, session.context)
    let nowMs = session.context.nowMs
    let cleared = rows.count { $0.deactivatedAtMs == nowMs }
    return OperationResult { writer in
      entitlement.write(&writer)
      writer.member("deactivated", integer: Int64(cleared))
      writer.member("changed", boolean: cleared > 0)
    }
  }
}
