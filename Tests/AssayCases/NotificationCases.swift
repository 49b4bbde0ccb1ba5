import AssayAuthority

extension CaseFixture {
  /// Adds every type and body of notification, and their nested JWS (NTF-1 … NTF-8).
  func addNotificationCases() throws {
    try addNotificationTypes()
    try addBodies()
    try addNested()
    try addAgreement()
    try addUndated()
  }

  private func addNotificationTypes() throws {
    for (type, subtype) in NotificationKind.all {
      for shape in [purchase, production] {
        let name = type + (subtype.map { " / " + $0 } ?? "") + " of " + shape.environment
        var facts: Facts = [
          ("type", .text(type)), ("subtype", subtype.map { .text($0) } ?? .null),
          ("uuid", "c0a8f1de-5b1e-4f3a-9d57-3f6f2f8e1a01"),
          ("environment", .text(shape.environment)),
          ("keys.notification", .text(shape.environment + "/c0a8f1de-5b1e-4f3a-9d57-3f6f2f8e1a01")),
        ]
        switch type {
        case "TEST", "EXTERNAL_PURCHASE_TOKEN": break
        case "RESCIND_CONSENT":
          facts.append(("appTransaction.bundleId", .text(shape.bundleId)))
          facts.append(("transaction", .null))
        default:
          if subtype == "SUMMARY" { break }
          facts += [
            ("transaction.transactionId", .text(shape.transactionId)),
            ("renewalInfo.autoRenewStatus", 1),
          ]
        }
        try notify("NTF-3", name, try authority.notification(type, subtype, shape), facts: facts)
      }
    }
    let subscribed = try authority.notification("SUBSCRIBED", "INITIAL_BUY", purchase)
    try notify(
      "NTF-3", "an unknown type with a known body",
      subscribed.setting("notificationType", "SOMETHING_NEW"),
      facts: [
        ("type", "SOMETHING_NEW"), ("transaction.productId", .text(purchase.productId)),
        ("/warnings.0.id", "unknown-value"), ("/warnings.0.at", "notificationType"),
      ])
    try notify(
      "NTF-3", "an unknown subtype", subscribed.setting("subtype", "SOMETHING_NEW"),
      facts: [("/warnings.0.id", "unknown-value"), ("/warnings.0.at", "subtype")])
    for status in 1...5 as ClosedRange<Int64> {
      try notify(
        "NTF-7", "status \(status)", subscribed.setting("data.status", .integer(status)),
        facts: [("payload.data.status", .integer(status)), ("/warnings.0.id", .null)])
    }
    try notify(
      "NTF-7", "an unknown status", subscribed.setting("data.status", 9),
      facts: [("/warnings.0.id", "unknown-value")])
    for reason in [
      "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
    ] {
      try notify(
        "PAY-2", "a consumption request for \(reason)",
        try authority.notification("CONSUMPTION_REQUEST", nil, purchase).setting(
          "data.consumptionRequestReason", .string(reason)), facts: [("/warnings.0.id", .null)])
    }
    let consumable = purchase.of("com.example.app.coins100", .consumable)
    try notify(
      "NTF-4", "a consumption request for a consumable, without renewal",
      try authority.notification("CONSUMPTION_REQUEST", nil, consumable),
      facts: [("transaction.productId", "com.example.app.coins100"), ("renewalInfo", .null)])
  }

  private func addBodies() throws {
    let good = try authority.notification("SUBSCRIBED", "INITIAL_BUY", purchase)
    try notify(
      "NTF-1", "no body", good.removing("data"), "rejected.notification.no-body",
      check: "payload.kind")
    try notify(
      "NTF-1", "a body of null", good.setting("data", .null), "rejected.notification.no-body",
      check: "payload.kind")
    try notify(
      "NTF-1", "an unknown type without a known body",
      good.removing("data").setting("notificationType", "SOMETHING_NEW").setting("newData", [:]),
      "unsupported.notification.body", check: "payload.kind")
    for (name, body) in [
      ("summary", NotificationPayload.summary(purchase)),
      (
        "externalPurchaseToken",
        NotificationPayload.externalPurchaseToken(purchase, id: "SANDBOX_1")
      ), ("appData", NotificationPayload.appData(purchase, appTransaction: nil)),
    ] {
      try notify(
        "NTF-1", "data and \(name)", good.appending(name, body),
        "rejected.notification.ambiguous-body", check: "payload.kind")
      try notify("NTF-1", "data and \(name) null", good.appending(name, .null))
    }
    for body in ["data", "summary", "externalPurchaseToken", "appData"] {
      try notify(
        "NTF-1", "\(body) that is a text", good.removing("data").setting(body, "x"),
        "malformed.payload.type", check: "payload.kind", at: body)
    }
    for (name, version) in [("1.0", "1.0"), ("3.0", "3.0"), ("20", "20"), ("empty", "")] {
      try notify(
        "NTF-2", "version \(name)", good.setting("version", .string(version)),
        "unsupported.notification.version", check: "payload.kind")
    }
    try notify("NTF-2", "version 2.7", good.setting("version", "2.7"))
    try notify("NTF-2", "no version", good.removing("version"))
    try notify(
      "PAY-4", "version as a number", good.setting("version", 2), "malformed.payload.type",
      check: "payload.kind", at: "version")
    for (member, wrong) in [
      ("notificationType", JSONText.integer(1)), ("subtype", 1), ("notificationUUID", 1),
      ("data.appAppleId", "1234567890"), ("data.bundleId", 1), ("data.environment", 1),
      ("data.status", "1"), ("data.signedTransactionInfo", 1), ("data.signedRenewalInfo", ["x"]),
    ] {
      try notify(
        "PAY-4", "notification with \(member) as \(wrong)", good.setting(member, wrong),
        "malformed.payload.type", check: "payload.kind", at: member)
    }
  }

