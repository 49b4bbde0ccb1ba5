import AssayAuthority
import Testing

@testable import Assay

/// Tests PAY-1 … PAY-8 with a second copy of the tables in docs/spec/storekit-payloads.md §2 to §4:
/// a wrong value is refused if money or access depends on it, and otherwise gives a warning.
@Suite("Payload members")
struct PayloadMembersTests {
  enum Form {
    case text, texts, integer, time, boolean, quantity, object, objects
    /// Texts of an enum.
    case name([String])
    /// Integers of an enum.
    case number([Int64])

    /// Values that are not of this form.
    var wrong: [JSONText] {
      let fraction = JSONText.text("1.5")
      let huge = JSONText.text("9223372036854775808")
      switch self {
      case .text, .name: return [1, true, [:], [], fraction]
      case .integer, .number:
        return ["1", true, [:], [], fraction, .text("1e3"), huge, .text("1.0")]
      case .time:
        return [
          "1", true, [:], [], fraction, .text("1e12"), huge, -1, 4_102_444_800_001,
          .text("253402300800000"), .text("1000000000000000000000000000000"),
        ]
      case .boolean: return ["true", 1, 0, [:], []]
      case .quantity: return ["1", true, fraction, 0, -1, 2_147_483_648, huge, [], [:]]
      case .texts: return ["x", 1, [1], ["x", .null], [:]]
      case .object: return ["x", 1, [], true]
      case .objects: return ["x", [:], [1], [[:], "x"], true]
      }
    }

    /// Values that are of this form, and known.
    var right: [JSONText] {
      switch self {
      case .text: return ["x", ""]
      case .integer: return [0, -5, 9_007_199_254_740_993]
      case .time: return [0, 4_102_444_800_000]
      case .boolean: return [true, false]
      case .quantity: return [1, 2_147_483_647]
      case .texts: return [[], ["x", "y"]]
      case .object: return [[:]]
      case .objects: return [[], [[:]]]
      case .name(let names): return names.map { .string($0) }
      case .number(let numbers): return numbers.map { .integer($0) }
      }
    }

    /// A value of the form that Assay does not know; `nil` if the form has none.
    var unknown: JSONText? {
      switch self {
      case .name(let names): return .string((names.first ?? "") + "_NEW")
      case .number(let numbers): return .integer((numbers.max() ?? 0) + 1)
      default: return nil
      }
    }
  }

  struct Row {
    var path: String
    var form: Form
    var isDecisive: Bool

    init(_ path: String, _ form: Form, _ isDecisive: Bool = false) {
      self.path = path
      self.form = form
      self.isDecisive = isDecisive
    }
  }

  // MARK: tables

  private static let types = Form.name(
    ["Auto-Renewable Subscription", "Non-Consumable", "Consumable", "Non-Renewing Subscription"])
  private static let discounts = Form.name([
    "FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT", "ONE_TIME",
  ])
  private static let plans = Form.name(["BILLED_UPFRONT", "MONTHLY"])
  private static let reasons = [
    "UNINTENDED_PURCHASE", "FULFILLMENT_ISSUE", "UNSATISFIED_WITH_PURCHASE", "LEGAL", "OTHER",
  ]
  private static let periods = Form.name(["P1W", "P1M", "P2M", "P3M", "P6M", "P1Y"])
  private static let offerPeriods = Form.name([
    "P3D", "P1W", "P2W", "P1M", "P2M", "P3M", "P6M", "P9M", "P1Y",
  ])
  private static let offerRows = [
    Row("periodCount", .number(Array(1...12))), Row("price", .integer), Row("period", offerPeriods),
    Row("reason", .name(["ACQUISITION", "WIN_BACK", "RETENTION"])),
  ]

