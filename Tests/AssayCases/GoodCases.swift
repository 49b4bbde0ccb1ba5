import AssayAuthority

extension CaseBench {
  /// Good evidence of every kind, with the facts that it must give.
  func addGoodEvidence() throws {
    verify(
      "JWS-1", "a good transaction",
      try authority.mint(purchase.transactionPayload), facts: transactionFacts)
    verify(
      "JWS-1", "a good transaction of Production",
      try authority.mint(production.transactionPayload),
      facts: [
        ("transaction.environment", "Production"),
        ("transaction.keys.transaction", "Production/180000900000001"),
        ("transaction.keys.purchase", "Production/180000900000001/2000000090000001"),
      ])
    verify(
      "JWS-1", "a good renewal info", try authority.mint(purchase.renewalPayload),
      kind: .renewal,
      facts: [
        ("renewal.environment", "Sandbox"),
        ("renewal.originalTransactionId", .text(purchase.originalTransactionId)),
        ("renewal.productId", .text(purchase.productId)),
        ("renewal.autoRenewProductId", .text(purchase.productId)),
        ("renewal.autoRenewStatus", 1),
        ("renewal.signedDate", .integer(purchase.signedDate)),
        ("renewal.effectiveDate.ms", .integer(purchase.signedDate)),
        ("renewal.effectiveDate.source", "signedDate"),
        ("renewal.keys.subscription", .text("Sandbox/" + purchase.originalTransactionId)),
        ("renewal.bundleId", .null), ("renewal.gracePeriodExpiresDate", .null),
      ])
    for shape in [purchase, production] {
      verify(
        "JWS-1", "a good app transaction of \(shape.environment)",
        try authority.mint(shape.appTransactionPayload), kind: .appTransaction,
        facts: [
          ("appTransaction.environment", .text(shape.environment)),
          ("appTransaction.bundleId", .text(shape.bundleId)),
          ("appTransaction.appAppleId", 1_234_567_890),
          ("appTransaction.effectiveDate.ms", .integer(shape.signedDate)),
          ("appTransaction.effectiveDate.source", "receiptCreationDate"),
          ("appTransaction.appTransactionId", "704000000000000001"),
          ("appTransaction.keys.app", .text(shape.environment + "/704000000000000001")),
        ])
      verify(
        "JWS-1", "a good realtime request of \(shape.environment)",
        try authority.mint(shape.realtimeRequestPayload), kind: .realtimeRequest,
        facts: [
          ("realtimeRequest.environment", .text(shape.environment)),
          ("realtimeRequest.originalTransactionId", .text(shape.originalTransactionId)),
          ("realtimeRequest.productId", .text(shape.productId)),
          ("realtimeRequest.appAppleId", 1_234_567_890),
        ])
    }
    verify(
      "JWS-64", "a good transaction without a cache",
      try authority.mint(purchase.transactionPayload), verifier: "no-cache",
      facts: transactionFacts)
    try addProductTypes()
    try addFullPayloads()
  }

  private var transactionFacts: [(path: String, value: EvidenceCase.Fact)] {
    [
      ("kind", "transaction"), ("status.name", "ok"), ("status.code", 0),
      ("transaction.environment", "Sandbox"), ("transaction.environmentSource", "payload"),
      ("transaction.bundleId", .text(purchase.bundleId)),
      ("transaction.productId", .text(purchase.productId)),
      ("transaction.transactionId", .text(purchase.transactionId)),
      ("transaction.originalTransactionId", .text(purchase.originalTransactionId)),
      ("transaction.type", "Auto-Renewable Subscription"),
      ("transaction.signedDate", .integer(purchase.signedDate)),
      ("transaction.effectiveDate.ms", .integer(purchase.signedDate)),
      ("transaction.effectiveDate.source", "signedDate"),
      ("transaction.expiresDate", .integer(purchase.expiresDate ?? 0)),
      ("transaction.revocationDate", .null), ("transaction.appAccountToken", .null),
      ("transaction.appTransactionId", "704000000000000001"),
      ("transaction.keys.transaction", .text("Sandbox/" + purchase.transactionId)),
      (
        "transaction.keys.purchase",
        .text("Sandbox/" + purchase.originalTransactionId + "/2000000090000001")
      ),
      ("transaction.keys.subscription", .text("Sandbox/" + purchase.originalTransactionId)),
      ("transaction.chain.leaf.sha256", .text(Authority.fingerprint(authority.chain.leaf))),
      (
        "transaction.chain.intermediate.sha256",
        .text(Authority.fingerprint(authority.chain.intermediate))
      ),
      ("transaction.chain.root.sha256", .text(Authority.fingerprint(authority.chain.root))),
      (
        "transaction.chain.leaf.notAfter", .integer(authority.windows.leaf.upperBound * 1000)
      ),
      ("transaction.payload.storefront", "USA"), ("transaction.payload.price", 9990),
      ("error", .null), ("warnings.0.id", .null),
    ]
  }

