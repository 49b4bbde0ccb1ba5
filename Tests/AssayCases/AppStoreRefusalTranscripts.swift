import AssayAuthority

// MARK: - refused responses

extension AppStoreTranscript {
  /// Adds responses that disagree with the request (API-32).
  func addAgreement() throws {
    let disagree = "rejected.app-store.inconsistent"
    for (name, change, at) in [
      ("another environment", { $0.environment = "Sandbox" }, "environment"),
      (
        "another id", { ($0.transactionId, $0.originalTransactionId) = ("1", "2") }, "transactionId"
      ),
    ] as [(String, (inout Purchase) -> Void, String)] {
      transcript(
        "API-32", "a transaction of \(name)",
        [apple(1, ["signedTransactionInfo": try signed(.transaction, purchase.with(change))])],
        disagree, check: "result", at: "signedTransactionInfo." + at)
    }
    transcript(
      "API-32", "a transaction by its original id",
      [
        apple(
          1,
          [
            "signedTransactionInfo": try signed(
              .transaction, purchase.with { $0.transactionId = "180000900000002" })
          ])
      ])
    transcript(
      "API-32", "a transaction of another app of ours",
      asks: info().setting("bundleId", "com.example.second"), verifier: "signing",
      [apple(1, ["signedTransactionInfo": try signed(.transaction)])], disagree,
      at: "signedTransactionInfo.bundleId")
    let download = Self.request("get-app-transaction-info", [("transactionId", .string(id))])
    transcript(
      "API-32", "Apple's number of another app", asks: download,
      [
        apple(
          1, ["signedAppTransactionInfo": try signed(.appTransaction), "appAppleId": 1_234_567_890])
      ])
    for (member, value) in [
      ("environment", "Sandbox"), ("environment", "Elsewhere"), ("bundleId", "com.example.second"),
      ("appAppleId", 1_234_567_891),
    ] as [(String, JSONText)] {
      let answer: JSONText = ["hasMore": false]
      transcript(
        "API-32", "an answer about another \(member): \(value)", asks: history(),
        [apple(1, answer.setting(member, value))], disagree, check: "result", at: member)
    }
    transcript(
      "API-32", "a number of the app that is not the signed one",
      asks: download.setting("environment", "Sandbox"), verifier: "app-store-unnumbered",
      [
        apple(
          1,
          [
            "signedAppTransactionInfo": try signed(.appTransaction, sandboxPurchase),
            "appAppleId": 1_234_567_891,
          ], to: Self.sandbox)
      ], disagree, at: "signedAppTransactionInfo.appAppleId")
  }

  /// Adds responses with a wrong content type or form (API-30).
  func addForms() throws {
    let good: JSONText = ["signedTransactionInfo": try signed(.transaction)]
    let type = "malformed.app-store.content-type"
    for (name, headers) in [("no content type", []), ("HTML", [("content-type", "text/html")])]
      as [(String, [(String, String)])]
    {
      transcript(
        "API-30", name, [api(1, 200, good, headers: headers)], type, check: "reply",
        at: "content-type")
    }
    transcript(
      "API-30", "another good status",
      [api(1, 299, good, headers: [("CONTENT-TYPE", "Application/JSON")])])
    let json = [("content-type", "application/json")]
    transcript(
      "EXC-19", "an answer that was cut", [api(1, 200, headers: json, more: [("truncated", true)])],
      "too-large.app-store.response", check: "reply", at: "truncated")
    addLongAnswer()
    let response = "malformed.app-store.response"
    for (name, body, status, at) in [
      ("no transaction", [:], response, "signedTransactionInfo"),
      (
        "no transaction but null", ["signedTransactionInfo": .null], response,
        "signedTransactionInfo"
      ), ("a number", ["signedTransactionInfo": 1], response, "signedTransactionInfo"),
      ("a bundle id of another type", good.setting("bundleId", 1), response, "bundleId"),
      ("a list", [1], "malformed.json.not-object", "response"),
      ("no JSON", .text("{"), "malformed.json.syntax", "response"),
    ] as [(String, JSONText, String, String)] {
      transcript(
        "API-30", name, [api(1, 200, body, headers: json)], status, check: "reply", at: at)
    }
    transcript("API-30", "nothing", [api(1, 200, headers: json)], "malformed.json.syntax")
    transcript(
      "API-31", "a forged transaction", [apple(1, ["signedTransactionInfo": try forged()])],
      "rejected.jws.signature", check: "result", at: "signedTransactionInfo/signature",
      facts: [("result", .null), ("api", .null)])
    transcript(
      "API-31", "a renewal in place of a transaction",
      [apple(1, ["signedTransactionInfo": try signed(.renewalInfo)])], "rejected.kind.mismatch",
      facts: [("result", .null)])
  }

