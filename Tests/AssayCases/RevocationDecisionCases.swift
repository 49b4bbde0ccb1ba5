import AssayAuthority

extension CaseFixture {
  /// Adds refunds, and evidence that reverses them (DCD-3, DCD-21, DCD-26, DCD-27).
  func addRevocationDecisions() throws {
    try addRefundsAgainstAnswers()
    try addRefundsAgainstReceipts()
    let bought = period(1, -10, 20)
    let refunded = bought.with {
      $0.revocationDate = day(-1)
      $0.revocationReason = 0
      $0.signedDate = day(-1)
    }
    decide(
      "DCD-27", "D7 refunded, and the renewal still on",
      [try transaction(refunded), try renewal(refunded)], denied, state: "refunded", row: "DEC-5",
      facts: [
        ("expiresAtMs", .integer(day(-1))), ("wouldExpireAtMs", .integer(day(20))),
        ("nextCheckAtMs", .integer(day(20))),
      ])
    decide(
      "DCD-27", "refunded, and the renewal off",
      [try transaction(refunded), try renewal(refunded.with { $0.autoRenewStatus = 0 })], denied,
      state: "refunded", row: "DEC-5", facts: [("nextCheckAtMs", .null)])
    decide(
      "DCD-27", "refunded, the renewal on, just after the end",
      [try transaction(refunded), try renewal(refunded)], now: day(20), denied, state: "refunded",
      row: "DEC-5", facts: [("nextCheckAtMs", .integer(day(20) + 300_000))])
    let place = "transactions/Production/180000900000001/revocationDate"
    for (name, state, row, change) in [
      (
        "D17 a family's type and a reason", "family-revoked", "DEC-4",
        {
          $0.revocationType = "FAMILY_REVOKE"
          $0.revocationReason = 0
        }
      ),
      ("a reason alone", "refunded", "DEC-5", { $0.revocationReason = 1 }),
      ("a type alone", "refunded", "DEC-5", { $0.revocationType = "REFUND_FULL" }),
    ] as [(String, String, String, (inout Purchase) -> Void)] {
      decide(
        "DCD-26", "\(name), without the date of the revocation",
        [try transaction(bought.with(change))], denied, state: state, row: row,
        facts: [
          ("expiresAtMs", .integer(bought.signedDate)), ("warnings.0.id", "undated"),
          ("warnings.0.at", .text(place)),
        ])
    }
    decide(
      "DCD-26", "an answer with a reason and without a date",
      [answer([bought.with { $0.revocationReason = 1 }], requestDate: now)], denied,
      state: "refunded", row: "DEC-5", facts: [("expiresAtMs", .integer(now))])
    let lifetime = production.of("com.example.app.lifetime", .nonConsumable)
    let copy = lifetime.with {
      $0.transactionId = "180000900000002"
      $0.signedDate = day(-8)
    }
    let taken = lifetime.with {
      $0.revocationDate = day(-5)
      $0.signedDate = day(-5)
    }
    for (name, order) in [("", [taken, copy]), (", given the other way round", [copy, taken])] {
      decide(
        "DCD-3", "D13 a copy under another id shares the refund\(name)",
        try order.map { try transaction($0) }, denied, state: "refunded", row: "DEC-5",
        facts: [("expiresAtMs", .integer(day(-5)))])
    }
    decide(
      "DCD-3", "a copy that was signed after the refund stands by itself",
      [try transaction(taken), try transaction(copy.with { $0.signedDate = day(-4) })],
      state: "owned", row: "DEC-23")
  }

  /// Adds verifyReceipt responses after a refund: a repeated one is not newer, and one without a
  /// known time reverses nothing.
  private func addRefundsAgainstAnswers() throws {
    let bought = period(1, -10, 20)
    let refund = try transaction(
      bought.with {
        $0.revocationDate = day(-1)
        $0.signedDate = day(-1)
      })
    let refunded = outcome("refunded", "DEC-5", [("expiresAtMs", .integer(day(-1)))])
    decide(
      "DCD-21", "D12 a refund, and an answer of iOS 6 style read after it",
      [refund, flatAnswer(bought)], denied, facts: refunded)
    decide(
      "DCD-3", "D12b a refund, and an answer of a week ago",
      [refund, answer([bought], requestDate: day(-7))], denied, facts: refunded)
    decide(
      "DCD-21", "D12c a refund, and an answer without a request date",
      [refund, answer([bought], requestDate: now, isDated: false)], denied, facts: refunded)
    decide(
      "DCD-3", "a refund, and a later answer of a known time",
      [refund, answer([bought], requestDate: now)], state: "active", row: "DEC-14")
    // The response reverses nothing even if its latest date is later than the refund.
    let booked = period(2, line: 1, -1, 20) { $0.purchaseDate = now - 60_000 }
    decide(
      "DCD-3", "a refund, and an answer of an unknown time with another period",
      [refund, answer([bought, booked], requestDate: now, isDated: false)], state: "active",
      row: "DEC-14", facts: [("transactionId", .text(booked.transactionId))])
    decide(
      "DCD-3", "a refund, and an answer of an unknown time that must be later",
      [
        refund,
        .init(
          .answer(
            ReceiptResponseTemplate(.ios7, [bought], requestDate: now).json.removing(
              ["", "_ms", "_pst"].map { "receipt.request_date" + $0 }
            ).setting("receipt.receipt_creation_date_ms", .string(String(now))).bytes)),
      ], denied, facts: refunded)
    decide(
      "DCD-21", "an answer without a request date is as of the latest date in it",
      [flatAnswer(bought)], state: "active", row: "DEC-14",
      facts: [("evidence.asOfMs", .integer(day(-10)))])
  }

  private func addRefundsAgainstReceipts() throws {
    let refund = try transaction(
      purchase.with {
        $0.revocationDate = day(-2)
        $0.signedDate = day(-2)
      })
    let later = purchase.with { $0.signedDate = now - 60_000 }
    let app = try receipts.appReceipt(AppReceiptFacts([later], like: later))
    decide(
      "DCD-3", "D15 a refund, and an app receipt made after it",
      [refund, .init(.receipt(.appReceipt, app))], denied, state: "refunded", row: "DEC-5")
    for (reason, status, state, row) in [
      (0, "ok", "active", "DEC-14"), (1, denied, "refunded", "DEC-5"),
    ] as [(Int64, String, String, String)] {
      let told = later.with { $0.revocationReason = reason }
      decide(
        "DCD-26", "an app receipt with reason \(reason) of a cancellation, and no date",
        [
          .init(.receipt(.appReceipt, try receipts.appReceipt(AppReceiptFacts([told], like: told))))
        ], status, state: state, row: row)
    }
    let single = try receipts.transactionReceipt(later)
    decide(
      "RFD-5", "D15b a refund, and a transaction receipt",
      [refund, .init(.receipt(.transactionReceipt, single))], denied, state: "refunded",
      row: "DEC-5")
  }
}
