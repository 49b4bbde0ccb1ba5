/// The decision table: rows DEC-3 to DEC-24 for one group (docs/spec/receipts-decisions.md §3).
/// The checks are in the order of the rows.
struct DecisionTable {
  var policy: Configuration.DecisionPolicy
  /// The tolerance at the start of a period (clockSkewMs), in milliseconds (DCD-15).
  var skew: Int64
  /// The moment of the decision, in milliseconds since 1970 UTC.
  var now: Int64
  var evidence: MergedEvidence

  /// The result for a group: the transaction that represents it, the renewal info, and the
  /// outcome.
  struct Answer {
    var chosen: Candidate
    var renewal: StatedFacts<RenewalFacts>?
    var outcome: TableOutcome
  }

  /// Returns the result for a group; `nil` if it has no members.
  ///
  /// If the policy denies family sharing, the account's own purchases are evaluated first: a
  /// shared one never hides them (DCD-12).
  func answer(_ group: PurchaseGroup) -> Answer? {
    let own = group.members.filter { !policy.denies($0.facts) }
    if own.count < group.members.count, let answer = answer(among: own),
      answer.outcome.entitled
    {
      return answer
    }
    return answer(among: group.members)
  }

  private func answer(among members: [Candidate]) -> Answer? {
    guard let chosen = choose(members) else { return nil }
    let renewal = renewal(for: chosen)
    var outcome = outcome(chosen, renewal?.facts, members)
    if outcome.entitled { judgeHolder(chosen.facts, &outcome) }
    if !outcome.entitled, !outcome.isRevoked {
      outcome.wouldExpireAtMs = outcome.until
      outcome.until = nil
    }
    return Answer(chosen: chosen, renewal: renewal, outcome: outcome)
  }

  // MARK: choice

  /// Returns the transaction that decides, T in DCD-6; `nil` without members.
  ///
  /// A transaction that entitles now comes first, and of several the one with the highest plan:
  /// no refund, future purchase or lower plan hides what another purchase entitles to.
  private func choose(_ members: [Candidate]) -> Candidate? {
    let notReplaced = members.filter { !$0.isReplaced }
    let live = notReplaced.filter { $0.isLive }
    var running = live.filter { $0.covers(now, skew: 0) }
    if running.isEmpty { running = live.filter { $0.covers(now, skew: skew) } }
    let carried = live.filter { carryOver($0)?.entitled == true }
    let best = running.max(by: Candidate.givesLess)
    if let other = carried.max(by: Candidate.givesLess), other.rank > best?.rank ?? .min {
      return other
    }
    if let best { return best }
    let ahead = live.filter { $0.isAhead(of: now, skew: skew) }
    if let next = ahead.max(by: Candidate.startsLater) { return next }
    let inGrace = live.filter { carryOver($0)?.state == .grace }
    if let denied = inGrace.max(by: Candidate.givesLess) { return denied }
    return notReplaced.max(by: Candidate.endsEarlier) ?? members.max(by: Candidate.endsEarlier)
  }

  /// Returns the outcome of an expired subscription by its own renewal info; `nil` for anything
  /// else.
  private func carryOver(_ candidate: Candidate) -> TableOutcome? {
    guard candidate.product.type == .autoRenewable, let end = candidate.end, end <= now else {
      return nil
    }
    return ended(end, renewal(for: candidate)?.facts, candidate.facts)
  }

  private func outcome(
    _ chosen: Candidate, _ renewal: RenewalFacts?, _ members: [Candidate]
  ) -> TableOutcome {
    let facts = chosen.facts
    if chosen.isReplaced { return superseded(facts) }
    if facts.revokedAtMs != nil { return revoked(chosen, renewal) }
    switch chosen.product.type {
    case .nonConsumable:
      var outcome = TableOutcome(.owned, "DEC-23")
      outcome.entitled = true
      return outcome
    case .consumable: return TableOutcome(.once, "DEC-24")
    case .nonRenewing: return nonRenewing(chosen)
    case .autoRenewable: return autoRenewable(chosen, renewal, members)
    }
  }

  // MARK: replaced, revoked

  /// Returns the outcome of a replaced transaction whose replacement is not in the evidence
  /// (DEC-3).
  private func superseded(_ facts: PurchaseFacts) -> TableOutcome {
    var outcome = TableOutcome(.superseded, "DEC-3")
    outcome.stale = true
    outcome.nextCheckAtMs = CheckSchedule.afterEnd(facts.asOfMs, now: now, mayBeRetried: true)
    return outcome
  }

