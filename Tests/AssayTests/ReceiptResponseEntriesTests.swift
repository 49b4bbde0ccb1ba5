import AssayAuthority
import Testing

@testable import Assay

/// Tests both styles of response, and the facts of their entries for a decision
/// (docs/spec/receipts-triage.md §2.3, §2.5; docs/spec/receipts-decisions.md §1).
@Suite("verifyReceipt: entries and renewals")
struct ReceiptResponseEntriesTests {
  private let now = AnswerSample.now
  private let day = AnswerSample.day

  private func ids(_ outcome: AnswerSample.Outcome) -> [String] {
    (outcome.value("transactions")?.children).map { $0.map { $0.string("transactionId") } } ?? []
  }

  private func read(
    inApp: [JSONText] = [], latest: [JSONText]? = nil, renewals: [JSONText]? = nil
  ) -> AnswerSample.Outcome {
    AnswerSample.read(AnswerSample.ios7(inApp: inApp, latest: latest, renewals: renewals))
  }

  // MARK: order and uniqueness

  @Test("VRR-11 entries are one per transaction, ordered by the end, whatever their order was")
  func order() {
    let entries = [
      AnswerSample.entry("700001000000005", end: now + 5 * day),
      AnswerSample.entry("700001000000010", end: now + 2 * day),
      AnswerSample.entry("700001000000009", end: now + 2 * day),
      AnswerSample.entry("700001000000007", end: nil),
      AnswerSample.entry("700001000000003", end: now - 2 * day),
    ]
    let expected = [
      "700001000000007", "700001000000003", "700001000000009", "700001000000010",
      "700001000000005",
    ]
    let whole = read(inApp: entries, latest: entries.reversed())
    checkEqual(ids(whole), expected)
    for shift in 1...4 {
      let turned = Array(entries[shift...] + entries[..<shift])
      let other = read(inApp: Array(turned.prefix(3)), latest: Array(turned.suffix(4)))
      checkEqual(ids(other), expected)
      // The same facts in another order are the same document.
      checkEqual(other.source("transactions"), whole.source("transactions"))
    }
    // A number with and one without leading zeros are two ids.
    checkEqual(
      ids(read(inApp: [AnswerSample.entry("07"), AnswerSample.entry("7")])), ["07", "7"])
  }

  @Test("VRR-11 what one entry does not say, another of the same transaction does")
  func filled() {
    let poor = AnswerSample.entry(end: nil).removing(["web_order_line_item_id", "quantity"])
      .setting("is_upgraded", "true")
    let rich = AnswerSample.entry().setting("promotional_offer_id", "summer")
    for outcome in [
      read(inApp: [rich], latest: [poor]), read(latest: [poor, rich]), read(latest: [rich, poor]),
    ] {
      checkEqual(ids(outcome), [AnswerSample.first])
      checkEqual(outcome.integer("transactions.0.expiresDate"), now + 20 * day)
      checkEqual(outcome.text("transactions.0.webOrderLineItemId"), "700001000000091")
      checkEqual(outcome.source("transactions.0.isUpgraded"), "true")
      checkEqual(outcome.text("transactions.0.promotionalOfferId"), "summer")
    }
  }

  @Test("VRR-11 the newer list decides, and within one list the entry that gives less")
  func precedence() {
    let old = AnswerSample.entry(end: now + 3 * day)
    let extended = AnswerSample.entry(end: now + 9 * day)
    checkEqual(
      read(inApp: [old], latest: [extended]).integer("transactions.0.expiresDate"), now + 9 * day)
    checkEqual(
      read(inApp: [extended], latest: [old]).integer("transactions.0.expiresDate"), now + 3 * day)
    checkEqual(
      read(latest: [extended, old]).integer("transactions.0.expiresDate"), now + 3 * day)
    checkEqual(
      read(latest: [old, extended]).integer("transactions.0.expiresDate"), now + 3 * day)
    // A refund in any entry is found (RFD-1).
    let refunded = old.setting([
      ("cancellation_date_ms", .string("\(now - day)")), ("cancellation_reason", "1"),
    ])
    for outcome in [
      read(inApp: [refunded], latest: [old]), read(inApp: [old], latest: [refunded]),
      read(latest: [old, refunded]),
    ] {
      checkEqual(outcome.evidence?.purchases.map(\.revokedAtMs), [now - day])
      checkEqual(outcome.evidence?.purchases.map(\.revocationReason), [1])
    }
  }

