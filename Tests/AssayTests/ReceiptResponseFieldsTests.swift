import AssayAuthority
import Testing

@testable import Assay

/// Tests every known field in every JSON type (docs/spec/receipts-triage.md §2.4, §2.5).
@Suite("verifyReceipt: fields")
struct ReceiptResponseFieldsTests {
  /// Returns the result of a response whose only purchase has one member changed; `nil` removes it.
  private func entry(_ member: String, _ value: JSONText?) -> AnswerSample.Outcome {
    let entry = AnswerSample.entry()
    let changed = value.map { entry.setting(member, $0) } ?? entry.removing(member)
    return AnswerSample.read(AnswerSample.ios7(inApp: [], latest: [changed]))
  }

  private func app(_ member: String, _ value: JSONText?) -> AnswerSample.Outcome {
    let answer = AnswerSample.ios7()
    let path = "receipt." + member
    return AnswerSample.read(
      value.map { answer.setting(path, $0) } ?? answer.removing(path))
  }

  private func renewal(_ member: String, _ value: JSONText) -> AnswerSample.Outcome {
    AnswerSample.read(
      AnswerSample.ios7(renewals: [AnswerSample.renewal().setting(member, value)]))
  }

  private func expectMalformed(
    _ outcome: AnswerSample.Outcome, at place: String,
    _ location: SourceLocation = #_sourceLocation
  ) {
    checkEqual(outcome.status, .malformedVerifyReceiptField, sourceLocation: location)
    checkEqual(outcome.place, place, sourceLocation: location)
    checkEqual(outcome.retryClass, "later", sourceLocation: location)
    checkEqual(
      outcome.document.text("error.check"), "answer.fields", sourceLocation: location)
  }

  private let first = "transactions.0."
  private let latest = "latest_receipt_info[0]."

  // MARK: ids

  @Test("VRR-9 ids are digits: from texts or from numbers, digit for digit")
  func ids() {
    for (member, name) in [
      ("transaction_id", "transactionId"), ("original_transaction_id", "originalTransactionId"),
      ("web_order_line_item_id", "webOrderLineItemId"),
      ("subscription_group_identifier", "subscriptionGroupIdentifier"),
    ] {
      for id in ["700001000000009", "9007199254740993", "99999999999999999999", "7"] {
        // The two ids with an environment are of production; the others have none.
        checkEqual(entry(member, .string(id)).text(first + name), id)
        checkEqual(entry(member, .text(id)).text(first + name), id)
      }
      let broken: [JSONText] = [
        "", "12a", " 12", "+12", "-12", "1.5", .text("1e3"), .text("12.0"), .text("-12"), true,
        [], [:], "123456789012345678901", .text("123456789012345678901"),
      ]
      for value in broken { expectMalformed(entry(member, value), at: latest + member) }
    }
  }

  @Test("VRR-9 numbers past 2^53 stay exact")
  func largeNumbers() {
    let outcome = app("download_id", .text("999999999999999983"))
    checkEqual(outcome.text("downloadId"), "999999999999999983")
    let external = app("version_external_identifier", .text("9007199254740993"))
    checkEqual(external.text("versionExternalIdentifier"), "9007199254740993")
    checkEqual(app("version_external_identifier", "815").integer("versionExternalIdentifier"), 815)
    for value in ["x", "-1", .text("1.5"), .text("9223372036854775808")] as [JSONText] {
      expectMalformed(
        app("version_external_identifier", value), at: "receipt.version_external_identifier")
    }
  }

  @Test("VRR-9 a purchase without one of its three ids is refused by name")
  func missingIds() {
    for member in ["transaction_id", "original_transaction_id", "product_id"] {
      expectMalformed(entry(member, nil), at: latest + member)
      expectMalformed(entry(member, .null), at: latest + member)
    }
    expectMalformed(entry("product_id", ""), at: latest + "product_id")
    expectMalformed(
      entry("product_id", .string(String(repeating: "p", count: 256))), at: latest + "product_id")
    checkEqual(
      entry("product_id", .string(String(repeating: "p", count: 255))).status, .ok)
    checkEqual(entry("product_id", .text("123")).text(first + "productId"), "123")
    expectMalformed(entry("product_id", true), at: latest + "product_id")
  }

