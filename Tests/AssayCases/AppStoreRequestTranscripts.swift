import AssayAuthority

// MARK: - refused requests

extension AppStoreTranscript {
  /// Adds requests with refused parameters (API-1, API-2, API-21, API-24).
  func addParameters() {
    func refused(
      _ rule: String, _ name: String, _ request: JSONText, at: String,
      verifier: String = "app-store", _ status: String = AppStoreTranscript.parameter
    ) { transcript(rule, name, asks: request, verifier: verifier, [], status, at: at) }
    let plain: Refused = { refused($0, $1, $2, at: $3, verifier: $4, $5) }
    let unsupported = "unsupported.app-store.environment"
    refused("API-1", "Xcode", info("Xcode"), at: "environment", unsupported)
    refused(
      "API-1", "a test server that is not configured", info("LocalTesting"), at: "environment",
      unsupported)
    refused(
      "API-1", "an order in Sandbox",
      Self.request("look-up-order-id", [("environment", "Sandbox"), ("orderId", "M1")]),
      at: "environment", unsupported)
    refused(
      "API-1", "an environment that is not accepted", info("Sandbox"), at: "environment",
      verifier: "app-store-production")
    refused(
      "API-2", "both environments where one is accepted", info("auto"), at: "environment",
      verifier: "app-store-production")
    refused(
      "API-2", "both environments where the other is accepted", info("auto"), at: "environment",
      verifier: "app-store-local")
    refused("API-21", "an environment that does not exist", info("sandbox"), at: "environment")
    refused(
      "EXC-1", "no environment", info().removing("environment"), at: "environment",
      "misuse.exchange.request")
    refused(
      "EXC-1", "an unknown member", info().setting("sort", "x"), at: "sort",
      "misuse.exchange.request")
    refused(
      "EXC-1", "an unknown option", info("Production", ["page": 1]), at: "options.page",
      "misuse.exchange.request")
    refused(
      "EXC-1", "an operation that is not built", info().setting("operation", "get-images"),
      at: "operation", "misuse.exchange.operation")
    refused(
      "EXC-8", "no block", info(), at: "appStoreServerApi", verifier: "standard",
      "config.exchange.block-missing")
    refused("API-21", "no app where there are two", info(), at: "bundleId", verifier: "signing")
    refused("API-21", "an app of others", info().setting("bundleId", "com.other"), at: "bundleId")
    for (name, option, at) in [
      ("no attempts", ["attempts": 0], "attempts"), ("six attempts", ["attempts": 6], "attempts"),
      ("no pages", ["pages": 0], "pages"), ("101 pages", ["pages": 101], "pages"),
      ("a number", ["partial": 1], "partial"),
    ] as [(String, JSONText, String)] {
      refused("API-21", "\(name)", info("Production", option), at: "options." + at)
    }
    addIds(plain)
    addMembers(plain)
    addDates(plain)
    addValues(plain)
  }

  /// Adds values that Apple has not documented, or has replaced (ENU-3, ENU-4).
  private func addValues(_ refused: Refused) {
    let page = apple(1, ["hasMore": false])
    let types = history().setting("productType", ["CONSUMABLE", "CONSUMABEL"])
    transcript(
      "ENU-3", "a value that Apple has not documented is sent", asks: types, [page],
      facts: [
        ("/warnings.0.id", "unknown-value"), ("/warnings.0.at", "productType[1]"),
        ("/warnings.1", .null),
      ])
    let strict: JSONText = ["values": "strict"]
    refused(
      "ENU-3", "an unknown value in a strict list", types.setting("options", strict),
      "productType[1]", "app-store", Self.parameter)
    refused(
      "ENU-3", "an unknown value in a strict request",
      Self.request(
        "send-consumption-information",
        [
          ("transactionId", .string(id)), ("customerConsented", true),
          ("sampleContentProvided", false), ("deliveryStatus", "DELIVERD"), ("options", strict),
        ]), "deliveryStatus", "app-store", Self.parameter)
    transcript(
      "ENU-3", "documented values in a strict request",
      asks: history(strict).setting("productType", ["CONSUMABLE"]).setting("sort", "DESCENDING")
        .setting("inAppOwnershipType", "FAMILY_SHARED"),
      [page], facts: [("/warnings.0", .null)])
    refused(
      "API-21", "values that are neither lenient nor strict", history(["values": "exact"]),
      "options.values", "app-store", Self.parameter)
    transcript(
      "ENU-4", "a value of a set that Apple has replaced",
      asks: Self.request(
        "send-consumption-data",
        [("transactionId", .string(id)), ("customerConsented", true), ("refundPreference", 1)]),
      [api(1, 202)],
      facts: [
        ("/warnings.0.id", "deprecated-value"), ("/warnings.0.at", "refundPreference"),
        ("/warnings.1", .null),
      ])
  }

