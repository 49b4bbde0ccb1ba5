import AssayAuthority

// MARK: - responses without a bundle id

extension AppStoreTranscript {
  /// Adds responses whose signed texts have no bundle id (API-57, API-58).
  func addMissingBundle() throws {
    try addAssumedBundle()
    try addRefusedBundle()
    try addBundleElsewhere()
  }

  private static let bundle = "rejected.app.bundle-id"
  private static let number = "rejected.app.app-apple-id"

  private func mint(_ payload: JSONText) throws -> JSONText {
    .string(utf8: try fixture.authority.mint(payload))
  }

  /// The transaction as Apple signed it, but for its bundle id.
  private var silent: JSONText { purchase.transactionPayload.removing("bundleId") }

  private func answer(_ payload: JSONText) throws -> [Said] {
    [apple(1, ["signedTransactionInfo": try mint(payload)])]
  }

  private func download(_ environment: String = "Production") -> JSONText {
    Self.request(
      "get-app-transaction-info",
      [("transactionId", .string(id)), ("environment", .string(environment))])
  }

  private func addAssumedBundle() throws {
    transcript(
      "API-57", "a transaction without a bundle id", try answer(silent),
      facts: [
        ("result.transactions.0.bundleId", "com.example.app"),
        ("result.transactions.0.bundleIdSource", "request"),
        ("result.transactions.0.environmentSource", "payload"),
        ("result.transactions.0.warnings.0.id", "bundle-absent"),
        ("result.transactions.0.warnings.0.at", "bundleId"),
        ("result.transactions.0.payload.bundleId", .null),
      ])
    transcript(
      "API-57", "a transaction with a bundle id", try answer(purchase.transactionPayload),
      facts: [
        ("result.transactions.0.bundleId", "com.example.app"),
        ("result.transactions.0.bundleIdSource", .null),
        ("result.transactions.0.warnings.0", .null),
      ])
    transcript(
      "API-57", "a transaction without a bundle id, asked for the second app",
      asks: info().setting("bundleId", "com.example.second"), verifier: "signing",
      try answer(silent),
      facts: [("result.transactions.0.bundleId", "com.example.second")])
    transcript(
      "API-57", "a history without bundle ids", asks: history(),
      [apple(1, ["signedTransactions": [try mint(silent)], "hasMore": false])],
      facts: [("result.transactions.0.bundleIdSource", "request")])
    transcript(
      "API-58", "a transaction without a bundle id, with the number of our app",
      try answer(silent.appending("appAppleId", 1_234_567_890)),
      facts: [("result.transactions.0.bundleIdSource", "request")])
    transcript(
      "API-57", "the download of the app without a bundle id", asks: download(),
      [
        apple(
          1,
          [
            "signedAppTransactionInfo": try mint(
              purchase.appTransactionPayload.removing("bundleId"))
          ]
        )
      ],
      facts: [
        ("result.appTransaction.bundleId", "com.example.app"),
        ("result.appTransaction.bundleIdSource", "request"),
        ("result.appTransaction.appAppleId", 1_234_567_890),
      ])
  }

