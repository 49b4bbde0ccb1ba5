import AssayAuthority

extension CaseFixture {
  /// Adds decisions from receipts and verifyReceipt responses (docs/spec/receipts-decisions.md §1 …
  /// §3).
  func addReceiptDecisions() throws {
    try addTransactionReceiptRows()
    try addAppReceiptRows()
    try addOlderAnswerRows()
    try addNewerAnswerRows()
    try addMixedEvidence()
  }

  private func transactionEvidence(_ purchase: Purchase) throws -> EvidenceCase.Evidence {
    .init(.receipt(.transactionReceipt, try receipts.transactionReceipt(purchase)))
  }

  private func appEvidence(_ purchases: [Purchase]) throws -> EvidenceCase.Evidence {
    .init(
      .receipt(.appReceipt, try receipts.appReceipt(AppReceiptFacts(purchases, like: purchase))))
  }

  private func answerEvidence(_ response: ReceiptResponseTemplate) -> EvidenceCase.Evidence {
    .init(.answer(response.json.bytes))
  }

  private func offered(_ discount: String) -> Purchase {
    purchase.with {
      $0.offerType = 1
      $0.offerDiscountType = discount
    }
  }

  /// Adds the decision rows that a transaction receipt and an app receipt both reach.
  private func addSignedRows(_ kind: String, _ evidence: (Purchase) throws -> EvidenceCase.Evidence)
    throws
  {
    let good = try evidence(purchase)
    decide(
      "DEC-14", "a running period by \(kind)", [good], state: "active",
      facts: [
        ("plan", "premium"), ("entitled", true), ("expiresAtMs", .integer(end)),
        ("environment", "Sandbox"), ("productId", .text(purchase.productId)),
        ("transactionId", .text(purchase.transactionId)), ("evidence.class", "signed"),
        ("evidence.kinds.0", .text(kind)), ("evidence.complete", false),
      ])
    decide("DEC-14", "the last millisecond by \(kind)", [good], now: end - 1, state: "active")
    decide(
      "DEC-21", "the millisecond of the end by \(kind)", [good], now: end, denied, state: "expired",
      facts: [("plan", "free"), ("flags.0", "by-this-evidence"), ("stale", true)])
    for (discount, flag) in [("FREE_TRIAL", "trial"), ("PAY_AS_YOU_GO", "intro")] {
      decide(
        "DEC-9", "\(flag) by \(kind)", [try evidence(offered(discount))], state: "active",
        facts: [("flags.0", .text(flag))])
    }
    let ahead = purchase.with {
      $0.purchaseDate = now + Purchase.day
      $0.originalPurchaseDate = now + Purchase.day
      $0.expiresDate = now + 31 * Purchase.day
    }
    decide(
      "DEC-7", "a period that has not begun by \(kind)", [try evidence(ahead)], denied,
      state: "not-started")
    let lifetime = purchase.of("com.example.app.lifetime", .nonConsumable)
    decide(
      "DEC-23", "a non-consumable by \(kind)", [try evidence(lifetime)], state: "owned",
      facts: [("plan", "premium")])
    decide(
      "DEC-24", "a consumable by \(kind)",
      [try evidence(purchase.of("com.example.app.coins100", .consumable))], denied,
      state: "consumable")
    let season = purchase.of("com.example.app.season", .nonRenewing)
    let seasonEnd = season.purchaseDate + 90 * Purchase.day
    decide(
      "DEC-22", "a non-renewing subscription by \(kind)", [try evidence(season)], state: "active",
      facts: [("expiresAtMs", .integer(seasonEnd))])
    decide(
      "DEC-22", "the end of a non-renewing subscription by \(kind)", [try evidence(season)],
      now: seasonEnd, denied, state: "expired")
    decide(
      "DCD-20", "\(kind) has no account token", [good],
      account: "0f8fad5b-d9cb-469f-a165-70867728950e", state: "active", row: "DEC-14",
      facts: [
        ("account", "unproven"), ("warnings.0.id", "account-unproven"),
        ("warnings.0.at", .text("subscriptions/Sandbox/" + purchase.originalTransactionId)),
      ])
    decide(
      "DCD-20", "\(kind) where a token is required", [good], verifier: "account-required",
      account: "0f8fad5b-d9cb-469f-a165-70867728950e", "rejected.account.token-missing")
    decide(
      "DCD-1", "\(kind) of a verifier with another configuration",
      [.init(good.proof, verifier: "sandbox-only")], "misuse.decision.evidence")
  }

