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
    for place in plan.items.indices where plan.items[place].isWritten(options) {
      let item = plan.items[place]
      switch item.outcome {
      case .revoked: try revoke(&plan, place)
      case .granted: try claim(&plan, place, isGranted: true)
      case .owed where options.owed == .claim: try claim(&plan, place, isGranted: false)
      default: try find(&plan, place)
      }
    }
    if plan.latest.map({ plan.items[$0].outcome != .conflict }) ?? false {
      try updateSubscription(&plan)
    }
  }

  private func evidence(_ places: [EvidencePlace], of plan: GroupPlan) -> [Document] {
    guard let id = plan.group.purchases.first?.newest.originalTransactionId else { return [] }
    return places.compactMap { documents[$0] }.map {
      conversation.verifier.narrowed($0, to: id)
    }
  }

  /// Runs an operation and returns the member `exchange` of its document.
  private mutating func run(
    _ operation: String, _ members: [(String, JSONText?)], _ evidence: [Document]
  ) throws -> DocumentValue? {
    let given = members.compactMap { name, value in value.map { JSONText.Member(name, $0) } }
    let document = try conversation.run(operation, given, evidence: evidence)
    switch document.status.family {
    case .misuse, .config, .internal:
      throw MigrateFault(
        "internal.migrate.operation",
        "\(operation): \(document.status.name) at \(document.text("error.at") ?? "?")",
        exitCode: 3)
    case .unavailable where "\(document.status.name)".hasPrefix("unavailable.database."):
      throw MigrateFault(
        "unavailable.migrate.store", "\(operation): \(document.status.name)", exitCode: 3)
    default: break
    }
    let result = document.value?.member("exchange")
    if result?.member("changed")?.boolean == true { changedCount += 1 }
    return result
  }

  /// The id of the attempt, the same whenever this purchase is written in this run.
  private func attemptId(_ purchaseKey: String) -> JSONText {
    let digest = AttestDigest.sha256(Array("migrate\0\(runName)\0\(purchaseKey)".utf8))
    return .string(String(ReadWorker.hex(digest).prefix(32)))
  }

  /// The shortest lease that the ledger takes: it is over when the run has ended.
  private static let leaseMs: Int64 = 5000

  private mutating func claim(_ plan: inout GroupPlan, _ place: Int, isGranted: Bool) throws {
    let purchase = plan.items[place].purchase
    let result = try run(
      "claim",
      [
        ("account", plan.account.map { .string($0) }),
        ("grantMode", .string(isGranted ? "transaction" : "lease")),
        ("attemptId", attemptId(purchase.newest.purchaseKey)),
        ("leaseMs", isGranted ? nil : .integer(GroupWriter.leaseMs)),
        ("transactionIds", .array([.string(purchase.newest.transactionId)])),
        ("note", .string("migrate:" + runName)),
      ], evidence(purchase.evidence, of: plan))
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
      "find", [("account", plan.account.map { .string($0) })],
      evidence(purchase.evidence, of: plan))
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
    let purchase = plan.items[place].purchase
    let result = try run(
      "revoke", [("attemptId", attemptId(purchase.newest.purchaseKey))],
      evidence(purchase.evidence, of: plan))
    for (_, revocation) in result?.member("revocations")?.children ?? [] {
      guard revocation.member("transactionId")?.text == purchase.newest.transactionId else {
        continue
      }
      if revocation.member("outcome")?.text == "stale" { plan.items[place].outcome = .stale }
      if revocation.member("take") != nil { plan.items[place].isTakenBack = true }
    }
  }

  private mutating func updateSubscription(_ plan: inout GroupPlan) throws {
    guard let latest = plan.latest else { return }
    let result = try run(
      "update-subscriptions", [("account", plan.account.map { .string($0) })],
      evidence(plan.subscriptionEvidence, of: plan))
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
