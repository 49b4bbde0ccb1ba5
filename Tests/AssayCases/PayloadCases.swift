import AssayAuthority

extension CaseFixture {
  /// Adds types, enums and ranges of payloads (PAY-2 … PAY-8, JWS-90).
  func addPayloadCases() throws {
    try addEnumValues()
    try addDecisiveTypes()
    try addDescriptiveTypes()
    try addRanges()
    try addAccountTokens()
  }

  private static let transactionEnums: [(member: String, values: [JSONText])] = [
    (
      "type",
      [
        "Auto-Renewable Subscription", "Non-Consumable", "Consumable",
        "Non-Renewing Subscription",
      ]
    ),
    ("inAppOwnershipType", ["PURCHASED", "FAMILY_SHARED", "ASSIGNED"]),
    ("transactionReason", ["PURCHASE", "RENEWAL"]),
    ("revocationReason", [0, 1]),
    ("revocationType", ["REFUND_FULL", "REFUND_PRORATED", "FAMILY_REVOKE"]),
    ("offerType", [1, 2, 3, 4]),
    ("offerDiscountType", ["FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT", "ONE_TIME"]),
    ("billingPlanType", ["BILLED_UPFRONT", "MONTHLY"]),
  ]

  private static let renewalEnums: [(member: String, values: [JSONText])] = [
    ("autoRenewStatus", [0, 1]), ("expirationIntent", [1, 2, 3, 4, 5]),
    ("priceIncreaseStatus", [0, 1]), ("renewalBillingPlanType", ["BILLED_UPFRONT", "MONTHLY"]),
    ("offerType", [1, 2, 3, 4]),
    ("offerDiscountType", ["FREE_TRIAL", "PAY_AS_YOU_GO", "PAY_UP_FRONT", "ONE_TIME"]),
  ]

  /// Adds known enum values, which pass silently, and unknown ones, which give a warning (PAY-2).
  private func addEnumValues() throws {
    let tables: [(EvidenceKind, JSONText, [(member: String, values: [JSONText])])] = [
      (.transaction, purchase.transactionPayload, CaseFixture.transactionEnums),
      (.renewalInfo, purchase.renewalPayload, CaseFixture.renewalEnums),
      (
        .appTransaction, purchase.appTransactionPayload,
        [("originalPlatform", ["iOS", "macOS", "tvOS", "visionOS"])]
      ),
    ]
    for (kind, payload, members) in tables {
      for (member, values) in members {
        for value in values {
          try verify(
            "PAY-2", "\(kind.rawValue) with \(member) \(value)",
            payload: payload.setting(member, value), kind: kind, facts: [("/warnings.0.id", .null)])
        }
        let unknown: JSONText = if case .integer = values[0] { 77 } else { "SOMETHING_NEW" }
        try verify(
          "PAY-2", "\(kind.rawValue) with an unknown \(member)",
          payload: payload.setting(member, unknown), kind: kind,
          facts: [("/warnings.0.id", "unknown-value"), ("/warnings.0.at", .text(member))])
      }
      try verify(
        "PAY-2", "\(kind.rawValue) with unknown members",
        payload: payload.setting("newMember", ["deep": [1, .null, "x"]]).setting("other", true),
        kind: kind, facts: [("/warnings.0.id", .null)])
    }
    try verify(
      "PAY-2", "unknown members are kept",
      payload: purchase.transactionPayload.setting("newMember", "kept"),
      facts: [("payload.newMember", "kept")])
    try verify(
      "PAY-2", "an unknown value in a nested object",
      payload: purchase.transactionPayload.setting("advancedCommerceInfo", ["period": "P9Y"]),
      facts: [
        ("/warnings.0.id", "unknown-value"), ("/warnings.0.at", "advancedCommerceInfo.period"),
      ])
  }

  private static let decisive: [(EvidenceKind, [(member: String, wrong: JSONText)])] = [
    (
      .transaction,
      [
        ("transactionId", 2_000_000_900_000_001), ("originalTransactionId", 1),
        ("webOrderLineItemId", 1), ("bundleId", 1), ("productId", ["x"]),
        ("subscriptionGroupIdentifier", 1), ("purchaseDate", "1700000000000"),
        ("originalPurchaseDate", true), ("expiresDate", "1700000000000"),
        ("quantity", "1"), ("type", 1), ("inAppOwnershipType", 1), ("environment", 1),
        ("appAccountToken", 1), ("isUpgraded", "true"), ("revocationDate", "0"),
        ("revocationReason", "0"), ("revocationType", 1), ("revocationPercentage", "1"),
        ("offerType", "1"), ("appTransactionId", 1),
      ]
    ),
    (
      .renewalInfo,
      [
        ("originalTransactionId", 1), ("productId", 1), ("autoRenewProductId", 1),
        ("autoRenewStatus", "1"), ("autoRenewStatus", true), ("environment", 1),
        ("expirationIntent", "1"), ("isInBillingRetryPeriod", 1),
        ("gracePeriodExpiresDate", "0"), ("renewalDate", "0"), ("offerType", "1"),
        ("appAccountToken", 1), ("appTransactionId", 1),
      ]
    ),
    (
      .appTransaction,
      [
        ("receiptType", 1), ("appAppleId", "1234567890"), ("bundleId", 1),
        ("originalPurchaseDate", "0"), ("appTransactionId", 1),
      ]
    ),
    (
      .realtimeRequest,
      [
        ("originalTransactionId", 1), ("appAppleId", "1234567890"), ("productId", 1),
        ("requestIdentifier", 1), ("environment", 1),
      ]
    ),
  ]