  private func addTransactionReceiptRows() throws {
    try addSignedRows("transaction-receipt") { try transactionEvidence($0) }
    decide(
      "DCD-2", "a transaction receipt is as of its purchase", [try transactionEvidence(purchase)],
      state: "active", row: "DEC-14", facts: [("evidence.asOfMs", .integer(purchase.purchaseDate))])
    var damaged = try receipts.transactionTemplate(purchase)
    damaged.signature = .damaged
    decide(
      "DCD-1", "a refused transaction receipt",
      [.init(.receipt(.transactionReceipt, Base64Text.encode(try damaged.signed())))],
      "misuse.decision.evidence")
  }

  private func addAppReceiptRows() throws {
    try addSignedRows("app-receipt") { try appEvidence([$0]) }
    decide(
      "DCD-2", "an app receipt is as of its creation", [try appEvidence([purchase])],
      state: "active", row: "DEC-14", facts: [("evidence.asOfMs", .integer(purchase.signedDate))])
    let later = purchase.with {
      $0.transactionId = "2000000900000002"
      $0.webOrderLineItemId = "2000000090000002"
      $0.purchaseDate = end
      $0.expiresDate = end + 30 * Purchase.day
    }
    decide(
      "DEC-6", "a renewal booked ahead by app-receipt", [try appEvidence([later, purchase])],
      state: "active",
      facts: [
        ("flags.0", "renewal-booked"), ("expiresAtMs", .integer(end)),
        ("nextPeriodExpiresAtMs", .integer(end + 30 * Purchase.day)),
      ])
    let revoked = purchase.with {
      $0.revocationDate = now - 120_000
      $0.revocationReason = 1
    }
    decide(
      "DEC-5", "a cancelled purchase by app-receipt", [try appEvidence([revoked])], denied,
      state: "refunded")
    decide(
      "DEC-2", "an app receipt without purchases", [try appEvidence([])], denied, state: "none",
      facts: [("plan", "free")])
    decide(
      "DEC-2", "an app receipt of an unknown product",
      [try appEvidence([purchase.with { $0.productId = "com.example.app.unknown" }])], denied,
      state: "none")
    let ended = purchase.with {
      $0.transactionId = "2000000900000009"
      $0.purchaseDate = now - 40 * Purchase.day
      $0.expiresDate = now - 10 * Purchase.day
    }
    decide(
      "DCD-6", "an ended period beside a running one by app-receipt",
      [try appEvidence([ended, purchase])], state: "active", row: "DEC-14",
      facts: [("transactionId", .text(purchase.transactionId))])
  }

  /// Adds decision rows of responses in the iOS 6 style.
  private func addOlderAnswerRows() throws {
    func older(_ purchase: Purchase, _ status: Int64 = 0) -> EvidenceCase.Evidence {
      var response = response(.ios6, [purchase])
      response.status = status
      return answerEvidence(response)
    }
    decide(
      "DEC-14", "a running period by an answer of iOS 6 style", [older(purchase)], state: "active",
      facts: [
        ("evidence.class", "apple-answer"), ("evidence.kinds.0", "verify-receipt-response"),
        ("expiresAtMs", .integer(end)),
      ])
    decide(
      "DEC-8", "21006 before the end", [older(purchase, 21006)], state: "active",
      facts: [("flags.0", "cancelled"), ("expiresAtMs", .integer(end))])
    let quiet = purchase.with { $0.autoRenewStatus = 0 }
    decide(
      "DEC-10", "renewal switched off by an answer of iOS 6 style", [older(quiet)], state: "active",
      facts: [("flags.0", "will-not-renew")])
    decide(
      "DEC-11", "another product next by an answer of iOS 6 style",
      [older(purchase.with { $0.autoRenewProductId = "com.example.app.standard.monthly" })],
      state: "active", facts: [("flags.0", "change-pending")])
    decide(
      "DEC-18", "21006 an hour after the end, renewal on", [older(purchase, 21006)],
      now: end + 3_600_000, denied, state: "stale")
    var silent = response(.ios6)
    silent.status = 21006
    let unsaid = EvidenceCase.Evidence(
      .answer(silent.json.removing(["auto_renew_status", "auto_renew_product_id"]).bytes))
    decide(
      "DEC-19", "21006 an hour after the end, nothing said of renewal", [unsaid],
      now: end + 3_600_000, denied, state: "stale")
    decide(
      "DEC-19", "21006 within the leeway, nothing said of renewal", [unsaid], verifier: "leeway",
      now: end + 3_599_999, state: "stale", facts: [("plan", "premium")])
    decide(
      "DEC-19", "21006 a day after the end", [older(purchase, 21006)], now: end + Purchase.day,
      denied, state: "expired")
    decide(
      "DEC-19", "21006 with renewal off", [older(quiet, 21006)], now: end + 3_600_000, denied,
      state: "expired")
    decide(
      "DEC-16", "retry by an answer of iOS 6 style",
      [older(purchase.with { $0.isInBillingRetryPeriod = true })], now: end + 3_600_000, denied,
      state: "billing-retry")
    decide(
      "DEC-17", "a reason by an answer of iOS 6 style",
      [
        older(
          quiet.with {
            $0.expirationIntent = 1
            $0.isInBillingRetryPeriod = false
          })
      ], now: end + 3_600_000, denied, state: "expired", facts: [("reasonCode", 1)])
    decide(
      "DEC-5", "a refund by an answer of iOS 6 style",
      [older(purchase.with { $0.revocationDate = now - 60_000 })], denied, state: "refunded")
    decide(
      "DEC-1", "an answer of status 21003", [.init(.answer(Array("{\"status\":21003}".utf8)))],
      "misuse.decision.evidence")
  }

