import AssayAuthority

extension CaseFixture {
  /// Adds decisions on a monthly price with a commitment of twelve months (CMT-1 … CMT-8).
  func addCommitmentDecisions() throws {
    try addCommittedMonths()
    try addCommitmentEnds()
    try addCommittedRetries()
    try addCommitmentRefunds()
    try addOddCommitments()
  }

  // MARK: evidence

  private var commitmentEnd: Int64 { day(200) }

  /// Returns month `number` of a commitment; `change` changes the payload.
  private func month(
    _ number: Int64, _ purchase: Purchase, _ change: (JSONText) -> JSONText = { $0 }
  ) throws -> EvidenceCase.Evidence {
    let info: JSONText = [
      "billingPeriodNumber": .integer(number), "totalBillingPeriods": 12,
      "commitmentExpiresDate": .integer(commitmentEnd), "commitmentPrice": 119_880,
    ]
    let payload = purchase.transactionPayload.appending("billingPlanType", "MONTHLY")
      .appending("commitmentInfo", info)
    return .init(.transaction, try authority.mint(change(payload)))
  }

  /// Returns the renewal info of a commitment, whose members `more` changes.
  private func told(
    _ purchase: Purchase, _ more: [(String, JSONText)] = []
  ) throws -> EvidenceCase.Evidence {
    let info: JSONText = [
      "commitmentAutoRenewProductId": .string(purchase.productId), "commitmentAutoRenewStatus": 1,
      "commitmentRenewalBillingPlanType": "MONTHLY",
      "commitmentRenewalDate": .integer(commitmentEnd), "commitmentRenewalPrice": 131_880,
    ]
    return .init(
      .renewalInfo,
      try authority.mint(purchase.renewalPayload.appending("commitmentInfo", info.setting(more))))
  }

  private func flags(_ names: String...) -> Facts {
    (0...names.count).map { ("flags.\($0)", $0 < names.count ? .text(names[$0]) : .null) }
  }

  private var running: Purchase { period(3, line: 1, -10, 20) }

  // MARK: months

  private func addCommittedMonths() throws {
    for number: Int64 in [1, 6, 12] {
      decide(
        "CMT-2", "month \(number) of a commitment", [try month(number, running)], state: "active",
        row: "DEC-14",
        facts: [
          ("plan", "standard"), ("expiresAtMs", .integer(day(20))),
          ("commitment.period", .integer(number)), ("commitment.periods", 12),
          ("commitment.endsAtMs", .integer(commitmentEnd)), ("commitment.renews", .null),
          ("commitment.renewsInto", .null), ("commitment.renewsPlan", .null),
          ("commitment.renewsAtMs", .null), ("commitment.price", 119_880),
          ("commitment.renewsPrice", .null), ("groups.0.commitment.period", .integer(number)),
          ("warnings.0", .null),
        ] + flags("commitment"))
    }
    decide(
      "CMT-2", "a period without a commitment", [try transaction(running)], state: "active",
      row: "DEC-14", facts: [("commitment", .null)] + flags())
    decide(
      "CMT-2", "a year that is paid upfront",
      [
        .init(
          .transaction,
          try authority.mint(
            running.transactionPayload.appending("billingPlanType", "BILLED_UPFRONT")))
      ], state: "active", row: "DEC-14", facts: [("commitment", .null)] + flags())
    decide(
      "CMT-2", "a commitment with its renewal info",
      [try month(6, running), try told(running)], state: "active", row: "DEC-14",
      facts: [
        ("commitment.renews", true), ("commitment.renewsInto", .text(running.productId)),
        ("commitment.renewsPlan", "MONTHLY"), ("commitment.renewsAtMs", .integer(commitmentEnd)),
        ("commitment.renewsPrice", 131_880),
      ] + flags("commitment"))
    decide(
      "CMT-2", "a commitment whose renewal is no known value",
      [try month(6, running), try told(running, [("commitmentAutoRenewStatus", 2)])],
      state: "active", row: "DEC-14",
      facts: [("commitment.renews", .null)] + flags("commitment"))
    decide(
      "CMT-1", "a month that has ended, whose commitment has not",
      [try month(6, period(3, line: 1, -31, -1))], denied, state: "expired", row: "DEC-21",
      facts: [
        ("expiresAtMs", .null), ("wouldExpireAtMs", .integer(day(-1))),
        ("commitment.endsAtMs", .integer(commitmentEnd)),
      ] + flags("by-this-evidence"))
    decide(
      "CMT-8", "a month of a family member",
      [try month(6, running.with { $0.ownership = "FAMILY_SHARED" })], state: "active",
      row: "DEC-13", facts: [("commitment.period", 6)] + flags("commitment", "family"))
    decide(
      "CMT-8", "the end after the twelfth month",
      [
        try month(12, period(3, line: 1, -31, -1)),
        try told(
          period(3, line: 1, -31, -1) {
            $0.autoRenewStatus = 0
            $0.expirationIntent = 1
            $0.signedDate = now - 60_000
          }, [("commitmentAutoRenewStatus", 0)]),
      ], denied, state: "expired", row: "DEC-17", facts: [("reasonCode", 1)] + flags())
  }

