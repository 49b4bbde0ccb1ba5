@_spi(AssaySwift) import Assay

// Conversations of a known kind. Each is conducted as any other: while it is not done,
// send `request` and hand the answer to `step`; the result is read with the method that
// its beginning names.

extension Verifier {
  /// Asks Apple for the two bits of a device: `deviceCheck` of the exchange is the result.
  ///
  /// Needs the block `deviceCheck` with its key.
  ///
  /// - Parameters:
  ///   - token: base64 of what `generateToken` returned to the app.
  ///   - transactionId: 1 to 64 characters, your own: the key in your log.
  ///   - offer: whether to say if an offer that a device gets once was used here.
  ///   - now: the conversation's clock for everything that is decided.
  /// - Throws: family `misuse` for arguments that are not of their form.
  public func queryDevice(
    _ token: String, transactionId: String, offer: Bool = false, at now: Timestamp = .now
  ) throws(Refusal) -> Exchange {
    try exchange(
      [
        "kind": "deviceCheck.query", "deviceToken": JSON(token),
        "transactionId": JSON(transactionId), "offer": JSON(offer),
      ], at: now)
  }

  /// Sets the bits of a device; one that is nil stays as it is. Else as `queryDevice`.
  public func updateDevice(
    _ token: String, transactionId: String, bit0: Bool? = nil, bit1: Bool? = nil,
    at now: Timestamp = .now
  ) throws(Refusal) -> Exchange {
    try exchange(
      .given([
        ("kind", "deviceCheck.update"), ("deviceToken", JSON(token)),
        ("transactionId", JSON(transactionId)), ("bit0", bit0.map { JSON($0) }),
        ("bit1", bit1.map { JSON($0) }),
      ]), at: now)
  }

  /// Has Apple look at a device token alone. Else as `queryDevice`.
  public func validateDevice(
    _ token: String, transactionId: String, at now: Timestamp = .now
  ) throws(Refusal) -> Exchange {
    try exchange(
      [
        "kind": "deviceCheck.validate", "deviceToken": JSON(token),
        "transactionId": JSON(transactionId),
      ], at: now)
  }

  /// Asks Apple's responder whether the certificates of a verified JWS are revoked:
  /// `revocation` of the exchange is the result, evidence like the JWS itself.
  ///
  /// - Parameters:
  ///   - evidence: facts of one JWS.
  ///   - isRequired: false: an answer that does not come is no refusal.
  ///   - responses: what was kept of earlier answers: `response` by `sha256`, until its
  ///     `nextUpdate`.
  ///   - now: the conversation's clock for everything that is decided.
  public func askRevocation(
    of evidence: any Facts, isRequired: Bool = true, responses: [String: [UInt8]] = [:],
    at now: Timestamp = .now
  ) throws(Refusal) -> Exchange {
    let kept = responses.map { name, response -> JSON in
      ["sha256": JSON(name), "der": JSON(Base64Text.encode(response))]
    }
    return try exchange(
      [
        "kind": "ocsp", "mode": isRequired ? "required" : "best-effort",
        "responses": JSON(kept),
      ], evidence: [evidence], at: now)
  }

  /// Asks Apple for a new receipt of an attested key: `refreshedReceipt` of the exchange is
  /// the result. Store its `bytes` instead of the old one.
  ///
  /// Needs the block `deviceCheck` with its key.
  ///
  /// - Parameters:
  ///   - evidence: facts of the old receipt, or of the attestation with it.
  ///   - now: the conversation's clock for everything that is decided.
  public func refreshReceipt(
    _ evidence: any Facts, at now: Timestamp = .now
  ) throws(Refusal) -> Exchange {
    try exchange(["kind": "attest.refresh"], evidence: [evidence], at: now)
  }

  /// Checks that a JWS was made on a device.
  ///
  /// - Parameters:
  ///   - evidence: facts of one transaction, renewal or app transaction.
  ///   - deviceId: the app's `AppStore.deviceVerificationID`, a UUID.
  ///   - now: the time to judge by.
  /// - Returns: the document: evidence like the JWS itself.
  /// - Throws: `rejected.account.device` for another device; family `misuse` for a JWS that
  ///   was not made on a device, and for an id that is no UUID.
  @discardableResult
  public func verifyDevice(
    _ evidence: any Facts, deviceId: String, at now: Timestamp = .now
  ) throws(Refusal) -> Document {
    try result(["kind": "device.verify", "deviceId": JSON(deviceId)], [evidence], now)
  }

  /// The accepted document of a kind that is done at once.
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
  /// What `queryDevice`, `updateDevice` and `validateDevice` found.
  ///
  /// - Throws: the refusal; while a step is open, that of the step.
  public func deviceCheck() throws(Refusal) -> DeviceCheck { try found("deviceCheck") }

  /// What `askRevocation` found. Else as `deviceCheck`.
  public func revocation() throws(Refusal) -> Revocation { try found("revocation") }

  /// What `refreshReceipt` found. Else as `deviceCheck`.
  public func refreshedReceipt() throws(Refusal) -> RefreshedReceipt {
    try found("attestReceipt")
  }

  private func found<Found: FactsOfDocument>(_ name: StaticString) throws(Refusal) -> Found {
    guard document.status == .ok else { throw Refusal(document) }
    return try Found(try Members.of(document, "exchange", name))
  }
}

extension JSON {
  /// An object without the members that were left out.
  static func given(_ members: [(String, JSON?)]) -> JSON {
    JSON(members.compactMap { name, value in value.map { (name, $0) } })
  }
}