  static let transaction: [Row] = [
    Row("transactionId", .text, true), Row("originalTransactionId", .text, true),
    Row("webOrderLineItemId", .text, true), Row("productId", .text, true),
    Row("subscriptionGroupIdentifier", .text, true), Row("purchaseDate", .time, true),
    Row("originalPurchaseDate", .time, true), Row("expiresDate", .time, true),
    Row("quantity", .quantity, true), Row("type", types, true),
    Row("inAppOwnershipType", .name(["PURCHASED", "FAMILY_SHARED", "ASSIGNED"]), true),
    Row("isUpgraded", .boolean, true), Row("revocationDate", .time, true),
    Row("revocationReason", .number([0, 1]), true),
    Row("revocationType", .name(["REFUND_FULL", "REFUND_PRORATED", "FAMILY_REVOKE"]), true),
    Row("revocationPercentage", .integer, true), Row("offerType", .number([1, 2, 3, 4]), true),
    Row("appTransactionId", .text, true), Row("previousOriginalTransactionId", .text, true),
    Row("offerIdentifier", .text), Row("offerPeriod", .text), Row("offerDiscountType", discounts),
    Row("storefront", .text), Row("storefrontId", .text),
    Row("transactionReason", .name(["PURCHASE", "RENEWAL"])), Row("currency", .text),
    Row("price", .integer), Row("advancedCommerceInfo", .object), Row("billingPlanType", plans),
    Row("commitmentInfo", .object), Row("deviceVerification", .text),
    Row("deviceVerificationNonce", .text),
    Row("commitmentInfo.billingPeriodNumber", .number(Array(1...12))),
    Row("commitmentInfo.commitmentExpiresDate", .time),
    Row("commitmentInfo.commitmentPrice", .integer),
    Row("commitmentInfo.totalBillingPeriods", .integer),
    Row("advancedCommerceInfo.descriptors", .object),
    Row("advancedCommerceInfo.descriptors.description", .text),
    Row("advancedCommerceInfo.descriptors.displayName", .text),
    Row("advancedCommerceInfo.estimatedTax", .integer), Row("advancedCommerceInfo.items", .objects),
    Row("advancedCommerceInfo.period", periods),
    Row("advancedCommerceInfo.requestReferenceId", .text),
    Row("advancedCommerceInfo.taxCode", .text),
    Row("advancedCommerceInfo.taxExclusivePrice", .integer),
    Row("advancedCommerceInfo.taxRate", .text),
  ]

  static let transactionItem: [Row] =
    [
      Row("SKU", .text), Row("description", .text), Row("displayName", .text),
      Row("offer", .object),
      Row("price", .integer), Row("refunds", .objects), Row("revocationDate", .time),
    ] + offerRows.map { Row("offer." + $0.path, $0.form) }

  static let refund: [Row] = [
    Row("refundAmount", .integer), Row("refundDate", .time),
    Row("refundReason", .name(reasons + ["MODIFY_ITEMS_REFUND", "SIMULATE_REFUND_DECLINE"])),
    Row("refundType", .name(["FULL", "PRORATED", "CUSTOM"])),
  ]

  static let renewal: [Row] = [
    Row("originalTransactionId", .text, true), Row("productId", .text, true),
    Row("autoRenewProductId", .text, true), Row("autoRenewStatus", .number([0, 1]), true),
    Row("expirationIntent", .number([1, 2, 3, 4, 5]), true),
    Row("isInBillingRetryPeriod", .boolean, true), Row("gracePeriodExpiresDate", .time, true),
    Row("renewalDate", .time, true), Row("offerType", .number([1, 2, 3, 4]), true),
    Row("appTransactionId", .text, true), Row("priceIncreaseStatus", .number([0, 1])),
    Row("offerIdentifier", .text), Row("offerPeriod", .text), Row("offerDiscountType", discounts),
    Row("recentSubscriptionStartDate", .time), Row("currency", .text),
    Row("renewalPrice", .integer),
    Row("eligibleWinBackOfferIds", .texts), Row("advancedCommerceInfo", .object),
    Row("commitmentInfo", .object), Row("renewalBillingPlanType", plans),
    Row("deviceVerification", .text), Row("deviceVerificationNonce", .text),
    Row("commitmentInfo.commitmentAutoRenewProductId", .text),
    Row("commitmentInfo.commitmentAutoRenewStatus", .number([0, 1])),
    Row("commitmentInfo.commitmentRenewalBillingPlanType", plans),
    Row("commitmentInfo.commitmentRenewalDate", .time),
    Row("commitmentInfo.commitmentRenewalPrice", .integer),
    Row("advancedCommerceInfo.consistencyToken", .text),
    Row("advancedCommerceInfo.descriptors", .object),
    Row("advancedCommerceInfo.items", .objects), Row("advancedCommerceInfo.period", periods),
    Row("advancedCommerceInfo.requestReferenceId", .text),
    Row("advancedCommerceInfo.taxCode", .text),
  ]

