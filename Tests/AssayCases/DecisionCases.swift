import AssayAuthority

extension CaseFixture {
  /// Adds decisions from StoreKit's JWS (docs/spec/receipts-decisions.md §1 … §3).
  func addDecisions() throws {
    try addRunningRows()
    try addEndedRows()
    try addOtherTypes()
    try addChoice()
    try addEvidenceRules()
    try addPeriodDecisions()
    try addRevocationDecisions()
    try addAccountDecisions()
    try addPolicyDecisions()
    try addCommitmentDecisions()
  }

  /// Adds decision rows that apply before the end.
  private func addRunningRows() throws {
    let renewal = try renewal(purchase)
    decide(
      "DEC-14", "a lone running transaction", [try transaction(purchase)], state: "active",
      facts: [
        ("plan", "premium"), ("expiresAtMs", .integer(end)),
        ("productId", .text(purchase.productId)),
        ("transactionId", .text(purchase.transactionId)),
        ("originalTransactionId", .text(purchase.originalTransactionId)),
        ("environment", "Sandbox"), ("flags.0", .null), ("evidence.class", "signed"),
        ("evidence.asOfMs", .integer(purchase.signedDate)),
      ])
    decide(
      "DEC-14", "a running transaction with its renewal", [try transaction(purchase), renewal],
      state: "active", facts: [("flags.0", .null)])
    decide(
      "DEC-14", "the last millisecond", [try transaction(purchase)], now: end - 1, state: "active")
    decide(
      "DCD-14", "the millisecond of the end", [try transaction(purchase)], now: end, denied,
      state: "expired", row: "DEC-21", facts: [("plan", "free")])
    let offers: [(String, Int64, String?, String)] = [
      ("a free trial", 1, "FREE_TRIAL", "trial"),
      ("an introductory price", 1, "PAY_AS_YOU_GO", "intro"),
      ("a promotional offer", 2, "PAY_UP_FRONT", "offer"), ("an offer code", 3, nil, "offer"),
      ("a win-back offer", 4, "PAY_AS_YOU_GO", "offer"),
    ]
    for (name, type, discount, flag) in offers {
      decide(
        "DEC-9", name,
        [
          try transaction(
            purchase.with {
              $0.offerType = type
              $0.offerDiscountType = discount
            })
        ], state: "active", facts: [("flags.0", .text(flag))])
    }
    let off = try self.renewal(purchase.with { $0.autoRenewStatus = 0 })
    decide(
      "DEC-10", "renewal switched off", [try transaction(purchase), off], state: "active",
      facts: [("flags.0", "will-not-renew"), ("expiresAtMs", .integer(end))])
    decide(
      "DCD-9", "a trial that will not renew",
      [
        try transaction(
          purchase.with {
            $0.offerType = 1
            $0.offerDiscountType = "FREE_TRIAL"
          }), off,
      ], state: "active", row: "DEC-9",
      facts: [("flags.0", "trial"), ("flags.1", "will-not-renew")])
    decide(
      "DEC-11", "renews into another product",
      [
        try transaction(purchase),
        try self.renewal(
          purchase.with { $0.autoRenewProductId = "com.example.app.standard.monthly" }),
      ], state: "active", facts: [("flags.0", "change-pending"), ("plan", "premium")])
    decide(
      "DEC-12", "a price increase not answered",
      [try transaction(purchase), try self.renewal(purchase.with { $0.priceIncreaseStatus = 0 })],
      state: "active", facts: [("flags.0", "price-consent-pending")])
    decide(
      "DEC-12", "a price increase consented",
      [try transaction(purchase), try self.renewal(purchase.with { $0.priceIncreaseStatus = 1 })],
      state: "active", row: "DEC-14")
    for (ownership, flag) in [("FAMILY_SHARED", "family"), ("ASSIGNED", "assigned")] {
      let shared = try transaction(purchase.with { $0.ownership = ownership })
      decide("DEC-13", ownership, [shared], state: "active", facts: [("flags.0", .text(flag))])
    }
    decide(
      "DCD-12", "a family purchase where those are denied",
      [try transaction(purchase.with { $0.ownership = "FAMILY_SHARED" })], verifier: "no-family",
      denied, state: "denied-by-policy", row: "DEC-13")
    let later = purchase.with {
      $0.transactionId = "2000000900000002"
      $0.webOrderLineItemId = "2000000090000002"
      $0.purchaseDate = end
      $0.expiresDate = end + 30 * Purchase.day
    }
    decide(
      "DEC-6", "a renewal booked ahead", [try transaction(purchase), try transaction(later)],
      state: "active",
      facts: [
        ("flags.0", "renewal-booked"), ("expiresAtMs", .integer(end)),
        ("nextPeriodExpiresAtMs", .integer(end + 30 * Purchase.day)),
      ])
    decide(
      "DEC-7", "a period that has not begun", [try transaction(later)], denied, state: "not-started"
    )
    let skewed = purchase.with { $0.purchaseDate = now + 60_000 }
    decide(
      "DCD-15", "a start as far ahead as the skew", [try transaction(skewed)], state: "active",
      row: "DEC-14")
    decide(
      "DCD-15", "a start a millisecond past the skew",
      [try transaction(skewed.with { $0.purchaseDate += 1 })], denied, state: "not-started",
      row: "DEC-7")
  }