  private func addRefusedBundle() throws {
    let at = "signedTransactionInfo/"
    for (name, value, status) in [
      ("null", .null, Self.bundle), ("empty", "", Self.bundle),
      ("of another app", "com.other.app", Self.bundle), ("a number", 1, "malformed.payload.type"),
    ] as [(String, JSONText, String)] {
      transcript(
        "API-58", "a bundle id that is \(name)",
        try answer(purchase.transactionPayload.setting("bundleId", value)), status,
        check: status == Self.bundle ? "result" : "reply", at: at + "bundleId")
    }
    for name in ["transactionId", "originalTransactionId", "productId"] {
      transcript(
        "API-58", "no bundle id and no \(name)", try answer(silent.removing(name)), Self.bundle,
        check: "result", at: at + "bundleId")
    }
    transcript(
      "API-58", "no bundle id and no environment", verifier: "app-store-derived",
      try answer(silent.removing("environment")), Self.bundle, check: "result", at: at + "bundleId")
    transcript(
      "API-58", "a bundle id and no environment", verifier: "app-store-derived",
      try answer(purchase.transactionPayload.removing("environment")),
      facts: [("result.transactions.0.environmentSource", "transaction-id")])
    for (name, value) in [("another", 1_234_567_891), ("a text as", "1234567890")]
      as [(String, JSONText)]
    {
      transcript(
        "API-58", "no bundle id and \(name) number of the app",
        try answer(silent.appending("appAppleId", value)), Self.number, check: "result",
        at: at + "appAppleId")
    }
    let one = sandboxPurchase.with { ($0.transactionId, $0.originalTransactionId) = (id, id) }
    for (name, value) in [("a", 1_234_567_890), ("a text as", "x")] as [(String, JSONText)] {
      transcript(
        "API-58", "no bundle id and \(name) number of an app that has none",
        asks: info("Sandbox"), verifier: "app-store-unnumbered",
        [
          apple(
            1,
            [
              "signedTransactionInfo": try mint(
                one.transactionPayload.removing("bundleId").appending("appAppleId", value))
            ], to: Self.sandbox)
        ], Self.number, check: "result", at: at + "appAppleId")
    }
    let app = sandboxPurchase.appTransactionPayload.removing("bundleId")
    transcript(
      "API-58", "the download of the app in Sandbox without a bundle id", asks: download("Sandbox"),
      [
        apple(
          1, ["signedAppTransactionInfo": try mint(app.removing("appAppleId"))], to: Self.sandbox)
      ], facts: [("result.appTransaction.bundleIdSource", "request")])
    transcript(
      "API-58", "the download in Sandbox without a bundle id, of number 0",
      asks: download("Sandbox"),
      [
        apple(
          1, ["signedAppTransactionInfo": try mint(app.setting("appAppleId", 0))], to: Self.sandbox)
      ],
      Self.number, check: "result", at: "signedAppTransactionInfo/appAppleId")
    for (name, change, at) in [
      ("environment", { $0.environment = "Sandbox" }, "environment"),
      ("id", { ($0.transactionId, $0.originalTransactionId) = ("1", "2") }, "transactionId"),
    ] as [(String, (inout Purchase) -> Void, String)] {
      transcript(
        "API-58", "no bundle id and another \(name)",
        try answer(purchase.with(change).transactionPayload.removing("bundleId")),
        "rejected.app-store.inconsistent", check: "result", at: "signedTransactionInfo." + at)
    }
  }

  private func addBundleElsewhere() throws {
    transcript(
      "API-57", "a transaction without a bundle id, where that is refused",
      verifier: "app-store-strict", try answer(silent), Self.bundle, check: "result",
      at: "signedTransactionInfo/bundleId")
    fixture.verify(
      "API-59", "a transaction without a bundle id that is read alone",
      try fixture.authority.mint(silent), verifier: "app-store", Self.bundle,
      check: "identity.bundle", at: "bundleId")
    let local = purchase.with { $0.environment = "LocalTesting" }.xcodeTransactionPayload
      .setting([("transactionId", .string(id)), ("originalTransactionId", .string(id))])
    for (name, payload, status) in [
      ("with a", local, "ok"), ("without a", local.removing("bundleId"), Self.bundle),
    ] {
      let jws = JSONText.string(utf8: try fixture.authority.mintXcode(payload))
      transcript(
        "API-58", "a transaction \(name) bundle id of a test server",
        asks: info("LocalTesting"), verifier: "app-store-local",
        [apple(1, ["signedTransactionInfo": jws])], status,
        check: status == "ok" ? nil : "result",
        at: status == "ok" ? nil : "signedTransactionInfo/bundleId")
    }
    let notification = try fixture.authority.payload(.notification, purchase)
    for (name, payload, at) in [
      ("a notification", notification.removing("data.bundleId"), "data.bundleId"),
      (
        "the transaction of a notification",
        notification.setting("data.signedTransactionInfo", try mint(silent)),
        "data.signedTransactionInfo/bundleId"
      ),
    ] {
      transcript(
        "API-58", "\(name) without a bundle id",
        asks: Self.request("get-test-notification-status", [("testNotificationToken", "t")]),
        [apple(1, ["signedPayload": try mint(payload)])], Self.bundle, check: "result",
        at: "signedPayload/" + at)
    }
  }
}