  /// Adds a response one byte longer than the cap.
  private func addLongAnswer() {
    let prefix =
      "{\"id\":1,\"status\":200,\"headers\":[[\"content-type\",\"application/json\"]],"
      + "\"body\":{\"text\":\""
    transcript(
      "API-30", "an answer that is too long",
      steps: [
        EvidenceCase.Step(
          expect: .init("pending.exchange.http"),
          answer: .repeated(
            prefix: Array(prefix.utf8), unit: [0x20], count: 4_194_305, suffix: Array("\"}}".utf8)),
          now: now)
      ], .init("too-large.app-store.response", check: "exchange.reply", at: "body"))
  }

  /// Adds responses of several pages (API-40, API-41).
  func addPages() throws {
    let first = try signed(.transaction)
    let second = try signed(
      .transaction,
      purchase.with {
        $0.transactionId = "180000900000002"
        $0.signedDate += 1000
      })
    func page(_ transaction: JSONText, _ revision: String?, more: Bool) -> JSONText {
      let page: JSONText = ["signedTransactions": [transaction], "hasMore": .boolean(more)]
      return revision.map { page.setting("revision", .string($0)) } ?? page
    }
    let path = "/inApps/v2/history/" + id
    transcript(
      "API-40", "a page that goes on", asks: history(),
      [apple(1, page(first, "r1", more: true), path: path)],
      facts: [("result.next.revision", "r1"), ("result.unsigned.hasMore", true)])
    transcript(
      "API-40", "two pages", asks: history(["pages": 3]),
      [
        apple(1, page(first, "r 1", more: true), path: path),
        apple(2, page(second, "r2", more: false), path: path + "?revision=r%201"),
      ],
      facts: [
        ("result.transactions.0.transactionId", .text(id)),
        ("result.transactions.1.transactionId", "180000900000002"), ("result.next", .null),
        ("result.unsigned.revision", "r2"),
      ])
    transcript(
      "API-40", "as many pages as were asked for", asks: history(["pages": 2]),
      [
        apple(1, page(first, "r1", more: true)),
        apple(2, page(second, "r2", more: true), path: path + "?revision=r1"),
      ], facts: [("result.next.revision", "r2")])
    transcript(
      "API-40", "pages of another query keep it",
      asks: history(["pages": 2]).setting("sort", "DESCENDING"),
      [
        apple(1, page(first, "r1", more: true), path: path + "?sort=DESCENDING"),
        apple(2, page(second, nil, more: false), path: path + "?revision=r1&sort=DESCENDING"),
      ])
    let loop = "malformed.app-store.paging"
    transcript(
      "API-41", "a loop of pages", asks: history(["pages": 5]),
      [apple(1, page(first, "r1", more: true)), apple(2, page(second, "r1", more: true))], loop,
      check: "reply", at: "revision", facts: [("result", .null)])
    transcript(
      "API-41", "the page that was asked for again", asks: history().setting("revision", "r1"),
      [apple(1, page(first, "r1", more: true))], loop)
    transcript(
      "API-41", "a next page without its name", asks: history(),
      [apple(1, page(first, nil, more: true))], loop, at: "revision")
    transcript(
      "API-30", "a page that does not say whether it is the last", asks: history(),
      [apple(1, ["signedTransactions": [first]])], "malformed.app-store.response", at: "hasMore")
    transcript(
      "API-52", "attempts count again for each page", asks: history(["pages": 2, "attempts": 2]),
      [
        api(1, 500), wait(Self.pause(1000, 1, path)),
        apple(3, page(first, "r1", more: true), after: 2000), api(4, 500, after: 2000),
        wait(2000 + Self.pause(1000, 3, path)),
        apple(6, page(second, nil, more: false), after: 4000),
      ], facts: [("result.transactions.1.transactionId", "180000900000002")])
    transcript(
      "API-2", "no hop from the second page",
      asks: history(["pages": 2]).setting("environment", "auto"),
      [apple(1, page(first, "r1", more: true)), error(2, 4_040_010)],
      "rejected.app-store.not-found",
      facts: [("environment", "Production")])
  }