  /// Adds decision rows of responses in the iOS 7 style.
  private func addNewerAnswerRows() throws {
    func newer(_ purchases: Purchase...) -> EvidenceCase.Evidence {
      answerEvidence(response(.ios7, purchases))
    }
    let soon = end + 3_600_000
    let rows: [(String, String, Purchase, Int64, String, String, Facts)] = [
      (
        "DEC-14", "a running period", purchase, now, "ok", "active",
        [("evidence.asOfMs", .integer(now))]
      ), ("DEC-9", "a trial", offered("FREE_TRIAL"), now, "ok", "active", [("flags.0", "trial")]),
      (
        "DEC-10", "renewal switched off", purchase.with { $0.autoRenewStatus = 0 }, now, "ok",
        "active", [("flags.0", "will-not-renew")]
      ),
      (
        "DEC-11", "another product next",
        purchase.with { $0.autoRenewProductId = "com.example.app.standard.monthly" }, now, "ok",
        "active", [("flags.0", "change-pending")]
      ),
      (
        "DEC-12", "a price increase not answered", purchase.with { $0.priceIncreaseStatus = 0 },
        now, "ok", "active", [("flags.0", "price-consent-pending")]
      ),
      (
        "DEC-13", "a shared purchase", purchase.with { $0.ownership = "FAMILY_SHARED" }, now, "ok",
        "active", [("flags.0", "family")]
      ),
      (
        "DEC-15", "a grace period",
        purchase.with {
          $0.isInBillingRetryPeriod = true
          $0.gracePeriodExpiresDate = soon + 1000
        }, soon, "ok", "grace", [("graceExpiresAtMs", .integer(soon + 1000))]
      ),
      (
        "DEC-16", "billing retry", purchase.with { $0.isInBillingRetryPeriod = true }, soon, denied,
        "billing-retry", []
      ),
      (
        "DEC-17", "a reason",
        purchase.with {
          $0.autoRenewStatus = 0
          $0.isInBillingRetryPeriod = false
          $0.expirationIntent = 2
        }, soon, denied, "expired", [("reasonCode", 2)]
      ), ("DEC-18", "a renewal in flight", purchase, soon, denied, "stale", []),
      ("DEC-20", "a day after the end", purchase, end + Purchase.day, denied, "expired", []),
      (
        "DEC-3", "replaced by an upgrade", purchase.with { $0.isUpgraded = true }, now, denied,
        "upgraded", []
      ),
      (
        "DEC-5", "a refund",
        purchase.with {
          $0.revocationDate = now - 60_000
          $0.revocationReason = 0
        }, now, denied, "refunded", []
      ),
      (
        "DEC-4", "sharing that ended",
        purchase.with {
          $0.ownership = "FAMILY_SHARED"
          $0.revocationDate = now - 60_000
        }, now, denied, "family-revoked", []
      ),
    ]
    for (row, name, shape, instant, status, state, more) in rows {
      decide(
        row, "\(name) by an answer of iOS 7 style", [newer(shape)], now: instant, status,
        state: state, facts: more)
    }
    decide(
      "DEC-21", "after the end without renewals by an answer of iOS 7 style",
      [answerEvidence(response(.ios7).with { $0.renewals = false })], now: soon, denied,
      state: "expired")
    decide(
      "DEC-23", "a non-consumable by an answer of iOS 7 style",
      [newer(purchase.of("com.example.app.lifetime", .nonConsumable))], state: "owned")
    decide(
      "DCD-20", "an answer with the token of another account",
      [newer(purchase.with { $0.accountToken = "1f8fad5b-d9cb-469f-a165-70867728950e" })],
      account: "0f8fad5b-d9cb-469f-a165-70867728950e", "rejected.account.token-mismatch")
  }