  /// Adds decision rows that apply after the end.
  private func addEndedRows() throws {
    let paid = try transaction(purchase)
    let soon = end + 3_600_000
    func after(_ change: (inout Purchase) -> Void) throws -> [EvidenceCase.Evidence] {
      [paid, try renewal(purchase.with(change))]
    }
    let grace = try after {
      $0.isInBillingRetryPeriod = true
      $0.gracePeriodExpiresDate = soon + 1000
    }
    decide(
      "DEC-15", "a billing grace period", grace, now: soon, state: "grace",
      facts: [
        ("plan", "premium"), ("graceExpiresAtMs", .integer(soon + 1000)),
        ("expiresAtMs", .integer(soon + 1000)),
      ])
    decide("DEC-15", "the last millisecond of grace", grace, now: soon + 999, state: "grace")
    decide("DEC-16", "the end of grace", grace, now: soon + 1000, denied, state: "billing-retry")
    decide(
      "DEC-15", "grace that policy denies", grace, verifier: "no-grace", now: soon, denied,
      state: "grace")
    let retry = try after { $0.isInBillingRetryPeriod = true }
    decide(
      "DEC-16", "billing retry", retry, now: soon, denied, state: "billing-retry",
      facts: [("plan", "free")])
    decide(
      "DEC-16", "billing retry that policy grants", retry, verifier: "lenient-retry", now: soon,
      state: "billing-retry", facts: [("plan", "premium")])
    for reason in 1...5 as ClosedRange<Int64> {
      decide(
        "DEC-17", "ended for reason \(reason)",
        try after {
          $0.autoRenewStatus = 0
          $0.isInBillingRetryPeriod = false
          $0.expirationIntent = reason
        }, now: soon, denied, state: "expired", facts: [("reasonCode", .integer(reason))])
    }
    let flight = try after { _ in }
    decide("DEC-18", "a renewal that may be in flight", flight, now: soon, denied, state: "stale")
    decide(
      "DEC-18", "a renewal in flight, with leeway", flight, verifier: "leeway", now: soon - 1,
      state: "stale", facts: [("plan", "premium")])
    decide(
      "DEC-18", "the end of the leeway", flight, verifier: "leeway", now: soon, denied,
      state: "stale")
    decide(
      "DEC-18", "the last millisecond of a day after", flight, now: end + Purchase.day - 1, denied,
      state: "stale")
    decide(
      "DEC-20", "a day after the end", flight, now: end + Purchase.day, denied, state: "expired")
    decide(
      "DEC-20", "renewal off without a reason", try after { $0.autoRenewStatus = 0 }, now: soon,
      denied, state: "expired")
    decide(
      "DCD-11", "an unknown reason gives nothing",
      try after {
        $0.autoRenewStatus = 0
        $0.expirationIntent = 77
      }, now: soon, denied, state: "expired", row: "DEC-20")
    decide(
      "DEC-21", "a lone transaction after its end", [paid], now: soon, denied, state: "expired",
      facts: [
        ("flags.0", "by-this-evidence"), ("expiresAtMs", .null),
        ("wouldExpireAtMs", .integer(end)),
      ])
    decide(
      "DCD-20", "a renewal of another line counts for nothing",
      [
        paid,
        try renewal(
          purchase.with {
            $0.originalTransactionId = "2000000900000099"
            $0.isInBillingRetryPeriod = true
            $0.gracePeriodExpiresDate = soon + 1000
          }),
      ], now: soon, denied, state: "expired", row: "DEC-21")
  }