  @Test("VRR-13 an empty in_app and no latest_receipt_info mean no purchases")
  func empty() {
    let empty = read()
    checkEqual(empty.status, .ok)
    checkEqual(empty.source("transactions"), "[]")
    checkEqual(empty.source("renewals"), "[]")
    let absent = AnswerSample.read(
      AnswerSample.ios7(latest: nil, renewals: nil).removing("receipt.in_app"))
    checkEqual(absent.status, .ok)
    checkEqual(absent.evidence?.purchases.isEmpty, true)
    checkEqual(absent.evidence?.asOfMs, now)
  }

  // MARK: the iOS 6 style

  @Test("VRR-19 the iOS 6 style: every field of the flat receipt")
  func flat() {
    let outcome = AnswerSample.read(AnswerSample.ios6())
    checkEqual(outcome.status, .ok)
    checkEqual(outcome.text("style"), "ios6")
    checkEqual(outcome.text("environment"), "Production")
    checkEqual(outcome.text("environmentSource"), "transaction-id")
    checkEqual(outcome.text("bundleId"), AnswerSample.bundle)
    checkEqual(outcome.source("requestDate"), "null")
    // The latest date in the response (DCD-21).
    checkEqual(outcome.integer("asOfMs"), now - 10 * day)
    checkEqual(ids(outcome), [AnswerSample.first])
    let entry = "transactions.0."
    checkEqual(outcome.text(entry + "bid"), AnswerSample.bundle)
    checkEqual(outcome.text(entry + "bvrs"), "12")
    checkEqual(outcome.text(entry + "itemId"), "900000001")
    checkEqual(outcome.integer(entry + "appItemId"), AnswerSample.appId)
    checkEqual(outcome.integer(entry + "versionExternalIdentifier"), 815_000_001)
    checkEqual(outcome.integer(entry + "expiresDate"), now + 20 * day)
    checkEqual(outcome.integer(entry + "purchaseDate"), now - 10 * day)
    checkEqual(outcome.integer(entry + "quantity"), 1)
    check(outcome.value(entry + "uniqueIdentifier") == nil)
    let json = String(decoding: outcome.document.json, as: UTF8.self)
    check(!json.contains(AnswerSample.deviceId) && !json.contains(AnswerSample.vendorId))
    let open = AnswerSample.read(
      AnswerSample.ios6(),
      AnswerSample.configuration { $0.receipts.deviceIdsReported = true })
    checkEqual(open.text(entry + "uniqueIdentifier"), AnswerSample.deviceId)
    checkEqual(open.text(entry + "uniqueVendorIdentifier"), AnswerSample.vendorId)
  }

  @Test("VRR-19 the iOS 6 style: renewal facts are at the top")
  func flatRenewal() {
    let outcome = AnswerSample.read(
      AnswerSample.ios6().setting([
        ("auto_renew_status", 0), ("auto_renew_product_id", "com.example.app.yearly"),
        ("expiration_intent", "2"), ("is_in_billing_retry_period", "1"), ("odd", 1),
      ]))
    let renewal = "renewals.0."
    checkEqual(outcome.text(renewal + "originalTransactionId"), AnswerSample.first)
    checkEqual(outcome.text(renewal + "productId"), AnswerSample.product)
    checkEqual(outcome.text(renewal + "autoRenewProductId"), "com.example.app.yearly")
    checkEqual(outcome.integer(renewal + "autoRenewStatus"), 0)
    checkEqual(outcome.integer(renewal + "expirationIntent"), 2)
    checkEqual(outcome.source(renewal + "isInBillingRetryPeriod"), "true")
    check(outcome.value(renewal + "unknown") == nil)
    checkEqual(outcome.source("unknown"), "{\"odd\":1}")
    let facts = outcome.evidence?.renewals.first
    checkEqual(facts?.originalTransactionId, Text(AnswerSample.first))
    checkEqual(facts?.productId, Text(AnswerSample.product))
    checkEqual(facts?.autoRenewStatus, 0)
    checkEqual(facts?.expirationIntent, 2)
    checkEqual(facts?.isInBillingRetry, true)
    checkEqual(facts?.evidenceClass, .appleAnswer)
    let without = AnswerSample.read(
      AnswerSample.ios6().removing(["auto_renew_status", "auto_renew_product_id"]))
    checkEqual(without.source("renewals"), "[]")
    let broken = AnswerSample.read(AnswerSample.ios6().setting("expiration_intent", "soon"))
    checkEqual(broken.status, .malformedVerifyReceiptField)
    checkEqual(broken.place, "expiration_intent")
  }

  @Test("VRR-19 the iOS 6 style: renewed, the newest transaction is another one")
  func flatRenewed() {
    let renewed = AnswerSample.flat(
      AnswerSample.second, start: now + 20 * day, end: now + 50 * day)
    let outcome = AnswerSample.read(
      AnswerSample.ios6().setting("latest_receipt_info", renewed))
    checkEqual(ids(outcome), [AnswerSample.first, AnswerSample.second])
    checkEqual(outcome.evidence?.purchases.map(\.end), [now + 20 * day, now + 50 * day])
  }

