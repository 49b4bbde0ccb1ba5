import AssayAuthority

extension CaseFixture {
  /// Adds decisions on the period that represents a group (DCD-5, DCD-6, DCD-22).
  func addPeriodDecisions() throws {
    try addUpgrades()
    try addRunningTogether()
    try addGraceBeside()
  }

  /// Adds stored evidence for a year beside the month that replaced it.
  private func addUpgrades() throws {
    let year = period(1, -30, 335)
    let month = premium(2, line: 1, -5, 25)
    decide(
      "DCD-22", "D1 a year that was upgraded, by its older evidence",
      [try transaction(year), try transaction(month), try renewal(month)], state: "active",
      row: "DEC-14", facts: [("plan", "premium"), ("expiresAtMs", .integer(day(25)))])
    let over = premium(2, line: 1, -35, -5) {
      $0.autoRenewStatus = 0
      $0.expirationIntent = 1
    }
    decide(
      "DCD-22", "D1b the same after the month has ended, renewal off",
      [
        try transaction(period(1, -60, 305)), try transaction(over),
        try renewal(over.with { $0.signedDate = day(-4) }),
      ], denied, state: "expired", row: "DEC-17",
      facts: [("expiresAtMs", .null), ("wouldExpireAtMs", .integer(day(-5)))])
    decide(
      "DCD-22", "a later period replaces although it was refunded",
      [try transaction(year), try transaction(month.with { $0.revocationDate = day(-1) })], denied,
      state: "refunded", row: "DEC-5")
    decide(
      "DCD-22", "a period of another line replaces nothing",
      [try transaction(year), try transaction(premium(2, -40, -10))], state: "active",
      row: "DEC-14", facts: [("plan", "standard"), ("expiresAtMs", .integer(day(335)))])
    decide(
      "DCD-22", "a restored entry, start after end, replaces nothing",
      [try transaction(year), try transaction(premium(2, line: 1, -1, -20))], state: "active",
      row: "DEC-14", facts: [("plan", "standard")])
    // The restored copy of the year has the day of the restoration.
    let restored = year.with {
      $0.transactionId = "180000900000009"
      $0.purchaseDate = day(-1)
    }
    decide(
      "DCD-22", "the restored copy of an earlier period replaces nothing",
      [try transaction(year), try transaction(month), try transaction(restored)], state: "active",
      row: "DEC-14", facts: [("plan", "premium")])
    // A verifyReceipt response has no such member, and its absence denies nothing.
    let upgraded = year.with {
      $0.isUpgraded = true
      $0.signedDate = day(-1)
    }
    let shown = try transaction(upgraded)
    for (form, later) in [
      ("in_app", inAppAnswer(year, requestDate: now)), ("iOS 6 style", flatAnswer(year)),
    ] {
      decide(
        "DCD-3", "D21 upgraded, and a later answer that cannot tell: \(form)", [shown, later],
        denied, state: "upgraded", row: "DEC-3")
    }
    decide(
      "DCD-3", "a later answer that can tell shows no upgrade",
      [shown, answer([year], requestDate: now)], state: "active", row: "DEC-14")
  }

  private func addRunningTogether() throws {
    let own = try transaction(period(1, -5, 25))
    let shared = try transaction(premium(2, -25, 5) { $0.ownership = "FAMILY_SHARED" })
    for evidence in [[own, shared], [shared, own]] {
      decide(
        "DCD-6", "D3 the highest plan of those that run, given \(cases.count % 2)", evidence,
        state: "active", row: "DEC-13",
        facts: [("plan", "premium"), ("expiresAtMs", .integer(day(5)))])
    }
    let soon = now + 30_000
    let running = premium(1, -30, 0) { $0.expiresDate = soon }
    let booked = period(2, line: 1, 0, 30) {
      $0.purchaseDate = soon
      $0.expiresDate = soon + 30 * Purchase.day
      $0.signedDate = now - 60_000
    }
    decide(
      "DCD-5", "D14 a booked downgrade takes over at its start, not before",
      [try transaction(running), try transaction(booked)], state: "active", row: "DEC-6",
      facts: [
        ("plan", "premium"), ("expiresAtMs", .integer(soon)),
        ("nextPeriodExpiresAtMs", .integer(soon + 30 * Purchase.day)),
      ])
    decide(
      "DCD-5", "a booked downgrade at its start",
      [try transaction(running), try transaction(booked)], now: soon, state: "active",
      row: "DEC-14", facts: [("plan", "standard")])
    decide(
      "DCD-15", "where nothing runs, a start within the tolerance counts",
      [try transaction(running.with { $0.expiresDate = now }), try transaction(booked)],
      state: "active", row: "DEC-14", facts: [("plan", "standard")])
  }

  /// Adds grace periods, which no refund, later period or lower plan hides.
  private func addGraceBeside() throws {
    let month = period(2, -31, -1)
    let told = try renewal(
      month.with {
        $0.isInBillingRetryPeriod = true
        $0.gracePeriodExpiresDate = day(15)
        $0.signedDate = now - 60_000
      })
    let grace = [try transaction(month), told]
    let granted = outcome(
      "grace", "DEC-15", [("plan", "standard"), ("expiresAtMs", .integer(day(15)))])
    let year = period(1, -60, 305) {
      $0.revocationDate = day(-39)
      $0.revocationReason = 0
      $0.signedDate = day(-39)
    }
    decide(
      "DCD-6", "D2 another purchase's refund hides no grace", [try transaction(year)] + grace,
      facts: granted)
    let share = premium(3, -90, 200) {
      $0.ownership = "FAMILY_SHARED"
      $0.revocationDate = day(-60)
      $0.signedDate = day(-60)
    }
    decide(
      "DCD-6", "D2b a share that was taken back hides no grace",
      [try transaction(share)] + grace, facts: granted)
    decide("DCD-6", "D2c grace alone", grace, facts: granted)
    decide(
      "DCD-12", "D22 the same where shares are denied", [try transaction(share)] + grace,
      verifier: "no-family", facts: granted)
    decide(
      "DCD-6", "a period that lies ahead hides no grace",
      [try transaction(premium(4, 3, 33))] + grace, facts: granted)
    let premiumGrace = premium(5, -31, -1)
    decide(
      "DCD-6", "a lower plan that runs hides no grace of a higher one",
      [
        try transaction(period(6, -5, 25)), try transaction(premiumGrace),
        try renewal(
          premiumGrace.with {
            $0.isInBillingRetryPeriod = true
            $0.gracePeriodExpiresDate = day(3)
            $0.signedDate = now - 60_000
          }),
      ], state: "grace", row: "DEC-15", facts: [("plan", "premium")])
    decide(
      "DCD-6", "a refund hides no billing retry that policy grants",
      [
        try transaction(year), try transaction(month),
        try renewal(
          month.with {
            $0.isInBillingRetryPeriod = true
            $0.signedDate = now - 60_000
          }),
      ], verifier: "lenient-retry", state: "billing-retry", row: "DEC-16",
      facts: [("plan", "standard")])
    let silent = try renewal(
      month.with {
        $0.isInBillingRetryPeriod = false
        $0.autoRenewStatus = 0
        $0.expirationIntent = 1
        $0.signedDate = now - 60_000
      })
    for (name, order) in [
      ("", [told, silent]), (", given the other way round", [silent, told]),
    ] {
      decide(
        "DCD-8", "D23 of two renewal infos of one millisecond the one that gives less\(name)",
        [try transaction(month)] + order, denied, state: "expired", row: "DEC-17")
    }
  }
}
