extension Configuration {
  /// Returns the plan of an account at `nowMs` according to verified evidence (DCD-1 … DCD-28).
  ///
  /// The order of the evidence has no influence. The caller has ensured DCD-1: at least one
  /// document, all of status 0 and of a verifier with this configuration.
  ///
  /// - `account`: the appAccountToken that the evidence must contain, a UUID in upper or lower
  ///   case; with `nil`, `decision.accountToken` determines whether that is allowed.
  /// - `nowMs`: milliseconds since 1970 UTC, within JWS-41.
  /// - Throws `misuse.decision.account` and `rejected.account.token-missing` or `.token-mismatch`
  ///   (DCD-20), `rejected.payload.incomplete` (PAY-7).
  func decide(
    _ evidence: [PurchaseEvidence], account: Text?, nowMs: Int64
  ) throws(Refusal) -> Decision {
    try require(
      account?.isUUID ?? (decision.accountToken != .required), .misuseDecisionAccount, "DCD-20",
      at: "account")
    let merged = try MergedEvidence(evidence)
    var warnings = DecisionWarnings()
    var (candidates, excluded) = selected(merged.transactions, &warnings)
    let subscriptions = SubscriptionGroups(candidates)
    if let account, decision.accountToken != .ignored {
      try subscriptions.bind(&candidates, to: account.asciiLowercased, decision, merged, &warnings)
    }
    PurchaseCopies.join(&candidates)
    subscriptions.replacePeriods(&candidates, now: nowMs)
    let table = DecisionTable(policy: decision, skew: clockSkewMs, now: nowMs, evidence: merged)
    let groups = decisions(candidates, table, &warnings)
    Self.reportLoneRenewals(merged, &warnings)

    let lead = groups.first
    let isEntitled = lead.map { $0.outcome.entitled && ($0.rank ?? 0) > 0 } ?? false
    return Decision(
      plan: isEntitled ? lead?.plan ?? defaultPlan : defaultPlan, entitled: isEntitled,
      groups: groups, reach: lead?.reach ?? Self.reachOfNothing(evidence), excluded: excluded,
      warnings: warnings.sorted)
  }

  private var defaultPlan: Text { plans.first ?? "" }

  // MARK: evidence

  /// Warns of renewal info whose subscription has no transaction in the evidence.
  private static func reportLoneRenewals(
    _ merged: MergedEvidence, _ warnings: inout DecisionWarnings
  ) {
    guard !merged.renewals.isEmpty else { return }
    // Both are sorted as one list: a run that begins with renewal info has no transaction.
    let transactions = merged.transactions.map { $0.facts.subscriptionId }
    let subscriptions = transactions + merged.renewals.map { $0.facts.subscriptionId }
    for run in EqualRuns.of(subscriptions, by: ScopedId.precedes) {
      guard let first = run.first, first >= transactions.count else { continue }
      warnings.renewalWithoutTransaction(subscriptions[first])
    }
  }

  // MARK: groups

  /// Returns one decision per group, the leading one first.
  private func decisions(
    _ candidates: [Candidate], _ table: DecisionTable, _ warnings: inout DecisionWarnings
  ) -> [GroupDecision] {
    var decisions: [GroupDecision] = []
    for var group in PurchaseGroup.groups(of: candidates) {
      group.stackPeriods(decision)
      guard let answer = table.answer(group) else { continue }
      if let renewal = answer.renewal?.facts {
        warnings.look(at: renewal)
        if answer.chosen.facts.isBilledMonthly, renewal.graceEnd != nil {
          warnings.graceInCommitment(renewal)
        }
      }
      decisions.append(groupDecision(group, answer))
    }
    return decisions.ordered(by: GroupDecision.leads)
  }

  private func groupDecision(
    _ group: PurchaseGroup, _ answer: DecisionTable.Answer
  ) -> GroupDecision {
    var rank: Int? = nil
    var plan = defaultPlan
    if let place = answer.chosen.product.plan, plans.indices.contains(place) {
      rank = place
      if answer.outcome.entitled { plan = plans[place] }
    }
    return GroupDecision(
      plan: plan, rank: rank, group: group.key.group, chosen: answer.chosen,
      outcome: answer.outcome, renewal: answer.renewal?.facts, reach: Self.reach(group, answer),
      binding: group.binding,
      purchases: group.key.type == .consumable ? group.members : [])
  }

  // MARK: reach

  /// Returns how far the evidence of one group reaches (DCD-18).
  private static func reach(
    _ group: PurchaseGroup, _ answer: DecisionTable.Answer
  ) -> EvidenceCoverage {
    let chosen = answer.chosen
    var kinds = group.members.map { $0.kind }
    var weakest = chosen.facts.evidenceClass
    var missing: [EvidenceCoverage.Gap] = []
    if let renewal = answer.renewal {
      kinds.append(renewal.kind)
      if renewal.facts.evidenceClass == .appleAnswer { weakest = .appleAnswer }
    } else if group.key.type == .autoRenewable {
      missing.append(.renewalInfo)
    }
    if !chosen.facts.canReport.contains(.revocation) { missing.append(.revocation) }
    return EvidenceCoverage(
      evidenceClass: weakest, kinds: unique(kinds), asOfMs: chosen.facts.asOfMs,
      missing: missing)
  }

  /// Returns the reach of evidence without a purchase of a known product (DEC-2).
  private static func reachOfNothing(_ evidence: [PurchaseEvidence]) -> EvidenceCoverage {
    var weakest = EvidenceClass.signed
    var asOfMs: Int64? = nil
    func take(_ moment: Int64, _ evidenceClass: EvidenceClass) {
      asOfMs = max(asOfMs ?? moment, moment)
      if evidenceClass == .appleAnswer { weakest = .appleAnswer }
    }
    for item in evidence {
      if let moment = item.asOfMs { take(moment, item.evidenceClass) }
      for facts in item.purchases { take(facts.asOfMs, facts.evidenceClass) }
      for facts in item.renewals { take(facts.asOfMs, facts.evidenceClass) }
    }
    return EvidenceCoverage(
      evidenceClass: weakest, kinds: unique(evidence.map { $0.kind }),
      asOfMs: asOfMs, missing: [.transaction])
  }

  /// Returns each kind once, sorted. A linear search suffices: there are few kinds, however many
  /// documents.
  private static func unique(_ kinds: [StaticString]) -> [Text] {
    var found: [StaticString] = []
    for kind in kinds where !found.contains(where: { $0.hasSameBytes(as: kind) }) {
      found.append(kind)
    }
    return found.map { Text(stringLiteral: $0) }.ordered(by: Text.precedes)
  }
}

extension GroupDecision {
  /// Orders groups: entitled ones first, by plan, then by end; the others by end. A purchase
  /// without end counts as ending last.
  fileprivate static func leads(_ left: GroupDecision, _ right: GroupDecision) -> Bool {
    if left.outcome.entitled != right.outcome.entitled { return left.outcome.entitled }
    if left.outcome.entitled {
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
    outcome.until ?? outcome.wouldExpireAtMs ?? (outcome.state == .owned ? .max : .min)
  }
}