  static let renewalItem: [Row] =
    [
      Row("SKU", .text), Row("description", .text), Row("displayName", .text),
      Row("offer", .object),
      Row("price", .integer), Row("priceIncreaseInfo", .object),
      Row("priceIncreaseInfo.dependentSKUs", .texts), Row("priceIncreaseInfo.price", .integer),
      Row("priceIncreaseInfo.status", .name(["SCHEDULED", "PENDING", "ACCEPTED"])),
    ] + offerRows.map { Row("offer." + $0.path, $0.form) }

  static let appTransaction: [Row] = [
    Row("appAppleId", .integer, true),
    Row("originalPurchaseDate", .time, true), Row("appTransactionId", .text, true),
    Row("applicationVersion", .text), Row("versionExternalIdentifier", .integer),
    Row("originalApplicationVersion", .text), Row("deviceVerification", .text),
    Row("deviceVerificationNonce", .text), Row("preorderDate", .time),
    Row("originalPlatform", .name(["iOS", "macOS", "tvOS", "visionOS"])),
  ]

  static let realtimeRequest: [Row] = [
    Row("originalTransactionId", .text, true), Row("productId", .text, true),
    Row("requestIdentifier", .text, true), Row("userLocale", .text),
  ]

  static let notification: [Row] = [
    Row("notificationUUID", .text, true), Row("data.status", .number([1, 2, 3, 4, 5]), true),
    Row("data.bundleVersion", .text), Row("data.consumptionRequestReason", .name(reasons)),
    Row(
      "notificationType",
      .name([
        "SUBSCRIBED", "DID_RENEW", "DID_FAIL_TO_RENEW", "GRACE_PERIOD_EXPIRED", "EXPIRED",
        "DID_CHANGE_RENEWAL_PREF", "DID_CHANGE_RENEWAL_STATUS", "OFFER_REDEEMED", "PRICE_INCREASE",
        "REFUND", "REFUND_DECLINED", "REFUND_REVERSED", "CONSUMPTION_REQUEST", "REVOKE",
        "RENEWAL_EXTENDED", "RENEWAL_EXTENSION", "ONE_TIME_CHARGE", "EXTERNAL_PURCHASE_TOKEN",
        "RESCIND_CONSENT", "METADATA_UPDATE", "MIGRATION", "MIGRATE", "PRICE_CHANGE", "TEST",
      ]), true),
    Row(
      "subtype",
      .name([
        "INITIAL_BUY", "RESUBSCRIBE", "UPGRADE", "DOWNGRADE", "AUTO_RENEW_ENABLED",
        "AUTO_RENEW_DISABLED", "VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE",
        "PRODUCT_NOT_FOR_SALE", "GRACE_PERIOD", "BILLING_RECOVERY", "PENDING", "ACCEPTED",
        "SUMMARY", "FAILURE", "UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER",
      ]), true),
  ]

  static let summary: [Row] = [
    Row("summary.productId", .text, true), Row("summary.requestIdentifier", .text, true),
    Row("summary.storefrontCountryCodes", .texts), Row("summary.succeededCount", .integer),
    Row("summary.failedCount", .integer),
  ]

  static let externalPurchaseToken: [Row] = [
    Row("externalPurchaseToken.tokenCreationDate", .time),
    Row("externalPurchaseToken.tokenExpirationDate", .time),
    Row("externalPurchaseToken.tokenType", .name(["SERVICES", "ACQUISITION"])),
  ]

  /// A payload under test, the location of the rows in it, and their context.
  struct Ground: Sendable {
    var name: String
    var kind: StoreKitKind
    var payload: JSONText
    var rows: [Row]
    /// Puts a changed object of the rows into its payload.
    var wrap: @Sendable (JSONText) -> JSONText = { $0 }
    /// The location of that object.
    var prefix = ""
  }

