import AssayAuthority

// MARK: - Advanced Commerce

extension AppStoreTranscript {
  private static let reference = "0f8fad5b-d9cb-469f-a165-70867728950e"
  private static let account = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
  private static let base = "/advancedCommerce/v1/"
  private static let older = "https://api.storekit.itunes.apple.com"
  private static let olderSandbox = "https://api.storekit-sandbox.itunes.apple.com"
  private static let misuse = "misuse.aca.parameter"
  private static let info = #""requestInfo":{"requestReferenceId":"\#(reference)"}"#

  /// Adds the calls of the Advanced Commerce API (ACA-1 … ACA-12).
  func addAdvancedCommerce() throws {
    try addCommerceCalls()
    try addCommerceAnswers()
    addCommerceErrors()
    addCommerceRefusals()
  }

  private func commerce(_ operation: String, _ more: [(String, JSONText)] = []) -> JSONText {
    Self.request(
      operation,
      [
        ("transactionId", .string(id)),
        ("requestInfo", ["requestReferenceId": .string(Self.reference.uppercased())]),
      ] + more)
  }

  private var cancellation: JSONText { commerce("cancel-subscription") }

  private var revocation: JSONText {
    commerce(
      "revoke-subscription",
      [
        ("environment", "Sandbox"), ("refundRiskingPreference", true), ("refundType", "FULL"),
        ("refundReason", "SIMULATE_REFUND_DECLINE"), ("storefront", "USA"),
      ])
  }

  private var refund: JSONText {
    commerce(
      "request-transaction-refund",
      [
        (
          "items",
          [
            [
              "refundAmount": 500, "SKU": "sku.1", "revoke": false, "refundReason": "LEGAL",
              "refundType": "CUSTOM",
            ],
            ["SKU": "sku.2", "revoke": true, "refundReason": "OTHER", "refundType": "PRORATED"],
          ]
        ), ("refundRiskingPreference", false), ("currency", "EUR"), ("storefront", "DEU"),
      ])
  }

  private var metadata: JSONText {
    commerce(
      "change-subscription-metadata",
      [
        ("descriptors", ["effective": "NEXT_BILL_CYCLE", "displayName": "All"]),
        (
          "items",
          [["currentSKU": "a", "effective": "IMMEDIATELY", "SKU": "b", "description": "B"]]
        ), ("storefront", "USA"), ("taxCode", "C003-00-1"),
      ])
  }

  private var price: JSONText {
    commerce(
      "change-subscription-price",
      [
        ("items", [["SKU": "a", "price": 0, "dependentSKUs": ["b", "c"]]]), ("currency", "USD"),
        ("storefront", "USA"),
      ])
  }

  private var migration: JSONText {
    let item: JSONText = ["SKU": "a", "description": "A", "displayName": "A"]
    return commerce(
      "migrate-subscription",
      [
        ("descriptors", ["description": "All", "displayName": "All"]), ("items", [item]),
        ("targetProductId", "p.generic"), ("taxCode", "C003-00-1"), ("renewalItems", [item]),
        ("storefront", "USA"),
      ])
  }

  // MARK: good ones

