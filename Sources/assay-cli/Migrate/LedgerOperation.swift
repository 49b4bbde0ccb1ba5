import AssayAuthority

/// An operation of the ledger that a group needs, and the texts of its evidence (MIG-30).
struct LedgerOperation {
  let name: String
  /// The members of the request; an absent one is `nil`.
  let members: [(name: String, value: JSONText?)]
  let evidence: [EvidencePlace]

  var request: [JSONText.Member] {
    members.compactMap { member in member.value.map { JSONText.Member(member.name, $0) } }
  }
}

extension GroupPlan {
  /// The shortest lease that the ledger takes: it is over when the run has ended.
  private static let leaseMs: JSONText = .integer(5000)

  /// Returns the claim of a purchase that the shop has delivered; of another, a claim under a lease
  /// that is over.
  func claim(_ item: Item, run: String) -> LedgerOperation {
    let (fact, isGranted) = (item.purchase.newest, item.outcome == .granted)
    return LedgerOperation(
      name: "claim",
      members: [
        ("account", account.map { .string($0) }),
        ("grantMode", .string(isGranted ? "transaction" : "lease")),
        ("attemptId", attemptId(item, run: run)), ("leaseMs", isGranted ? nil : GroupPlan.leaseMs),
        ("transactionIds", .array([.string(fact.transactionId)])),
        ("note", .string("migrate:" + run)),
      ], evidence: item.purchase.evidence)
  }

  /// Returns the revocation of a purchase.
  ///
  /// - Parameter isLeased: whether the ledger hands out what it has granted to be taken back.
  func revoke(_ item: Item, run: String, isLeased: Bool = false) -> LedgerOperation {
    LedgerOperation(
      name: "revoke",
      members: [
        ("grantMode", .string(isLeased ? "lease" : "none")),
        ("attemptId", attemptId(item, run: run)), ("leaseMs", isLeased ? GroupPlan.leaseMs : nil),
        ("transactionIds", item.purchase.transactionIds),
      ], evidence: item.purchase.evidence)
  }

  /// Returns the update of the group's subscription; `nil` if it has none.
  var update: LedgerOperation? {
    latest.map {
      LedgerOperation(
        name: "update-subscriptions",
        members: [
          ("account", account.map { .string($0) }),
          ("transactionIds", group.purchases[$0].transactionIds),
        ], evidence: subscriptionEvidence)
    }
  }

  /// Returns what fills an empty ledger with the group, in the order of the command (MIG-43).
  func operations(_ options: MigrateOptions, run: String) -> [LedgerOperation] {
    guard !isHeld else { return [] }
    let once = items.compactMap { item -> LedgerOperation? in
      switch item.need(options) {
      case .claim: claim(item, run: run)
      // What the rows call delivered is in takeback.ndjson: the ledger does not hand it out, too.
      case .revoke: revoke(item, run: run, isLeased: !item.isGranted)
      case .find, nil: nil
      }
    }
    return once + (update.map { [$0] } ?? [])
  }

  /// The id of the attempt, the same whenever this purchase is written in this run.
  private func attemptId(_ item: Item, run: String) -> JSONText {
    let text = "migrate\0\(run)\0\(item.purchase.newest.purchaseKey)"
    return .string(String(ReadWorker.hex(AttestDigest.sha256(Array(text.utf8))).prefix(32)))
  }
}

extension MigrateGroup.Purchase {
  /// The ids under which the texts of the purchase have it: a restored one has another.
  fileprivate var transactionIds: JSONText {
    .array(Set([newest, told ?? newest].map(\.transactionId)).sorted().map { .string($0) })
  }
}
