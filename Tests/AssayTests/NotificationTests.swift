import AssayAuthority
import Testing

@testable import Assay

/// Tests NTF-4 … NTF-6, and the effect of every type (docs/spec/storekit-payloads.md §4, §5).
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

  // MARK: nested

  @Test("NTF-4 everything nested is verified and reported as if it had been verified alone")
  func complete() throws {
    let verifier = try Minted.verifier()
    let authority = try Minted.authority()
    let answer = verifier.verifyJWS(
      try authority.mint(notification(("data", try data()))), kind: .notification, nowMs: Minted.now
    )
    for (kind, payload) in [
      (.transaction, Self.purchase.transactionPayload),
      (.renewalInfo, Self.purchase.renewalPayload),
    ] as [(StoreKitKind, JSONText)] {
      let alone = verifier.verifyJWS(try authority.mint(payload), kind: kind, nowMs: Minted.now)
      let inner = try require(answer.tree?.at("notification.\(kind.factsMember)"))
      let outer = try require(alone.tree?.member(kind.factsMember))
      // Both found the chain in the cache, so even that member is the same.
      checkEqual(inner.source, outer.source, "\(kind.name)")
    }
    checkEqual(answer.tree?.at("notification.appTransaction")?.isNull, true)
    checkEqual(answer.text("notification.body"), "data")
    checkEqual(answer.integer("notification.status"), 1)
    checkEqual(answer.text("notification.bundleId"), "com.example.app")
    let app = try verify(authority.notification("RESCIND_CONSENT", nil, Self.purchase))
    checkEqual(app.text("notification.appTransaction.bundleId"), "com.example.app")
    checkEqual(app.text("notification.body"), "appData")
    checkEqual(app.tree?.at("notification.transaction")?.isNull, true)
  }

  @Test("NTF-4 a failing nested JWS refuses the whole at its own place")
  func nestedRefusals() throws {
    let transaction = Self.purchase.transactionPayload
    let cases: [(String, JSONText, Status, String)] = [
      ("signedTransactionInfo", "a.b", .malformedJwsForm, "/byte 1"),
      (
        "signedTransactionInfo",
        .string(utf8: try Minted.authority().mint(transaction.setting("bundleId", "x"))),
        .rejectedAppBundleId, "/bundleId"
      ),
      (
        "signedRenewalInfo", .string(utf8: try Minted.authority().mint(transaction)),
        .rejectedKindMismatch, ""
      ),
    ]
    for (member, value, status, place) in cases {
      let answer = try verify(notification(("data", try data([("\(member)", value)]))))
      checkEqual(answer.status, status, "\(member)")
      checkEqual(answer.text("error.at"), "data.\(member)\(place)")
      checkEqual(answer.text("error.check"), "nested")
      checkEqual(answer.tree?.member("notification")?.isNull, true)
    }
  }

  @Test("NTF-4 warnings of nested evidence carry their place")
  func nestedWarnings() throws {
    let payload = Self.purchase.transactionPayload.setting("type", "New Type")
    let answer = try verify(
      notification(("data", try data(transaction: payload, renewal: nil)), type: "NEW_TYPE"))
    checkEqual(answer.status, .ok)
    let warnings = try require(answer.tree?.member("warnings")).children.map {
      "\($0.string("id")) \($0.string("at"))"
    }
    checkEqual(
      warnings,
      [
        "unknown-value notificationType", "unknown-value data.signedTransactionInfo/type",
      ])
    checkEqual(answer.text("notification.transaction.warnings.0.at"), "type")
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
      checkEqual(answer.status, .rejectedNestedInconsistent, "\(place): \(answer.name)")
      checkEqual(answer.text("error.at"), place)
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
      checkEqual(answer.status, .rejectedNestedInconsistent, "\(place)")
      checkEqual(answer.text("error.at"), place)
    }
    // If only one side names the app, there is no contradiction.
    let inner = try Minted.authority().mint(
      Self.purchase.appTransactionPayload.removing("appAppleId"))
    try checkEqual(
      verify(
        notification(
          ("appData", NotificationPayload.appData(Self.purchase, appTransaction: inner)),
          type: "RESCIND_CONSENT")
      ).status, .ok)
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
      checkEqual(answer.status, .ok)
      let places = try require(answer.tree?.member("warnings")).children
        .filter { $0.string("id") == "nested-differs" }.map { $0.string("at") }
      checkEqual(places, [place])
    }
    let same = try verify(notification(("data", try data())))
    checkEqual(same.tree?.member("warnings")?.count, 0)
  }

  // MARK: effects

  /// The effects in docs/spec/storekit-payloads.md §5, row by row.
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
      checkEqual(answer.status, .ok, "\(type)")
      let facts = try require(answer.tree?.member("notification"))
      checkEqual(facts.string("effect"), effect, "\(type) \(subtype ?? "")")
      checkEqual(facts.string("type"), type)
      checkEqual(facts.member("subtype")?.text?.string, subtype)
      checkEqual(facts.member("known")?.boolean, true)
      checkEqual(answer.tree?.member("warnings")?.count, 0)
    }
    checkEqual(
      Set(Self.effects.map { "\($0.0) \($0.1 ?? "")" }),
      Set(NotificationKind.all.map { "\($0.type) \($0.subtype ?? "")" }))
  }

  @Test("NTF-1 PAY-2 an unknown type with a known body is reported, known:false, without effect")
  func unknownType() throws {
    let answer = try verify(notification(("data", try data()), type: "NEW_TYPE"))
    checkEqual(answer.status, .ok)
    checkEqual(answer.tree?.at("notification.known")?.boolean, false)
    checkEqual(answer.text("notification.effect"), "none")
    checkEqual(answer.text("notification.type"), "NEW_TYPE")
    checkEqual(answer.text("notification.transaction.productId"), Self.purchase.productId)
    let subtype = try verify(
      notification(("data", try data())).setting("subtype", "NEW_SUBTYPE"))
    checkEqual(subtype.tree?.at("notification.known")?.boolean, true)
    checkEqual(subtype.text("warnings.0.at"), "subtype")
  }
}