  private func addCommerceCalls() throws {
    let answer: JSONText = ["signedTransactionInfo": try signed(.transaction)]
    let calls: [(String, JSONText, String, String)] = [
      ("a cancellation", cancellation, "subscription/cancel", ""),
      (
        "a refund", refund, "transaction/requestRefund",
        #","items":[{"SKU":"sku.1","revoke":false,"refundReason":"LEGAL","refundType":"CUSTOM","#
          + #""refundAmount":500},{"SKU":"sku.2","revoke":true,"refundReason":"OTHER","#
          + #""refundType":"PRORATED"}],"refundRiskingPreference":false,"currency":"EUR","#
          + #""storefront":"DEU""#
      ),
      (
        "other texts", metadata, "subscription/changeMetadata",
        #","descriptors":{"effective":"NEXT_BILL_CYCLE","displayName":"All"},"items":[{"#
          + #""currentSKU":"a","effective":"IMMEDIATELY","SKU":"b","description":"B"}],"#
          + #""storefront":"USA","taxCode":"C003-00-1""#
      ),
      (
        "another price", price, "subscription/changePrice",
        #","items":[{"SKU":"a","price":0,"dependentSKUs":["b","c"]}],"currency":"USD","#
          + #""storefront":"USA""#
      ),
      (
        "a migration", migration, "subscription/migrate",
        #","descriptors":{"description":"All","displayName":"All"},"items":[{"SKU":"a","#
          + #""description":"A","displayName":"A"}],"targetProductId":"p.generic","#
          + #""taxCode":"C003-00-1","renewalItems":[{"SKU":"a","description":"A","#
          + #""displayName":"A"}],"storefront":"USA""#
      ),
    ]
    for (name, request, path, rest) in calls {
      transcript(
        "ACA-7", name, asks: request,
        [
          apple(
            1, answer, to: Self.older, path: "\(Self.base)\(path)/\(id)",
            facts: [
              ("http.method", "POST"), ("http.body.text", .text("{\(Self.info)\(rest)}")),
              ("http.headers.3.0", "Content-Type"), ("http.headers.3.1", "application/json"),
            ])
        ],
        facts: [
          ("result.transactions.0.transactionId", .text(id)), ("result.renewals.0", .null),
          ("/warnings.0", .null),
        ])
    }
    transcript(
      "ACA-7", "a revocation in Sandbox", asks: revocation,
      [
        apple(
          1, ["signedTransactionInfo": try signed(.transaction, sandboxPurchase)],
          to: Self.olderSandbox, path: "\(Self.base)subscription/revoke/\(id)",
          facts: [
            (
              "http.body.text",
              .text(
                "{\(Self.info)" + #","refundRiskingPreference":true,"refundType":"FULL","#
                  + #""refundReason":"SIMULATE_REFUND_DECLINE","storefront":"USA"}"#)
            )
          ])
      ], facts: [("environment", "Sandbox")])
    transcript(
      "ACA-9", "the account and the consistency token of a request",
      asks: cancellation.setting(
        "requestInfo",
        [
          "consistencyToken": "t1", "appAccountToken": .string(Self.account.uppercased()),
          "requestReferenceId": .string(Self.reference),
        ]),
      [
        apple(
          1, answer, to: Self.older,
          facts: [
            (
              "http.body.text",
              .text(
                #"{"requestInfo":{"requestReferenceId":"\#(Self.reference)","#
                  + #""appAccountToken":"\#(Self.account)","consistencyToken":"t1"}}"#)
            )
          ])
      ])
  }

  private func addCommerceAnswers() throws {
    let both: JSONText = [
      "signedTransactionInfo": try signed(.transaction),
      "signedRenewalInfo": try signed(.renewalInfo),
    ]
    func answered(
      _ rule: String, _ name: String, _ answer: JSONText, _ status: String = "ok",
      check: String? = nil, at: String? = nil, facts: Facts = []
    ) {
      transcript(
        rule, name, asks: cancellation, [apple(1, answer, to: Self.older)], status,
        check: check, at: at, facts: facts)
    }
    answered(
      "ACA-12", "a transaction and a renewal info", both,
      facts: [
        ("result.transactions.0.transactionId", .text(id)),
        ("result.renewals.0.originalTransactionId", .text(purchase.originalTransactionId)),
      ])
    answered(
      "ACA-12", "neither of both", [:],
      facts: [("result.transactions.0", .null), ("result.renewals.0", .null)])
    answered(
      "API-31", "a forged transaction of Advanced Commerce",
      both.setting("signedTransactionInfo", try forged()), "rejected.jws.signature",
      check: "result", at: "signedTransactionInfo/signature")
    answered(
      "API-31", "a renewal info that is a transaction",
      both.setting("signedRenewalInfo", try signed(.transaction)), "rejected.kind.mismatch",
      check: "result", at: "signedRenewalInfo")
    answered(
      "API-32", "a renewal info of Sandbox",
      both.setting("signedRenewalInfo", try signed(.renewalInfo, sandboxPurchase)),
      "rejected.app-store.inconsistent", check: "result", at: "signedRenewalInfo.environment")
  }

  // MARK: Apple's refusals

  private func addCommerceErrors() {
    func refused(
      _ rule: String, _ name: String, _ request: JSONText, _ code: Int64, _ status: String,
      hint: String? = nil, facts: Facts = []
    ) {
      transcript(
        rule, name, asks: request, [error(1, code, to: Self.older)], status, at: "status",
        hint: hint, facts: [("api.errorCode", .integer(code))] + facts)
    }
    let bad = "rejected.app-store.bad-request"
    for (code, name) in [
      (4_000_086, "NegativePrice"), (4_000_127, "InvalidTaxProductCode"),
      (4_000_205, "PriceChangeCannotBeIssuedWhenAlreadyCommunicated"),
    ] as [(Int64, String)] {
      refused(
        "ACA-12", "Apple's error \(name)", price, code, bad, facts: [("api.errorName", .text(name))]
      )
    }
    refused(
      "ACA-2", "a reference that was used", cancellation, 4_000_097,
      "rejected.app-store.repeated-reference",
      facts: [("api.errorName", "RepeatedRequestReferenceId")])
    transcript(
      "ACA-2", "a reference that an unclear attempt has used", asks: cancellation,
      [
        api(1, 503, to: Self.older),
        wait(Self.pause(1000, 1, "\(Self.base)subscription/cancel/\(id)")),
        error(3, 4_000_097, to: Self.older, after: 2000),
      ], "rejected.app-store.repeated-reference", at: "status")
    let addendum =
      "exchange.api.errorName says why; without one, the app has not signed Apple's addendum for"
      + " these calls"
    let forbidden = "rejected.app-store.forbidden"
    refused("ACA-10", "no such subscription", cancellation, 4_030_008, forbidden, hint: addendum)
    refused("ACA-10", "refunded before", refund, 4_030_021, forbidden, hint: addendum)
    refused("ACA-12", "a price that may not change", price, 4_030_010, forbidden)
    transcript(
      "ACA-10", "no addendum", asks: cancellation, [api(1, 403, to: Self.older)], forbidden,
      at: "status", hint: addendum)
    refused(
      "ACA-12", "no such transaction", migration, 4_040_010, "rejected.app-store.not-found")
    transcript(
      "ACA-12", "no such path", asks: migration, [api(1, 404, to: Self.older)],
      "rejected.app-store.not-found", at: "status")
    transcript(
      "ACA-12", "a conflict", asks: metadata, [api(1, 409, to: Self.older)],
      "rejected.app-store.conflict", at: "status")
    transcript(
      "ACA-12", "a token refused twice", asks: cancellation,
      [api(1, 401, to: Self.older), api(2, 401, to: Self.older)], Self.unauthorized,
      at: "status")
    let once: JSONText = ["attempts": 1]
    transcript(
      "ACA-12", "too many requests", asks: cancellation.setting("options", once),
      [api(1, 429, to: Self.older, headers: [("Retry-After", "1")])], Self.limited)
    refused(
      "ACA-12", "an error that may pass", cancellation.setting("options", once), 5_000_001,
      Self.noAnswer)
    refused(
      "ACA-12", "an error that stays", cancellation.setting("options", once), 5_000_000,
      Self.noAnswer)
    transcript(
      "ACA-5", "a repetition with the same reference", asks: cancellation,
      [
        api(1, 500, to: Self.older),
        wait(Self.pause(1000, 1, "\(Self.base)subscription/cancel/\(id)")),
        apple(
          3, [:], to: Self.older, after: 2000,
          facts: [("http.body.text", .text("{\(Self.info)}"))]),
      ])
    transcript(
      "API-30", "an answer of Advanced Commerce that was cut", asks: cancellation,
      [
        api(
          1, 200, to: Self.older, headers: [("Content-Type", "application/json")],
          more: [("truncated", true)])
      ], "too-large.app-store.response", check: "reply", at: "truncated")
  }

  // MARK: refused before anything is sent

  private func addCommerceRefusals() {
    func refuse(
      _ rule: String, _ name: String, _ request: JSONText, _ at: String,
      _ status: String = AppStoreTranscript.misuse
    ) { transcript(rule, name, asks: request, [], status, at: at) }
    refuse(
      "ACA-8", "both environments for Advanced Commerce",
      cancellation.setting("environment", "auto"), "environment",
      "unsupported.app-store.environment")
    for (name, request, at) in [
      ("no request info", cancellation.removing("requestInfo"), "requestInfo"),
      (
        "no reference", cancellation.setting("requestInfo", [:]),
        "requestInfo.requestReferenceId"
      ),
      (
        "a reference that is no UUID",
        cancellation.setting("requestInfo", ["requestReferenceId": "1"]),
        "requestInfo.requestReferenceId"
      ),
      (
        "a typing error",
        price.setting("items", [["SKU": "a", "price": 1, "prices": 1]]), "items[0].prices"
      ),
      ("a negative price", price.setting("items", [["SKU": "a", "price": -1]]), "items[0].price"),
      ("a price as text", price.setting("items", [["SKU": "a", "price": "1"]]), "items[0].price"),
      ("no items", price.setting("items", []), "items"),
      (
        "an id of 129 characters",
        price.setting(
          "items", [["SKU": .string(String(repeating: "é", count: 129)), "price": 1]]),
        "items[0].SKU"
      ),
      (
        "a description of 46 characters",
        migration.setting(
          "descriptors",
          [
            "description": .string(String(repeating: "a", count: 46)), "displayName": "a",
          ]), "descriptors.description"
      ),
      (
        "a name of 31 characters",
        migration.setting(
          "descriptors",
          [
            "description": "a", "displayName": .string(String(repeating: "a", count: 31)),
          ]), "descriptors.displayName"
      ),
      (
        "another time of a change",
        metadata.setting("descriptors", ["effective": "NOW"]), "descriptors.effective"
      ),
      ("another refund", revocation.setting("refundType", "full"), "refundType"),
      ("an empty tax code", migration.setting("taxCode", ""), "taxCode"),
      ("a transaction that is none", price.setting("transactionId", "a"), "transactionId"),
    ] as [(String, JSONText, String)] {
      refuse("ACA-1", "a request of Advanced Commerce with \(name)", request, at)
    }
    func item(_ type: String, _ amount: JSONText?) -> JSONText {
      let item: JSONText = [
        "SKU": "a", "revoke": false, "refundReason": "LEGAL", "refundType": .string(type),
      ]
      return refund.setting("items", [amount.map { item.setting("refundAmount", $0) } ?? item])
    }
    refuse("ACA-10", "an amount of a full refund", item("FULL", 1), "items[0].refundAmount")
    refuse("ACA-10", "a refund without amount", item("CUSTOM", nil), "items[0].refundAmount")
    refuse(
      "ACA-10", "a simulated decline in Production",
      revocation.setting("environment", "Production"), "refundReason")
    refuse(
      "ACA-10", "a simulated decline of an item in Production",
      refund.setting(
        "items",
        [
          [
            "SKU": "a", "revoke": false, "refundReason": "SIMULATE_REFUND_DECLINE",
            "refundType": "FULL",
          ]
        ]), "items[0].refundReason")
  }
}