  private func addNested() throws {
    let good = try authority.notification("SUBSCRIBED", "INITIAL_BUY", purchase)
    let base = Variation.Base(
      authority: authority, payload: purchase.transactionPayload, now: now)
    let samples = [
      "JWS-5", "JWS-10", "JWS-11", "JWS-13", "JWS-20", "JWS-21", "JWS-28", "JWS-29",
      "JWS-31", "JWS-41", "JWS-42", "JWS-44", "JWS-70", "JWS-73", "JWS-75", "JWS-101",
    ]
    for rule in samples {
      guard let variation = Variation.forgery(rule) else { continue }
      let jws = String(decoding: try variation.mint(base), as: UTF8.self)
      try notify(
        "NTF-4", "a nested transaction with \(variation.name) (\(rule))",
        good.setting("data.signedTransactionInfo", .string(jws)), variation.status, check: "nested",
        at: variation.at.map { "data.signedTransactionInfo/" + $0 })
    }
    try notify(
      "NTF-4", "a nested transaction of another chain generation",
      good.setting(
        "data.signedTransactionInfo",
        .string(
          utf8: try JWSTemplate(
            payload: purchase.transactionPayload.bytes,
            chain: try authority.chain(leafKey: try .generate(.p256))
          ).signed())))
    let renewalText = JSONText.string(utf8: try authority.mint(purchase.renewalPayload))
    let transactionText = JSONText.string(utf8: try authority.mint(purchase.transactionPayload))
    try notify(
      "NTF-4", "a renewal in the place of the transaction",
      good.setting("data.signedTransactionInfo", renewalText), "rejected.kind.mismatch",
      check: "nested")
    try notify(
      "NTF-4", "a transaction in the place of the renewal",
      good.setting("data.signedRenewalInfo", transactionText), "rejected.kind.mismatch",
      check: "nested")
    for member in ["signedTransactionInfo", "signedRenewalInfo"] {
      try notify(
        "NTF-4", "an empty \(member)", good.setting("data.\(member)", ""), "malformed.jws.form",
        check: "nested")
      try notify("NTF-4", "\(member) null", good.setting("data.\(member)", .null))
    }
    try notify(
      "NTF-4", "a JWS text elsewhere is not touched",
      good.setting("data.signedSomethingElse", "a.b.c"))
    let consent = try authority.notification("RESCIND_CONSENT", nil, purchase)
    try notify(
      "NTF-4", "a transaction in the place of the app transaction",
      consent.setting("appData.signedAppTransactionInfo", transactionText),
      "rejected.kind.mismatch", check: "nested")
    try notify(
      "NTF-4", "an empty app transaction", consent.setting("appData.signedAppTransactionInfo", ""),
      "malformed.jws.form", check: "nested")
    try notify(
      "NTF-8", "a nested forgery that is not looked at",
      good.setting("data.signedTransactionInfo", "a.b.c"), verifier: "nested-omitted",
      facts: [("transaction", .null), ("renewalInfo", .null)])
  }

