import AssayAuthority

extension CaseFixture {
  private var mine: String { "0f8fad5b-d9cb-469f-a165-70867728950e" }
  private var other: String { "1f8fad5b-d9cb-469f-a165-70867728950e" }

  /// Adds decisions about the account of the evidence (DCD-20, DCD-24).
  func addAccountDecisions() throws {
    try addAccountPolicies()
    try addLines()
    try addFormsWithoutAccount()
    for account in ["", "u-17", "0f8fad5bd9cb469fa16570867728950e", mine + "0"] {
      for verifier in ["standard", "account-if-present", "account-ignored"] {
        decide(
          "DCD-20", "an account that is no UUID: '\(account)' \(verifier)",
          [try transaction(purchase)], verifier: verifier, account: account,
          "misuse.decision.account")
      }
    }
  }

  private func addAccountPolicies() throws {
    let bound = try transaction(purchase.with { $0.accountToken = mine })
    let free = try transaction(purchase)
    let proven = outcome("active", "DEC-14", [("account", "proven")])
    let untold = outcome("active", "DEC-14", [("account", .null)])
    decide("DCD-20", "the same account", [bound], account: mine, facts: proven)
    decide(
      "DCD-20", "the same account in capital letters", [bound], account: mine.uppercased(),
      facts: proven)
    decide(
      "JWS-92", "another account", [bound], account: other, "rejected.account.token-mismatch")
    decide("DCD-20", "no account given", [bound], facts: untold)
    decide(
      "DCD-20", "evidence without a token", [free], account: mine,
      "rejected.account.token-missing")
    decide(
      "DCD-20", "if-present and evidence without a token", [free], verifier: "account-if-present",
      account: mine, state: "active", row: "DEC-14",
      facts: [
        ("account", "unproven"), ("warnings.0.id", "account-unproven"),
        ("warnings.0.at", .text("subscriptions/Sandbox/" + purchase.originalTransactionId)),
      ])
    decide(
      "DCD-20", "if-present and the same", [bound], verifier: "account-if-present", account: mine,
      facts: proven)
    decide(
      "DCD-20", "if-present and another", [bound], verifier: "account-if-present",
      account: other, "rejected.account.token-mismatch")
    decide(
      "DCD-20", "if-present and none given", [bound], verifier: "account-if-present",
      facts: untold)
    decide(
      "DCD-20", "required and the same", [bound], verifier: "account-required",
      account: mine, facts: proven)
    decide(
      "DCD-20", "required and another", [bound], verifier: "account-required",
      account: other, "rejected.account.token-mismatch")
    decide(
      "DCD-20", "required and none given", [bound], verifier: "account-required",
      "misuse.decision.account")
    decide(
      "DCD-20", "ignored and another", [bound], verifier: "account-ignored", account: other,
      facts: untold)
    let notification = try authority.notification(
      "SUBSCRIBED", "INITIAL_BUY", purchase.with { $0.accountToken = mine })
    decide(
      "JWS-92", "another account in a notification",
      [.init(.notification, try authority.mint(notification))], account: other,
      "rejected.account.token-mismatch")
  }

  /// Adds subscriptions whose newest account token is in a transaction or in a renewal info.
  private func addLines() throws {
    let bought = period(1, -10, 20)
    let proven = outcome("active", "DEC-14", [("account", "proven")])
    let refused = "rejected.account.token-mismatch"
    let theirs = try renewal(
      bought.with {
        $0.accountToken = other
        $0.signedDate = day(-1)
      })
    let untold = [try transaction(bought), theirs]
    decide("DCD-24", "D4 only the renewal info tells the account", untold, account: mine, refused)
    decide(
      "DCD-24", "only the renewal info tells the account, which asks", untold, account: other,
      facts: proven)
    let moved = [try transaction(bought.with { $0.accountToken = mine }), theirs]
    decide(
      "DCD-24", "D4b the account that a line was moved to", moved, account: other, facts: proven)
    decide(
      "DCD-24", "D4b the account that a line was moved from", moved, account: mine, refused)
    let own = try transaction(bought.with { $0.accountToken = mine })
    let stray = period(7, of: "com.example.app.unknown", -400, -370) { $0.accountToken = other }
    decide(
      "DCD-5", "D5 a stray purchase of something that is not sold here, of another account",
      [try transaction(stray), own], account: mine,
      facts: proven + [
        ("excluded.0.reason", "unknown-product"),
        ("excluded.0.transactionId", .text(stray.transactionId)),
        ("excluded.0.originalTransactionId", .text(stray.originalTransactionId)),
        ("excluded.0.productId", "com.example.app.unknown"),
        ("excluded.0.environment", "Production"),
        ("excluded.1", .null),
      ])
    let known = period(7, -400, -370) { $0.accountToken = other }
    decide(
      "DCD-20", "another account's purchase of something that is sold here",
      [try transaction(known), own], account: mine, refused)
  }

  /// Adds evidence that cannot contain an account token, which removes no known account.
  private func addFormsWithoutAccount() throws {
    let bought = period(1, -10, 20)
    let theirs = try transaction(bought.with { $0.accountToken = other })
    let answers = [
      ("in_app", inAppAnswer(bought, requestDate: now)), ("iOS 6 style", flatAnswer(bought)),
    ]
    for (form, later) in answers {
      decide(
        "DCD-24", "D16 D21c a later answer without accounts erases none: \(form)",
        [theirs, later], account: mine, "rejected.account.token-mismatch")
      decide(
        "DCD-24", "D16b the same where one is required: \(form)", [theirs, later],
        verifier: "account-required", account: mine, "rejected.account.token-mismatch")
      decide(
        "DCD-24", "the account that the older evidence tells: \(form)", [theirs, later],
        account: other, state: "active", row: "DEC-14", facts: [("account", "proven")])
      decide(
        "DCD-20", "an answer that cannot carry an account, alone: \(form)", [later], account: mine,
        state: "active", row: "DEC-14", facts: [("account", "unproven")])
    }
    decide(
      "DCD-20", "an answer that could carry an account, alone",
      [answer([bought], requestDate: now)], account: mine, "rejected.account.token-missing")
  }
}
