import AssayAuthority

extension CaseFixture {
  /// Adds whole exchanges with the App Store Server API (API-1 … API-55). The tokens in their steps
  /// are random; the Swift tests verify them.
  func addAppStoreTranscripts() throws {
    let one: JSONText = [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]]
    let base = standardConfig.setting([
      ("apps", one), ("appStoreServerApi", appStoreServerApiBlock),
    ])
    configure("app-store", base)
    configure("app-store-production", base.setting("environments", ["Production"]))
    configure(
      "app-store-local",
      base.setting([
        ("environments", ["LocalTesting", "Sandbox"]),
        ("storekit.xcodeCertificates", [.string(authority.xcodeFingerprint)]),
        (
          "appStoreServerApi",
          appStoreServerApiBlock.setting("apiBaseUrl", "https://localhost:8443/test/")
        ),
      ]))
    configure(
      "app-store-unnumbered",
      base.setting([("environments", ["Sandbox"]), ("apps", [["bundleId": "com.example.app"]])]))
    configure(
      "app-store-fresh", base.setting([("storekit.maxAgeMs", ["transaction": 30_000])]))
    configure("app-store-strict", base.setting("appStoreServerApi.missingBundleId", "refuse"))
    configure(
      "app-store-derived", base.setting("storekit.missingEnvironment", "from-transaction-id"))
    let transcript = AppStoreTranscript(self)
    try transcript.addAnswers()
    transcript.addCommands()
    transcript.addMessaging()
    try transcript.addAdvancedCommerce()
    transcript.addExternalPurchases()
    try transcript.addAgreement()
    try transcript.addMissingBundle()
    try transcript.addForms()
    try transcript.addPages()
    try transcript.addPartial()
    try transcript.addHops()
    try transcript.addUnauthorized()
    try transcript.addRepetitions()
    transcript.addErrors()
    transcript.addParameters()
    try transcript.addConsumption()
    try transcript.addBounds()
  }
}

// MARK: - a good answer of every kind

extension AppStoreTranscript {
  func addAnswers() throws {
    transcript(
      "API-35", "one transaction",
      [
        apple(
          1, ["signedTransactionInfo": try signed(.transaction)], path: infoPath,
          facts: [
            ("http.method", "GET"), ("http.body", .null), ("http.headers.1.0", "Accept"),
            ("http.headers.1.1", "application/json"), ("http.headers.2.0", "User-Agent"),
            ("http.headers.3.0", .null), ("http.timeoutMs", 30_000),
            ("http.maxResponseBytes", 4_194_304), ("http.responseHeaders.0", "content-type"),
            ("http.responseHeaders.1", "retry-after"),
            ("http.sensitivePaths.0", "headers.authorization"),
            ("http.sensitivePaths.1", .null), ("/checks.2.reason", "no input for it"),
          ])
      ],
      facts: [
        ("operation", "get-transaction-info"), ("step", "done"), ("environment", "Production"),
        ("api", .null), ("result.transactions.0.transactionId", .text(id)),
        ("result.transactions.1", .null), ("result.next", .null), ("result.appTransaction", .null),
        ("result.statuses.0", .null), ("retry", .null), ("/checks.2.ok", true),
        ("/checks.3.ok", true),
      ])
    transcript(
      "API-35", "the download of the app",
      asks: Self.request("get-app-transaction-info", [("transactionId", .string(id))]),
      [
        apple(
          1, ["signedAppTransactionInfo": try signed(.appTransaction)],
          path: "/inApps/v1/transactions/appTransactions/" + id)
      ], facts: [("result.appTransaction.bundleId", "com.example.app")])
    transcript(
      "API-33", "an order", asks: Self.request("look-up-order-id", [("orderId", "MABCDEFG01")]),
      [
        apple(
          1, ["status": 0, "signedTransactions": .array([try signed(.transaction)])],
          path: "/inApps/v1/lookup/MABCDEFG01")
      ], facts: [("result.transactions.0.transactionId", .text(id)), ("result.unsigned.status", 0)])
    transcript(
      "API-33", "an order that does not exist",
      asks: Self.request("look-up-order-id", [("orderId", "M1")]), [apple(1, ["status": 1])],
      facts: [("result.unsigned.status", 1), ("result.transactions.0", .null)])
    try addStatuses()
    try addNotifications()
    transcript(
      "API-34", "a transaction that is fresh", verifier: "app-store-fresh",
      [
        apple(
          1,
          [
            "signedTransactionInfo": try signed(
              .transaction, purchase.with { $0.signedDate = now + 4000 })
          ], after: 5000)
      ])
    transcript(
      "API-34", "a transaction that was signed before", verifier: "app-store-fresh",
      [apple(1, ["signedTransactionInfo": try signed(.transaction)])], "rejected.freshness.stale",
      check: "result", at: "signedTransactionInfo")
  }