  /// Returns the outcome of a revoked transaction (DEC-4, DEC-5), whatever the end of its period
  /// (DCD-10).
  private func revoked(_ chosen: Candidate, _ renewal: RenewalFacts?) -> TableOutcome {
    let facts = chosen.facts
    let fromFamily =
      facts.ownership == Ownership.familyShared || facts.revocationType == "FAMILY_REVOKE"
    var outcome =
      fromFamily ? TableOutcome(.familyRevoked, "DEC-4") : TableOutcome(.refunded, "DEC-5")
    if let reason = facts.revocationReason, KnownValues.revocationReason.contains(reason) {
      outcome.reason = reason
    }
    // Never in the future: a host that stores the date as an end must not grant access until
    // then.
    outcome.until = facts.revokedAtMs.map { min($0, now) }
    guard chosen.product.type == .autoRenewable || chosen.product.type == .nonRenewing,
      let end = chosen.end
    else { return outcome }
    outcome.wouldExpireAtMs = end
    // The next period will be charged, and its evidence is needed (DCD-27).
    if let renewal, renewal.autoRenewStatus == AutoRenew.on {
      outcome.nextCheckAtMs =
        now < end
        ? end
        : CheckSchedule.afterEnd(
          end, now: now, mayBeRetried: !retryIsOver(renewal, end), lastDay: lastDay(facts))
    }
    return outcome
  }

  // MARK: periods

  /// Returns the outcome of a non-renewing subscription (DEC-22; before its start DEC-7).
  private func nonRenewing(_ chosen: Candidate) -> TableOutcome {
    guard let start = chosen.start, let end = chosen.end else {
      return undated("DEC-22", chosen)
    }
    if chosen.isAhead(of: now, skew: skew) { return notStarted(start, end) }
    var outcome = TableOutcome(now < end ? .active : .expired, "DEC-22")
    outcome.entitled = now < end
    outcome.until = end
    return outcome
  }

  private func autoRenewable(
    _ chosen: Candidate, _ renewal: RenewalFacts?, _ members: [Candidate]
  ) -> TableOutcome {
    guard let end = chosen.end else { return undated("DEC-21", chosen) }
    var outcome: TableOutcome
    if now < end {
      guard let start = chosen.start else { return undated("DEC-21", chosen) }
      if chosen.isAhead(of: now, skew: skew) { return notStarted(start, end) }
      outcome = active(chosen.facts, start, end, renewal, members)
    } else {
      outcome = ended(end, renewal, chosen.facts)
    }
    // Hosts store this date and grant until then, which a month of a commitment does not (CMT-4).
    outcome.graceExpiresAtMs = chosen.facts.isBilledMonthly ? nil : renewal?.graceEnd
    flagCommitment(chosen.facts, renewal, &outcome)
    return outcome
  }

  /// Returns the outcome of a period that lacks a necessary date: expired as far as the evidence
  /// reaches, never without end.
  private func undated(_ row: StaticString, _ chosen: Candidate) -> TableOutcome {
    var outcome = TableOutcome(.expired, row)
    outcome.flags = [.byThisEvidence]
    outcome.stale = true
    outcome.until = chosen.end
    outcome.nextCheckAtMs = CheckSchedule.afterEnd(
      chosen.facts.asOfMs, now: now, mayBeRetried: true)
    return outcome
  }

  /// Returns the outcome of a period that starts in the future (DEC-7).
  private func notStarted(_ start: Int64, _ end: Int64) -> TableOutcome {
    var outcome = TableOutcome(.notStarted, "DEC-7")
    outcome.until = end
    outcome.nextCheckAtMs = start
    return outcome
  }

  // MARK: before the end

  /// Returns the outcome of a running period (DEC-6, DEC-8 to DEC-14): the first row that matches
  /// is named, the flags of all that match are reported (DCD-9).
  private func active(
    _ facts: PurchaseFacts, _ start: Int64, _ end: Int64, _ renewal: RenewalFacts?,
    _ members: [Candidate]
  ) -> TableOutcome {
    var outcome = TableOutcome(.active, "DEC-14")
    var rows: [StaticString] = []
    let further = members.filter { $0.isLive && $0.isAhead(of: max(now, start), skew: 0) }
    if let booked = further.max(by: Candidate.endsEarlier) {
      rows.append("DEC-6")
      outcome.flags.append(.renewalBooked)
      outcome.nextPeriodExpiresAtMs = booked.end
    }
    if facts.isExpiredAnswer {
      rows.append("DEC-8")
      outcome.flags.append(.cancelled)
    }
    let offers = offerFlags(facts)
    if !offers.isEmpty {
      rows.append("DEC-9")
      outcome.flags.append(contentsOf: offers)
    }
    if renewal?.autoRenewStatus == AutoRenew.off || endsWithPeriod(facts, renewal) {
      rows.append("DEC-10")
      outcome.flags.append(.willNotRenew)
    }
    if let renewal, changesProduct(renewal, facts.productId) || changesPlan(renewal, facts) {
      rows.append("DEC-11")
      outcome.flags.append(.changePending)
    }
    if renewal?.priceIncreaseStatus == 0 {
      rows.append("DEC-12")
      outcome.flags.append(.priceConsentPending)
    }
    if Self.holderFlag(facts) != nil { rows.append("DEC-13") }
    if let first = rows.first { outcome.row = first }
    outcome.entitled = true
    outcome.until = end
    outcome.nextCheckAtMs = CheckSchedule.beforeEnd(end, now: now)
    return outcome
  }