  // MARK: flags, counts, codes

  @Test(
    "VRR-9 flags come as texts, numbers and booleans",
    arguments: [
      ("is_trial_period", "isTrialPeriod"), ("is_in_intro_offer_period", "isInIntroOfferPeriod"),
      ("is_upgraded", "isUpgraded"),
    ])
  func flags(_ member: String, _ name: String) {
    for value in ["true", "1", 1, true] as [JSONText] {
      checkEqual(entry(member, value).source(first + name), "true")
    }
    for value in ["false", "0", 0, false] as [JSONText] {
      checkEqual(entry(member, value).source(first + name), "false")
    }
    checkEqual(entry(member, nil).source(first + name), "null")
    checkEqual(entry(member, .null).source(first + name), "null")
    for value in ["", "TRUE", "yes", "2", 2, "00", .text("1.0"), [], [:]] as [JSONText] {
      expectMalformed(entry(member, value), at: latest + member)
    }
  }

  @Test("VRR-9 quantity is a decimal text of at least 1")
  func quantity() {
    checkEqual(entry("quantity", "3").integer(first + "quantity"), 3)
    checkEqual(entry("quantity", 3).integer(first + "quantity"), 3)
    checkEqual(entry("quantity", "2147483647").integer(first + "quantity"), 2_147_483_647)
    checkEqual(entry("quantity", nil).evidence?.purchases.first?.quantity, 1)
    for value in ["0", "-1", "", "1.5", "2147483648", true, 0] as [JSONText] {
      expectMalformed(entry("quantity", value), at: latest + "quantity")
    }
  }

  @Test("VRR-9 values of enumerations that are not known are kept and warned of, never fatal")
  func unknownValues() {
    let reason = entry("cancellation_reason", "7")
    checkEqual(reason.integer(first + "cancellationReason"), 7)
    checkEqual(reason.warnings, ["unknown-value latest_receipt_info[0].cancellation_reason"])
    let owner = entry("in_app_ownership_type", "LENT")
    checkEqual(owner.text(first + "inAppOwnershipType"), "LENT")
    checkEqual(owner.warnings, ["unknown-value latest_receipt_info[0].in_app_ownership_type"])
    checkEqual(owner.evidence?.purchases.first?.ownership, "LENT")
    let type = app("receipt_type", "ProductionMoon")
    checkEqual(type.text("receiptType"), "ProductionMoon")
    checkEqual(type.warnings, ["unknown-value receipt.receipt_type"])
    for (member, name, value) in [
      ("expiration_intent", "expirationIntent", 9 as Int64),
      ("price_consent_status", "priceConsentStatus", 2),
      ("price_increase_status", "priceIncreaseStatus", 2),
      ("auto_renew_status", "autoRenewStatus", 2),
    ] {
      let outcome = renewal(member, .string("\(value)"))
      checkEqual(outcome.integer("renewals.0." + name), value)
      checkEqual(outcome.warnings, ["unknown-value pending_renewal_info[0]." + member])
      expectMalformed(renewal(member, "soon"), at: "pending_renewal_info[0]." + member)
    }
    expectMalformed(entry("cancellation_reason", "refund"), at: latest + "cancellation_reason")
    expectMalformed(entry("cancellation_reason", true), at: latest + "cancellation_reason")
    expectMalformed(entry("in_app_ownership_type", 1), at: latest + "in_app_ownership_type")
    expectMalformed(
      renewal("is_in_billing_retry_period", "2"),
      at: "pending_renewal_info[0].is_in_billing_retry_period")
  }