  @Test("VRR-6 DEC-8 the iOS 6 style: 21006 with latest_expired_receipt_info")
  func flatExpired() {
    let ended = AnswerSample.flat(
      AnswerSample.second, start: now - 40 * day, end: now - 10 * day)
    let answer = AnswerSample.ios6(ended).removing("latest_receipt_info").setting([
      ("status", 21006), ("latest_expired_receipt_info", ended), ("cancellation_reason", "1"),
    ])
    let outcome = AnswerSample.read(answer)
    checkEqual(outcome.integer("appleStatus"), 21006)
    checkEqual(outcome.integer("cancellationReason"), 1)
    checkEqual(ids(outcome), [AnswerSample.second])
    let facts = outcome.evidence?.purchases.first
    checkEqual(facts?.isExpiredAnswer, true)
    checkEqual(facts?.end, now - 10 * day)
    check(facts?.revokedAtMs == nil && facts?.revocationReason == nil)
    // The reason at the top belongs to a cancellation without one.
    let cancelled = AnswerSample.read(
      answer.setting("receipt.cancellation_date_ms", .string("\(now - 20 * day)")))
    checkEqual(cancelled.evidence?.purchases.map(\.revokedAtMs), [now - 20 * day])
    checkEqual(cancelled.evidence?.purchases.map(\.revocationReason), [1])
  }

  // MARK: facts for decisions

  @Test("DCD-2 DCD-4 every fact that a decision needs of a purchase")
  func purchaseFacts() throws {
    let token = "0A1B2C3D-4E5F-4A6B-8C7D-0E1F2A3B4C5D"
    let full = AnswerSample.entry().setting([
      ("quantity", "2"), ("cancellation_date_ms", .string("\(now - day)")),
      ("cancellation_reason", "0"), ("is_upgraded", "true"), ("is_trial_period", "true"),
      ("is_in_intro_offer_period", "1"), ("in_app_ownership_type", "FAMILY_SHARED"),
      ("subscription_group_identifier", "20662382"), ("app_account_token", .string(token)),
      ("offer_code_ref_name", "spring"),
    ])
    let outcome = read(latest: [full])
    let facts = try require(outcome.evidence?.purchases.first)
    checkEqual(outcome.evidence?.kind.description, "verify-receipt-response")
    checkEqual(outcome.evidence?.evidenceClass, .appleAnswer)
    checkEqual(facts.environment, .production)
    checkEqual(facts.transactionId, Text(AnswerSample.first))
    checkEqual(facts.originalTransactionId, Text(AnswerSample.first))
    checkEqual(facts.productId, Text(AnswerSample.product))
    checkEqual(facts.webOrderLineItemId, "700001000000091")
    checkEqual(facts.group, "20662382")
    check(facts.type == nil && !facts.typeIsUnknown)
    check(facts.start == now - 10 * day && facts.end == now + 20 * day)
    check(facts.revokedAtMs == now - day && facts.revocationReason == 0)
    check(facts.isUpgraded && facts.isTrial && facts.isIntro && facts.hasOffer)
    checkEqual(facts.ownership, "FAMILY_SHARED")
    checkEqual(facts.quantity, 2)
    checkEqual(facts.account, Text(token).asciiLowercased)
    check(facts.asOfMs == now && facts.timeIsKnown && facts.evidenceClass == .appleAnswer)
    checkEqual(facts.canReport, [.revocation, .upgrade, .account, .offers, .family])
    checkEqual(outcome.text("transactions.0.appAccountToken"), token)
    let bare = try require(read(latest: [AnswerSample.entry()]).evidence?.purchases.first)
    check(!bare.isUpgraded && !bare.isTrial && !bare.isIntro && !bare.hasOffer)
    check(bare.account == nil && bare.ownership == nil && bare.group == nil)
    check(bare.revokedAtMs == nil && bare.revocationReason == nil && !bare.isExpiredAnswer)
    let offered = AnswerSample.entry().setting("promotional_offer_id", "summer")
    checkEqual(read(latest: [offered]).evidence?.purchases.first?.hasOffer, true)
    for name in ["promotional_offer_id", "offer_code_ref_name"] {
      let blank = AnswerSample.entry().setting(name, "")
      checkEqual(read(latest: [blank]).evidence?.purchases.first?.hasOffer, false)
    }
    let odd = AnswerSample.entry().setting("app_account_token", "somebody")
    check(read(latest: [odd]).evidence?.purchases.first?.account == nil)
  }