  private func addStatuses() throws {
    let entry: JSONText = [
      "originalTransactionId": .string(id), "status": 1,
      "signedTransactionInfo": try signed(.transaction),
      "signedRenewalInfo": try signed(.renewalInfo),
    ]
    let answer: JSONText = [
      "environment": "Production", "bundleId": "com.example.app", "appAppleId": 1_234_567_890,
      "data": [["subscriptionGroupIdentifier": "21400001", "lastTransactions": [entry]]],
    ]
    let asked = Self.request(
      "get-all-subscription-statuses", [("transactionId", .string(id)), ("status", [1, 4])])
    transcript(
      "API-35", "the subscriptions of a customer", asks: asked,
      [apple(1, answer, path: "/inApps/v1/subscriptions/\(id)?status=1&status=4")],
      facts: [
        ("result.statuses.0.subscriptionGroupIdentifier", "21400001"),
        ("result.statuses.0.status", 1), ("result.statuses.0.originalTransactionId", .text(id)),
        ("result.statuses.0.transactionIndex", 0), ("result.statuses.0.renewalIndex", 0),
        ("result.transactions.0.transactionId", .text(id)),
        ("result.renewals.0.originalTransactionId", .text(id)),
        ("result.unsigned.bundleId", "com.example.app"), ("result.unsigned.data", .null),
      ])
    transcript(
      "API-35", "no subscriptions", asks: asked, [apple(1, answer.setting("data", []))],
      facts: [("result.statuses.0", .null)])
    let other = purchase.with { $0.originalTransactionId = "180000900000009" }
    for (name, member, value) in [
      ("another line", "originalTransactionId", "180000900000009"),
      ("a transaction of another line", "signedTransactionInfo", try signed(.transaction, other)),
      ("a renewal of another line", "signedRenewalInfo", try signed(.renewalInfo, other)),
    ] as [(String, String, JSONText)] {
      let data: JSONText = [["lastTransactions": [entry.setting(member, value)]]]
      transcript(
        "API-32", "\(name) among the subscriptions", asks: asked,
        [apple(1, answer.setting("data", data))], "rejected.app-store.inconsistent",
        check: "result",
        at: "data[0].lastTransactions[0].originalTransactionId")
    }
    let silent = entry.removing("originalTransactionId")
    let data: JSONText = [
      ["lastTransactions": [silent.setting("signedRenewalInfo", try signed(.renewalInfo, other))]]
    ]
    transcript(
      "API-32", "a transaction and a renewal of two lines", asks: asked,
      [apple(1, answer.setting("data", data))], "rejected.app-store.inconsistent",
      at: "data[0].lastTransactions[0].originalTransactionId")
    let forged: JSONText = [
      ["lastTransactions": []],
      ["lastTransactions": [entry, entry.setting("signedTransactionInfo", try forged())]],
    ]
    transcript(
      "API-31", "a forged transaction among the subscriptions", asks: asked,
      [apple(1, answer.setting("data", forged))], "rejected.jws.signature", check: "result",
      at: "data[1].lastTransactions[1].signedTransactionInfo/signature", facts: [("result", .null)])
    for (name, data, at) in [
      ("a group", [["lastTransactions": 1]], "data[0].lastTransactions"),
      (
        "a line", [["lastTransactions": [entry.setting("status", "1")]]],
        "data[0].lastTransactions[0].status"
      ),
    ] as [(String, JSONText, String)] {
      transcript(
        "API-30", "a member of another type in \(name)", asks: asked,
        [apple(1, answer.setting("data", data))], "malformed.app-store.response", check: "reply",
        at: at)
    }
  }