  // MARK: cancellation and change

  private func addCommitmentEnds() throws {
    let off: [(String, JSONText)] = [("commitmentAutoRenewStatus", 0)]
    decide(
      "CMT-3", "cancelled in month 5", [try month(5, running), try told(running, off)],
      state: "active", row: "DEC-14",
      facts: [("commitment.renews", false)] + flags("commitment", "commitment-ending"))
    decide(
      "CMT-3", "cancelled in the last month", [try month(12, running), try told(running, off)],
      state: "active", row: "DEC-10",
      facts: flags("will-not-renew", "commitment", "commitment-ending"))
    decide(
      "CMT-3", "the last month, not cancelled", [try month(12, running), try told(running)],
      state: "active", row: "DEC-14", facts: flags("commitment"))
    let ended = running.with { $0.autoRenewStatus = 0 }
    decide(
      "CMT-3", "renewal off in month 5", [try month(5, running), try told(ended)],
      state: "active", row: "DEC-10", facts: flags("will-not-renew", "commitment"))
    decide(
      "CMT-3", "cancelled without a commitment in the transaction",
      [try transaction(running), try told(running, off)], state: "active", row: "DEC-14",
      facts: [("commitment", .null)] + flags())
    for (name, more) in [
      ("another product", [("commitmentAutoRenewProductId", "com.example.app.premium.monthly")]),
      ("a year paid upfront", [("commitmentRenewalBillingPlanType", "BILLED_UPFRONT")]),
    ] as [(String, [(String, JSONText)])] {
      decide(
        "CMT-7", "a commitment that goes on as \(name)",
        [try month(5, running), try told(running, more)], state: "active", row: "DEC-11",
        facts: flags("change-pending", "commitment"))
      decide(
        "CMT-7", "a commitment that would have gone on as \(name)",
        [try month(5, running), try told(running, more + off)], state: "active", row: "DEC-14",
        facts: flags("commitment", "commitment-ending"))
      decide(
        "CMT-7", "renewal off, and a commitment that would go on as \(name)",
        [try month(5, running), try told(ended, more)], state: "active", row: "DEC-10",
        facts: flags("will-not-renew", "commitment"))
      decide(
        "CMT-7", "no commitment in the transaction, and \(name)",
        [try transaction(running), try told(running, more)], state: "active", row: "DEC-14",
        facts: flags())
    }
    let next = running.with { $0.signedDate = now - 60_000 }
    decide(
      "CMT-7", "an upgrade ends a commitment",
      [
        try month(5, running.with { $0.isUpgraded = true }),
        try transaction(premium(4, line: 1, -2, 28)),
      ], state: "active", row: "DEC-14",
      facts: [("plan", "premium"), ("commitment", .null)] + flags())
    decide(
      "CMT-2", "the first month of the next commitment",
      [
        try month(12, period(3, line: 1, -40, -10)),
        try month(1, period(4, line: 1, -10, 20)) {
          $0.setting("commitmentInfo.commitmentExpiresDate", .integer(day(355)))
        }, try told(next),
      ], state: "active", row: "DEC-14",
      facts: [("commitment.period", 1), ("commitment.endsAtMs", .integer(day(355)))])
  }

  // MARK: billing

  private func retried(_ days: Int64, grace: Int64? = nil) -> Purchase {
    period(3, line: 1, -30 - days, -days) {
      $0.isInBillingRetryPeriod = true
      $0.gracePeriodExpiresDate = grace
      $0.signedDate = now - 60_000
    }
  }

