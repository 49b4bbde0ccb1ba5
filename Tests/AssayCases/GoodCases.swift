import AssayAuthority

extension CaseFixture {
  /// Adds good evidence of every kind, with the facts that must follow.
  func addGoodEvidence() throws {
    verify(
      "JWS-1", "a good transaction",
      try authority.mint(purchase.transactionPayload), facts: transactionFacts)
    verify(
      "JWS-1", "a good transaction of Production",
      try authority.mint(production.transactionPayload),
      facts: [
        ("environment", "Production"), ("keys.transaction", "Production/180000900000001"),
        ("keys.purchase", "Production/180000900000001/2000000090000001"),
      ])
    verify(
      "JWS-1", "a good renewal info", try authority.mint(purchase.renewalPayload),
      kind: .renewalInfo,
      facts: [
        ("environment", "Sandbox"),
        ("originalTransactionId", .text(purchase.originalTransactionId)),
        ("productId", .text(purchase.productId)), ("autoRenewProductId", .text(purchase.productId)),
        ("autoRenewStatus", 1), ("signedDate", .integer(purchase.signedDate)),
        ("effectiveDate.ms", .integer(purchase.signedDate)), ("effectiveDate.source", "signedDate"),
        ("keys.subscription", .text("Sandbox/" + purchase.originalTransactionId)),
        ("bundleId", .null), ("gracePeriodExpiresDate", .null),
      ])
    for shape in [purchase, production] {
      verify(
        "JWS-1", "a good app transaction of \(shape.environment)",
        try authority.mint(shape.appTransactionPayload), kind: .appTransaction,
        facts: [
          ("environment", .text(shape.environment)), ("bundleId", .text(shape.bundleId)),
          ("appAppleId", 1_234_567_890), ("effectiveDate.ms", .integer(shape.signedDate)),
          ("effectiveDate.source", "receiptCreationDate"),
          ("appTransactionId", "704000000000000001"),
          ("keys.app", .text(shape.environment + "/704000000000000001")),
        ])
      verify(
        "JWS-1", "a good realtime request of \(shape.environment)",
        try authority.mint(shape.realtimeRequestPayload), kind: .realtimeRequest,
        facts: [
          ("environment", .text(shape.environment)),
          ("originalTransactionId", .text(shape.originalTransactionId)),
          ("productId", .text(shape.productId)), ("appAppleId", 1_234_567_890),
        ])
    }
    verify(
      "JWS-64", "a good transaction without a cache",
      try authority.mint(purchase.transactionPayload), verifier: "no-cache",
      facts: transactionFacts)
    try addProductTypes()
    try addFullPayloads()
  }

  private var transactionFacts: Facts {
    [
      ("/kind", "transaction"), ("/status.name", "ok"), ("/status.code", 0),
      ("environment", "Sandbox"), ("environmentSource", "payload"),
      ("bundleId", .text(purchase.bundleId)), ("productId", .text(purchase.productId)),
      ("transactionId", .text(purchase.transactionId)),
      ("originalTransactionId", .text(purchase.originalTransactionId)),
      ("type", "Auto-Renewable Subscription"), ("signedDate", .integer(purchase.signedDate)),
      ("effectiveDate.ms", .integer(purchase.signedDate)), ("effectiveDate.source", "signedDate"),
      ("expiresDate", .integer(purchase.expiresDate ?? 0)), ("revocationDate", .null),
      ("appAccountToken", .null), ("appTransactionId", "704000000000000001"),
      ("keys.transaction", .text("Sandbox/" + purchase.transactionId)),
      ("keys.purchase", .text("Sandbox/" + purchase.originalTransactionId + "/2000000090000001")),
      ("keys.subscription", .text("Sandbox/" + purchase.originalTransactionId)),
      ("chain.leaf.sha256", .text(Authority.fingerprint(authority.chain.leaf))),
      ("chain.intermediate.sha256", .text(Authority.fingerprint(authority.chain.intermediate))),
      ("chain.root.sha256", .text(Authority.fingerprint(authority.chain.root))),
      ("chain.leaf.notAfter", .integer(authority.windows.leaf.upperBound * 1000)),
      ("payload.storefront", "USA"), ("payload.price", 9990), ("/error", .null),
      ("/warnings.0.id", .null),
    ]
  }