  private func addNotifications() throws {
    let attempt: JSONText = ["attemptDate": .integer(now - 5000), "sendAttemptResult": "TIMED_OUT"]
    let sent: JSONText = ["signedPayload": try signed(.notification), "sendAttempts": [attempt]]
    let start = now - 10 * Purchase.day
    let asked = Self.request(
      "get-notification-history",
      [
        ("startDate", .integer(start)), ("endDate", .integer(now)),
        ("notificationType", "SUBSCRIBED"), ("onlyFailures", true),
      ])
    let body =
      "{\"startDate\":\(start),\"endDate\":\(now),\"notificationType\":\"SUBSCRIBED\","
      + "\"onlyFailures\":true}"
    transcript(
      "API-35", "the notifications that were missed", asks: asked,
      [
        apple(
          1, ["hasMore": false, "notificationHistory": [sent]],
          path: "/inApps/v1/notifications/history",
          facts: [
            ("http.method", "POST"), ("http.body.text", .text(body)),
            ("http.headers.3.0", "Content-Type"), ("http.headers.3.1", "application/json"),
          ])
      ],
      facts: [
        ("result.notifications.0.type", "SUBSCRIBED"),
        ("result.notifications.0.transaction.transactionId", .text(id)),
        ("result.unsigned.sendAttempts.0.notificationIndex", 0),
        ("result.unsigned.sendAttempts.0.attemptDate", .integer(now - 5000)),
        ("result.unsigned.sendAttempts.0.sendAttemptResult", "TIMED_OUT"),
        ("result.unsigned.notificationHistory", .null),
      ])
    for (name, member, at) in [
      ("a notification", "sendAttempts", "sendAttempts"),
      ("an attempt", "attemptDate", "sendAttempts[0].attemptDate"),
    ] {
      let odd: JSONText =
        member == "sendAttempts"
        ? sent.setting(member, 1) : sent.setting("sendAttempts", [.object([.init(member, "x")])])
      transcript(
        "API-30", "a member of another type in \(name)", asks: asked,
        [apple(1, ["hasMore": false, "notificationHistory": [odd]])],
        "malformed.app-store.response",
        at: "notificationHistory[0]." + at)
    }
    let strange: JSONText = ["attemptDate": .integer(now), "sendAttemptResult": "NO_ANSWER"]
    transcript(
      "ENU-2", "an attempt with a result that Apple has not documented", asks: asked,
      [
        apple(
          1,
          [
            "hasMore": false,
            "notificationHistory": [sent.setting("sendAttempts", [attempt, strange])],
          ])
      ],
      facts: [
        ("result.unsigned.sendAttempts.1.sendAttemptResult", "NO_ANSWER"),
        ("/warnings.0.id", "unknown-value"),
        ("/warnings.0.at", "notificationHistory[0].sendAttempts[1].sendAttemptResult"),
        ("/warnings.1", .null),
      ])
    transcript(
      "API-35", "a page of notifications that goes on",
      asks: asked.setting("paginationToken", "p 1"),
      [
        apple(
          1, ["hasMore": true, "paginationToken": "p2", "notificationHistory": [sent]],
          path: "/inApps/v1/notifications/history?paginationToken=p%201")
      ], facts: [("result.next.paginationToken", "p2")])
    transcript(
      "API-53", "a test notification", asks: Self.request("request-test-notification"),
      [
        apple(
          1, ["testNotificationToken": "t-1"], path: "/inApps/v1/notifications/test",
          facts: [("http.method", "POST"), ("http.body", .null)])
      ], facts: [("result.unsigned.testNotificationToken", "t-1")])
    transcript(
      "API-35", "what became of it",
      asks: Self.request("get-test-notification-status", [("testNotificationToken", "ab/../c_1")]),
      [apple(1, sent, path: "/inApps/v1/notifications/test/ab%2F..%2Fc_1")],
      facts: [
        ("result.notifications.0.type", "SUBSCRIBED"),
        ("result.unsigned.sendAttempts.0.notificationIndex", 0),
      ])
  }