  @Test("VRR-9 the same unknown value in every entry is one warning")
  func oneWarning() {
    let entries = (1...50).map {
      AnswerSample.entry("7000010000000\($0 + 10)").setting("in_app_ownership_type", "LENT")
    }
    let outcome = AnswerSample.read(AnswerSample.ios7(inApp: entries, latest: entries))
    checkEqual(
      outcome.warnings,
      [
        "unknown-value receipt.in_app[0].in_app_ownership_type",
        "unknown-value latest_receipt_info[0].in_app_ownership_type",
      ])
  }

  @Test("VRR-9 texts stay as they are and are nothing else")
  func texts() {
    for member in ["promotional_offer_id", "offer_code_ref_name", "app_account_token"] {
      for value in [1, true, [], [:]] as [JSONText] {
        expectMalformed(entry(member, value), at: latest + member)
      }
    }
    checkEqual(
      entry("offer_code_ref_name", .text("\"caf\\u00e9 \\\"x\\\"\"")).text(
        first + "offerCodeRefName"), "café \"x\"")
    expectMalformed(app("application_version", 12), at: "receipt.application_version")
    expectMalformed(app("bundle_id", 12), at: "receipt.bundle_id")
  }

  @Test("VRR-9 members that are not known are kept, at every place")
  func unknownMembers() {
    let extra: JSONText = ["a": [1, "b"]]
    let answer = AnswerSample.ios7(
      inApp: [], latest: [AnswerSample.entry().appending("new_one", extra)],
      renewals: [AnswerSample.renewal().appending("new_two", "\u{e9}\n")]
    ).appending("new_three", .text("1.50"))
    let outcome = AnswerSample.read(
      answer.setting("receipt", (answer["receipt"] ?? .null).appending("new_four", .null)))
    checkEqual(outcome.source(first + "unknown"), "{\"new_one\":{\"a\":[1,\"b\"]}}")
    checkEqual(outcome.text("renewals.0.unknown.new_two"), "\u{e9}\n")
    checkEqual(outcome.source("unknown"), "{\"new_three\":1.50}")
    checkEqual(outcome.source("unknownInReceipt"), "{\"new_four\":null}")
    check(AnswerSample.read(AnswerSample.ios7()).value("unknown") == nil)
    // A secret is not kept as an unknown member (DOC-3).
    let secret = AnswerSample.read(AnswerSample.ios7().appending("password", "00ff"))
    checkEqual(secret.status, .ok)
    check(!String(decoding: secret.document.json, as: UTF8.self).contains("00ff"))
  }

  @Test("VRR-9 lists are arrays of objects, or one object")
  func lists() {
    for member in ["latest_receipt_info", "pending_renewal_info", "latest_expired_receipt_info"] {
      for value in ["x", 1, true] as [JSONText] {
        expectMalformed(
          AnswerSample.read(AnswerSample.ios7().setting(member, value)), at: member)
      }
      expectMalformed(
        AnswerSample.read(AnswerSample.ios7().setting(member, ["x"])), at: member + "[0]")
    }
    expectMalformed(app("in_app", "x"), at: "receipt.in_app")
    expectMalformed(
      AnswerSample.read(AnswerSample.ios7().setting("receipt", "x")), at: "receipt")
    expectMalformed(
      AnswerSample.read(AnswerSample.ios7().setting("pending_renewal_info", [:])),
      at: "pending_renewal_info")
  }

  // MARK: dates

  private static let dates = [
    ("purchase_date", "purchaseDate"), ("original_purchase_date", "originalPurchaseDate"),
    ("expires_date", "expiresDate"), ("cancellation_date", "cancellationDate"),
  ]