  static func grounds() throws -> [Ground] {
    let purchase = Minted.purchase
    let authority = try Minted.authority()
    let transactionPayload = purchase.transactionPayload
    let renewalPayload = purchase.renewalPayload
    return [
      Ground(
        name: "transaction", kind: .transaction, payload: transactionPayload, rows: transaction),
      Ground(
        name: "transaction item", kind: .transaction, payload: [:], rows: transactionItem,
        wrap: { transactionPayload.setting("advancedCommerceInfo", ["items": [[:], $0]]) },
        prefix: "advancedCommerceInfo.items[1]."),
      Ground(
        name: "refund", kind: .transaction, payload: [:], rows: refund,
        wrap: {
          transactionPayload.setting("advancedCommerceInfo", ["items": [["refunds": [$0]]]])
        },
        prefix: "advancedCommerceInfo.items[0].refunds[0]."),
      Ground(name: "renewal", kind: .renewalInfo, payload: renewalPayload, rows: renewal),
      Ground(
        name: "renewal item", kind: .renewalInfo, payload: [:], rows: renewalItem,
        wrap: { renewalPayload.setting("advancedCommerceInfo", ["items": [$0]]) },
        prefix: "advancedCommerceInfo.items[0]."),
      Ground(
        name: "app transaction", kind: .appTransaction, payload: purchase.appTransactionPayload,
        rows: appTransaction),
      Ground(
        name: "realtime request", kind: .realtimeRequest,
        payload: purchase.realtimeRequestPayload, rows: realtimeRequest),
      Ground(
        name: "notification", kind: .notification,
        payload: try authority.notification("TEST", nil, purchase), rows: notification),
      Ground(
        name: "summary", kind: .notification,
        payload: try authority.notification("RENEWAL_EXTENSION", "SUMMARY", purchase), rows: summary
      ),
      Ground(
        name: "external purchase token", kind: .notification,
        payload: try authority.notification("EXTERNAL_PURCHASE_TOKEN", "CREATED", purchase),
        rows: externalPurchaseToken),
    ]
  }

  // MARK: checking

  private struct Verdict {
    var status: Status
    var place: String
    var warnings: [Warning]
    var payload: [UInt8]
  }

  private func verdict(_ trust: StoreKitTrust, _ ground: Ground, _ object: JSONText) throws
    -> Verdict
  {
    let jws = try Minted.authority().mint(ground.wrap(object))
    do throws(Refusal) {
      let payload = try Minted.run(trust, jws, ground.kind)
      return Verdict(
        status: .ok, place: "", warnings: payload.warnings, payload: payload.json.bytes)
    } catch {
      return Verdict(status: error.status, place: error.place, warnings: [], payload: [])
    }
  }

  @Test("PAY-4 every decisive member of a wrong type is refused with its path")
  func decisive() throws {
    let trust = try Minted.trust()
    var count = 0
    for ground in try Self.grounds() {
      for row in ground.rows where row.isDecisive {
        for value in row.form.wrong {
          let got = try verdict(trust, ground, ground.payload.setting(row.path, value))
          checkEqual(got.status, .malformedPayloadType, "\(ground.name) \(row.path) \(value)")
          checkEqual(got.place, ground.prefix + row.path)
          count += 1
        }
      }
    }
    check(count > 200)
  }

  @Test("PAY-5 every descriptive member of a wrong type is only warned of, and passed through")
  func descriptive() throws {
    let trust = try Minted.trust()
    var count = 0
    for ground in try Self.grounds() {
      for row in ground.rows where !row.isDecisive {
        for value in row.form.wrong {
          let object = ground.payload.setting(row.path, value)
          let got = try verdict(trust, ground, object)
          checkEqual(got.status, .ok, "\(ground.name) \(row.path) \(value)")
          let expected = Warning("unexpected-type", at: ground.prefix + row.path)
          checkEqual(got.warnings, [expected], "\(ground.name) \(row.path) \(value)")
          checkEqual(got.payload, ground.wrap(object).bytes)
          count += 1
        }
      }
    }
    check(count > 200)
  }

  @Test("PAY-2 PAY-6 every value that a member may have is taken without a remark")
  func known() throws {
    let trust = try Minted.trust()
    for ground in try Self.grounds() {
      for row in ground.rows {
        for value in row.form.right {
          let got = try verdict(trust, ground, ground.payload.setting(row.path, value))
          checkEqual(got.status, .ok, "\(ground.name) \(row.path) \(value)")
          check(
            got.warnings.isEmpty, "\(ground.name) \(row.path) \(value): \(got.warnings)")
        }
      }
    }
  }