  private func addOtherTypes() throws {
    for (shared, row, state) in [
      ("PURCHASED", "DEC-5", "refunded"), ("FAMILY_SHARED", "DEC-4", "family-revoked"),
    ] {
      let revoked = purchase.with {
        $0.ownership = shared
        $0.revocationDate = now - 120_000
        $0.revocationReason = 1
        $0.revocationType = shared == "PURCHASED" ? "REFUND_FULL" : "FAMILY_REVOKE"
      }
      decide(
        row, "revoked before its end", [try transaction(revoked)], denied, state: state,
        facts: [("plan", "free")])
    }
    decide(
      "DEC-3", "replaced by an upgrade", [try transaction(purchase.with { $0.isUpgraded = true })],
      denied, state: "upgraded")
    decide(
      "DEC-2", "a product that nobody configured",
      [try transaction(purchase.with { $0.productId = "com.example.app.unknown" })], denied,
      state: "none", facts: [("plan", "free"), ("productId", .null)])
    decide("DEC-2", "a renewal alone", [try renewal(purchase)], denied, state: "none")
    let lifetime = purchase.of("com.example.app.lifetime", .nonConsumable)
    decide(
      "DEC-23", "a non-consumable", [try transaction(lifetime)], state: "owned",
      facts: [("plan", "premium"), ("expiresAtMs", .null)])
    decide(
      "DEC-5", "a refunded non-consumable",
      [try transaction(lifetime.with { $0.revocationDate = now - 120_000 })], denied,
      state: "refunded")
    let coins = purchase.of("com.example.app.coins100", .consumable)
    decide(
      "DEC-24", "a consumable", [try transaction(coins.with { $0.quantity = 3 })], denied,
      state: "consumable", facts: [("plan", "free")])
    let season = purchase.of("com.example.app.season", .nonRenewing)
    let seasonEnd = season.purchaseDate + 90 * Purchase.day
    decide(
      "DEC-22", "a non-renewing subscription", [try transaction(season)], state: "active",
      facts: [("plan", "standard"), ("expiresAtMs", .integer(seasonEnd))])
    decide(
      "DEC-22", "the last millisecond of a non-renewing subscription", [try transaction(season)],
      now: seasonEnd - 1, state: "active")
    decide(
      "DEC-22", "the end of a non-renewing subscription", [try transaction(season)], now: seasonEnd,
      denied, state: "expired")
    let second = season.with {
      $0.transactionId = "2000000900000002"
      $0.originalTransactionId = "2000000900000002"
      $0.purchaseDate += Purchase.day
    }
    decide(
      "DEC-22", "two non-renewing purchases that add up",
      [try transaction(season), try transaction(second)], now: seasonEnd, state: "active",
      facts: [("expiresAtMs", .integer(seasonEnd + 90 * Purchase.day))])
  }

  /// Adds the choice between several pieces of evidence (DCD-3, DCD-4, DCD-6).
  private func addChoice() throws {
    let refunded = purchase.with {
      $0.revocationDate = now - 120_000
      $0.signedDate = now - 30_000
    }
    let original = purchase
    for (name, evidence) in [
      ("a refund signed later", [try transaction(original), try transaction(refunded)]),
      (
        "a refund signed later, given first",
        [try transaction(refunded), try transaction(original)]
      ),
    ] { decide("DCD-3", name, evidence, denied, state: "refunded", row: "DEC-5") }
    decide(
      "DCD-3", "a refund that was reversed",
      [try transaction(refunded), try transaction(original.with { $0.signedDate = now - 1000 })],
      state: "active", row: "DEC-14")
    let old = purchase.with {
      $0.transactionId = "2000000900000000"
      $0.purchaseDate = now - 40 * Purchase.day
      $0.expiresDate = now - 10 * Purchase.day
    }
    decide(
      "DCD-6", "an ended period beside a running one",
      [try transaction(old), try transaction(purchase)], state: "active", row: "DEC-14",
      facts: [("transactionId", .text(purchase.transactionId))])
    let upgraded = purchase.with {
      $0.productId = "com.example.app.standard.monthly"
      $0.isUpgraded = true
      $0.transactionId = "2000000900000003"
      $0.expiresDate = end + 5 * Purchase.day
    }
    decide(
      "DCD-6", "the upgrade beside what it replaced",
      [try transaction(upgraded), try transaction(purchase)], state: "active", row: "DEC-14",
      facts: [("plan", "premium"), ("productId", .text(purchase.productId))])
    let extra = purchase.with {
      $0.productId = "com.example.app.extra.monthly"
      $0.group = "21400002"
      $0.transactionId = "2000000900000004"
      $0.originalTransactionId = "2000000900000004"
      $0.expiresDate = end + 100 * Purchase.day
    }
    decide(
      "DCD-4", "two groups: the highest plan", [try transaction(extra), try transaction(purchase)],
      state: "active", row: "DEC-14",
      facts: [
        ("plan", "premium"), ("groups.0.group", "21400001"), ("groups.1.group", "21400002"),
        ("groups.1.plan", "standard"),
      ])
    decide(
      "DCD-4", "two groups, the higher one ended",
      [try transaction(extra), try transaction(purchase)], now: end, state: "active", row: "DEC-14",
      facts: [("plan", "standard")])
  }