  /// Returns the flags of offers (DEC-9): a free period is `trial`, whichever offer it is from;
  /// another period at an introductory price is `intro`; promotional, code and win-back offers
  /// are `offer`.
  private func offerFlags(_ facts: PurchaseFacts) -> [DecisionFlag] {
    let isFree = facts.offerDiscountType == "FREE_TRIAL" || facts.isTrial
    let isIntro = facts.offerType == 1 || facts.isIntro
    let isOffer = facts.hasOffer || facts.offerType.map { (2...4).contains($0) } == true
    var flags: [DecisionFlag] = []
    if isFree { flags.append(.trial) }
    if isIntro, !isFree { flags.append(.intro) }
    if isOffer { flags.append(.offer) }
    return flags
  }

  /// Whether the subscription renews into another product; one that is switched off does not
  /// (DEC-11).
  private func changesProduct(_ renewal: RenewalFacts, _ productId: Text) -> Bool {
    guard let next = renewal.autoRenewProductId else { return false }
    return next != productId && renewal.autoRenewStatus != AutoRenew.off
  }

  // MARK: commitments

  /// Whether a running period is the last of a commitment that does not renew. Before, months go
  /// on although the customer has cancelled (CMT-3).
  private func endsWithPeriod(_ facts: PurchaseFacts, _ renewal: RenewalFacts?) -> Bool {
    guard let commitment = facts.commitment else { return false }
    return commitment.period == commitment.periods
      && renewal?.commitment?.status == AutoRenew.off
  }

  /// Whether another product or another plan of billing follows the commitment (CMT-7).
  private func changesPlan(_ renewal: RenewalFacts, _ facts: PurchaseFacts) -> Bool {
    guard facts.commitment != nil, let next = renewal.commitment, next.status != AutoRenew.off,
      renewal.autoRenewStatus != AutoRenew.off
    else { return false }
    return (next.productId ?? facts.productId) != facts.productId
      || (next.billingPlan ?? facts.billingPlan) != facts.billingPlan
  }

  /// Adds the flags of a commitment that goes on (CMT-2).
  private func flagCommitment(
    _ facts: PurchaseFacts, _ renewal: RenewalFacts?, _ outcome: inout TableOutcome
  ) {
    guard facts.commitment != nil, outcome.state == .active || outcome.state == .billingRetry
    else { return }
    outcome.flags.append(.commitment)
    if renewal?.commitment?.status == AutoRenew.off { outcome.flags.append(.commitmentEnding) }
  }

  /// The number of days during which Apple tries to charge the next period (CMT-5).
  private func lastDay(_ facts: PurchaseFacts) -> Int64 {
    facts.isBilledMonthly ? CheckSchedule.lastDayOfCommitment : CheckSchedule.lastDay
  }

  // MARK: after the end

  private func ended(
    _ end: Int64, _ renewal: RenewalFacts?, _ facts: PurchaseFacts
  ) -> TableOutcome {
    if let renewal {
      var outcome = ended(end, told: renewal, facts)
      if outcome.state != .grace {
        outcome.nextCheckAtMs = CheckSchedule.afterEnd(
          end, now: now, mayBeRetried: !retryIsOver(renewal, end), lastDay: lastDay(facts))
      }
      return outcome
    }
    var outcome: TableOutcome
    if facts.isExpiredAnswer {
      outcome = expiredAnswer(end, mayBeInFlight: true)
    } else {
      outcome = TableOutcome(.expired, "DEC-21")
      outcome.flags = [.byThisEvidence]
      outcome.stale = true
      outcome.until = end
    }
    outcome.nextCheckAtMs = CheckSchedule.afterEnd(
      end, now: now, mayBeRetried: true, lastDay: lastDay(facts))
    return outcome
  }