  @Test("PAY-2 an unknown value of every enum is kept and warned of")
  func unknownValues() throws {
    let trust = try Minted.trust()
    var count = 0
    for ground in try Self.grounds() {
      for row in ground.rows {
        guard let value = row.form.unknown else { continue }
        let object = ground.payload.setting(row.path, value)
        let got = try verdict(trust, ground, object)
        checkEqual(got.status, .ok, "\(ground.name) \(row.path)")
        checkEqual(
          got.warnings, [Warning("unknown-value", at: ground.prefix + row.path)],
          "\(ground.name) \(row.path): \(got.warnings)")
        checkEqual(got.payload, ground.wrap(object).bytes)
        count += 1
      }
    }
    check(count > 25)
  }

  @Test("PAY-3 null counts as absent, for every member")
  func null() throws {
    let trust = try Minted.trust()
    for ground in try Self.grounds() {
      for row in ground.rows {
        let withNull = try verdict(trust, ground, ground.payload.setting(row.path, .null))
        let without = try verdict(trust, ground, ground.payload.removing(row.path))
        checkEqual(withNull.status, without.status, "\(ground.name) \(row.path)")
        checkEqual(withNull.place, without.place)
        checkEqual(withNull.warnings, without.warnings)
      }
    }
  }

  @Test("PAY-2 unknown members are kept, whatever they hold")
  func unknownMembers() throws {
    let trust = try Minted.trust()
    let news: JSONText = ["a": [1, .text("1e400"), .null, "\u{e9}"], "signedDate": "x"]
    for ground in try Self.grounds() {
      let object = ground.payload.appending("newMember", news).appending("signeddate", 1)
      let got = try verdict(trust, ground, object)
      checkEqual(got.status, .ok, "\(ground.name)")
      check(got.warnings.isEmpty)
      checkEqual(got.payload, ground.wrap(object).bytes)
    }
  }

  // MARK: members with rules of their own

  private func status(
    _ payload: JSONText, _ kind: StoreKitKind, _ trust: StoreKitTrust
  ) throws -> (status: Status, place: String) {
    let ground = Ground(name: "", kind: kind, payload: payload, rows: [])
    let got = try verdict(trust, ground, payload)
    return (got.status, got.place)
  }

  @Test("JWS-40 JWS-41 JWS-42 the signing date of every other kind than the transaction")
  func signingDates() throws {
    let trust = try Minted.trust()
    let purchase = Minted.purchase
    for (kind, member, payload) in [
      (.renewalInfo, "signedDate", purchase.renewalPayload),
      (.realtimeRequest, "signedDate", purchase.realtimeRequestPayload),
      (.appTransaction, "receiptCreationDate", purchase.appTransactionPayload),
      (.notification, "signedDate", try Minted.authority().notification("TEST", nil, purchase)),
    ] as [(StoreKitKind, String, JSONText)] {
      for (value, expected) in [
        ("x", .malformedPayloadType), (0, .rejectedDateRange),
        (.integer(Minted.now + 60_001), .rejectedDateFuture),
      ] as [(JSONText, Status)] {
        let got = try status(payload.setting(member, value), kind, trust)
        checkEqual(got.status, expected, "\(kind) \(value): \(got.status.name)")
        checkEqual(got.place, member)
      }
    }
    // A signedDate beside the date of an app transaction is ignored.
    let beside = purchase.appTransactionPayload.setting("signedDate", "not a date")
    try checkEqual(status(beside, .appTransaction, trust).status, .ok)
  }

  @Test("PAY-1 every decisive member is beside the payload with its own type")
  func repeated() throws {
    let purchase = Minted.purchase.with {
      $0.revocationDate = $0.signedDate - 5
      $0.revocationReason = 1
      $0.isUpgraded = true
      $0.offerType = 2
    }
    let answer = try Minted.verify(purchase.transactionPayload, .transaction)
    let facts = try require(answer.tree?.member("transaction"))
    let payload = try require(facts.member("payload"))
    for row in Self.transaction where row.isDecisive {
      let shown = try require(facts.at(row.path), "\(row.path)")
      if let signed = payload.at(row.path) {
        check(shown.kind == signed.kind && shown.source == signed.source, "\(row.path)")
      } else {
        check(shown.isNull, "\(row.path)")
      }
    }
  }
}
