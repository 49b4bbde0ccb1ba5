@_spi(AssaySwift) import Assay

// Exchanges of one operation each. While `isDone` is false, send `request` and pass the reply to
// `step`; then read the result with the method that the operation's comment names.

extension Verifier {
  /// Queries the two bits of a device at Apple. The result is `deviceCheck` of the exchange.
  ///
  /// Needs the block `deviceCheck` with its key.
  ///
  /// - Parameters:
  ///   - token: base64 of the bytes that `generateToken` returned to the app.
  ///   - transactionId: your own id of this request, 1 to 64 characters, for your log.
  ///   - offer: whether to check if the device has used an offer that each device gets once.
  ///   - now: the time at which the bits are evaluated.
  /// - Throws: family `misuse` for arguments of a wrong form.
  public func queryDevice(
    _ token: String, transactionId: String, offer: Bool = false, at now: Timestamp = .now
  ) throws(Refusal) -> Exchange {
    try exchange(
      [
        "operation": "query-device-bits", "deviceToken": JSON(token),
        "transactionId": JSON(transactionId), "offer": JSON(offer),
      ], at: now)
  }

  /// Updates the bits of a device; a bit that is `nil` stays unchanged. Other arguments and
  /// errors are those of `queryDevice`.
  public func updateDevice(
    _ token: String, transactionId: String, bit0: Bool? = nil, bit1: Bool? = nil,
    at now: Timestamp = .now
  ) throws(Refusal) -> Exchange {
    try exchange(
      .given([
        ("operation", "update-device-bits"), ("deviceToken", JSON(token)),
        ("transactionId", JSON(transactionId)), ("bit0", bit0.map { JSON($0) }),
        ("bit1", bit1.map { JSON($0) }),
      ]), at: now)
  }

  /// Validates a device token at Apple without its bits. Arguments and errors are those of
  /// `queryDevice`.
  public func validateDevice(
    _ token: String, transactionId: String, at now: Timestamp = .now
  ) throws(Refusal) -> Exchange {
    try exchange(
      [
        "operation": "validate-device-token", "deviceToken": JSON(token),
        "transactionId": JSON(transactionId),
      ], at: now)
  }

  /// Asks Apple's OCSP responder whether the certificates of a verified JWS are revoked. The
  /// result is `revocation` of the exchange, which is evidence like the JWS itself.
  ///
  /// - Parameters:
  ///   - evidence: the facts of one JWS.
  ///   - isRequired: whether a missing response is a refusal.
  ///   - responses: the stored OCSP responses: `response` by `sha256`, to be used until
  ///     `nextUpdate`.
  ///   - now: the time at which the certificates must not be revoked.
  public func askRevocation(
    of evidence: any Facts, isRequired: Bool = true, responses: [String: [UInt8]] = [:],
    at now: Timestamp = .now
  ) throws(Refusal) -> Exchange {
    let kept = responses.map { name, response -> JSON in
      ["sha256": JSON(name), "der": JSON(Base64Text.encode(response))]
    }
    return try exchange(
      [
        "operation": "check-revocation", "mode": isRequired ? "required" : "best-effort",
        "responses": JSON(kept),
      ], evidence: [evidence], at: now)
  }

  /// Asks Apple for a new receipt of an attested key. The result is `refreshedReceipt` of the
  /// exchange; store its `bytes` instead of the old receipt.
  ///
  /// Needs the block `deviceCheck` with its key.
  ///
  /// - Parameters:
  ///   - evidence: the facts of the old receipt, or of the attestation that contains it.
  ///   - now: the time at which the new receipt must be valid.
  public func refreshReceipt(
    _ evidence: any Facts, at now: Timestamp = .now
  ) throws(Refusal) -> Exchange {
    try exchange(["operation": "refresh-attest-receipt"], evidence: [evidence], at: now)
  }

  /// Checks that a JWS was made for the device that the app names.
  ///
  /// - Parameters:
  ///   - evidence: the facts of one transaction, renewal info or app transaction.
  ///   - deviceId: the app's `AppStore.deviceVerificationID`, a UUID.
  ///   - now: the current time.
  /// - Returns: the document, which is evidence like the JWS itself.
  /// - Throws: `rejected.account.device` for another device; family `misuse` for a JWS that names
  ///   no device, and for an id that is not a UUID.
  @discardableResult
  public func verifyDevice(
    _ evidence: any Facts, deviceId: String, at now: Timestamp = .now
  ) throws(Refusal) -> Document {
    try result(["operation": "verify-device", "deviceId": JSON(deviceId)], [evidence], now)
  }

  /// Returns the accepted document of an operation without steps.
  func result(
    _ request: JSON, _ evidence: [any Facts], _ now: Timestamp
  ) throws(Refusal) -> Document {
    let document = library.call(
      Array(request.text.utf8), evidence: evidence.map(\.document), nowMs: now.milliseconds)
    guard document.status == .ok else { throw Refusal(document) }
    return document
  }
}

extension Exchange {
  /// Returns the result of `queryDevice`, `updateDevice` or `validateDevice`.
  ///
  /// - Throws: the refusal of the exchange; family `pending` while a step is open.
  public func deviceCheck() throws(Refusal) -> DeviceCheck { try found("deviceCheck") }

  /// Returns the result of `askRevocation`. Errors are those of `deviceCheck`.
  public func revocation() throws(Refusal) -> Revocation { try found("revocation") }

  /// Returns the result of `refreshReceipt`. Errors are those of `deviceCheck`.
  public func refreshedReceipt() throws(Refusal) -> RefreshedReceipt {
    try found("attestReceipt")
  }

  private func found<Found: FactsOfDocument>(_ name: StaticString) throws(Refusal) -> Found {
    guard document.status == .ok else { throw Refusal(document) }
    return try Found(try Members.of(document, "exchange", name))
  }
}

extension JSON {
  /// Returns an object without the members that are `nil`.
  static func given(_ members: [(String, JSON?)]) -> JSON {
    JSON(members.compactMap { name, value in value.map { (name, $0) } })
  }
}