  @Test("VRR-10 _ms is authoritative, the plain text stands in, _pst is never read")
  func dates() {
    let moment: Int64 = 1_466_127_148_000
    for (member, name) in Self.dates {
      let both = entry(member, "2016-06-17 01:32:29 Etc/GMT")
      let other = AnswerSample.read(
        AnswerSample.ios7(
          inApp: [],
          latest: [
            AnswerSample.entry().setting([
              (member, "nonsense"), (member + "_ms", .string("\(moment)")),
              (member + "_pst", 7),
            ])
          ]))
      checkEqual(other.integer(first + name), moment)
      if member != "cancellation_date" { check(both.integer(first + name) != moment + 1000) }
      let plain = AnswerSample.read(
        AnswerSample.ios7(
          inApp: [],
          latest: [
            AnswerSample.entry().removing(member + "_ms")
              .setting(member, "2016-06-17 01:32:28 Etc/GMT")
          ]))
      checkEqual(plain.integer(first + name), moment)
      let alone = AnswerSample.read(
        AnswerSample.ios7(
          inApp: [],
          latest: [
            AnswerSample.entry().removing([member + "_ms", member])
              .setting(member + "_pst", "2016-06-16 18:32:28 America/Los_Angeles")
          ]))
      checkEqual(alone.status, .ok)
      checkEqual(alone.source(first + name), "null")
    }
  }

  @Test(
    "VRR-10 date texts are read by fixed positions and range",
    arguments: [
      "2016-02-30 01:32:28 Etc/GMT", "2015-02-29 01:32:28 Etc/GMT",
      "2016-13-01 01:32:28 Etc/GMT", "2016-06-17 24:00:00 Etc/GMT",
      "2016-06-17 01:60:28 Etc/GMT", "2016-06-17 01:32:60 Etc/GMT",
      "2016-06-17T01:32:28 Etc/GMT", "2016/06/17 01:32:28 Etc/GMT",
      "2016-06-17 01.32.28 Etc/GMT", "2016-06-17 01:32:28 Etc/UTC", "2016-06-17 01:32:28",
      "16-06-17 01:32:28 Etc/GMT", "2016-06-17 01:32:28 Etc/GMT ", "+016-06-17 01:32:28 Etc/GMT",
      "2101-01-01 00:00:00 Etc/GMT", "1969-12-31 23:59:59 Etc/GMT", "", "1466127148000",
    ])
  func dateTexts(_ text: String) {
    let changed = AnswerSample.entry().removing("purchase_date_ms")
      .setting("purchase_date", .string(text))
    expectMalformed(
      AnswerSample.read(AnswerSample.ios7(inApp: [], latest: [changed])),
      at: latest + "purchase_date")
  }

  @Test("VRR-9 milliseconds are decimal digits up to 2100")
  func milliseconds() {
    checkEqual(entry("purchase_date_ms", "4102444800000").status, .ok)
    check(entry("purchase_date_ms", 1_466_127_148_000).integer(first + "purchaseDate") != nil)
    for value in [
      "", "4102444800001", "-1", "1.5", "1e12", "0x10", "9223372036854775808", true, [],
      .text("1466127148000.0"),
    ] as [JSONText] {
      expectMalformed(entry("purchase_date_ms", value), at: latest + "purchase_date_ms")
    }
  }

  @Test("VRR-10 expires_date of 13 digits is milliseconds, whatever the style")
  func expiry() {
    let bare = AnswerSample.entry().removing(["expires_date_ms", "expires_date"])
    func end(_ changes: [(String, JSONText)]) -> AnswerSample.Outcome {
      AnswerSample.read(AnswerSample.ios7(inApp: [], latest: [bare.setting(changes)]))
    }
    let name = first + "expiresDate"
    checkEqual(end([("expires_date", "1466127448000")]).integer(name), 1_466_127_448_000)
    checkEqual(end([("expires_date", 1_466_127_448_000)]).integer(name), 1_466_127_448_000)
    checkEqual(
      end([("expires_date", "2016-06-17 01:37:28 Etc/GMT")]).integer(name), 1_466_127_448_000)
    checkEqual(
      end([("expires_date_formatted", "2016-06-17 01:37:28 Etc/GMT")]).integer(name),
      1_466_127_448_000)
    // The first present one of three members counts.
    checkEqual(
      end([
        ("expires_date_ms", "1466127448001"), ("expires_date", "1466127448000"),
        ("expires_date_formatted", "x"),
      ]).integer(name), 1_466_127_448_001)
    for value in ["146612744800", "14661274480000", "9999999999999", ""] as [JSONText] {
      expectMalformed(end([("expires_date", value)]), at: latest + "expires_date")
    }
    expectMalformed(
      end([("expires_date_formatted", "soon")]), at: latest + "expires_date_formatted")
  }

