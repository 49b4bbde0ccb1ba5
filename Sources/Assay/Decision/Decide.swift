extension Configuration {
  /// What an account may have at `nowMs`, by verified evidence (DCD-1 … DCD-20).
  ///
  /// The order of the evidence decides nothing. The caller has seen to DCD-1: at
  /// least one document, all of status 0 and of a verifier with this configuration.
  ///
  /// - `account`: the appAccountToken that the evidence must carry, in any case
  ///   of letters; nil leaves the check to `decide.account`.
  /// - `nowMs`: milliseconds since 1970 UTC, within JWS-41.
  /// - Throws `misuse.decide.account` and `rejected.account.token-missing` or
  ///   `.token-mismatch` (DCD-20), `rejected.payload.incomplete` (PAY-7),
  ///   `config.products.form` where the catalogue and the evidence name different
  ///   types of one product.
  func decide(
    _ evidence: [PurchaseEvidence], account: Text?, nowMs: Int64
  ) throws(Refusal) -> Decision {
    try require(
      decide.account != .required || account != nil, .misuseDecideAccount, "DCD-20",
      at: "account")
    try Self.requireIds(evidence)
    let merged = MergedEvidence(evidence)
    let wasCompared = try compareAccount(account, merged.transactions)
    var warnings = DecisionWarnings()
    let candidates = try candidates(merged.transactions, &warnings)
    let table = DecisionTable(policy: decide, skew: clockSkewMs, now: nowMs, evidence: merged)
    let groups = decisions(candidates, table, &warnings)
    Self.reportLoneRenewals(merged, &warnings)

    let lead = groups.first
    let isEntitled = lead.map { $0.ruling.entitled && ($0.rank ?? 0) > 0 } ?? false
    return Decision(
      plan: isEntitled ? lead?.plan ?? defaultPlan : defaultPlan, entitled: isEntitled,
      groups: groups, reach: lead?.reach ?? Self.reachOfNothing(evidence),
      warnings: warnings.sorted, accountWasCompared: wasCompared)
  }

  private var defaultPlan: Text { plans.first ?? "" }

  // MARK: evidence

  /// PAY-7.
  private static func requireIds(_ evidence: [PurchaseEvidence]) throws(Refusal) {
    for (document, item) in evidence.enumerated() {
      for facts in item.purchases {
        try require(
          !facts.transactionId.isEmpty, .rejectedPayloadIncomplete, "PAY-7",
          at: "evidence[\(document)]/transactionId")
        try require(
          !facts.originalTransactionId.isEmpty, .rejectedPayloadIncomplete, "PAY-7",
          at: "evidence[\(document)]/originalTransactionId")
        try require(
          !facts.productId.isEmpty, .rejectedPayloadIncomplete, "PAY-7",
          at: "evidence[\(document)]/productId")
      }
      for facts in item.renewals {
        try require(
          !facts.originalTransactionId.isEmpty, .rejectedPayloadIncomplete, "PAY-7",
          at: "evidence[\(document)]/originalTransactionId")
      }
    }
  }

  /// DCD-20. Whether anything was compared: a transaction decides, a renewal info
  /// speaks for none.
  private func compareAccount(
    _ account: Text?, _ transactions: [Statement<PurchaseFacts>]
  ) throws(Refusal) -> Bool {
    guard decide.account != .ignored, let expected = account?.asciiLowercased else {
      return false
    }
    var wasCompared = false
    for statement in transactions {
      let token = statement.facts.account?.asciiLowercased
      try require(
        token != nil || decide.account != .required, .rejectedAccountTokenMissing, "DCD-20",
        at: "evidence[\(statement.document)]/appAccountToken")
      try require(
        token == nil || token == expected, .rejectedAccountTokenMismatch, "DCD-20",
        at: "evidence[\(statement.document)]/appAccountToken")
      if token != nil { wasCompared = true }
    }
    return wasCompared
  }

  /// The transactions of known products (DCD-5), with refunds carried over to
  /// other transaction ids of the same purchase.
  private func candidates(
    _ transactions: [Statement<PurchaseFacts>], _ warnings: inout DecisionWarnings
  ) throws(Refusal) -> [Candidate] {
    var candidates: [Candidate] = []
    for statement in transactions {
      guard let product = products.product(statement.facts.productId) else {
        warnings.unknownProduct(statement.facts.productId)
        continue
      }
      guard !statement.facts.typeIsUnknown else {
        warnings.unknownType(statement.facts)
        continue
      }
      try require(
        statement.facts.type == nil || statement.facts.type == product.type,
        .configProductsForm, "DCD-10", at: "products.\(product.id.string).type")
      let candidate = Candidate(statement, product)
      warnings.look(at: candidate)
      candidates.append(candidate)
    }
    let refunds = RevokedPurchases(candidates)
    return candidates.map { refunds.applied(to: $0) }
  }

  /// Renewal facts of lines of which no transaction is among the evidence.
  private static func reportLoneRenewals(
    _ merged: MergedEvidence, _ warnings: inout DecisionWarnings
  ) {
    var lines: Set<ScopedId> = []
    for statement in merged.transactions {
      lines.insert(
        ScopedId(
          environment: statement.facts.environment,
          id: statement.facts.originalTransactionId))
    }
    for line in merged.renewalLines where !lines.contains(line) {
      warnings.renewalWithoutTransaction(line)
    }
  }

  // MARK: groups

  /// One decision a group, the leading one first.
  private func decisions(
    _ candidates: [Candidate], _ table: DecisionTable, _ warnings: inout DecisionWarnings
  ) -> [GroupDecision] {
    var decisions: [GroupDecision] = []
    for var group in PurchaseGroup.groups(of: candidates) {
      group.stackPeriods()
      guard let answer = table.answer(group) else { continue }
      if let renewal = answer.renewal { warnings.look(at: renewal.facts) }
      decisions.append(decision(group, answer))
    }
    return decisions.sorted(by: GroupDecision.leads)
  }

  private func decision(
    _ group: PurchaseGroup, _ answer: DecisionTable.Answer
  ) -> GroupDecision {
    var rank: Int? = nil
    var plan = defaultPlan
    if let place = answer.chosen.product.plan, plans.indices.contains(place) {
      rank = place
      if answer.ruling.entitled { plan = plans[place] }
    }
    return GroupDecision(
      plan: plan, rank: rank, group: group.key.group, chosen: answer.chosen,
      ruling: answer.ruling, reach: Self.reach(group, answer),
      purchases: group.key.type == .consumable ? group.members : [])
  }

  // MARK: reach

  /// DCD-18 for one group.
  private static func reach(
    _ group: PurchaseGroup, _ answer: DecisionTable.Answer
  ) -> EvidenceReach {
    let chosen = answer.chosen
    var kinds = group.members.map { Text(stringLiteral: $0.kind) }
    var weakest = chosen.facts.evidenceClass
    var missing: [EvidenceReach.Gap] = []
    if let renewal = answer.renewal {
      kinds.append(Text(stringLiteral: renewal.kind))
      if renewal.facts.evidenceClass == .appleAnswer { weakest = .appleAnswer }
    } else if group.key.type == .autoRenewable {
      missing.append(.renewal)
    }
    if !chosen.facts.showsRevocation { missing.append(.revocation) }
    return EvidenceReach(
      evidenceClass: weakest, kinds: unique(kinds), asOf: chosen.facts.asOf,
      missing: missing)
  }

  /// DEC-2: nothing was bought as far as this evidence shows.
  private static func reachOfNothing(_ evidence: [PurchaseEvidence]) -> EvidenceReach {
    var weakest = EvidenceClass.signed
    var asOf: Int64? = nil
    func take(_ moment: Int64, _ evidenceClass: EvidenceClass) {
      asOf = max(asOf ?? moment, moment)
      if evidenceClass == .appleAnswer { weakest = .appleAnswer }
    }
    for item in evidence {
      if let moment = item.asOf { take(moment, item.evidenceClass) }
      for facts in item.purchases { take(facts.asOf, facts.evidenceClass) }
      for facts in item.renewals { take(facts.asOf, facts.evidenceClass) }
    }
    return EvidenceReach(
      evidenceClass: weakest, kinds: unique(evidence.map { Text(stringLiteral: $0.kind) }),
      asOf: asOf, missing: [.transaction])
  }

  private static func unique(_ kinds: [Text]) -> [Text] {
    Set(kinds).sorted(by: Text.precedes)
  }
}

extension GroupDecision {
  /// The order of the groups: entitled ones by plan, then by end; the others by
  /// end. What lasts without end comes before what ends.
  fileprivate static func leads(_ left: GroupDecision, _ right: GroupDecision) -> Bool {
    if left.ruling.entitled != right.ruling.entitled { return left.ruling.entitled }
    if left.ruling.entitled {
      let (leftRank, rightRank) = (left.rank ?? -1, right.rank ?? -1)
      if leftRank != rightRank { return leftRank > rightRank }
    }
    if left.lastMoment != right.lastMoment { return left.lastMoment > right.lastMoment }
    let (leftFacts, rightFacts) = (left.chosen.facts, right.chosen.facts)
    if leftFacts.environment != rightFacts.environment {
      return leftFacts.environment.rank < rightFacts.environment.rank
    }
    return Text.precedesAsNumber(leftFacts.transactionId, rightFacts.transactionId)
  }

  private var lastMoment: Int64 {
    ruling.until ?? (ruling.state == .owned ? .max : .min)
  }
}
