/// What an account has now: its plan, and what restricts it.
struct Standing {
  let entitlement: PlanEntitlement
  /// The restrictions of the account; `nil` if there is no index of customers.
  let restrictions: [Restriction]?

  /// Reads the plan of an account and its restrictions, in one step (CUS-22).
  static func read(
    _ account: Text, _ database: any DurableDatabase
  ) throws(LedgerSuspension) -> Standing {
    guard database.session.context.policy.customerKey != nil else {
      return Standing(try database.subscriptions(of: account), nil, database.session.context)
    }
    let (rows, restrictions) = try database.standing(of: account)
    return Standing(rows, restrictions, database.session.context)
  }

  /// Returns the plan by subscriptions that were read before, and reads the restrictions.
  static func read(
    _ rows: [SubscriptionRow], of account: Text, _ database: any DurableDatabase
  ) throws(LedgerSuspension) -> Standing {
    let context = database.session.context
    guard context.policy.customerKey != nil else { return Standing(rows, nil, context) }
    return Standing(rows, try database.restrictions(of: account), context)
  }

  private init(
    _ rows: [SubscriptionRow], _ restrictions: [Restriction]?, _ context: LedgerContext
  ) {
    let entitlement = PlanEntitlement(rows, context)
    self.entitlement =
      restrictions?.oldest == nil ? entitlement : entitlement.restricted(context)
    self.restrictions = restrictions
  }
}
