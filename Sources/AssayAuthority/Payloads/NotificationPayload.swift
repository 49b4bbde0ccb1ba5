/// The payload of an App Store Server Notification (ResponseBodyV2DecodedPayload): an envelope
/// and one body.
public struct NotificationPayload: Sendable {
  public var type: String
  public var subtype: String?
  public var uuid = "c0a8f1de-5b1e-4f3a-9d57-3f6f2f8e1a01"
  public var signedDate: Int64?
  public var version: String? = "2.0"

  public init(_ type: String, _ subtype: String? = nil, signedDate: Int64?) {
    self.type = type
    self.subtype = subtype
    self.signedDate = signedDate
  }

  /// Returns the payload with these bodies: one in genuine notifications, none or several in
  /// forgeries.
  public func payload(_ bodies: (name: String, value: JSONText)...) -> JSONText {
    var payload: JSONText = ["notificationType": .string(type)]
    payload.add("subtype", subtype)
    payload.add("notificationUUID", uuid)
    for body in bodies { payload = payload.appending(body.name, body.value) }
    payload.add("version", version)
    payload.add("signedDate", signedDate)
    return payload
  }

  /// Returns `data` about a purchase, with its signed transaction and renewal info.
  public static func data(
    _ purchase: Purchase, status: Int64? = 1, consumptionRequestReason: String? = nil,
    transaction: [UInt8]?, renewal: [UInt8]?
  ) -> JSONText {
    var data: JSONText = [:]
    data.add("appAppleId", purchase.appAppleId)
    data.add("bundleId", purchase.bundleId)
    data.add("bundleVersion", "42")
    data.add("environment", purchase.environment)
    if let transaction {
      data = data.appending("signedTransactionInfo", .string(utf8: transaction))
    }
    if let renewal { data = data.appending("signedRenewalInfo", .string(utf8: renewal)) }
    data.add("status", status)
    data.add("consumptionRequestReason", consumptionRequestReason)
    return data
  }

  /// Returns `data` of a TEST notification.
  public static func testData(_ purchase: Purchase) -> JSONText {
    var data: JSONText = [:]
    if purchase.environment == "Production" { data.add("appAppleId", purchase.appAppleId) }
    data.add("bundleId", purchase.bundleId)
    data.add("environment", purchase.environment)
    return data
  }

  /// Returns `summary` of a finished mass extension of renewal dates.
  public static func summary(_ purchase: Purchase) -> JSONText {
    var summary: JSONText = [:]
    summary.add("environment", purchase.environment)
    summary.add("appAppleId", purchase.appAppleId)
    summary.add("bundleId", purchase.bundleId)
    summary.add("productId", purchase.productId)
    summary.add("requestIdentifier", "1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed")
    return summary.appending("storefrontCountryCodes", ["USA", "DEU"])
      .appending("succeededCount", 1200).appending("failedCount", 3)
  }

  /// Returns `externalPurchaseToken`; the prefix of its id names the environment.
  public static func externalPurchaseToken(
    _ purchase: Purchase, id: String, customLink: Bool = false
  ) -> JSONText {
    var token: JSONText = [:]
    token.add("externalPurchaseId", id)
    token.add("tokenCreationDate", purchase.signedDate - 1000)
    token.add("appAppleId", purchase.appAppleId)
    token.add("bundleId", purchase.bundleId)
    if customLink {
      token.add("tokenExpirationDate", purchase.signedDate + 365 * Purchase.day)
      token.add("tokenType", "SERVICES")
    }
    return token
  }

  /// Returns `appData` of RESCIND_CONSENT.
  public static func appData(_ purchase: Purchase, appTransaction: [UInt8]?) -> JSONText {
    var data: JSONText = [:]
    data.add("environment", purchase.environment)
    data.add("appAppleId", purchase.appAppleId)
    data.add("bundleId", purchase.bundleId)
    guard let appTransaction else { return data }
    return data.appending("signedAppTransactionInfo", .string(utf8: appTransaction))
  }
}

/// The notification types, each with all its subtypes (docs/spec/storekit-payloads.md §5).
public enum NotificationKind {
  public static let all: [(type: String, subtype: String?)] = [
    ("SUBSCRIBED", "INITIAL_BUY"), ("SUBSCRIBED", "RESUBSCRIBE"),
    ("DID_RENEW", nil), ("DID_RENEW", "BILLING_RECOVERY"),
    ("DID_FAIL_TO_RENEW", nil), ("DID_FAIL_TO_RENEW", "GRACE_PERIOD"),
    ("GRACE_PERIOD_EXPIRED", nil),
    ("EXPIRED", "VOLUNTARY"), ("EXPIRED", "BILLING_RETRY"), ("EXPIRED", "PRICE_INCREASE"),
    ("EXPIRED", "PRODUCT_NOT_FOR_SALE"), ("EXPIRED", nil),
    ("DID_CHANGE_RENEWAL_PREF", "UPGRADE"), ("DID_CHANGE_RENEWAL_PREF", "DOWNGRADE"),
    ("DID_CHANGE_RENEWAL_PREF", nil),
    ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED"),
    ("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_DISABLED"),
    ("OFFER_REDEEMED", nil), ("OFFER_REDEEMED", "UPGRADE"), ("OFFER_REDEEMED", "DOWNGRADE"),
    ("OFFER_REDEEMED", "INITIAL_BUY"), ("OFFER_REDEEMED", "RESUBSCRIBE"),
    ("PRICE_INCREASE", "PENDING"), ("PRICE_INCREASE", "ACCEPTED"),
    ("REFUND", nil), ("REFUND_DECLINED", nil), ("REFUND_REVERSED", nil),
    ("CONSUMPTION_REQUEST", nil), ("REVOKE", nil), ("RENEWAL_EXTENDED", nil),
    ("RENEWAL_EXTENSION", "SUMMARY"), ("RENEWAL_EXTENSION", "FAILURE"),
    ("ONE_TIME_CHARGE", nil),
    ("EXTERNAL_PURCHASE_TOKEN", "UNREPORTED"), ("EXTERNAL_PURCHASE_TOKEN", "CREATED"),
    ("EXTERNAL_PURCHASE_TOKEN", "ACTIVE_TOKEN_REMINDER"),
    ("RESCIND_CONSENT", nil), ("METADATA_UPDATE", nil), ("MIGRATION", nil),
    ("MIGRATE", nil), ("PRICE_CHANGE", nil), ("TEST", nil),
  ]
}
