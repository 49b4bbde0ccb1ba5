extension Purchase {
  /// The payload of a renewal info (JWSRenewalInfoDecodedPayload) with the members of genuine
  /// data.
  public var renewalPayload: JSONText {
    var payload: JSONText = [:]
    payload.add("expirationIntent", expirationIntent)
    payload.add("originalTransactionId", originalTransactionId)
    payload.add("autoRenewProductId", autoRenewProductId ?? productId)
    payload.add("productId", productId)
    payload.add("autoRenewStatus", autoRenewStatus)
    payload.add("isInBillingRetryPeriod", isInBillingRetryPeriod)
    payload.add("priceIncreaseStatus", priceIncreaseStatus)
    payload.add("gracePeriodExpiresDate", gracePeriodExpiresDate)
    payload.add("signedDate", signedDate)
    payload.add("environment", environment)
    payload.add("recentSubscriptionStartDate", originalPurchaseDate)
    payload.add("renewalDate", expiresDate)
    payload.add("appAccountToken", accountToken)
    payload.add("currency", "USD")
    payload.add("renewalPrice", 9990 as Int64)
    payload.add("appTransactionId", appTransactionId)
    return payload
  }

  /// The members of a renewal info that `renewalPayload` does not have.
  public var rareRenewalMembers: [(String, JSONText)] {
    [
      ("appAccountToken", "0f8fad5b-d9cb-469f-a165-70867728950e"),
      ("expirationIntent", 2), ("isInBillingRetryPeriod", true),
      ("gracePeriodExpiresDate", .integer(signedDate + 5 * Purchase.day)),
      ("priceIncreaseStatus", 1),
      ("offerType", 4), ("offerIdentifier", "comeback"), ("offerPeriod", "P3M"),
      ("offerDiscountType", "PAY_UP_FRONT"),
      ("eligibleWinBackOfferIds", ["comeback", "second"]),
      ("renewalBillingPlanType", "BILLED_UPFRONT"),
      (
        "commitmentInfo",
        [
          "commitmentAutoRenewProductId": .string(productId),
          "commitmentAutoRenewStatus": 1,
          "commitmentRenewalBillingPlanType": "MONTHLY",
          "commitmentRenewalDate": .integer(signedDate + 200 * Purchase.day),
          "commitmentRenewalPrice": 119_880,
        ]
      ),
      (
        "advancedCommerceInfo",
        [
          "consistencyToken": "c-1",
          "descriptors": ["description": "All courses", "displayName": "Courses"],
          "items": [
            [
              "SKU": "course-1", "description": "First", "displayName": "Course 1",
              "offer": [
                "periodCount": 2, "price": 990, "period": "P1W", "reason": "RETENTION",
              ],
              "price": 4990,
              "priceIncreaseInfo": [
                "dependentSKUs": ["course-2"], "price": 5990, "status": "SCHEDULED",
              ],
            ]
          ],
          "period": "P1M", "requestReferenceId": "6c9c2f52-3f37-4b52-9d9a-b1b1a4c9a111",
          "taxCode": "C003-00-2",
        ]
      ),
      ("deviceVerification", .string(Purchase.deviceVerification)),
      ("deviceVerificationNonce", "5f0c6a1e-7a86-4d0c-b7f5-0c1d0f2a3b4c"),
    ]
  }
}
