/// The operation `deactivate-subscriptions`: deactivates an account's subscriptions, because the
/// client reports no purchases (STO-46).
struct SubscriptionClear: StoreOperation {
  private let account: Text

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.account`.
  init(_ parameters: StoreParameters) throws(Refusal) {
    account = try parameters.account("account")
  }

  var seed: Text { account }

  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    let keeps = talk.context.policy.noPurchasesKeeps
    let rows = keeps ? try talk.lines(of: account) : try talk.clearLines(of: account)
    let entitlement = LineEntitlement(rows, talk.context)
    let nowMs = talk.context.nowMs
    let cleared = rows.count { $0.deactivatedAtMs == nowMs }
    return StoreOutcome { writer in
      entitlement.write(&writer)
      writer.member("deactivated", integer: Int64(cleared))
      writer.member("changed", boolean: cleared > 0)
    }
  }
}