  /// Rule, name, request, location, verifier, status.
  private typealias Refused = (String, String, JSONText, String, String, String) -> Void

  private func addIds(_ refused: Refused) {
    func refuse(_ name: String, _ request: JSONText, at: String) {
      refused("API-21", name, request, at, "app-store", Self.parameter)
    }
    refuse("no id", info().removing("transactionId"), at: "transactionId")
    for (name, id) in [
      ("an empty id", ""), ("an id of 21 digits", "123456789012345678901"),
      ("an id with a slash", "1/2"), ("an id that is a number", 1),
    ] as [(String, JSONText)] {
      refuse(name, info().setting("transactionId", id), at: "transactionId")
    }
    for (name, id) in [
      ("an empty order", ""), ("an order with a slash", "M/1"),
      ("an order of 65 characters", .string(String(repeating: "M", count: 65))),
    ] as [(String, JSONText)] {
      refuse(name, Self.request("look-up-order-id", [("orderId", id)]), at: "orderId")
    }
    let status = Self.request("get-test-notification-status")
    for (name, token) in [
      ("a token with a control character", "a\u{1}b"), ("a token of one dot", "."),
      ("a token of two dots", ".."), ("an empty token", ""),
      ("a token of 256 bytes", .string(String(repeating: "t", count: 256))),
    ] as [(String, JSONText)] {
      refuse(name, status.setting("testNotificationToken", token), at: "testNotificationToken")
    }
    refuse(
      "an account that is no UUID",
      Self.request(
        "set-app-account-token", [("originalTransactionId", .string(id)), ("appAccountToken", "a")]),
      at: "appAccountToken")
  }

  private func addMembers(_ refused: Refused) {
    func refuse(_ name: String, _ request: JSONText, at: String) {
      refused("API-21", name, request, at, "app-store", Self.parameter)
    }
    for (name, member, value, at) in [
      ("one product in place of a list", "productId", "a", "productId"),
      ("no products", "productId", [], "productId"),
      ("a product without a name", "productId", ["a", ""], "productId[1]"),
      ("a long value of Apple's", "sort", .string(String(repeating: "A", count: 65)), "sort"),
      ("a word in place of yes", "revoked", "true", "revoked"),
      ("a date before 2008", "startDate", 1, "startDate"),
      ("a date after 2100", "endDate", 4_102_444_800_000, "endDate"),
    ] as [(String, String, JSONText, String)] {
      refuse(name, history().setting(member, value), at: at)
    }
    let statuses = Self.request(
      "get-all-subscription-statuses", [("transactionId", .string(id)), ("status", [6])])
    refuse("a status that does not exist", statuses, at: "status[0]")
    let extend = Self.request(
      "extend-subscription-renewal-date",
      [
        ("originalTransactionId", .string(id)), ("extendByDays", 1), ("extendReasonCode", 0),
        ("requestIdentifier", "r"),
      ])
    for (name, member, value) in [
      ("no days", "extendByDays", 0), ("91 days", "extendByDays", 91),
      ("an unknown reason", "extendReasonCode", 4),
      ("a long identifier", "requestIdentifier", .string(String(repeating: "r", count: 129))),
    ] as [(String, String, JSONText)] { refuse(name, extend.setting(member, value), at: member) }
  }