  /// Adds responses with a refused JWS under `partial` (API-31).
  func addPartial() throws {
    let asked = history(["partial": true, "pages": 2])
    let good = try signed(.transaction)
    transcript(
      "API-31", "some of a history", asks: asked,
      [
        apple(1, ["signedTransactions": [good, try forged()], "hasMore": true, "revision": "r1"]),
        apple(2, ["signedTransactions": [good], "hasMore": false]),
      ], "rejected.app-store.partial", check: "result", at: "signedTransactions[1]/signature",
      facts: [
        ("result.transactions.1.transactionId", .text(id)), ("result.transactions.2", .null),
        ("result.refused.0.at", "signedTransactions[1]/signature"),
        ("result.refused.0.status.name", "rejected.jws.signature"), ("result.refused.1", .null),
        ("retry", .null),
      ])
    transcript(
      "API-31", "the whole of a history", asks: asked,
      [apple(1, ["signedTransactions": [good], "hasMore": false])],
      facts: [("result.refused.0", .null)])
    transcript(
      "API-32", "what disagrees is no part", asks: asked,
      [
        apple(
          1, ["signedTransactions": [try signed(.transaction, sandboxPurchase)], "hasMore": false])
      ], "rejected.app-store.inconsistent", at: "signedTransactions[0].environment")
  }

  /// Adds changes of the environment with "auto" (API-2).
  func addHops() throws {
    let auto = info("auto")
    let found: JSONText = [
      "signedTransactionInfo": try signed(
        .transaction,
        sandboxPurchase.with { ($0.transactionId, $0.originalTransactionId) = (id, id) })
    ]
    for code: Int64 in [4_040_010, 4_040_005] {
      transcript(
        "API-2", "\(code) of Production", asks: auto,
        [error(1, code, path: infoPath), apple(2, found, to: Self.sandbox, path: infoPath)],
        facts: [
          ("environment", "Sandbox"), ("api", .null),
          ("result.transactions.0.environment", "Sandbox"), ("/warnings.0", .null),
        ])
    }
    let missing = "rejected.app-store.not-found"
    transcript(
      "API-2", "unknown in both", asks: auto,
      [error(1, 4_040_010), error(2, 4_040_010, to: Self.sandbox, path: infoPath)], missing,
      check: "result", at: "status",
      facts: [
        ("environment", "Sandbox"), ("api.httpStatus", 404), ("api.errorCode", 4_040_010),
        ("api.errorName", "TransactionIdNotFound"), ("api.errorMessage", "Apple says 4040010."),
        ("api.retryable", false), ("api.retryAtMs", .null), ("api.other", .null), ("result", .null),
      ])
    for (name, said) in [("an account", error(1, 4_040_001)), ("a 404 of no JSON", api(1, 404))] {
      transcript("API-2", "no hop for \(name)", asks: auto, [said], missing)
    }
    transcript("API-2", "no hop unless it is asked for", [error(1, 4_040_010)], missing)
    let consumption = Self.request(
      "send-consumption-information",
      [
        ("environment", "auto"), ("transactionId", .string(id)), ("customerConsented", true),
        ("sampleContentProvided", false), ("deliveryStatus", "DELIVERED"),
      ])
    let path = "/inApps/v2/transactions/consumption/" + id
    transcript(
      "API-2", "a 404 of no JSON about consumption", asks: consumption,
      [api(1, 404, path: path), api(2, 202, to: Self.sandbox, path: path)],
      facts: [("environment", "Sandbox")])
    transcript(
      "API-2", "a 404 of JSON about consumption", asks: consumption, [api(1, 404, ["a": 1])],
      missing)
    transcript(
      "API-2", "a 400 of no JSON about consumption", asks: consumption, [api(1, 400, path: path)],
      "rejected.app-store.bad-request")
    transcript(
      "API-2", "an order has no hop",
      asks: Self.request("look-up-order-id", [("environment", "auto"), ("orderId", "M1")]),
      [api(1, 401), api(2, 401)], Self.unauthorized, facts: [("environment", "Production")])
  }

