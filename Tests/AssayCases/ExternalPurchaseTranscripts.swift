import AssayAuthority

// MARK: - reports about external purchases

extension AppStoreTranscript {
  private static let report = "0f8fad5b-d9cb-469f-a165-70867728950e"
  private static let path = "/externalPurchase/v1/reports"
  private static let misuse = "misuse.external-purchase.parameter"

  /// Adds reports about external purchases (EXP-1 … EXP-9).
  func addExternalPurchases() {
    addReports()
    addReportAnswers()
    addReportRepetitions()
    addReportRefusals()
  }

  private func reporting(_ more: [(String, JSONText)] = []) -> JSONText {
    Self.request(
      "send-external-purchase-report",
      [
        ("requestIdentifier", .string(Self.report.uppercased())), ("externalPurchaseId", "t-1"),
        ("status", "NO_LINE_ITEM"),
      ] + more)
  }

  private var charge: JSONText {
    [
      "lineItemId": "l-1", "creationDate": .integer(now - 1000), "eventType": "BUY",
      "productType": "ONE_TIME_BUY", "pricingCurrency": "EUR", "reportingCurrency": "EUR",
      "amountTaxExclusive": 1000, "amountTaxInclusive": 1190, "netAmountTaxExclusive": 1000,
      "taxAmount": 190, "taxCountry": "DEU", "productIdentifier": "p", "quantity": 1,
    ]
  }

  private var subscription: JSONText {
    charge.setting([
      ("productType", "SUBSCRIPTION"), ("subscriptionEvent", "SUBSCRIPTION_START"),
      ("subscriptionStartDate", .integer(now)), ("subscriptionEndDate", .integer(now + 1)),
      ("subscriptionDaysOfPaidService", 0),
    ])
  }

  private var takeBack: JSONText {
    charge.removing(["productType", "productIdentifier", "quantity"]).setting([
      ("eventType", "REFUND"), ("referenceLineItemId", "l-0"),
    ])
  }

  private func items(_ items: [JSONText]) -> JSONText {
    reporting([("status", "LINE_ITEM"), ("lineItems", .array(items))])
  }

  private var taken: JSONText { ["requestIdentifier": .string(Self.report)] }

