import AssayAuthority

extension CaseFixture {
  /// Adds decisions that depend on policy and catalogue (DCD-5, DCD-12, DCD-23, DCD-25, DCD-28).
  func addPolicyDecisions() throws {
    try addSandboxBeside()
    try addFamilyAndStacks()
    try addWithheldDates()
    try addContradictions()
  }

  private func addSandboxBeside() throws {
    let live = try transaction(period(1, -10, 20))
    let test = try transaction(purchase)
    for (name, evidence) in [("", [live, test]), (", given first", [test, live])] {
      decide(
        "DCD-23", "D6 a tester's purchase beside a customer's\(name)", evidence, state: "active",
        row: "DEC-14",
        facts: [
          ("plan", "standard"), ("environment", "Production"), ("groups.1", .null),
          ("excluded.0.reason", "sandbox"),
          ("excluded.0.transactionId", .text(purchase.transactionId)),
        ])
    }
    decide(
      "DCD-23", "a tester's purchase beside a customer's where both count alike", [live, test],
      verifier: "sandbox-equal", state: "active", row: "DEC-14",
      facts: [("plan", "premium"), ("groups.1.plan", "standard")])
    let ended = try transaction(period(1, -40, -10))
    decide(
      "DCD-23", "a tester's purchase beside a customer's that has ended", [ended, test], denied,
      state: "expired", row: "DEC-21")
    decide(
      "DCD-23", "a tester's purchase alone", [test], state: "active", row: "DEC-14",
      facts: [("environment", "Sandbox")])
    decide(
      "DCD-23", "a tester's purchase beside one that is not sold here",
      [test, try transaction(period(1, of: "com.example.app.unknown", -10, 20))], state: "active",
      row: "DEC-14", facts: [("environment", "Sandbox")])
    decide(
      "DCD-23", "a tester's purchase where those never count", [test], verifier: "sandbox-never",
      denied, state: "none", row: "DEC-2", facts: [("excluded.0.reason", "sandbox")])
    decide(
      "DCD-23", "a customer's purchase where testers' never count", [live, test],
      verifier: "sandbox-never", state: "active", row: "DEC-14")
  }

  private func addFamilyAndStacks() throws {
    let bought = period(1, -10, 20) { $0.ownership = "FAMILY_SHARED" }
    let shown = try transaction(bought)
    for (form, later) in [
      ("in_app", inAppAnswer(bought, requestDate: now)), ("iOS 6 style", flatAnswer(bought)),
    ] {
      decide(
        "DCD-3", "D21b a share, and a later answer that cannot tell: \(form)", [shown, later],
        verifier: "no-family", denied, state: "denied-by-policy", row: "DEC-13")
    }
    func season(_ id: Int64, _ from: Int64, _ change: (inout Purchase) -> Void) -> Purchase {
      period(id, of: "com.example.app.season", from, 0, change).of(
        "com.example.app.season", .nonRenewing)
    }
    decide(
      "DCD-28", "D8 three of a season that adds up",
      [try transaction(season(1, -10) { $0.quantity = 3 })], state: "active", row: "DEC-22",
      facts: [("expiresAtMs", .integer(day(260)))])
    decide(
      "DCD-28", "three of a month that does not add up",
      [
        try transaction(
          season(1, -60) { $0.quantity = 3 }.of("com.example.app.month", .nonRenewing))
      ], denied, state: "expired", row: "DEC-22")
    let own = try transaction(season(1, -1) { _ in })
    let shared = try transaction(season(2, -20) { $0.ownership = "FAMILY_SHARED" })
    decide(
      "DCD-28", "D9 a share that is denied adds nothing", [own, shared], verifier: "no-family",
      state: "active", row: "DEC-22", facts: [("expiresAtMs", .integer(day(89)))])
    decide(
      "DCD-28", "a share that is allowed adds up", [own, shared], state: "active", row: "DEC-22",
      facts: [("expiresAtMs", .integer(day(160)))])
  }

  /// Adds denied decisions: hosts store `expiresAtMs`, which must not be in the future without a
  /// grant.
  private func addWithheldDates() throws {
    decide(
      "DCD-25", "D10 denied by policy",
      [try transaction(period(1, -10, 20) { $0.ownership = "FAMILY_SHARED" })],
      verifier: "no-family", denied, state: "denied-by-policy", row: "DEC-13",
      facts: [("expiresAtMs", .null), ("wouldExpireAtMs", .integer(day(20)))])
    decide(
      "DCD-25", "D10b not started", [try transaction(period(1, 3, 33))], denied,
      state: "not-started", row: "DEC-7",
      facts: [
        ("expiresAtMs", .null), ("wouldExpireAtMs", .integer(day(33))),
        ("nextCheckAtMs", .integer(day(3))),
      ])
    let month = period(1, -31, 0) { $0.expiresDate = now - 1000 }
    decide(
      "DCD-11", "D11 an unknown reason of the end gives no leeway",
      [
        try transaction(month),
        try renewal(
          month.with {
            $0.expirationIntent = 77
            $0.signedDate = now - 60_000
          }),
      ], verifier: "leeway", denied, state: "expired", row: "DEC-20",
      facts: [("expiresAtMs", .null), ("wouldExpireAtMs", .integer(now - 1000))])
    decide(
      "DEC-24", "D18 a consumable with a plan",
      [try transaction(production.of("com.example.app.boost", .consumable))],
      verifier: "consumable-plan", denied, state: "consumable", facts: [("plan", "free")])
    decide(
      "DEC-21", "D19 a lone transaction that ended a year ago",
      [try transaction(period(1, -400, -370))], denied, state: "expired",
      facts: [("stale", true), ("expiresAtMs", .null), ("nextCheckAtMs", .null)])
  }

  private func addContradictions() throws {
    let good = try transaction(period(1, -10, 20))
    let coins = try transaction(
      period(2, -10, 20).of("com.example.app.coins100", .consumable).with {
        $0.type = .consumable
      })
    let odd = production.of("com.example.app.lifetime", .consumable).with {
      $0.transactionId = "180000900000003"
      $0.originalTransactionId = "180000900000003"
    }
    decide(
      "DCD-5", "D20 a product of which catalogue and Apple name different types",
      [good, coins, try transaction(odd)], state: "active", row: "DEC-14",
      facts: [
        ("plan", "standard"), ("excluded.0.reason", "type-mismatch"),
        ("excluded.0.productId", "com.example.app.lifetime"), ("warnings.0.id", "type-mismatch"),
        ("warnings.0.at", "products.com.example.app.lifetime"),
      ])
    decide(
      "DCD-5", "a product of which catalogue and Apple name different types, alone",
      [try transaction(purchase.of(purchase.productId, .nonConsumable))], denied, state: "none",
      row: "DEC-2", facts: [("excluded.0.reason", "type-mismatch")])
  }
}