  /// Adds responses with HTTP status 401 (API-54, API-55).
  func addUnauthorized() throws {
    let auto = info("auto")
    let good: JSONText = ["signedTransactionInfo": try signed(.transaction)]
    let found: JSONText = [
      "signedTransactionInfo": try signed(
        .transaction,
        sandboxPurchase.with { ($0.transactionId, $0.originalTransactionId) = (id, id) })
    ]
    let key = "key: "
    let release = "no release in Production yet"
    transcript(
      "API-55", "our token is taken the second time",
      [api(1, 401), apple(2, good, path: infoPath)],
      facts: [("environment", "Production"), ("/warnings.0", .null)])
    transcript(
      "API-54", "Production refuses us", [api(1, 401), api(2, 401)], Self.unauthorized,
      check: "result", at: "status", hint: release,
      facts: [
        ("api.httpStatus", 401), ("api.errorCode", .null), ("/error.retryClass", "after-config"),
      ])
    transcript(
      "API-54", "Sandbox refuses us", asks: info("Sandbox"),
      [api(1, 401, to: Self.sandbox, path: infoPath), api(2, 401)], Self.unauthorized, hint: key)
    transcript(
      "API-55", "an app without a release", asks: auto,
      [api(1, 401), api(2, 401), apple(3, found, to: Self.sandbox, path: infoPath)],
      facts: [
        ("environment", "Sandbox"), ("/warnings.0.id", "production-unauthorized"),
        ("/warnings.0.at", "environment"), ("api", .null),
      ])
    transcript(
      "API-54", "both refuse us", asks: auto,
      [api(1, 401), api(2, 401), api(3, 401, to: Self.sandbox, path: infoPath)], Self.unauthorized,
      hint: key, facts: [("environment", "Sandbox"), ("api.other", .null)])
    transcript(
      "API-55", "Production refuses us and Sandbox does not have it", asks: auto,
      [api(1, 401), api(2, 401), error(3, 4_040_010)], Self.unauthorized, hint: release,
      facts: [
        ("api.httpStatus", 401), ("api.other.httpStatus", 404), ("api.other.errorCode", 4_040_010),
      ])
    transcript(
      "API-55", "a hop, and then one more token", asks: auto,
      [error(1, 4_040_010), api(2, 401), apple(3, found, to: Self.sandbox, path: infoPath)],
      facts: [("/warnings.0", .null)])
    transcript(
      "API-55", "a hop, and our token is refused there", asks: auto,
      [error(1, 4_040_010), api(2, 401), api(3, 401)], Self.unauthorized, hint: key)
    transcript(
      "API-55", "no hop after a hop", asks: auto,
      [api(1, 401), error(2, 4_040_010), api(3, 401, to: Self.sandbox, path: infoPath)],
      Self.unauthorized, hint: key)
    transcript(
      "API-55", "Production refuses us and Sandbox is away", asks: info("auto", ["attempts": 1]),
      [api(1, 401), api(2, 401), api(3, 503)], Self.noAnswer)
    transcript(
      "API-55", "a 401 is no attempt", asks: info("Production", ["attempts": 2]),
      [api(1, 500), wait(pause(1000, 1)), api(3, 401, after: 2000), apple(4, good, after: 2000)])
  }

  /// Adds repetitions after failures (API-50 … API-53).
  func addRepetitions() throws {
    let good: JSONText = ["signedTransactionInfo": try signed(.transaction)]
    let retry: Facts = [
      ("retry.request.operation", "get-transaction-info"), ("retry.request.attempt", 2),
      ("retry.attempt", 2), ("retry.omitted.0", .null),
    ]
    for status: Int64 in [0, 500, 503, 599] {
      transcript(
        "API-52", "nothing usable but \(status)",
        [
          api(1, status), wait(pause(1000, 1), facts: retry),
          api(3, status, path: infoPath, after: 2000), wait(2000 + pause(4000, 2)),
          api(5, status, path: infoPath, after: 7000),
        ], Self.noAnswer, check: "reply", at: "status",
        facts: [
          ("retry.notBeforeMs", .integer(now + 7000 + 64_000)), ("retry.reason", "retry"),
          ("api.retryable", true), ("api.httpStatus", .integer(status)),
        ] + retry)
    }
    for code: Int64 in [4_040_002, 4_040_004, 4_040_006, 5_000_001] {
      transcript(
        "API-50", "\(code) passes",
        [error(1, code), wait(pause(1000, 1)), apple(3, good, after: 2000)])
    }
    transcript(
      "API-50", "5000000 does not", [error(1, 5_000_000)], Self.noAnswer,
      facts: [("api.retryable", false), ("api.errorName", "GeneralInternal")])
    transcript(
      "API-52", "five attempts", asks: info("Production", ["attempts": 5]),
      [
        api(1, 500), wait(pause(1000, 1)), api(3, 500, after: 2000), wait(2000 + pause(4000, 2)),
        api(5, 500, after: 8000), wait(8000 + pause(16_000, 3)), api(7, 500, after: 30_000),
        wait(30_000 + pause(64_000, 4)), apple(9, good, after: 120_000),
      ])
    transcript(
      "API-52", "one attempt", asks: info("Production", ["attempts": 1]), [api(1, 500)],
      Self.noAnswer)
    transcript(
      "EXC-18", "the second exchange",
      asks: info("Production", ["attempts": 1]).setting("attempt", 2), [api(1, 500)], Self.noAnswer,
      facts: [("retry.notBeforeMs", .integer(now + 256_000)), ("retry.attempt", 3)])
    try addRateLimits(good)
    transcript(
      "API-53", "a test notification is not repeated",
      asks: Self.request("request-test-notification"),
      [api(1, 500)], Self.noAnswer, facts: [("retry", .null)])
    transcript(
      "API-53", "nor when the rate is limited",
      asks: Self.request("request-test-notification", [("options", ["attempts": 5])]),
      [api(1, 429)],
      Self.limited, facts: [("retry", .null)])
    transcript(
      "API-53", "but with another token", asks: Self.request("request-test-notification"),
      [api(1, 401), apple(2, ["testNotificationToken": "t"])])
  }