  /// JWS-94: the purchase key of each type.
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
          ("transaction.keys.purchase", .text(key)),
          ("transaction.keys.transaction", .text(one)),
          ("transaction.keys.subscription", .text(line)),
          ("transaction.type", .text(shape.type.rawValue)),
        ])
    }
    for member in ["transactionId", "originalTransactionId"] {
      let key = member == "transactionId" ? "transaction" : "subscription"
      try verify(
        "JWS-94", "no \(member): no \(key) key",
        payload: purchase.transactionPayload.removing(member),
        facts: [("transaction.keys.\(key)", .null), ("transaction.\(member)", .null)])
    }
    try verify(
      "JWS-94", "the second valid signature gives the same keys",
      payload: renewed.transactionPayload,
      facts: [("transaction.keys.transaction", .text(one))])
  }

  /// Every member of the specification at once.
  private func addFullPayloads() throws {
    try verify(
      "PAY-2", "a transaction with every member",
      payload: purchase.transactionPayload.setting(purchase.rareTransactionMembers),
      facts: [
        ("transaction.appAccountToken", "0f8fad5b-d9cb-469f-a165-70867728950e"),
        ("transaction.revocationDate", .integer(purchase.signedDate - 1000)),
        ("transaction.payload.commitmentInfo.billingPeriodNumber", 3),
        ("transaction.payload.advancedCommerceInfo.items.0.refunds.0.refundType", "FULL"),
        ("warnings.0.id", .null),
      ])
    try verify(
      "PAY-2", "a renewal info with every member",
      payload: purchase.renewalPayload.setting(purchase.rareRenewalMembers), kind: .renewal,
      facts: [
        (
          "renewal.gracePeriodExpiresDate",
          .integer(purchase.signedDate + 5 * Purchase.day)
        ),
        ("renewal.payload.eligibleWinBackOfferIds.1", "second"),
        ("warnings.0.id", .null),
      ])
    try verify(
      "PAY-2", "an app transaction with every member",
      payload: purchase.appTransactionPayload.setting(purchase.rareAppTransactionMembers),
      kind: .appTransaction,
      facts: [
        ("appTransaction.effectiveDate.ms", .integer(purchase.signedDate)),
        ("warnings.0.id", .null),
      ])
    try verify(
      "PAY-7", "a transaction of four members",
      payload: [
        "transactionId": "2000000900000001", "environment": "Sandbox",
        "bundleId": "com.example.app", "signedDate": .integer(purchase.signedDate),
      ],
      facts: [
        ("transaction.productId", .null), ("transaction.keys.subscription", .null),
        ("transaction.keys.transaction", .null), ("transaction.keys.purchase", .null),
        ("transaction.transactionId", "2000000900000001"),
      ])
    for member in ["transactionId", "originalTransactionId", "productId"] {
      try verify(
        "PAY-7", "null keys without \(member)",
        payload: purchase.transactionPayload.removing(member),
        facts: ["transaction", "purchase", "subscription"].map {
          ("transaction.keys.\($0)", .null)
        })
    }
    try verify(
      "PAY-7", "a transaction of environment, bundle and date",
      payload: [
        "environment": "Sandbox", "bundleId": "com.example.app",
        "signedDate": .integer(purchase.signedDate),
      ], facts: [("transaction.keys.transaction", .null)])
  }
}