  @Test("DCD-4 every fact that a decision needs of a renewal")
  func renewalFacts() throws {
    let full = AnswerSample.renewal().setting([
      ("auto_renew_status", "0"), ("auto_renew_product_id", "com.example.app.yearly"),
      ("is_in_billing_retry_period", "1"), ("expiration_intent", "2"),
      ("grace_period_expires_date_ms", .string("\(now + day)")),
      ("grace_period_expires_date", "never read"), ("price_consent_status", "0"),
      ("price_increase_status", "1"), ("offer_code_ref_name", "spring"),
      ("promotional_offer_id", "summer"),
    ])
    let outcome = read(latest: [AnswerSample.entry()], renewals: [full])
    let facts = try require(outcome.evidence?.renewals.first)
    checkEqual(facts.environment, .production)
    checkEqual(facts.originalTransactionId, Text(AnswerSample.first))
    checkEqual(facts.productId, Text(AnswerSample.product))
    checkEqual(facts.autoRenewProductId, "com.example.app.yearly")
    checkEqual(facts.autoRenewStatus, 0)
    checkEqual(facts.isInBillingRetry, true)
    checkEqual(facts.expirationIntent, 2)
    checkEqual(facts.graceEnd, now + day)
    checkEqual(facts.priceIncreaseStatus, 0)
    check(facts.asOfMs == now && facts.evidenceClass == .appleAnswer)
    let renewal = "renewals.0."
    checkEqual(outcome.integer(renewal + "gracePeriodExpiresDate"), now + day)
    checkEqual(outcome.integer(renewal + "priceConsentStatus"), 0)
    checkEqual(outcome.integer(renewal + "priceIncreaseStatus"), 1)
    checkEqual(outcome.text(renewal + "offerCodeRefName"), "spring")
    checkEqual(outcome.text(renewal + "promotionalOfferId"), "summer")
    func price(_ consent: JSONText, _ increase: JSONText) -> Int64? {
      read(
        latest: [AnswerSample.entry()],
        renewals: [
          AnswerSample.renewal().setting([
            ("price_consent_status", consent), ("price_increase_status", increase),
          ])
        ]
      ).evidence?.renewals.first?.priceIncreaseStatus
    }
    check(price(.null, .null) == nil)
    checkEqual(price("1", .null), 1)
    checkEqual(price(.null, "1"), 1)
    checkEqual(price("1", "0"), 0)
    let signed = read(
      latest: [AnswerSample.entry()],
      renewals: [AnswerSample.renewal().setting("auto_renew_status", "true")])
    checkEqual(signed.evidence?.renewals.first?.autoRenewStatus, 1)
  }

  @Test("VRR-11 a renewal that names no line is that of the purchase of its product")
  func unnamedLine() {
    let nameless = AnswerSample.renewal().removing("original_transaction_id")
    let other = AnswerSample.entry(AnswerSample.second, end: now + 30 * day)
      .setting("original_transaction_id", .string(AnswerSample.second))
    let outcome = read(latest: [other, AnswerSample.entry()], renewals: [nameless])
    checkEqual(outcome.text("renewals.0.originalTransactionId"), AnswerSample.second)
    checkEqual(
      outcome.evidence?.renewals.map(\.originalTransactionId), [Text(AnswerSample.second)])
    let unrelated = read(
      latest: [other], renewals: [nameless.setting("product_id", "com.example.app.other")])
    checkEqual(unrelated.source("renewals.0.originalTransactionId"), "null")
    checkEqual(unrelated.evidence?.renewals.isEmpty, true)
  }

  @Test("JWS-94 RPL-3 replay keys, and one key for every restore of a paid period")
  func keys() {
    let restored = AnswerSample.entry(AnswerSample.second, start: now - 2 * day)
    let outcome = read(latest: [AnswerSample.entry(), restored])
    let first = "transactions.0.keys."
    let second = "transactions.1.keys."
    checkEqual(outcome.text(first + "transaction"), "Production/" + AnswerSample.first)
    checkEqual(outcome.text(second + "transaction"), "Production/" + AnswerSample.second)
    let period = "Production/" + AnswerSample.first + "/700001000000091"
    checkEqual(outcome.text(first + "purchase"), period)
    checkEqual(outcome.text(second + "purchase"), period)
    checkEqual(outcome.text(second + "subscription"), "Production/" + AnswerSample.first)
    checkEqual(outcome.source("transactions.0.known"), "true")
    let foreign = read(
      latest: [AnswerSample.entry().setting("product_id", "com.example.app.unheard")])
    checkEqual(foreign.source("transactions.0.known"), "false")
    checkEqual(foreign.text(first + "purchase"), "Production/" + AnswerSample.first)
  }
}