  private func addCommittedRetries() throws {
    let grace = retried(1, grace: day(5))
    let place = "renewals/Production/\(grace.originalTransactionId)/gracePeriodExpiresDate"
    decide(
      "CMT-4", "a grace period beside a month of a commitment",
      [try month(6, grace), try told(grace)], denied, state: "billing-retry", row: "DEC-16",
      facts: [
        ("graceExpiresAtMs", .null), ("wouldExpireAtMs", .integer(day(-1))),
        ("warnings.0.id", "grace-in-commitment"), ("warnings.0.at", .text(place)),
      ] + flags("commitment"))
    decide(
      "CMT-4", "the same without a commitment", [try transaction(grace), try told(grace)],
      state: "grace", row: "DEC-15",
      facts: [("graceExpiresAtMs", .integer(day(5))), ("warnings.0", .null)])
    let silent = try month(6, grace) { $0.removing("commitmentInfo") }
    decide(
      "CMT-4", "a grace period beside a month, without its number", [silent, try told(grace)],
      denied, state: "billing-retry", row: "DEC-16",
      facts: [("commitment", .null), ("warnings.0.id", "grace-in-commitment")] + flags())
    decide(
      "CMT-4", "a grace period beside a year paid upfront",
      [
        try month(6, grace) { $0.setting("billingPlanType", "BILLED_UPFRONT") }, try told(grace),
      ], state: "grace", row: "DEC-15", facts: [("warnings.0", .null)])
    // A newer statement that cannot tell the plan does not bring the grace period back.
    let older = try month(6, grace.with { $0.signedDate = day(-20) })
    for (name, newer) in [
      ("a transaction without a plan", try transaction(grace)),
      ("an answer of verifyReceipt", answer([grace], requestDate: now)),
    ] {
      decide(
        "CMT-4", "a month by older evidence, and \(name)", [older, newer, try told(grace)], denied,
        state: "billing-retry", row: "DEC-16", facts: [("commitment.period", 6)])
    }
    for (days, isGranted) in [(59, true), (61, true), (89, true), (90, false), (91, false)]
      as [(
        Int64, Bool
      )]
    {
      let late = retried(days)
      decide(
        "CMT-5", "billing retry of a commitment for \(days) days",
        [try month(6, late), try told(late)], verifier: "lenient-retry",
        isGranted ? "ok" : denied, state: "billing-retry", row: "DEC-16",
        facts: [("expiresAtMs", isGranted ? .integer(day(90 - days)) : .null)])
    }
    decide(
      "CMT-5", "billing retry without a commitment for 61 days",
      [try transaction(retried(61)), try told(retried(61))], verifier: "lenient-retry", denied,
      state: "billing-retry", row: "DEC-16")
    let late = retried(75)
    for (name, evidence, next) in [
      ("of a commitment", [try month(6, late), try told(late)], .integer(day(1))),
      ("of a commitment, without renewal info", [try month(6, late)], .integer(day(1))),
      ("without a commitment", [try transaction(late), try told(late)], .null),
    ] as [(String, [EvidenceCase.Evidence], EvidenceCase.Fact)] {
      decide(
        "CMT-5", "the next check after 75 days, \(name)", evidence, denied,
        facts: [("nextCheckAtMs", next)])
    }
  }

  private func addCommitmentRefunds() throws {
    let refunded = period(2, line: 1, -40, -10) {
      $0.revocationDate = day(-20)
      $0.revocationReason = 0
    }
    decide(
      "CMT-6", "a refund of month 3, and month 4", [try month(3, refunded), try month(4, running)],
      state: "active", row: "DEC-14",
      facts: [("commitment.period", 4), ("expiresAtMs", .integer(day(20)))] + flags("commitment"))
    let current = running.with {
      $0.revocationDate = day(-1)
      $0.revocationReason = 0
      $0.signedDate = now - 60_000
    }
    decide(
      "CMT-6", "a refund of the current month",
      [try month(3, period(2, line: 1, -40, -10)), try month(4, current)], denied,
      state: "refunded", row: "DEC-5", facts: [("expiresAtMs", .integer(day(-1)))] + flags())
    let late = retried(75).with { $0.revocationDate = day(-80) }
    decide(
      "CMT-6", "the next check after the refund of a month, after 75 days",
      [try month(6, late), try told(retried(75))], denied, state: "refunded", row: "DEC-5",
      facts: [("nextCheckAtMs", .integer(day(1)))])
  }

  // MARK: what contradicts itself

  private func addOddCommitments() throws {
    let place = "transactions/Production/\(running.transactionId)/commitmentInfo"
    for (name, change) in [
      ("month 13 of 12", { $0.setting("commitmentInfo.billingPeriodNumber", 13) }),
      ("month 0", { $0.setting("commitmentInfo.billingPeriodNumber", 0) }),
      ("no month", { $0.removing("commitmentInfo.billingPeriodNumber") }),
      ("no number of months", { $0.removing("commitmentInfo.totalBillingPeriods") }),
      ("a commitment that is a text", { $0.setting("commitmentInfo", "month 6") }),
      ("no billing plan", { $0.removing("billingPlanType") }),
    ] as [(String, (JSONText) -> JSONText)] {
      decide(
        "CMT-8", "a commitment that contradicts itself: \(name)", [try month(6, running, change)],
        state: "active", row: "DEC-14",
        facts: [
          ("commitment", .null), ("expiresAtMs", .integer(day(20))),
          ("warnings.0.id", "unexpected-value"), ("warnings.0.at", .text(place)),
          ("warnings.1", .null),
        ] + flags())
    }
    let grace = retried(1, grace: day(5))
    decide(
      "CMT-8", "a commitment without a billing plan has its grace period",
      [try month(6, grace) { $0.removing("billingPlanType") }, try told(grace)], state: "grace",
      row: "DEC-15", facts: [("warnings.0.id", "unexpected-value"), ("warnings.1", .null)])
    decide(
      "CMT-8", "an end of a commitment that is no date",
      [try month(6, running) { $0.setting("commitmentInfo.commitmentExpiresDate", 1) }],
      state: "active", row: "DEC-14",
      facts: [("commitment.endsAtMs", .null), ("warnings.0", .null)])
  }
}