  /// Adds the purchase key of each product type (JWS-94).
  private func addProductTypes() throws {
    let renewed = purchase.with { $0.transactionId = "2000000900000007" }
    let line = "Sandbox/2000000900000001"
    let one = "Sandbox/2000000900000007"
    let keys: [(String, Purchase, String)] = [
      ("a renewed period", renewed, line + "/2000000090000001"),
      (
        "a renewed period without its web order line item",
        renewed.with { $0.webOrderLineItemId = nil }, line + "/\(renewed.purchaseDate)"
      ),
      (
        "a renewed period with web order line item 0",
        renewed.with { $0.webOrderLineItemId = "0" }, line + "/\(renewed.purchaseDate)"
      ),
      ("a restored non-consumable", renewed.of("com.example.app.lifetime", .nonConsumable), line),
      ("a consumable", renewed.of("com.example.app.coins100", .consumable), one),
      ("a non-renewing subscription", renewed.of("com.example.app.season", .nonRenewing), one),
    ]
    for (name, shape, key) in keys {
      verify(
        "JWS-94", "the keys of \(name)", try authority.mint(shape.transactionPayload),
        facts: [
          ("keys.purchase", .text(key)), ("keys.transaction", .text(one)),
          ("keys.subscription", .text(line)), ("type", .text(shape.type.rawValue)),
        ])
    }
    for member in ["transactionId", "originalTransactionId"] {
      let key = member == "transactionId" ? "transaction" : "subscription"
      try verify(
        "JWS-94", "no \(member): no \(key) key",
        payload: purchase.transactionPayload.removing(member),
        facts: [("keys.\(key)", .null), ("\(member)", .null)])
    }
    try verify(
      "JWS-94", "the second valid signature gives the same keys",
      payload: renewed.transactionPayload, facts: [("keys.transaction", .text(one))])
  }

  /// Adds payloads with every member of the specification.
  private func addFullPayloads() throws {
    try verify(
      "PAY-2", "a transaction with every member",
      payload: purchase.transactionPayload.setting(purchase.rareTransactionMembers),
      facts: [
        ("appAccountToken", "0f8fad5b-d9cb-469f-a165-70867728950e"),
        ("revocationDate", .integer(purchase.signedDate - 1000)),
        ("payload.commitmentInfo.billingPeriodNumber", 3),
        ("payload.advancedCommerceInfo.items.0.refunds.0.refundType", "FULL"),
        ("/warnings.0.id", .null),
      ])
    try verify(
      "PAY-2", "a renewal info with every member",
      payload: purchase.renewalPayload.setting(purchase.rareRenewalMembers), kind: .renewalInfo,
      facts: [
        ("gracePeriodExpiresDate", .integer(purchase.signedDate + 5 * Purchase.day)),
        ("payload.eligibleWinBackOfferIds.1", "second"), ("/warnings.0.id", .null),
      ])
    try verify(
      "PAY-2", "an app transaction with every member",
      payload: purchase.appTransactionPayload.setting(purchase.rareAppTransactionMembers),
      kind: .appTransaction,
      facts: [("effectiveDate.ms", .integer(purchase.signedDate)), ("/warnings.0.id", .null)])
    try verify(
      "PAY-7", "a transaction of four members",
      payload: [
        "transactionId": "2000000900000001", "environment": "Sandbox",
        "bundleId": "com.example.app", "signedDate": .integer(purchase.signedDate),
      ],
      facts: [
        ("productId", .null), ("keys.subscription", .null), ("keys.transaction", .null),
        ("keys.purchase", .null), ("transactionId", "2000000900000001"),
      ])
    for member in ["transactionId", "originalTransactionId", "productId"] {
      try verify(
        "PAY-7", "null keys without \(member)",
        payload: purchase.transactionPayload.removing(member),
        facts: ["transaction", "purchase", "subscription"].map { ("keys.\($0)", .null) })
    }
    try verify(
      "PAY-7", "a transaction of environment, bundle and date",
      payload: [
        "environment": "Sandbox", "bundleId": "com.example.app",
        "signedDate": .integer(purchase.signedDate),
      ], facts: [("keys.transaction", .null)])
  }
}