  private func addAgreement() throws {
    let good = try authority.notification("SUBSCRIBED", "INITIAL_BUY", purchase)
    func nested(_ member: String, _ payload: JSONText) throws -> JSONText {
      good.setting(member, .string(utf8: try authority.mint(payload)))
    }
    let transaction = "data.signedTransactionInfo"
    let renewal = "data.signedRenewalInfo"
    let other = purchase.with {
      $0.originalTransactionId = "2000000900000099"
    }
    let disagreeing: [(String, JSONText)] = [
      (
        "a transaction of Production in a notification of Sandbox",
        try nested(
          transaction, purchase.with { $0.environment = "Production" }.transactionPayload)
      ),
      (
        "a renewal of Production in a notification of Sandbox",
        try nested(renewal, purchase.with { $0.environment = "Production" }.renewalPayload)
      ),
      (
        "a transaction of the second app",
        try nested(
          transaction, purchase.with { $0.bundleId = "com.example.second" }.transactionPayload)
      ), ("a renewal of another line", try nested(renewal, other.renewalPayload)),
    ]
    for (name, payload) in disagreeing {
      try notify("NTF-5", name, payload, "rejected.nested.inconsistent", check: "nested")
    }
    let consent = try authority.notification("RESCIND_CONSENT", nil, purchase)
    let apps: [(String, Purchase)] = [
      (
        "an app transaction of Production in Sandbox",
        purchase.with { $0.environment = "Production" }
      ),
      (
        "an app transaction of the second app",
        purchase.with { $0.bundleId = "com.example.second" }
      ),
      ("an app transaction with another app id", purchase.with { $0.appAppleId = 1_234_567_891 }),
    ]
    for (name, shape) in apps {
      try notify(
        "NTF-5", name,
        consent.setting(
          "appData.signedAppTransactionInfo",
          .string(utf8: try authority.mint(shape.appTransactionPayload))),
        "rejected.nested.inconsistent", check: "nested")
    }
    let differing: [(String, JSONText)] = [
      (
        "a renewal of another product of the line",
        try nested(
          renewal,
          purchase.with { $0.productId = "com.example.app.standard.monthly" }
            .renewalPayload)
      ),
      (
        "a renewal date after the end",
        try nested(
          renewal, purchase.with { $0.expiresDate = now + 90 * Purchase.day }.renewalPayload)
      ),
      (
        "another appTransactionId",
        try nested(
          renewal,
          purchase.with { $0.appTransactionId = "704000000000000002" }
            .renewalPayload)
      ),
    ]
    for (name, payload) in differing {
      try notify("NTF-6", "\(name) is a warning at most", payload)
    }
  }

  /// Adds notifications without a date, as of spring 2022 (JWS-44).
  private func addUndated() throws {
    let good = try authority.notification("SUBSCRIBED", "INITIAL_BUY", purchase).removing(
      "signedDate")
    let afterLeaf = authority.windows.leaf.upperBound * 1000 + Purchase.day
    try notify(
      "JWS-44", "an undated notification judged now", good,
      facts: [("effectiveDate.source", "now"), ("effectiveDate.ms", .integer(now))])
    try notify(
      "JWS-44", "an undated notification after the leaf's end", good, now: afterLeaf,
      "rejected.chain.expired", check: "chain.validity", at: "x5c[0]")
    try notify(
      "JWS-44", "an undated notification dated by what is nested", good, verifier: "undated-nested",
      now: afterLeaf,
      facts: [
        ("effectiveDate.source", "nested"), ("effectiveDate.ms", .integer(purchase.signedDate)),
      ])
    try notify(
      "JWS-44", "an undated notification dated by its renewal",
      good.removing("data.signedTransactionInfo"), verifier: "undated-nested", now: afterLeaf,
      facts: [("effectiveDate.source", "nested")])
    let otherChain = try JWSTemplate(
      payload: purchase.transactionPayload.bytes,
      chain: try authority.chain(leafKey: try .generate(.p256))
    ).signed()
    try notify(
      "JWS-44", "an undated notification over a transaction of another header",
      good.removing("data.signedRenewalInfo").setting(
        "data.signedTransactionInfo", .string(utf8: otherChain)), verifier: "undated-nested",
      "rejected.date.missing", check: "chain.validity")
    try notify(
      "JWS-44", "an undated notification with nothing nested",
      try authority.notification("TEST", nil, purchase).removing("signedDate"),
      verifier: "undated-nested", "rejected.date.missing", check: "chain.validity")
    for kind in [EvidenceKind.transaction, .renewalInfo, .realtimeRequest] {
      try verify(
        "JWS-44", "an undated \(kind.rawValue)",
        payload: try authority.payload(kind, purchase).removing("signedDate"), kind: kind,
        verifier: "undated-nested", "rejected.date.missing", check: "chain.validity")
    }
    try verify(
      "JWS-44", "an app transaction with signedDate alone",
      payload: purchase.appTransactionPayload.removing("receiptCreationDate")
        .setting("signedDate", .integer(purchase.signedDate)),
      kind: .appTransaction, "rejected.date.missing", check: "chain.validity")
  }
}
