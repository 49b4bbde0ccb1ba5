import AssayAuthority

@_spi(AssayMigrate) @_spi(AssaySwift) import Assay

/// Writes one group to the ledger, by the operations of the library, in the open transaction of a
/// batch (MIG-30).
struct GroupWriter {
  let conversation: LedgerConversation
  let options: MigrateOptions
  let runName: String
  /// The verified documents of the batch, by their place.
  let documents: [EvidencePlace: Document]
  /// How many operations changed the ledger.
  private(set) var changedCount = 0

  init(
    _ conversation: LedgerConversation, _ options: MigrateOptions, runName: String,
    _ documents: [EvidencePlace: Document]
  ) {
    self.conversation = conversation
    self.options = options
    self.runName = runName
    self.documents = documents
  }

  /// Writes the group, and replaces outcomes by what the ledger says of them.
  mutating func write(_ plan: inout GroupPlan) throws {
    guard !plan.isHeld else { return }
    for place in plan.items.indices {
      switch plan.items[place].need(options) {
      case .claim: try claim(&plan, place)
      case .revoke: try revoke(&plan, place)
      case .find: try find(&plan, place)
      case nil: break
      }
    }
    if plan.latest.map({ plan.items[$0].outcome != .conflict }) ?? false {
      try updateSubscription(&plan)
    }
  }

  /// Runs an operation and returns the member `exchange` of its document.
  private mutating func run(_ operation: LedgerOperation) throws -> DocumentValue? {
    let document = try conversation.run(
      operation.name, operation.request, evidence: operation.evidence.compactMap { documents[$0] })
    switch document.status.family {
    case .misuse, .config, .internal:
      throw MigrateFault(
        "internal.migrate.operation",
        "\(operation.name): \(document.status.name) at \(document.text("error.at") ?? "?")",
        exitCode: 3)
    case .unavailable where "\(document.status.name)".hasPrefix("unavailable.database."):
      throw MigrateFault(
        "unavailable.migrate.store", "\(operation.name): \(document.status.name)", exitCode: 3)
    default: break
    }
    let result = document.value?.member("exchange")
    if result?.member("changed")?.boolean == true { changedCount += 1 }
    return result
  }

  private mutating func claim(_ plan: inout GroupPlan, _ place: Int) throws {
    let result = try run(plan.claim(plan.items[place], run: runName))
    let claim = result?.member("claims")?.children.first?.value
    switch claim?.member("outcome")?.text {
    case "new", "resume": break
    case "already-granted", "revoked": plan.items[place].outcome = .present
    case "in-progress", "held": plan.items[place].outcome = .pending
    case "other-account": settle(&plan, place)
    case "unknown-product": plan.items[place].outcome = .unknownProduct
    case "upgraded": plan.items[place].outcome = .expired
    default: plan.items[place].outcome = .excluded
    }
  }

  /// The ledger has another owner, whom a migration never changes (MIG-25).
  private func settle(_ plan: inout GroupPlan, _ place: Int) {
    plan.items[place].outcome = .conflict
    plan.conflict = GroupPlan.Conflict(kind: .owner)
  }

  /// Looks whether the ledger has a purchase that is owed.
  private mutating func find(_ plan: inout GroupPlan, _ place: Int) throws {
    let purchase = plan.items[place].purchase
    let result = try run(
      LedgerOperation(
        name: "find", members: [("account", plan.account.map { .string($0) })],
        evidence: purchase.evidence))
    let row = result?.member("rows")?.children.map(\.value).first {
      $0.member("transactionId")?.text == purchase.newest.transactionId
        || $0.member("purchaseKey")?.text == purchase.newest.purchaseKey
    }
    switch row?.member("outcome")?.text {
    case "already-delivered", "refunded": plan.items[place].outcome = .present
    case "resume": plan.items[place].outcome = .pending
    case "used-by-other": settle(&plan, place)
    default: break
    }
  }

  private mutating func revoke(_ plan: inout GroupPlan, _ place: Int) throws {
    let result = try run(plan.revoke(plan.items[place], run: runName))
    for (_, revocation) in result?.member("revocations")?.children ?? [] {
      if revocation.member("outcome")?.text == "stale" { plan.items[place].outcome = .stale }
      if revocation.member("take") != nil { plan.items[place].isTakenBack = true }
    }
  }

  private mutating func updateSubscription(_ plan: inout GroupPlan) throws {
    guard let latest = plan.latest, let update = plan.update else { return }
    let result = try run(update)
    switch result?.member("subscriptions")?.children.first?.value.member("outcome")?.text {
    case "applied", "transferred": break
    case "stale": plan.items[latest].outcome = .stale
    case "excluded": plan.items[latest].outcome = .excluded
    case "other-account":
      for place in plan.items.indices where plan.items[place].isOfSubscription(options) {
        settle(&plan, place)
      }
    case "unknown-product": plan.items[latest].outcome = .unknownProduct
    default: plan.items[latest].outcome = .excluded
    }
  }
}

extension GroupPlan.Item {
  /// Whether the purchase is only a period of its subscription.
  fileprivate func isOfSubscription(_ options: MigrateOptions) -> Bool {
    purchase.newest.kind.isSubscription && !options.isOnce(purchase.newest.kind)
      && [.live, .expired, .revoked].contains(outcome)
  }
}