  /// Returns the outcome of an expired subscription with renewal info (DEC-15 to DEC-20).
  private func ended(
    _ end: Int64, told renewal: RenewalFacts, _ facts: PurchaseFacts
  ) -> TableOutcome {
    if renewal.isInBillingRetry == true {
      // A commitment has no grace period (CMT-4).
      if !facts.isBilledMonthly, let graceEnd = renewal.graceEnd, now < graceEnd {
        var outcome = TableOutcome(.grace, "DEC-15")
        outcome.entitled = policy.gracePeriod
        outcome.until = policy.gracePeriod ? graceEnd : end
        outcome.nextCheckAtMs = graceEnd
        return outcome
      }
      // Lenient billing retry ends when Apple stops trying.
      let lastTry = Milliseconds.sum(end, lastDay(facts) &* Milliseconds.day)
      var outcome = TableOutcome(.billingRetry, "DEC-16")
      outcome.entitled = policy.billingRetryAllowed && now < lastTry
      outcome.until = outcome.entitled ? lastTry : end
      return outcome
    }
    if let reason = renewal.expirationIntent, KnownValues.expirationIntent.contains(reason) {
      var outcome = TableOutcome(.expired, "DEC-17")
      outcome.reason = reason
      outcome.until = end
      return outcome
    }
    let isOn = renewal.autoRenewStatus == AutoRenew.on
    let mayBeInFlight = isOn && renewal.expirationIntent == nil && !retryIsOver(renewal, end)
    if mayBeInFlight, isShortlyAfter(end) { return inFlight(end, "DEC-18") }
    if facts.isExpiredAnswer {
      return expiredAnswer(end, mayBeInFlight: isOn || renewal.autoRenewStatus == nil)
    }
    var outcome = TableOutcome(.expired, "DEC-20")
    outcome.until = end
    outcome.stale = mayBeInFlight
    return outcome
  }

  /// Returns the outcome of status 21006, which Apple has sent wrongly just after the end
  /// (DEC-19).
  private func expiredAnswer(_ end: Int64, mayBeInFlight: Bool) -> TableOutcome {
    if mayBeInFlight, isShortlyAfter(end) { return inFlight(end, "DEC-19") }
    var outcome = TableOutcome(.expired, "DEC-19")
    outcome.until = end
    return outcome
  }

  /// Returns the outcome of a renewal that may be in progress (DEC-18, DEC-19). The configured
  /// leeway applies only here.
  private func inFlight(_ end: Int64, _ row: StaticString) -> TableOutcome {
    let lastMoment = Milliseconds.sum(end, policy.renewalLeewayMs)
    var outcome = TableOutcome(.stale, row)
    outcome.entitled = now < lastMoment
    outcome.until = outcome.entitled ? lastMoment : end
    outcome.stale = true
    return outcome
  }

  private func isShortlyAfter(_ end: Int64) -> Bool {
    now < Milliseconds.sum(end, Milliseconds.day)
  }

  /// Whether Apple has stopped trying to charge: "not in billing retry" means that only if the
  /// renewal info is newer than the end.
  private func retryIsOver(_ renewal: RenewalFacts, _ end: Int64) -> Bool {
    renewal.isInBillingRetry == false && renewal.asOfMs >= end
  }

  // MARK: renewal facts

  /// Returns the renewal info for a transaction, R in DCD-8. Renewal info from more than 48 hours
  /// before the period began is about an earlier period (renewals are charged at most that early)
  /// and is ignored: an old grace period or retry must not extend a new period.
  private func renewal(for chosen: Candidate) -> StatedFacts<RenewalFacts>? {
    guard chosen.product.type == .autoRenewable,
      let renewal = evidence.renewal(of: chosen.facts.subscriptionId)
    else { return nil }
    let earliestCharge = Milliseconds.sum(chosen.start ?? .min, -2 * Milliseconds.day)
    return renewal.facts.asOfMs >= earliestCharge ? renewal : nil
  }

  // MARK: holders

  /// Adds the flag of a shared or assigned purchase (DEC-13), and denies it if the policy does
  /// (DCD-12).
  private func judgeHolder(_ facts: PurchaseFacts, _ outcome: inout TableOutcome) {
    if let flag = Self.holderFlag(facts) { outcome.flags.append(flag) }
    guard policy.denies(facts) else { return }
    outcome.entitled = false
    outcome.state = .deniedByPolicy
    outcome.row = "DEC-13"
  }

  private static func holderFlag(_ facts: PurchaseFacts) -> DecisionFlag? {
    switch facts.ownership {
    case Ownership.familyShared: return .family
    case Ownership.assigned: return .assigned
    default: return nil
    }
  }
}

/// Apple's values of `autoRenewStatus`.
private enum AutoRenew {
  static let off: Int64 = 0
  static let on: Int64 = 1
}