  /// Adds waits after HTTP status 429 (API-51).
  private func addRateLimits(_ good: JSONText) throws {
    for (name, value, pause) in [
      ("a time", "\(now + 5000)", 5000), ("now", "\(now)", 0),
      ("an hour ahead", "\(now + 3_600_000)", 3_600_000),
      ("more than an hour ahead", "\(now + 3_600_001)", 60_000),
      ("a time that has passed", "\(now - 1)", 60_000), ("seconds", "7", 7000),
      ("the most seconds", "3600", 3_600_000), ("too many seconds", "3601", 60_000),
      ("seconds of today", "\(now / 1000)", 60_000), ("a date", "Wed, 21 Oct 2026", 60_000),
      ("nothing", "", 60_000), ("16 digits", "1000000000000000", 60_000),
    ] as [(String, String, Int64)] {
      transcript(
        "API-51", "Retry-After: \(name)",
        asks: info().setting("deadlineMs", .integer(now + 4_000_000)),
        [
          api(1, 429, headers: [("Retry-After", value)]), wait(pause, reason: "rate-limited"),
          apple(3, good, path: infoPath, after: pause),
        ])
    }
    transcript(
      "API-51", "the rate is limited for good", asks: info("Production", ["attempts": 1]),
      [api(1, 429, ["errorCode": 4_290_000], headers: [("retry-after", "\(now + 9000)")])],
      Self.limited, check: "reply",
      facts: [
        ("api.retryAtMs", .integer(now + 9000)), ("api.errorName", "RateLimitExceeded"),
        ("retry.notBeforeMs", .integer(now + 9000)), ("retry.reason", "rate-limited"),
      ])
    transcript(
      "API-52", "a wait for another reason has no time of Apple's",
      [api(1, 503, headers: [("retry-after", "9")]), wait(pause(1000, 1))] + [
        api(3, 400, after: 2000)
      ], "rejected.app-store.bad-request", facts: [("api.retryAtMs", .null)])
  }

  /// Adds Apple's error numbers (docs/spec/app-store-server-api.md §7).
  func addErrors() {
    for (code, status, name) in [
      (4_000_006, "rejected.app-store.bad-request", "InvalidTransactionId"),
      (4_030_004, "rejected.app-store.forbidden", "SubscriptionExtensionIneligible"),
      (4_040_001, "rejected.app-store.not-found", "AccountNotFound"),
      (4_090_000, "rejected.app-store.conflict", "ImageAlreadyExists"),
    ] as [(Int64, String, String)] {
      transcript(
        "API-50", name, [error(1, code)], status, check: "result", at: "status",
        facts: [
          ("api.errorName", .text(name)), ("api.errorCode", .integer(code)), ("retry", .null),
        ])
    }
    transcript(
      "API-50", "a number that is not known", [error(1, 4_009_999)],
      "rejected.app-store.bad-request",
      facts: [("api.errorName", .null), ("api.errorCode", 4_009_999)])
    for (name, body) in [
      ("no JSON", .text("<html>")), ("no number", ["errorCode": "4000006"]), ("a list", [1]),
      ("a long message", ["errorMessage": .string(String(repeating: "x", count: 1025))]),
    ] as [(String, JSONText)] {
      transcript(
        "API-50", "an error of \(name)", [api(1, 400, body)], "rejected.app-store.bad-request",
        facts: [("api.errorCode", .null), ("api.errorMessage", .null)])
    }
    for status: Int64 in [100, 302, 405, 600] {
      transcript(
        "API-30", "the HTTP status \(status)", [api(1, status)], "malformed.app-store.response",
        check: "reply", at: "status")
    }
  }
}
