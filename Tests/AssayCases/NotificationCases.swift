import AssayAuthority

extension CaseBench {
  /// NTF-1 … NTF-8: every type, every body, and what is nested in them.
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
            ("renewal.autoRenewStatus", 1),
          ]
        }
        try verify(
          "NTF-3", name, payload: try authority.notification(type, subtype, shape),
          kind: .notification, facts: facts)
      }
    }
    let subscribed = try authority.notification("SUBSCRIBED", "INITIAL_BUY", purchase)
    try verify(
      "NTF-3", "an unknown type with a known body",
      payload: subscribed.setting("notificationType", "SOMETHING_NEW"), kind: .notification,
      facts: [
        ("type", "SOMETHING_NEW"), ("transaction.productId", .text(purchase.productId)),
        ("/warnings.0.id", "unknown-value"), ("/warnings.0.at", "notificationType"),
      ])
    try verify(
      "NTF-3", "an unknown subtype", payload: subscribed.setting("subtype", "SOMETHING_NEW"),
      kind: .notification,
      facts: [("/warnings.0.id", "unknown-value"), ("/warnings.0.at", "subtype")])
    for status in 1...5 as ClosedRange<Int64> {
      try verify(
        "NTF-7", "status \(status)", payload: subscribed.setting("data.status", .integer(status)),
        kind: .notification,
        facts: [("payload.data.status", .integer(status)), ("/warnings.0.id", .null)])
    }
    try verify(
      "NTF-7", "an unknown status", payload: subscribed.setting("data.status", 9),
      kind: .notification, facts: [("/warnings.0.id", "unknown-value")])
    for reason in [
      "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
    ] {
      try verify(
        "PAY-2", "a consumption request for \(reason)",
        payload: try authority.notification("CONSUMPTION_REQUEST", nil, purchase).setting(
          "data.consumptionRequestReason", .string(reason)), kind: .notification,
        facts: [("/warnings.0.id", .null)])
    }
    let consumable = purchase.of("com.example.app.coins100", .consumable)
    try verify(
      "NTF-4", "a consumption request for a consumable, without renewal",
      payload: try authority.notification("CONSUMPTION_REQUEST", nil, consumable),
      kind: .notification,
      facts: [("transaction.productId", "com.example.app.coins100"), ("renewal", .null)])
  }

  private func addBodies() throws {
    let good = try authority.notification("SUBSCRIBED", "INITIAL_BUY", purchase)
    try verify(
      "NTF-1", "no body", payload: good.removing("data"), kind: .notification,
      "rejected.notification.no-body", check: "payload.kind")
    try verify(
      "NTF-1", "a body of null", payload: good.setting("data", .null), kind: .notification,
      "rejected.notification.no-body", check: "payload.kind")
    try verify(
      "NTF-1", "an unknown type without a known body",
      payload: good.removing("data").setting("notificationType", "SOMETHING_NEW")
        .setting("newData", [:]),
      kind: .notification, "unsupported.notification.body", check: "payload.kind")
    for (name, body) in [
      ("summary", NotificationPayload.summary(purchase)),
      (
        "externalPurchaseToken",
        NotificationPayload.externalPurchaseToken(purchase, id: "SANDBOX_1")
      ),
      ("appData", NotificationPayload.appData(purchase, appTransaction: nil)),
    ] {
      try verify(
        "NTF-1", "data and \(name)", payload: good.appending(name, body),
        kind: .notification, "rejected.notification.ambiguous-body", check: "payload.kind")
      try verify(
        "NTF-1", "data and \(name) null", payload: good.appending(name, .null),
        kind: .notification)
    }
    for body in ["data", "summary", "externalPurchaseToken", "appData"] {
      try verify(
        "NTF-1", "\(body) that is a text",
        payload: good.removing("data").setting(body, "x"), kind: .notification,
        "malformed.payload.type", check: "payload.kind", at: body)
    }
    for (name, version) in [("1.0", "1.0"), ("3.0", "3.0"), ("20", "20"), ("empty", "")] {
      try verify(
        "NTF-2", "version \(name)", payload: good.setting("version", .string(version)),
        kind: .notification, "unsupported.notification.version", check: "payload.kind")
    }
    try verify(
      "NTF-2", "version 2.7", payload: good.setting("version", "2.7"), kind: .notification)
    try verify("NTF-2", "no version", payload: good.removing("version"), kind: .notification)
    try verify(
      "PAY-4", "version as a number", payload: good.setting("version", 2),
      kind: .notification, "malformed.payload.type", check: "payload.kind", at: "version")
    for (member, wrong) in [
      ("notificationType", JSONText.integer(1)), ("subtype", 1), ("notificationUUID", 1),
      ("data.appAppleId", "1234567890"), ("data.bundleId", 1), ("data.environment", 1),
      ("data.status", "1"), ("data.signedTransactionInfo", 1), ("data.signedRenewalInfo", ["x"]),
    ] {
      try verify(
        "PAY-4", "notification with \(member) as \(wrong)", payload: good.setting(member, wrong),
        kind: .notification, "malformed.payload.type", check: "payload.kind", at: member)
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
      try verify(
        "NTF-4", "a nested transaction with \(variation.name) (\(rule))",
        payload: good.setting("data.signedTransactionInfo", .string(jws)),
        kind: .notification, variation.status, check: "nested",
        at: variation.at.map { "data.signedTransactionInfo/" + $0 })
    }
    try verify(
      "NTF-4", "a nested transaction of another chain generation",
      payload: good.setting(
        "data.signedTransactionInfo",
        .string(
          utf8: try JWSTemplate(
            payload: purchase.transactionPayload.bytes,
            chain: try authority.chain(leafKey: try .generate(.p256))
          ).signed())), kind: .notification)
    let renewalText = JSONText.string(utf8: try authority.mint(purchase.renewalPayload))
    let transactionText = JSONText.string(
      utf8: try authority.mint(purchase.transactionPayload))
    try verify(
      "NTF-4", "a renewal in the place of the transaction",
      payload: good.setting("data.signedTransactionInfo", renewalText),
      kind: .notification, "rejected.kind.mismatch", check: "nested")
    try verify(
      "NTF-4", "a transaction in the place of the renewal",
      payload: good.setting("data.signedRenewalInfo", transactionText),
      kind: .notification, "rejected.kind.mismatch", check: "nested")
    for member in ["signedTransactionInfo", "signedRenewalInfo"] {
      try verify(
        "NTF-4", "an empty \(member)", payload: good.setting("data.\(member)", ""),
        kind: .notification, "malformed.jws.form", check: "nested")
      try verify(
        "NTF-4", "\(member) null", payload: good.setting("data.\(member)", .null),
        kind: .notification)
    }
    try verify(
      "NTF-4", "a JWS text elsewhere is not touched",
      payload: good.setting("data.signedSomethingElse", "a.b.c"), kind: .notification)
    let consent = try authority.notification("RESCIND_CONSENT", nil, purchase)
    try verify(
      "NTF-4", "a transaction in the place of the app transaction",
      payload: consent.setting("appData.signedAppTransactionInfo", transactionText),
      kind: .notification, "rejected.kind.mismatch", check: "nested")
    try verify(
      "NTF-4", "an empty app transaction",
      payload: consent.setting("appData.signedAppTransactionInfo", ""),
      kind: .notification, "malformed.jws.form", check: "nested")
    try verify(
      "NTF-8", "a nested forgery that is not looked at",
      payload: good.setting("data.signedTransactionInfo", "a.b.c"), kind: .notification,
      verifier: "nested-omitted", facts: [("transaction", .null), ("renewal", .null)])
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
      ),
      ("a renewal of another line", try nested(renewal, other.renewalPayload)),
    ]
    for (name, payload) in disagreeing {
      try verify(
        "NTF-5", name, payload: payload, kind: .notification, "rejected.nested.disagree",
        check: "nested")
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
      (
        "an app transaction with another app id",
        purchase.with { $0.appAppleId = 1_234_567_891 }
      ),
    ]
    for (name, shape) in apps {
      try verify(
        "NTF-5", name,
        payload: consent.setting(
          "appData.signedAppTransactionInfo",
          .string(utf8: try authority.mint(shape.appTransactionPayload))),
        kind: .notification, "rejected.nested.disagree", check: "nested")
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
      try verify(
        "NTF-6", "\(name) is a warning at most", payload: payload, kind: .notification)
    }
  }

  /// JWS-44: notifications of spring 2022.
  private func addUndated() throws {
    let good = try authority.notification("SUBSCRIBED", "INITIAL_BUY", purchase)
      .removing("signedDate")
    let afterLeaf = authority.windows.leaf.upperBound * 1000 + Purchase.day
    try verify(
      "JWS-44", "an undated notification judged now", payload: good, kind: .notification,
      facts: [("effectiveDate.source", "now"), ("effectiveDate.ms", .integer(now))])
    try verify(
      "JWS-44", "an undated notification after the leaf's end", payload: good,
      kind: .notification, now: afterLeaf, "rejected.chain.expired",
      check: "chain.validity", at: "x5c[0]")
    try verify(
      "JWS-44", "an undated notification dated by what is nested", payload: good,
      kind: .notification, verifier: "undated-nested", now: afterLeaf,
      facts: [
        ("effectiveDate.source", "nested"), ("effectiveDate.ms", .integer(purchase.signedDate)),
      ])
    try verify(
      "JWS-44", "an undated notification dated by its renewal",
      payload: good.removing("data.signedTransactionInfo"), kind: .notification,
      verifier: "undated-nested", now: afterLeaf, facts: [("effectiveDate.source", "nested")])
    let otherChain = try JWSTemplate(
      payload: purchase.transactionPayload.bytes,
      chain: try authority.chain(leafKey: try .generate(.p256))
    ).signed()
    try verify(
      "JWS-44", "an undated notification over a transaction of another header",
      payload: good.removing("data.signedRenewalInfo").setting(
        "data.signedTransactionInfo", .string(utf8: otherChain)),
      kind: .notification, verifier: "undated-nested", "rejected.date.missing",
      check: "chain.validity")
    try verify(
      "JWS-44", "an undated notification with nothing nested",
      payload: try authority.notification("TEST", nil, purchase).removing("signedDate"),
      kind: .notification, verifier: "undated-nested", "rejected.date.missing",
      check: "chain.validity")
    for kind in [EvidenceKind.transaction, .renewal, .realtimeRequest] {
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
