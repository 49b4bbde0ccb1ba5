import AssayAuthority
import Testing

@testable import Assay

/// NTF-1 … NTF-8, and the effect of every type (docs/spec/storekit-payloads.md §4, §5).
@Suite("Notifications")
struct NotificationTests {
  private static let purchase = Minted.purchase

  private func data(
    transaction: JSONText? = Minted.purchase.transactionPayload,
    renewal: JSONText? = Minted.purchase.renewalPayload, _ changes: [(String, JSONText)] = []
  ) throws -> JSONText {
    let authority = try Minted.authority()
    return NotificationPayload.data(
      Self.purchase, transaction: try transaction.map { try authority.mint($0) },
      renewal: try renewal.map { try authority.mint($0) }
    ).setting(changes)
  }

  private func notification(
    _ bodies: (name: String, value: JSONText)..., type: String = "DID_RENEW"
  ) -> JSONText {
    var payload = NotificationPayload(type, signedDate: Self.purchase.signedDate).payload()
    for body in bodies { payload = payload.appending(body.name, body.value) }
    return payload
  }

  private func verify(
    _ payload: JSONText, _ changes: [(String, JSONText)] = []
  ) throws -> Document {
    try Minted.verify(payload, .notification, changes)
  }

  // MARK: body

  @Test("NTF-1 exactly one body, and it is an object")
  func bodies() throws {
    let good = try data()
    let summary = NotificationPayload.summary(Self.purchase)
    let appData = NotificationPayload.appData(Self.purchase, appTransaction: nil)
    let token = NotificationPayload.externalPurchaseToken(Self.purchase, id: "SANDBOX_x")
    #expect(try verify(notification(("data", good))).status == .ok)
    for other in [("summary", summary), ("appData", appData), ("externalPurchaseToken", token)] {
      #expect(try verify(notification(other)).status == .ok, "\(other.0)")
      #expect(
        try verify(notification(("data", good), other)).status == .rejectedNotificationAmbiguousBody
      )
      #expect(
        try verify(notification(other, ("data", good))).status == .rejectedNotificationAmbiguousBody
      )
      // null counts as absent (PAY-3).
      #expect(try verify(notification(other, ("data", .null))).status == .ok)
    }
    #expect(try verify(notification()).status == .rejectedNotificationNoBody)
    #expect(try verify(notification(type: "NEW_TYPE")).status == .unsupportedNotificationBody)
    #expect(
      try verify(notification(("newBody", [:]), type: "NEW_TYPE")).status
        == .unsupportedNotificationBody)
    for value in ["x", 1, [], true] as [JSONText] {
      let answer = try verify(notification(("data", value)))
      #expect(answer.status == .malformedPayloadType)
      #expect(answer.text("error.at") == "data")
    }
  }

  @Test("NTF-2 version 2.x, or none")
  func versions() throws {
    let good = notification(("data", try data()))
    for (version, isGood) in [
      ("2.0", true), ("2.1", true), ("2.", true), ("1.0", false), ("20", false), ("2", false),
      ("", false), ("3.0", false),
    ] {
      let answer = try verify(good.setting("version", .string(version)))
      #expect(answer.status == (isGood ? .ok : .unsupportedNotificationVersion), "\(version)")
    }
    #expect(try verify(good.removing("version")).status == .ok)
    #expect(try verify(good.setting("version", 2)).status == .malformedPayloadType)
  }

  // MARK: nested

  @Test("NTF-4 everything nested is verified and reported as if it had been verified alone")
  func complete() throws {
    let verifier = try Minted.verifier()
    let authority = try Minted.authority()
    let answer = verifier.verifyJWS(
      try authority.mint(notification(("data", try data()))), kind: .notification, nowMs: Minted.now
    )
    for (kind, payload) in [
      (.transaction, Self.purchase.transactionPayload), (.renewal, Self.purchase.renewalPayload),
    ] as [(StoreKitKind, JSONText)] {
      let alone = verifier.verifyJWS(try authority.mint(payload), kind: kind, nowMs: Minted.now)
      let inner = try #require(answer.tree?.at("notification.\(kind.factsMember)"))
      let outer = try #require(alone.tree?.member(kind.factsMember))
      // Both found the chain in the cache, so even that member is the same.
      #expect(inner.source == outer.source, "\(kind.name)")
    }
    #expect(answer.tree?.at("notification.appTransaction")?.isNull == true)
    #expect(answer.text("notification.body") == "data")
    #expect(answer.integer("notification.status") == 1)
    #expect(answer.text("notification.bundleId") == "com.example.app")
    let app = try verify(authority.notification("RESCIND_CONSENT", nil, Self.purchase))
    #expect(app.text("notification.appTransaction.bundleId") == "com.example.app")
    #expect(app.text("notification.body") == "appData")
    #expect(app.tree?.at("notification.transaction")?.isNull == true)
  }

  @Test("NTF-4 a failing nested JWS refuses the whole by its own name, at its place")
  func nestedRefusals() throws {
    let transaction = Self.purchase.transactionPayload
    let stranger = try Authority(now: Minted.now)
    let cases: [(String, JSONText, Status, String)] = [
      (
        "signedTransactionInfo", .string(utf8: try stranger.mint(transaction)),
        .rejectedChainUntrustedRoot, "/x5c[2]"
      ),
      ("signedTransactionInfo", "", .malformedJwsForm, "/byte 0"),
      ("signedTransactionInfo", "a.b", .malformedJwsForm, "/byte 1"),
      (
        "signedTransactionInfo",
        .string(utf8: try Minted.authority().mint(transaction.setting("bundleId", "x"))),
        .rejectedIdentityBundle, "/bundleId"
      ),
      (
        "signedTransactionInfo",
        .string(utf8: try Minted.authority().mint(Self.purchase.renewalPayload)),
        .rejectedKindMismatch, ""
      ),
      (
        "signedRenewalInfo", .string(utf8: try Minted.authority().mint(transaction)),
        .rejectedKindMismatch, ""
      ),
      (
        "signedRenewalInfo",
        .string(
          utf8: try Minted.authority().mint(Self.purchase.renewalPayload.removing("signedDate"))),
        .rejectedDateMissing, "/signedDate"
      ),
    ]
    for (member, value, status, place) in cases {
      let answer = try verify(notification(("data", try data([("\(member)", value)]))))
      #expect(answer.status == status, "\(member)")
      #expect(answer.text("error.at") == "data.\(member)\(place)")
      #expect(answer.text("error.check") == "nested")
      #expect(answer.tree?.member("notification")?.isNull == true)
    }
    for value in [1, [], [:]] as [JSONText] {
      let answer = try verify(notification(("data", try data([("signedRenewalInfo", value)]))))
      #expect(answer.status == .malformedPayloadType)
      #expect(answer.text("error.at") == "data.signedRenewalInfo")
    }
    for absent in [try data(renewal: nil), try data([("signedRenewalInfo", .null)])] {
      #expect(try verify(notification(("data", absent))).status == .ok)
    }
  }

  @Test("NTF-4 warnings of nested evidence carry their place")
  func nestedWarnings() throws {
    let payload = Self.purchase.transactionPayload.setting("type", "New Type")
    let answer = try verify(
      notification(("data", try data(transaction: payload, renewal: nil)), type: "NEW_TYPE"))
    #expect(answer.status == .ok)
    let warnings = try #require(answer.tree?.member("warnings")).children.map {
      "\($0.string("id")) \($0.string("at"))"
    }
    #expect(
      warnings == [
        "unknown-value notificationType", "unknown-value data.signedTransactionInfo/type",
      ])
    #expect(answer.text("notification.transaction.warnings.0.at") == "type")
  }

  @Test("NTF-5 inner and outer facts agree, or the whole is refused")
  func agreement() throws {
    let transaction = Self.purchase.transactionPayload
    let renewal = Self.purchase.renewalPayload
    let two: [(String, JSONText)] = [
      (
        "apps",
        [
          ["bundleId": "com.example.app", "appAppleId": 1_234_567_890],
          ["bundleId": "com.example.second", "appAppleId": 5],
        ]
      )
    ]
    let other = Self.purchase.with { $0.environment = "Production" }
    for (payload, place) in [
      (
        notification(("data", try data(transaction: other.transactionPayload, renewal: nil))),
        "data.signedTransactionInfo.environment, data.environment"
      ),
      (
        notification(("data", try data(renewal: other.renewalPayload))),
        "data.signedRenewalInfo.environment, data.environment"
      ),
      (
        notification(
          (
            "data",
            try data(
              transaction: transaction.setting("bundleId", "com.example.second"), renewal: nil)
          )),
        "data.signedTransactionInfo.bundleId, data.bundleId"
      ),
      (
        notification(("data", try data(renewal: renewal.setting("originalTransactionId", "7")))),
        "data.signedTransactionInfo.originalTransactionId, "
          + "data.signedRenewalInfo.originalTransactionId"
      ),
    ] as [(JSONText, String)] {
      let answer = try verify(payload, two)
      #expect(answer.status == .rejectedNestedDisagree, "\(place): \(answer.name)")
      #expect(answer.text("error.at") == place)
    }
    for (change, place) in [
      (("appAppleId", 77), "appData.signedAppTransactionInfo.appAppleId, appData.appAppleId"),
      (
        ("bundleId", "com.example.second"),
        "appData.signedAppTransactionInfo.bundleId, appData.bundleId"
      ),
    ] as [((String, JSONText), String)] {
      let inner = try Minted.authority().mint(
        Self.purchase.appTransactionPayload.setting(change.0, change.1))
      let answer = try verify(
        notification(
          ("appData", NotificationPayload.appData(Self.purchase, appTransaction: inner)),
          type: "RESCIND_CONSENT"), two)
      #expect(answer.status == .rejectedNestedDisagree, "\(place)")
      #expect(answer.text("error.at") == place)
    }
    // Where only one side names the app, there is nothing to disagree about.
    let inner = try Minted.authority().mint(
      Self.purchase.appTransactionPayload.removing("appAppleId"))
    #expect(
      try verify(
        notification(
          ("appData", NotificationPayload.appData(Self.purchase, appTransaction: inner)),
          type: "RESCIND_CONSENT")
      ).status == .ok)
  }

  @Test("NTF-6 differences that genuine notifications show are only warned of")
  func differences() throws {
    let renewal = Self.purchase.renewalPayload
    for (change, place) in [
      (("productId", "com.example.other"), "productId"),
      (("autoRenewProductId", "com.example.other"), "autoRenewProductId"),
      (("appTransactionId", "1"), "appTransactionId"),
      (("renewalDate", 1_700_000_000_000), "renewalDate"),
    ] as [((String, JSONText), String)] {
      let answer = try verify(
        notification(("data", try data(renewal: renewal.setting(change.0, change.1)))))
      #expect(answer.status == .ok)
      let places = try #require(answer.tree?.member("warnings")).children
        .filter { $0.string("id") == "nested-differs" }.map { $0.string("at") }
      #expect(places == [place])
    }
    let same = try verify(notification(("data", try data())))
    #expect(same.tree?.member("warnings")?.count == 0)
  }

  @Test("NTF-8 under `omit` nothing nested is looked at, and nothing is decided from it")
  func omitted() throws {
    let verifier = try Minted.verifier([("storekit.nested", "omit")])
    let broken = notification(("data", try data([("signedTransactionInfo", "a.b")])))
    let answer = verifier.verifyJWS(
      try Minted.authority().mint(broken), kind: .notification, nowMs: Minted.now)
    #expect(answer.status == .ok)
    #expect(answer.tree?.at("notification.transaction")?.isNull == true)
    #expect(answer.tree?.at("notification.renewal")?.isNull == true)
    #expect(answer.tree?.at("checks.15.ok")?.isNull == true)
    #expect(
      verifier.decide([answer], account: nil, nowMs: Minted.now).status
        == .misuseDecideUnverifiedNested)
  }

  @Test("JWS-44 an undated notification: at now, or by what is nested under the same header")
  func undated() throws {
    let payload = notification(("data", try data())).removing("signedDate")
    let atNow = try verify(payload)
    #expect(atNow.status == .ok)
    #expect(atNow.text("notification.effectiveDate.source") == "now")
    #expect(atNow.integer("notification.effectiveDate.ms") == Minted.now)
    let option: [(String, JSONText)] = [("storekit.undatedNotifications", "nested")]
    let nested = try verify(payload, option)
    #expect(nested.text("notification.effectiveDate.source") == "nested")
    #expect(nested.integer("notification.effectiveDate.ms") == Self.purchase.signedDate)
    let renewalOnly = notification(("data", try data(transaction: nil))).removing("signedDate")
    #expect(try verify(renewalOnly, option).text("notification.effectiveDate.source") == "nested")
    let empty = notification(("data", try data(transaction: nil, renewal: nil))).removing(
      "signedDate")
    #expect(try verify(empty, option).status == .rejectedDateMissing)
    // A nested JWS under another header text does not date its envelope.
    var template = JWSTemplate(
      payload: Self.purchase.transactionPayload.bytes, chain: try Minted.authority().chain)
    template.header = template.header.appending("kid", "x")
    let foreign = notification(
      (
        "data",
        try data(renewal: nil, [("signedTransactionInfo", .string(utf8: try template.signed()))])
      )
    ).removing("signedDate")
    #expect(try verify(foreign, option).status == .rejectedDateMissing)
  }

  // MARK: effects

  /// docs/spec/storekit-payloads.md §5, row by row.
  private static let effects: [(String, String?, String)] = [
    ("SUBSCRIBED", "INITIAL_BUY", "grant"), ("SUBSCRIBED", "RESUBSCRIBE", "grant"),
    ("DID_RENEW", nil, "grant"), ("DID_RENEW", "BILLING_RECOVERY", "grant"),
    ("DID_FAIL_TO_RENEW", nil, "end"), ("DID_FAIL_TO_RENEW", "GRACE_PERIOD", "keep"),
    ("GRACE_PERIOD_EXPIRED", nil, "end"), ("EXPIRED", "VOLUNTARY", "end"),
    ("EXPIRED", "BILLING_RETRY", "end"), ("EXPIRED", "PRICE_INCREASE", "end"),
    ("EXPIRED", "PRODUCT_NOT_FOR_SALE", "end"), ("EXPIRED", nil, "end"),
    ("DID_CHANGE_RENEWAL_PREF", "UPGRADE", "recompute"),
    ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE", "keep"), ("DID_CHANGE_RENEWAL_PREF", nil, "keep"),
    ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", "keep"),
    ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED", "keep"),
    ("OFFER_REDEEMED", nil, "recompute"), ("OFFER_REDEEMED", "UPGRADE", "recompute"),
    ("OFFER_REDEEMED", "DOWNGRADE", "recompute"), ("OFFER_REDEEMED", "INITIAL_BUY", "recompute"),
    ("OFFER_REDEEMED", "RESUBSCRIBE", "recompute"), ("PRICE_INCREASE", "PENDING", "none"),
    ("PRICE_INCREASE", "ACCEPTED", "none"), ("REFUND", nil, "end"),
    ("REFUND_DECLINED", nil, "none"),
    ("REFUND_REVERSED", nil, "recompute"), ("CONSUMPTION_REQUEST", nil, "none"),
    ("REVOKE", nil, "end"), ("RENEWAL_EXTENDED", nil, "grant"),
    ("RENEWAL_EXTENSION", "SUMMARY", "none"), ("RENEWAL_EXTENSION", "FAILURE", "none"),
    ("ONE_TIME_CHARGE", nil, "grant"), ("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED", "none"),
    ("EXTERNAL_PURCHASE_TOKEN", "CREATED", "none"),
    ("EXTERNAL_PURCHASE_TOKEN", "ACTIVE_TOKEN_REMINDER", "none"), ("RESCIND_CONSENT", nil, "none"),
    ("METADATA_UPDATE", nil, "recompute"), ("MIGRATION", nil, "recompute"),
    ("MIGRATE", nil, "recompute"), ("PRICE_CHANGE", nil, "none"), ("TEST", nil, "none"),
  ]

  @Test("NTF-7 NTF-11 every type and subtype is known and has the effect of its row")
  func effectTable() throws {
    let verifier = try Minted.verifier()
    let authority = try Minted.authority()
    for (type, subtype, effect) in Self.effects {
      let jws = try authority.mint(authority.notification(type, subtype, Self.purchase))
      let answer = verifier.verifyJWS(jws, kind: .notification, nowMs: Minted.now)
      #expect(answer.status == .ok, "\(type)")
      let facts = try #require(answer.tree?.member("notification"))
      #expect(facts.string("effect") == effect, "\(type) \(subtype ?? "")")
      #expect(facts.string("type") == type)
      #expect(facts.member("subtype")?.text?.string == subtype)
      #expect(facts.member("known")?.boolean == true)
      #expect(answer.tree?.member("warnings")?.count == 0)
    }
    #expect(
      Set(Self.effects.map { "\($0.0) \($0.1 ?? "")" })
        == Set(NotificationKind.all.map { "\($0.type) \($0.subtype ?? "")" }))
  }

  @Test("NTF-1 PAY-2 an unknown type with a known body is reported, known:false, without effect")
  func unknownType() throws {
    let answer = try verify(notification(("data", try data()), type: "NEW_TYPE"))
    #expect(answer.status == .ok)
    #expect(answer.tree?.at("notification.known")?.boolean == false)
    #expect(answer.text("notification.effect") == "none")
    #expect(answer.text("notification.type") == "NEW_TYPE")
    #expect(answer.text("notification.transaction.productId") == Self.purchase.productId)
    let subtype = try verify(
      notification(("data", try data())).setting("subtype", "NEW_SUBTYPE"))
    #expect(subtype.tree?.at("notification.known")?.boolean == true)
    #expect(subtype.text("warnings.0.at") == "subtype")
  }
}