  private func addDates(_ refused: Refused) {
    let asked = Self.request(
      "get-notification-history",
      [
        ("startDate", .integer(now - 180 * Purchase.day)), ("endDate", .integer(now)),
        ("transactionId", .string(id)),
      ])
    transcript("API-21", "180 days of notifications", asks: asked, [apple(1, ["hasMore": false])])
    for (name, changes, at) in [
      ("more than 180 days", [("startDate", .integer(now - 180 * Purchase.day - 1))], "startDate"),
      ("an end that is the start", [("endDate", .integer(now - 180 * Purchase.day))], "endDate"),
      ("a subtype without a type", [("notificationSubtype", "X")], "notificationSubtype"),
      ("two filters", [("notificationType", "REFUND")], "transactionId"),
    ] as [(String, [(String, JSONText)], String)] {
      refused("API-21", name, asked.setting(changes), at, "app-store", Self.parameter)
    }
  }

  /// Adds requests with consumption information (API-24).
  func addConsumption() throws {
    let coins = purchase.of("com.example.app.coins100", .consumable)
    func evidence(_ purchase: Purchase, _ more: [(String, JSONText)] = []) throws
      -> EvidenceCase.Evidence
    { .init(.transaction, try fixture.authority.mint(purchase.transactionPayload.setting(more))) }
    let advanced = sandboxPurchase.rareTransactionMembers.filter { $0.0 == "advancedCommerceInfo" }
    let asked = Self.request(
      "send-consumption-information",
      [
        ("transactionId", .string(id)), ("customerConsented", true),
        ("sampleContentProvided", false), ("deliveryStatus", "DELIVERED"),
        ("consumptionPercentage", 50_000), ("refundPreference", "GRANT_PRORATED"),
      ])
    let body =
      "{\"customerConsented\":true,\"sampleContentProvided\":false,"
      + "\"deliveryStatus\":\"DELIVERED\",\"consumptionPercentage\":50000,"
      + "\"refundPreference\":\"GRANT_PRORATED\"}"
    let path = "/inApps/v2/transactions/consumption/" + id
    let sent = [
      api(
        1, 202, path: path, facts: [("http.method", "PUT"), ("http.body.text", .text(body))])
    ]
    transcript("API-24", "half of it was used", asks: asked, sent)
    transcript(
      "API-24", "half of it was used, with its transaction", asks: asked,
      evidence: [try evidence(coins)], sent)
    func refused(
      _ name: String, _ request: JSONText, _ evidence: [EvidenceCase.Evidence], at: String,
      _ status: String = AppStoreTranscript.parameter
    ) { transcript("API-24", name, asks: request, evidence: evidence, [], status, at: at) }
    refused("no consent", asked.setting("customerConsented", false), [], at: "customerConsented")
    refused(
      "not delivered and used", asked.setting("deliveryStatus", "UNDELIVERED_OTHER"), [],
      at: "consumptionPercentage")
    transcript(
      "API-24", "not delivered and not used",
      asks: asked.setting([
        ("deliveryStatus", "UNDELIVERED_OTHER"), ("consumptionPercentage", 0),
        ("refundPreference", "GRANT_FULL"),
      ]), evidence: [try evidence(coins)], [api(1, 202, path: path)])
    refused(
      "a share of a subscription", asked, [try evidence(purchase)], at: "consumptionPercentage")
    refused(
      "a share of nothing", asked.setting("consumptionPercentage", 0), [try evidence(coins)],
      at: "refundPreference")
    let assigned = try evidence(coins.with { $0.ownership = "ASSIGNED" })
    refused("an assigned purchase", asked, [assigned], at: "evidence[0]")
    refused(
      "an Advanced Commerce purchase", asked, [try evidence(coins, advanced)], at: "evidence[0]")
    let misused = "misuse.exchange.evidence"
    refused(
      "another transaction", asked,
      [try evidence(coins.with { $0.transactionId = "180000900000009" })], at: "evidence[0]",
      misused)
    transcript(
      "EXC-2", "a renewal in place of a transaction", asks: asked,
      evidence: [.init(.renewalInfo, try fixture.authority.mint(purchase.renewalPayload))], [],
      misused,
      at: "evidence[0]")
    transcript(
      "EXC-2", "evidence for a kind that takes none", evidence: [try evidence(purchase)], [],
      misused, at: "evidence[0]")
    let older = Self.request(
      "send-consumption-data",
      [
        ("transactionId", .string(id)), ("customerConsented", true), ("appAccountToken", ""),
        ("deliveryStatus", 5), ("accountTenure", 7), ("platform", 2),
      ])
    transcript(
      "API-24", "an Advanced Commerce purchase by the older request", asks: older,
      evidence: [try evidence(coins, advanced)],
      [
        api(
          1, 202, path: "/inApps/v1/transactions/consumption/" + id,
          facts: [
            (
              "http.body.text",
              "{\"customerConsented\":true,\"platform\":2,\"deliveryStatus\":5,\"appAccountToken\":\"\",\"accountTenure\":7}"
            )
          ])
      ])
    refused(
      "any other purchase by the older request", older, [try evidence(coins)], at: "evidence[0]")
    refused(
      "an assigned purchase by the older request", older,
      [try evidence(coins.with { $0.ownership = "ASSIGNED" }, advanced)], at: "evidence[0]")
    refused(
      "another transaction by the older request", older.setting("transactionId", "1"),
      [try evidence(coins, advanced)], at: "evidence[0]", misused)
    let account = Self.request(
      "set-app-account-token",
      [
        ("originalTransactionId", .string(id)),
        ("appAccountToken", "0f8fad5b-d9cb-469f-a165-70867728950e"),
      ])
    transcript(
      "API-24", "an account, with its transaction", asks: account,
      evidence: [try evidence(purchase)], [api(1, 200)])
    for ownership in ["ASSIGNED", "FAMILY_SHARED"] {
      refused(
        "an account for \(ownership)", account,
        [try evidence(purchase.with { $0.ownership = ownership })], at: "evidence[0]")
    }
    refused(
      "an account for another transaction", account.setting("originalTransactionId", "1"),
      [try evidence(purchase)], at: "evidence[0]", misused)
  }

