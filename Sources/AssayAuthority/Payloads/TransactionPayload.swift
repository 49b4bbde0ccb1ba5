import CLibCrypto

extension Purchase {
  /// The payload of a transaction (JWSTransactionDecodedPayload) with the members of genuine
  /// data, in their order.
  public var transactionPayload: JSONText {
    var payload: JSONText = [
      "transactionId": .string(transactionId),
      "originalTransactionId": .string(originalTransactionId),
    ]
    payload.add("webOrderLineItemId", webOrderLineItemId)
    payload.add("bundleId", bundleId)
    payload.add("productId", productId)
    payload.add("subscriptionGroupIdentifier", group)
    payload.add("purchaseDate", purchaseDate)
    payload.add("originalPurchaseDate", originalPurchaseDate)
    payload.add("expiresDate", expiresDate)
    payload.add("quantity", quantity)
    payload.add("type", type.rawValue)
    payload.add("appAccountToken", accountToken)
    payload.add("inAppOwnershipType", ownership)
    payload.add("signedDate", signedDate)
    payload.add("revocationReason", revocationReason)
    payload.add("revocationDate", revocationDate)
    payload.add("revocationType", revocationType)
    payload.add("isUpgraded", isUpgraded)
    payload.add("offerType", offerType)
    payload.add("offerDiscountType", offerDiscountType)
    payload.add("environment", environment)
    payload.add(
      "transactionReason",
      transactionId == originalTransactionId ? "PURCHASE" : "RENEWAL")
    payload.add("storefront", "USA")
    payload.add("storefrontId", "143441")
    payload.add("price", 9990 as Int64)
    payload.add("currency", "USD")
    payload.add("appTransactionId", appTransactionId)
    return payload
  }

  /// The members of a transaction that `transactionPayload` does not have.
  public var rareTransactionMembers: [(String, JSONText)] {
    [
      ("appAccountToken", "0f8fad5b-d9cb-469f-a165-70867728950e"),
      ("isUpgraded", false),
      ("offerType", 2), ("offerIdentifier", "winter"), ("offerPeriod", "P1M"),
      ("offerDiscountType", "PAY_AS_YOU_GO"),
      ("revocationDate", .integer(signedDate - 1000)), ("revocationReason", 1),
      ("revocationType", "REFUND_PRORATED"), ("revocationPercentage", 50_000),
      ("billingPlanType", "MONTHLY"),
      (
        "commitmentInfo",
        [
          "billingPeriodNumber": 3,
          "commitmentExpiresDate": .integer(signedDate + 200 * Purchase.day),
          "commitmentPrice": 119_880, "totalBillingPeriods": 12,
        ]
      ),
      ("advancedCommerceInfo", advancedCommerceTransaction),
      ("previousOriginalTransactionId", "2000000800000001"),
      ("deviceVerification", .string(Purchase.deviceVerification)),
      ("deviceVerificationNonce", "5f0c6a1e-7a86-4d0c-b7f5-0c1d0f2a3b4c"),
    ]
  }

  /// The device for which JWS with a device verification were made.
  public static let deviceId = "C2A9E7F4-31B8-4D6A-9E05-7F1B2C3D4E5F"
  package static let deviceNonce = "5f0c6a1e-7a86-4d0c-b7f5-0c1d0f2a3b4c"

  /// The SHA-384 of nonce and device, in base64.
  package static let deviceVerification = deviceVerification(of: deviceId)

  package static func deviceVerification(of device: String) -> String {
    let text = Array((deviceNonce + device.lowercased()).utf8)
    var digest = [UInt8](repeating: 0, count: 48)
    unsafe digest.withUnsafeMutableBufferPointer { out in
      unsafe text.withUnsafeBufferPointer { text in
        _ = unsafe EVP_Digest(
          text.baseAddress, text.count, out.baseAddress, nil, EVP_sha384(), nil)
      }
    }
    return digest.base64Text
  }

  private var advancedCommerceTransaction: JSONText {
    [
      "descriptors": ["description": "All courses", "displayName": "Courses"],
      "estimatedTax": 800,
      "items": [
        [
          "SKU": "course-1", "description": "First course", "displayName": "Course 1",
          "offer": [
            "periodCount": 1, "price": 990, "period": "P1M", "reason": "ACQUISITION",
          ],
          "price": 4990,
          "refunds": [
            [
              "refundAmount": 4990, "refundDate": .integer(signedDate - 1000),
              "refundReason": "LEGAL", "refundType": "FULL",
            ]
          ],
          "revocationDate": .integer(signedDate - 1000),
        ]
      ],
      "period": "P1M", "requestReferenceId": "6c9c2f52-3f37-4b52-9d9a-b1b1a4c9a111",
      "taxCode": "C003-00-2", "taxExclusivePrice": 9190, "taxRate": "0.0875",
    ]
  }
}

extension JSONText {
  package mutating func add(_ name: String, _ value: String?) {
    if let value { self = appending(name, .string(value)) }
  }

  package mutating func add(_ name: String, _ value: Int64?) {
    if let value { self = appending(name, .integer(value)) }
  }

  package mutating func add(_ name: String, _ value: Bool?) {
    if let value { self = appending(name, .boolean(value)) }
  }
}
