extension Purchase {
  /// The payload that Retention Messaging posts (DecodedRealtimeRequestBody).
  public var realtimeRequestPayload: JSONText {
    var payload: JSONText = [:]
    payload.add("originalTransactionId", originalTransactionId)
    payload.add("appAppleId", appAppleId)
    payload.add("productId", productId)
    payload.add("userLocale", "en-US")
    payload.add("requestIdentifier", "d1b9b1c2-2a1e-4c6e-8a52-6d2f1c0b9a77")
    payload.add("signedDate", signedDate)
    payload.add("environment", environment)
    return payload
  }
}
