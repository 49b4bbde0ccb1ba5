extension Purchase {
  /// The payload of an app transaction as an app sends it.
  public var appTransactionPayload: JSONText {
    var payload: JSONText = [:]
    payload.add("receiptType", environment)
    payload.add("appAppleId", appAppleId)
    payload.add("bundleId", bundleId)
    payload.add("applicationVersion", "42")
    payload.add("versionExternalIdentifier", 870_000_001 as Int64)
    payload.add("receiptCreationDate", signedDate)
    payload.add("originalPurchaseDate", originalPurchaseDate)
    payload.add("originalApplicationVersion", "1.0")
    payload.add("deviceVerification", Purchase.deviceVerification)
    payload.add("deviceVerificationNonce", "5f0c6a1e-7a86-4d0c-b7f5-0c1d0f2a3b4c")
    payload.add("appTransactionId", appTransactionId)
    payload.add("originalPlatform", "iOS")
    return payload
  }

  /// The members of an app transaction that `appTransactionPayload` does not have.
  public var rareAppTransactionMembers: [(String, JSONText)] {
    [
      ("preorderDate", .integer(originalPurchaseDate - Purchase.day)),
      ("signedDate", .integer(signedDate + 5)),
    ]
  }
}