  /// Adds evidence that cannot be decided about (DCD-1, PAY-7, NTF-8).
  private func addEvidenceRules() throws {
    let good = try transaction(purchase)
    decide("DCD-1", "no evidence", [], "misuse.decision.empty")
    let forged = EvidenceCase.Evidence(
      .transaction, try Authority(now: now).mint(purchase.transactionPayload))
    decide("DCD-1", "refused evidence", [forged], "misuse.decision.evidence")
    decide("DCD-1", "refused evidence beside good", [good, forged], "misuse.decision.evidence")
    decide(
      "DCD-1", "evidence of a verifier with another configuration",
      [.init(good.proof, verifier: "sandbox-only")], "misuse.decision.evidence")
    let notification = EvidenceCase.Evidence(
      .notification,
      try authority.mint(try authority.notification("SUBSCRIBED", "INITIAL_BUY", purchase)))
    decide(
      "DEC-14", "a notification", [notification], state: "active", facts: [("plan", "premium")])
    decide(
      "NTF-8", "a notification whose nested JWS were not verified", [notification],
      verifier: "nested-omitted", "misuse.decision.unverified-nested")
    for member in ["transactionId", "originalTransactionId", "productId"] {
      decide(
        "PAY-7", "a transaction without \(member)",
        [.init(.transaction, try authority.mint(purchase.transactionPayload.removing(member)))],
        "rejected.payload.incomplete")
    }
    for member in ["transactionId", "originalTransactionId", "productId"] {
      decide(
        "PAY-7", "a transaction with an empty \(member)",
        [
          .init(
            .transaction, try authority.mint(purchase.transactionPayload.setting(member, "")))
        ], "rejected.payload.incomplete")
    }
    decide(
      "PAY-7", "a renewal with an empty originalTransactionId",
      [
        good,
        .init(
          .renewalInfo,
          try authority.mint(purchase.renewalPayload.setting("originalTransactionId", ""))),
      ], "rejected.payload.incomplete")
    for kind in [EvidenceKind.appTransaction, .realtimeRequest] {
      decide(
        "DCD-1", "a kind that shows no purchase: \(kind.rawValue)",
        [.init(kind, try authority.mint(try authority.payload(kind, purchase)))],
        "misuse.decision.evidence")
    }
    decide(
      "DCD-11", "a product of an unknown type gives nothing",
      [
        .init(
          .transaction,
          try authority.mint(purchase.transactionPayload.setting("type", "Something New")))
      ], denied, state: "none", row: "DEC-2", facts: [("excluded.0.reason", "unknown-type")])
    let live = production
    decide(
      "DCD-13", "a purchase of Production", [try transaction(live)], state: "active", row: "DEC-14",
      facts: [("environment", "Production")])
    decide(
      "DCD-4", "Production and Sandbox are not mixed",
      [
        try transaction(live),
        try renewal(
          purchase.with {
            $0.originalTransactionId = live.originalTransactionId
            $0.autoRenewStatus = 0
          }),
      ], state: "active", row: "DEC-14", facts: [("flags.0", .null)])
  }
}