  /// Adds wrong types of members that decide (PAY-4, PAY-3).
  private func addDecisiveTypes() throws {
    for (kind, members) in CaseFixture.decisive {
      let payload = try authority.payload(kind, purchase)
      for (member, wrong) in members {
        try verify(
          "PAY-4", "\(kind.rawValue) with \(member) as \(wrong)",
          payload: payload.setting(member, wrong), kind: kind, "malformed.payload.type",
          check: "payload.kind", at: member)
      }
    }
    for member in ["expiresDate", "revocationDate", "isUpgraded", "offerType"] {
      try verify(
        "PAY-3", "\(member) null", payload: purchase.transactionPayload.setting(member, .null),
        facts: [("/warnings.0.id", .null)])
    }
  }

  /// Adds wrong types of descriptive members (PAY-5).
  private func addDescriptiveTypes() throws {
    let members: [(String, JSONText)] = [
      ("price", .text("1.99")), ("currency", 7), ("storefront", ["USA"]),
      ("offerIdentifier", 3), ("offerPeriod", true), ("storefrontId", 143_441),
      ("commitmentInfo", "none"), ("advancedCommerceInfo", [1, 2]),
    ]
    for (member, value) in members {
      try verify(
        "PAY-5", "\(member) of an unexpected type",
        payload: purchase.transactionPayload.setting(member, value),
        facts: [("/warnings.0.id", "unexpected-type"), ("/warnings.0.at", .text(member))])
    }
  }

  /// Adds values at and beyond the ends of ranges (PAY-6, PAY-8).
  private func addRanges() throws {
    let payload = purchase.transactionPayload
    let times = ["purchaseDate", "originalPurchaseDate", "expiresDate", "revocationDate"]
    for member in times {
      for (name, value) in [
        ("negative", JSONText.integer(-1)), ("past 2100", .integer(4_102_444_800_001)),
        ("with a fraction", .text("1700000000000.5")), ("with an exponent", .text("1.7e12")),
        ("of thirty digits", .text("100000000000000000000000000000")),
      ] {
        try verify(
          "PAY-6", "\(member) \(name)", payload: payload.setting(member, value),
          "malformed.payload.type", check: "payload.kind", at: member)
      }
    }
    try verify("PAY-6", "expiresDate zero", payload: payload.setting("expiresDate", 0))
    try verify(
      "PAY-6", "expiresDate at the end of the window",
      payload: payload.setting("expiresDate", 4_102_444_800_000),
      facts: [("expiresDate", 4_102_444_800_000)])
    for (name, value) in [
      ("zero", JSONText.integer(0)), ("negative", -1), ("past its range", 2_147_483_648),
      ("with a fraction", .text("1.5")),
    ] {
      try verify(
        "PAY-6", "quantity \(name)", payload: payload.setting("quantity", value),
        "malformed.payload.type", check: "payload.kind", at: "quantity")
    }
    try verify(
      "PAY-6", "the largest quantity", payload: payload.setting("quantity", 2_147_483_647))
    try verify("PAY-6", "no quantity", payload: payload.removing("quantity"))
    try verify(
      "PAY-8", "signed before it was bought",
      payload: payload.setting("purchaseDate", .integer(purchase.signedDate + 36_000)))
    try verify(
      "PAY-8", "revoked before its end",
      payload: payload.setting("revocationDate", .integer(purchase.signedDate - 5)))
    try verify(
      "PAY-8", "ended long ago",
      payload: payload.setting("expiresDate", .integer(now - 900 * Purchase.day)))
  }

  /// Adds account tokens and their forms (JWS-90, JWS-91).
  private func addAccountTokens() throws {
    let payload = purchase.transactionPayload
    let token = "0F8FAD5B-d9cb-469f-A165-70867728950e"
    let lower = "0f8fad5b-d9cb-469f-a165-70867728950e"
    try verify(
      "JWS-90", "a token with capital letters",
      payload: payload.setting("appAccountToken", .string(token)),
      facts: [
        ("appAccountToken", .text(lower)), ("payload.appAccountToken", .text(token)),
        ("/warnings.0.id", .null),
      ])
    for (name, text) in [
      ("no UUID", "user-17"), ("empty", ""), ("in braces", "{" + lower + "}"),
      ("without hyphens", "0f8fad5bd9cb469fa16570867728950e"),
      ("with a letter past f", "0g8fad5b-d9cb-469f-a165-70867728950e"),
      ("a character short", String(lower.dropLast())),
      ("with its hyphens elsewhere", "0f8fad5bd-9cb-469f-a165-70867728950e"),
    ] {
      try verify(
        "JWS-90", "a token that is \(name)",
        payload: payload.setting("appAccountToken", .string(text)),
        facts: [
          ("appAccountToken", .null), ("/warnings.0.id", "app-account-token-form"),
          ("/warnings.0.at", "appAccountToken"),
        ])
    }
    let required = "account-required"
    try verify(
      "JWS-91", "a token where one is required",
      payload: payload.setting("appAccountToken", .string(lower)), verifier: required)
    try verify(
      "JWS-91", "no token where one is required", payload: payload, verifier: required,
      "rejected.account.token-missing", check: "account")
    try verify(
      "JWS-91", "no UUID where a token is required",
      payload: payload.setting("appAccountToken", "user-17"), verifier: required,
      "rejected.account.token-missing", check: "account")
    try verify(
      "JWS-91", "a renewal info needs no token", payload: purchase.renewalPayload,
      kind: .renewalInfo, verifier: required)
  }
}