  /// Adds exchanges that reach their deadline or most steps (EXC-15, EXC-16).
  func addBounds() throws {
    let short = info().setting("deadlineMs", .integer(now + 3000))
    transcript(
      "EXC-16", "a wait that does not fit", asks: short,
      [api(1, 500), wait(pause(1000, 1)), api(3, 500, after: 2000)], Self.noAnswer,
      facts: [
        ("retry.notBeforeMs", .integer(now + 2000 + pause(4000, 2))),
        ("retry.request.deadlineMs", .null),
      ])
    transcript(
      "EXC-16", "the rate is limited past the deadline", asks: short,
      [api(1, 429, headers: [("retry-after", "4")])], Self.limited,
      facts: [("retry.notBeforeMs", .integer(now + 4000))])
    transcript(
      "EXC-16", "the deadline passes before our other token", asks: short,
      [api(1, 401, after: 3000)], "unavailable.exchange.deadline",
      facts: [("reached.step", "http"), ("reached.steps", 1)])
    let good: JSONText = ["signedTransactionInfo": try signed(.transaction)]
    transcript("EXC-16", "an answer after the deadline", asks: short, [apple(1, good, after: 9000)])
    let found: JSONText = [
      "signedTransactionInfo": try signed(
        .transaction,
        sandboxPurchase.with { ($0.transactionId, $0.originalTransactionId) = (id, id) })
    ]
    transcript(
      "EXC-15", "as many steps as there can be", asks: info("auto"),
      [
        api(1, 401), api(2, 500), wait(pause(1000, 2)), error(4, 4_040_010, after: 2000),
        api(5, 500, to: Self.sandbox, path: infoPath, after: 2000), wait(2000 + pause(4000, 4)),
        apple(7, found, to: Self.sandbox, path: infoPath, after: 8000),
      ])
  }
}