  @Test("VRR-10 request_date is the time of the answer, and a clock that differs is reported")
  func requestDate() {
    func skew(_ milliseconds: Int64) -> AnswerSample.Outcome {
      AnswerSample.read(AnswerSample.ios7(), nowMs: AnswerSample.now + milliseconds)
    }
    let five: Int64 = 5 * 60_000
    for (difference, reported) in [
      (0, nil), (five, nil), (-five, nil), (five + 1, -five - 1), (-five - 1, five + 1),
    ] as [(Int64, Int64?)] {
      let outcome = skew(difference)
      checkEqual(outcome.status, .ok)
      checkEqual(outcome.integer("requestDate"), AnswerSample.now)
      checkEqual(outcome.integer("asOfMs"), AnswerSample.now)
      checkEqual(outcome.integer("clockSkew"), reported)
      checkEqual(outcome.evidence?.asOfMs, AnswerSample.now)
    }
    let undated = AnswerSample.read(
      AnswerSample.ios7().removing(["receipt.request_date", "receipt.request_date_ms"]),
      nowMs: AnswerSample.now + five * 9)
    checkEqual(undated.source("requestDate"), "null")
    // The time of reading never counts (DCD-21).
    checkEqual(undated.integer("asOfMs"), undated.integer("receiptCreationDate"))
    checkEqual(undated.evidence?.purchases.first?.timeIsKnown, false)
    check(undated.integer("clockSkew") == nil)
    // Clocks whose difference is beyond every integer.
    for (apple, host) in [(Int64.max, -1), (Int64.min, 1)] as [(Int64, Int64)] {
      check(ReceiptResponse.Clock(requestDate: apple, latestDate: 0, nowMs: host).skew == nil)
    }
  }

  @Test("VRR-19 every field of an app's receipt, in camel case and milliseconds")
  func appFields() {
    let changes =
      AnswerSample.date("expiration_date", 64_060_588_800_000)
      + AnswerSample.date("preorder_date", AnswerSample.now - 3 * AnswerSample.day)
    let outcome = AnswerSample.read(
      AnswerSample.ios7().setting(changes.map { ("receipt." + $0.name, $0.value) }))
    checkEqual(outcome.text("style"), "ios7")
    checkEqual(outcome.text("environment"), "Production")
    checkEqual(outcome.text("bundleId"), AnswerSample.bundle)
    checkEqual(outcome.text("receiptType"), "Production")
    checkEqual(outcome.integer("adamId"), AnswerSample.appId)
    checkEqual(outcome.integer("appItemId"), AnswerSample.appId)
    checkEqual(outcome.text("applicationVersion"), "12")
    checkEqual(outcome.text("downloadId"), "500000000000000123")
    checkEqual(outcome.integer("versionExternalIdentifier"), 815_000_001)
    checkEqual(outcome.integer("receiptCreationDate"), AnswerSample.now - AnswerSample.day)
    checkEqual(outcome.integer("originalPurchaseDate"), AnswerSample.now - 100 * AnswerSample.day)
    checkEqual(outcome.text("originalApplicationVersion"), "1.0")
    checkEqual(outcome.integer("expirationDate"), 64_060_588_800_000)
    checkEqual(outcome.integer("preorderDate"), AnswerSample.now - 3 * AnswerSample.day)
    checkEqual(outcome.text("evidence"), "apple-answer")
    checkEqual(outcome.source("latestReceipt"), "null")
    expectMalformed(
      AnswerSample.read(
        AnswerSample.ios7().setting("receipt.preorder_date_ms", "64060588800000")),
      at: "receipt.preorder_date_ms")
  }
}