  /// Adds decisions from several kinds of evidence (DCD-2 … DCD-4, RFD-5).
  private func addMixedEvidence() throws {
    let app = try appEvidence([purchase])
    let receipt = try transactionEvidence(purchase)
    let jws = try transaction(purchase)
    for (name, evidence) in [
      ("a transaction receipt and an app receipt", [receipt, app]),
      ("an app receipt and a JWS", [app, jws]),
      ("all kinds", [receipt, app, jws, answerEvidence(response(.ios7))]),
    ] { decide("DCD-3", "\(name) agree", evidence, state: "active", row: "DEC-14") }
    let refunded = purchase.with {
      $0.revocationDate = now - 120_000
      $0.revocationReason = 1
    }
    for (name, evidence) in [
      ("before it", [receipt, try transaction(refunded)]),
      ("after it", [try transaction(refunded), receipt]),
    ] {
      decide(
        "RFD-5", "a transaction receipt undoes no refund, given \(name)", evidence, denied,
        state: "refunded", row: "DEC-5")
    }
    let ahead = purchase.with {
      $0.purchaseDate = now + 3_600_000
      $0.originalPurchaseDate = now - Purchase.day
    }
    decide(
      "RFD-5", "a transaction receipt of a later date undoes no refund",
      [try transaction(refunded), try transactionEvidence(ahead)], denied, state: "refunded",
      row: "DEC-5")
    decide(
      "DCD-3", "an answer shows that a refund was reversed",
      [try transaction(refunded), answerEvidence(response(.ios7))], state: "active", row: "DEC-14")
    decide(
      "DCD-3", "an older answer reverses no refund",
      [
        try transaction(refunded),
        answerEvidence(response(.ios7).with { $0.requestDate = now - 3_600_000 }),
      ], denied, state: "refunded", row: "DEC-5")
    decide(
      "DCD-18", "how far a transaction receipt reaches", [receipt], state: "active", row: "DEC-14",
      facts: [
        ("evidence.complete", false), ("evidence.missing.0", "renewal-info"),
        ("evidence.missing.1", "revocation"),
      ])
    decide(
      "DCD-18", "how far an app receipt reaches", [app], state: "active", row: "DEC-14",
      facts: [
        ("evidence.complete", false), ("evidence.missing.0", "renewal-info"),
        ("evidence.missing.1", "revocation"),
      ])
    decide(
      "DCD-3", "an answer shows the refund of a receipt",
      [app, answerEvidence(response(.ios7, [refunded]))], denied, state: "refunded", row: "DEC-5")
    decide(
      "DCD-20", "the renewal facts of a JWS beside a receipt",
      [app, try renewal(purchase.with { $0.autoRenewStatus = 0 })], state: "active", row: "DEC-10",
      facts: [("flags.0", "will-not-renew")])
    let restored = purchase.with {
      $0.transactionId = "2000000900000800"
      $0.webOrderLineItemId = "2000000090000800"
      $0.purchaseDate = now - 1000
      $0.expiresDate = now - Purchase.day
    }
    for (name, order) in [
      ("first", [restored, purchase]), ("last", [purchase, restored]),
    ] {
      decide(
        "DCD-7", "an ended period that was restored just now, given \(name)",
        [try appEvidence(order)], state: "active", row: "DEC-14",
        facts: [("transactionId", .text(purchase.transactionId))])
      decide(
        "DCD-7", "an ended period that was restored just now, in an answer, given \(name)",
        [answerEvidence(response(.ios7, order))], state: "active", row: "DEC-14",
        facts: [("transactionId", .text(purchase.transactionId))])
    }
    decide(
      "DEC-7", "a restored period alone has not begun", [try appEvidence([restored])], denied,
      state: "expired", row: "DEC-21")
    let store = EvidenceCase.Evidence(
      .receipt(
        .transactionReceipt,
        try receipts.transactionReceipt(
          production.with { $0.productId = "com.example.app.standard.monthly" })))
    decide(
      "DCD-4", "environments are never mixed", [store, app], verifier: "sandbox-equal",
      facts: [("plan", "premium"), ("groups.1.plan", "standard")])
  }
}