  /// Adds the kinds that change something at Apple.
  func addCommands() {
    let original: (String, JSONText) = ("originalTransactionId", .string(id))
    let extend: [(String, JSONText)] = [
      ("extendByDays", 90), ("extendReasonCode", 1), ("requestIdentifier", "r-1"),
    ]
    let written = "{\"extendByDays\":90,\"extendReasonCode\":1,\"requestIdentifier\":\"r-1\""
    transcript(
      "API-23", "a transaction is finished",
      asks: Self.request("finish-transaction", [("transactionId", .string(id))]),
      [
        api(
          1, 202, path: infoPath + "/finish", more: [("truncated", true)],
          facts: [("http.method", "POST"), ("http.body", .null)])
      ], facts: [("result.transactions.0", .null), ("api", .null)])
    transcript(
      "API-21", "an account is set",
      asks: Self.request(
        "set-app-account-token",
        [original, ("appAccountToken", "0F8FAD5B-D9CB-469F-A165-70867728950E")]),
      [
        api(
          1, 200, path: infoPath + "/appAccountToken",
          facts: [
            ("http.method", "PUT"),
            ("http.body.text", "{\"appAccountToken\":\"0f8fad5b-d9cb-469f-a165-70867728950e\"}"),
          ])
      ])
    transcript(
      "API-33", "a subscription is extended",
      asks: Self.request("extend-subscription-renewal-date", [original] + extend),
      [
        apple(
          1, ["success": true, "originalTransactionId": .string(id), "effectiveDate": 1],
          path: "/inApps/v1/subscriptions/extend/" + id,
          facts: [("http.body.text", .text(written + "}"))])
      ], facts: [("result.unsigned.success", true), ("result.unsigned.effectiveDate", 1)])
    let mass: [(String, JSONText)] = [
      ("productId", "com.example.app.premium"), ("storefrontCountryCodes", ["USA", "DEU"]),
    ]
    transcript(
      "API-23", "all subscriptions are extended",
      asks: Self.request("extend-renewal-date-for-all-active-subscribers", extend + mass),
      [
        apple(
          1, ["requestIdentifier": "r-1"], path: "/inApps/v1/subscriptions/extend/mass",
          facts: [
            (
              "http.body.text",
              .text(
                written + ",\"productId\":\"com.example.app.premium\","
                  + "\"storefrontCountryCodes\":[\"USA\",\"DEU\"]}")
            )
          ])
      ], facts: [("result.unsigned.requestIdentifier", "r-1")])
    transcript(
      "API-33", "how far that is, and a member that is not known",
      asks: Self.request(
        "get-status-of-subscription-renewal-date-extensions",
        [("productId", "a.b"), ("requestIdentifier", "r-1")]),
      [
        apple(
          1,
          [
            "requestIdentifier": "r-1", "complete": true, "succeededCount": 12, "later": ["a": "b"],
            "completeDate": .null,
          ], path: "/inApps/v1/subscriptions/extend/mass/a.b/r-1")
      ],
      facts: [
        ("result.unsigned.complete", true), ("result.unsigned.succeededCount", 12),
        ("result.unsigned.completeDate", .null), ("result.unsigned.later", .null),
        ("result.unsigned.unknown.later.a", "b"),
      ])
    transcript(
      "API-22", "every member of a history",
      asks: history().setting([
        ("startDate", 1_700_000_000_000), ("endDate", 1_800_000_000_000),
        ("productId", ["a", "b&c"]), ("productType", ["CONSUMABLE"]), ("sort", "DESCENDING"),
        ("subscriptionGroupIdentifier", ["1"]), ("inAppOwnershipType", "PURCHASED"),
        ("revoked", false), ("revision", "r 1"),
      ]),
      [
        apple(
          1, ["hasMore": false, "revision": "r2", "signedTransactions": []],
          path: "/inApps/v2/history/\(id)?revision=r%201&startDate=1700000000000"
            + "&endDate=1800000000000&productId=a&productId=b%26c&productType=CONSUMABLE"
            + "&sort=DESCENDING&subscriptionGroupIdentifier=1&inAppOwnershipType=PURCHASED"
            + "&revoked=false")
      ],
      facts: [
        ("result.unsigned.revision", "r2"), ("result.next", .null),
        ("result.transactions.0", .null),
      ])
    for (name, path) in [
      ("get-transaction-history-v1", "/inApps/v1/history/"),
      ("get-refund-history", "/inApps/v2/refund/lookup/"),
    ] {
      transcript(
        "API-40", name, asks: Self.request(name, [("transactionId", .string(id))]),
        [apple(1, ["hasMore": false], path: path + id)])
    }
    transcript(
      "API-1", "a test server", asks: info("LocalTesting").setting("transactionId", "1"),
      verifier: "app-store-local",
      [error(1, 4_040_010, to: "https://localhost:8443/test", path: "/inApps/v1/transactions/1")],
      "rejected.app-store.not-found", facts: [("environment", "LocalTesting")])
  }
}