  private func addReports() {
    transcript(
      "EXP-2", "a report without purchases", asks: reporting(),
      [
        apple(
          1, taken, path: Self.path,
          facts: [
            ("http.method", "PUT"),
            (
              "http.body.text",
              .text(
                #"{"requestIdentifier":"\#(Self.report)","externalPurchaseId":"t-1","#
                  + #""status":"NO_LINE_ITEM"}"#)
            ),
          ])
      ], facts: [("result.unsigned.requestIdentifier", .text(Self.report))])
    transcript(
      "EXP-1", "a report about a token of Sandbox, in the token's environment",
      asks: reporting([("externalPurchaseId", "SANDBOX_1"), ("environment", "auto")]),
      [apple(1, taken, to: Self.sandbox)], facts: [("environment", "Sandbox")])
    transcript(
      "EXP-1", "a report about a token of Production, in the token's environment",
      asks: reporting([("environment", "auto")]), [apple(1, taken)])
    for (name, item) in [
      ("a purchase", charge), ("the start of a subscription", subscription),
      (
        "a renewal",
        subscription.setting([
          ("subscriptionEvent", "RENEWAL"), ("referenceLineItemId", "l-0"),
          ("subscriptionDaysOfPaidService", 30),
        ])
      ), ("a refund", takeBack),
      (
        "another currency",
        charge.setting([("pricingCurrency", "CHF"), ("exchangeRate", "1.0432")])
      ),
      (
        "a line item that is withdrawn",
        charge.setting([("restatement", true), ("erroneouslySubmitted", true)])
      ),
    ] as [(String, JSONText)] {
      transcript("EXP-3", "a report of \(name)", asks: items([item]), [apple(1, taken)])
    }
    let stored = taken.setting([
      ("externalPurchaseId", "t-1"), ("status", "LINE_ITEM"), ("lineItems", [charge]),
    ])
    transcript(
      "EXP-5", "what Apple has of a report",
      asks: Self.request(
        "get-external-purchase-report", [("requestIdentifier", .string(Self.report))]),
      [apple(1, stored, path: "\(Self.path)/\(Self.report)")],
      facts: [
        ("result.unsigned.requestIdentifier", .text(Self.report)),
        ("result.unsigned.externalPurchaseReport.status", "LINE_ITEM"),
        ("result.unsigned.externalPurchaseReport.lineItems.0.lineItemId", "l-1"),
      ])
  }

  /// Returns Apple's list of what is wrong.
  private func list(_ id: Int64, _ code: Int64, after: Int64 = 0) -> Said {
    api(
      id, 400,
      [
        "errors": [
          [
            "errorCode": .integer(code), "errorMessage": "Apple says no.",
            "fieldName": "taxAmount", "lineItemId": "l-1",
          ]
        ]
      ], after: after)
  }

  private func addReportAnswers() {
    transcript(
      "EXP-5", "a report that Apple refuses", asks: items([charge]), [list(1, 24)],
      "rejected.external-purchase.report", check: "result", at: "status",
      facts: [
        ("api.errors.0.errorCode", 24), ("api.errors.0.fieldName", "taxAmount"),
        ("api.errors.0.lineItemId", "l-1"),
      ])
    transcript(
      "EXP-5", "an error of the ordinary form", asks: reporting(), [error(1, 4_000_000)],
      "rejected.app-store.bad-request", at: "status", facts: [("api.errors", .null)])
    transcript(
      "EXP-5", "no such report",
      asks: Self.request(
        "get-external-purchase-report", [("requestIdentifier", .string(Self.report))]),
      [list(1, 3)], "rejected.app-store.not-found", at: "status")
    transcript(
      "API-32", "the answer to another report", asks: reporting(),
      [apple(1, ["requestIdentifier": "1"])], "rejected.app-store.inconsistent", check: "result",
      at: "requestIdentifier")
    let once = reporting([("options", ["attempts": 1])])
    transcript(
      "EXP-6", "two reports at once", asks: once, [list(1, 26)], Self.noAnswer, at: "status")
    transcript(
      "EXP-5", "too many reports", asks: once, [api(1, 429, headers: [("Retry-After", "1")])],
      Self.limited)
    transcript("EXP-5", "no answer to a report", asks: once, [api(1, 500)], Self.noAnswer)
    transcript(
      "EXP-5", "tokens refused for a report", asks: once, [api(1, 401), api(2, 401)],
      Self.unauthorized)
  }

  /// Adds reports whose first attempt may have been taken (EXP-7).
  private func addReportRepetitions() {
    let (later, looked) = (wait(Self.pause(1000, 1, Self.path)), "\(Self.path)/\(Self.report)")
    let stored = taken.setting("lineItems", [charge])
    let done: Facts = [
      ("/warnings.0.id", "already-done"), ("/warnings.0.at", "status"), ("api", .null),
    ]
    transcript(
      "EXP-7", "a report that an unclear attempt has brought", asks: items([charge]),
      [
        api(1, 503), later,
        apple(3, stored, path: looked, after: 2000, facts: [("http.method", "GET")]),
      ], facts: done)
    transcript(
      "EXP-7", "a report that an earlier exchange has brought",
      asks: items([charge]).setting("attempt", 2), [apple(1, stored, path: looked)], facts: done)
    transcript(
      "EXP-7", "a report that no attempt has brought", asks: items([charge]),
      [
        api(1, 503), later, list(3, 3, after: 2000),
        apple(4, taken, path: Self.path, after: 2000, facts: [("http.method", "PUT")]),
      ], facts: [("/warnings.0", .null)])
    transcript(
      "EXP-7", "another report under the same id", asks: items([charge]).setting("attempt", 2),
      [apple(1, stored.setting("lineItems", [charge.setting("lineItemId", "l-2")]))],
      "rejected.external-purchase.disagree", check: "result", at: "lineItems",
      facts: [("result.unsigned.externalPurchaseReport.lineItems.0.lineItemId", "l-2")])
    transcript(
      "EXP-7", "a report with fewer line items under the same id",
      asks: items([charge, charge.setting("lineItemId", "l-2")]).setting("attempt", 2),
      [apple(1, stored)], "rejected.external-purchase.disagree", check: "result", at: "lineItems")
    transcript(
      "EXP-7", "a report with more line items under the same id",
      asks: items([charge]).setting("attempt", 2),
      [apple(1, stored.setting("lineItems", [charge, charge.setting("lineItemId", "l-2")]))],
      "rejected.external-purchase.disagree", check: "result", at: "lineItems")
  }

  private func addReportRefusals() {
    func refuse(
      _ rule: String, _ name: String, _ request: JSONText, _ at: String,
      _ status: String = AppStoreTranscript.misuse
    ) { transcript(rule, name, asks: request, [], status, at: at) }
    refuse(
      "EXP-1", "a token of Sandbox in Production",
      reporting([("externalPurchaseId", "SANDBOX_1")]), "environment",
      "unsupported.app-store.environment")
    refuse(
      "EXP-1", "a token of Production in Sandbox", reporting([("environment", "Sandbox")]),
      "environment", "unsupported.app-store.environment")
    refuse(
      "EXP-1", "a report from any environment",
      Self.request(
        "get-external-purchase-report",
        [("requestIdentifier", .string(Self.report)), ("environment", "auto")]), "environment",
      "unsupported.app-store.environment")
    refuse("EXP-4", "no line items", reporting([("status", "LINE_ITEM")]), "lineItems")
    refuse("EXP-4", "line items of none", reporting([("lineItems", [charge])]), "lineItems")
    refuse("EXP-4", "an id twice", items([charge, charge]), "lineItems[1].lineItemId")
    for (name, item, at) in [
      ("no amount", charge.removing("taxAmount"), "taxAmount"),
      ("a negative amount", charge.setting("taxAmount", -1), "taxAmount"),
      ("a wrong sum", charge.setting("amountTaxInclusive", 1191), "amountTaxInclusive"),
      ("a typing error", charge.setting("taxamount", 1), "taxamount"),
      ("a purchase without product", charge.removing("productIdentifier"), "productIdentifier"),
      ("a refund of a product", takeBack.setting("quantity", 1), "quantity"),
      ("a refund of nothing", takeBack.removing("referenceLineItemId"), "referenceLineItemId"),
      ("a refund of itself", takeBack.setting("referenceLineItemId", "l-1"), "referenceLineItemId"),
      (
        "a purchase that follows", charge.setting("referenceLineItemId", "l-0"),
        "referenceLineItemId"
      ), ("a future", charge.setting("creationDate", .integer(now + 1)), "creationDate"),
      (
        "an error that restates nothing", charge.setting("erroneouslySubmitted", true),
        "erroneouslySubmitted"
      ), ("a rate of one currency", charge.setting("exchangeRate", "1"), "exchangeRate"),
      ("no rate", charge.setting("pricingCurrency", "CHF"), "exchangeRate"),
      (
        "a rate of 0", charge.setting([("pricingCurrency", "CHF"), ("exchangeRate", "0.0")]),
        "exchangeRate"
      ),
      (
        "a rate that is no number",
        charge.setting([("pricingCurrency", "CHF"), ("exchangeRate", "1.")]), "exchangeRate"
      ),
      (
        "a rate with two points",
        charge.setting([("pricingCurrency", "CHF"), ("exchangeRate", "1.2.3")]), "exchangeRate"
      ),
      (
        "a rate with a comma",
        charge.setting([("pricingCurrency", "CHF"), ("exchangeRate", "1,2")]), "exchangeRate"
      ), ("a country in small letters", charge.setting("taxCountry", "deu"), "taxCountry"),
      ("a country of two letters", charge.setting("taxCountry", "DE"), "taxCountry"),
      (
        "a subscription without days", subscription.removing("subscriptionDaysOfPaidService"),
        "subscriptionDaysOfPaidService"
      ),
      (
        "a subscription of one purchase", charge.setting("subscriptionEvent", "RENEWAL"),
        "subscriptionEvent"
      ),
      (
        "a period that ends before it begins",
        subscription.setting("subscriptionEndDate", .integer(now - 1)), "subscriptionStartDate"
      ),
      (
        "a start with days", subscription.setting("subscriptionDaysOfPaidService", 1),
        "subscriptionDaysOfPaidService"
      ),
    ] as [(String, JSONText, String)] {
      refuse("EXP-4", "a line item with \(name)", items([item]), "lineItems[0]." + at)
    }
  }
}
