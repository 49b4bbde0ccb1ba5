@_spi(AssaySwift) import Assay

// Exchanges of one operation each. While `isDone` is false, send `request` and pass the reply to
// `step`; then read the result with the method that the operation's comment names.

extension Verifier {
  /// Checks with Apple's OCSP responder whether the certificates of a verified JWS are revoked. The
  /// result is `revocation` of the exchange, which is evidence like the JWS itself.
  ///
  /// - Parameters:
  ///   - evidence: the facts of one JWS.
  ///   - isRequired: whether a missing response is a refusal.
  ///   - responses: the stored OCSP responses: `response` by `sha256`, to be used until
  ///     `nextUpdate`.
  ///   - now: the time at which the certificates must not be revoked.
  public func checkRevocation(
    of evidence: any Facts, isRequired: Bool = true, responses: [String: [UInt8]] = [:],
    at now: Timestamp = .now
  ) throws(AssayError) -> Exchange {
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
  public func refreshAttestReceipt(
    _ evidence: any Facts, at now: Timestamp = .now
  ) throws(AssayError) -> Exchange {
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
  ) throws(AssayError) -> Document {
    try result(["operation": "verify-device", "deviceId": JSON(deviceId)], [evidence], now)
  }

  /// Returns the answer to a realtime request of retention messaging: JSON for the body of a
  /// response with status 200. Beside the message it has at most one of another product, an offer
  /// and an Advanced Commerce request.
  ///
  /// - Parameters:
  ///   - messageIdentifier: the message to display, approved by Apple.
  ///   - request: the verified request: product and transaction of an offer that names none.
  ///   - alternateProductId: the product to switch to.
  ///   - billingPlanType: the plan of that product.
  ///   - offerId: a promotional offer, which is signed here.
  ///   - productId: the product of the offer.
  ///   - transactionId: any transaction of the customer.
  ///   - nonce: a UUID for the offer; `nil` for a new one.
  ///   - bundleId: the app of the offer; `nil` if only one app is configured.
  ///   - promotionalOfferSignatureV2: an offer that is signed already.
  ///   - promotionalOfferSignatureV1: the same of the original StoreKit API, with Apple's members.
  ///   - advancedCommerceRequestData: a signed change of an Advanced Commerce subscription.
  ///   - now: the time of issue.
  public func buildRealtimeResponse(
    _ messageIdentifier: String, to request: RealtimeRequest? = nil,
    alternateProductId: String? = nil, billingPlanType: BillingPlanType? = nil,
    offerId: String? = nil, productId: String? = nil, transactionId: String? = nil,
    nonce: String? = nil, bundleId: String? = nil, promotionalOfferSignatureV2: String? = nil,
    promotionalOfferSignatureV1: JSON? = nil, advancedCommerceRequestData: String? = nil,
    at now: Timestamp = .now
  ) throws(AssayError) -> String {
    let asked = JSON.given([
      ("operation", "build-realtime-response"), ("messageIdentifier", JSON(messageIdentifier)),
      ("alternateProductId", alternateProductId.map { JSON($0) }),
      ("billingPlanType", billingPlanType.map { JSON($0.rawValue) }),
      ("offerIdentifier", offerId.map { JSON($0) }), ("productId", productId.map { JSON($0) }),
      ("transactionId", transactionId.map { JSON($0) }), ("nonce", nonce.map { JSON($0) }),
      ("bundleId", bundleId.map { JSON($0) }),
      ("promotionalOfferSignatureV2", promotionalOfferSignatureV2.map { JSON($0) }),
      ("promotionalOfferSignatureV1", promotionalOfferSignatureV1),
      ("advancedCommerceRequestData", advancedCommerceRequestData.map { JSON($0) }),
    ])
    let document = try result(asked, request.map { [$0] } ?? [], now)
    let found = try Members.of(document, "exchange")
    return try found.needed(found.text("body"), "body")
  }

  /// Answers a request to Apple's deprecated verifyReceipt endpoint offline, in Apple's words. Send
  /// `body` of the answer with its `httpStatus`, whatever it is.
  ///
  /// A refused receipt is an answer and not an error: `appleStatus` is 0 or 21006 only for a
  /// receipt that verified.
  ///
  /// - Parameters:
  ///   - body: the body of the HTTP request, as it came.
  ///   - endpoint: the endpoint that is answered for: `.production` or `.sandbox`.
  ///   - evidence: what is newer than the receipt, up to 64. What is about no purchase of the
  ///     receipt is left out.
  ///   - isMeasured: whether what does not verify is 21002, as Apple answers, and not 21003, as
  ///     Apple documents.
  ///   - isTolerant: whether the receipt may be encoded in forms that Apple turns away.
  ///   - endedIsLater: whether a subscription that has ended, with nothing newer known, is 21005,
  ///     so that the client asks again.
  ///   - isMarked: whether the answer has the member `assay`, which says that it is not Apple's.
  ///   - now: the current time.
  /// - Throws: family `misuse` for an endpoint whose environment the configuration does not accept.
  public func answerVerifyReceipt(
    _ body: some Sequence<UInt8>, endpoint: Environment, evidence: [any Facts] = [],
    isMeasured: Bool = false, isTolerant: Bool = false, endedIsLater: Bool = false,
    isMarked: Bool = true, at now: Timestamp = .now
  ) throws(AssayError) -> VerifyReceiptAnswer {
    let request: JSON = [
      "operation": "answer-verify-receipt", "endpoint": JSON(endpoint.rawValue),
      "body": ["base64": JSON(Base64Text.encode(body))],
      "refusals": isMeasured ? "measured" : "documented",
      "base64": isTolerant ? "tolerant" : "apple", "ended": endedIsLater ? "later" : "expired",
      "mark": JSON(isMarked),
    ]
    let document = library.call(
      Array(request.text.utf8), evidence: evidence.map(\.document), nowMs: now.milliseconds)
    switch document.status.family {
    case .misuse, .config: throw AssayError(document)
    default: return try VerifyReceiptAnswer(try Members.of(document, "exchange", "answer"))
    }
  }

  /// Decides by the rules of `refunds` what to answer when Apple asks about a refund.
  ///
  /// Send `request` of the answer and nothing else: it is `nil` unless the answer is `.send`. Every
  /// answer is a result and not an error.
  ///
  /// - Parameters:
  ///   - asked: the purchase that Apple asks about (docs/tasks/refund-answers.md).
  ///   - observations: the customer's consent, usage, delivery.
  ///   - now: the current time.
  /// - Throws: `malformed.refund.input`, with the member in `at`, for an unknown, missing or wrong
  ///   member.
  public func assessRefund(
    _ asked: JSON, observations: JSON, at now: Timestamp = .now
  ) throws(AssayError) -> RefundAnswer {
    let request: JSON = [
      "operation": "assess-refund", "case": asked, "observations": observations,
    ]
    let document = library.call(Array(request.text.utf8), nowMs: now.milliseconds)
    switch document.status {
    case .ok, .rejectedRefundSilent, .rejectedRefundLate, .unavailableRefundWait:
      return try RefundAnswer(try Members.of(document, "exchange", "refund"))
    default: throw AssayError(document)
    }
  }

  /// Returns how many units a revocation takes back, and how many stay with the customer.
  ///
  /// - Parameters:
  ///   - units: what was promised when the purchase was claimed.
  ///   - percentage: the `revocationPercentage` of the transaction; `nil` for all of it.
  ///   - revocationType: its `revocationType`: without a percentage, `.refundProrated` is a share
  ///     that is not known, and nothing is taken.
  ///   - type: its `type`; only consumables are divided.
  ///   - grantedUnits: what the customer was given and was not taken back; `nil` for `units`.
  /// - Throws: family `misuse` for a number out of range and for another type.
  public func computeRefundUnits(
    _ units: Int64, percentage: Int64? = nil, revocationType: RevocationType? = nil,
    type: ProductType = .consumable, grantedUnits: Int64? = nil
  ) throws(AssayError) -> RefundUnits {
    let asked = JSON.given([
      ("operation", "compute-refund-units"), ("units", JSON(units)),
      ("percentage", percentage.map { JSON($0) }),
      ("revocationType", revocationType.map { JSON($0.rawValue) }),
      ("type", JSON(type.rawValue)), ("grantedUnits", grantedUnits.map { JSON($0) }),
    ])
    return try RefundUnits(try Members.of(try result(asked, [], .now), "exchange", "units"))
  }

  /// Returns the accepted document of an operation without steps.
  func result(
    _ request: JSON, _ evidence: [any Facts], _ now: Timestamp
  ) throws(AssayError) -> Document {
    let document = library.call(
      Array(request.text.utf8), evidence: evidence.map(\.document), nowMs: now.milliseconds)
    guard document.status == .ok else { throw AssayError(document) }
    return document
  }
}

extension Exchange {
  /// Returns the result of `queryDeviceBits`, `updateDeviceBits` or `validateDeviceToken`.
  ///
  /// - Throws: the refusal of the exchange; family `pending` while a step is open.
  public func deviceCheck() throws(AssayError) -> DeviceCheck { try found("deviceCheck") }

  /// Returns the result of `checkRevocation`. Errors are those of `deviceCheck`.
  public func revocation() throws(AssayError) -> Revocation { try found("revocation") }

  /// Returns the result of `refreshAttestReceipt`. Errors are those of `deviceCheck`.
  public func refreshedReceipt() throws(AssayError) -> RefreshedReceipt {
    try found("attestReceipt")
  }

  private func found<Found: FactsOfDocument>(_ name: StaticString) throws(AssayError) -> Found {
    guard document.status == .ok else { throw AssayError(document) }
    return try Found(try Members.of(document, "exchange", name))
  }
}

extension JSON {
  /// Returns an object without the members that are `nil`.
  static func given(_ members: [(String, JSON?)]) -> JSON {
    JSON(members.compactMap { name, value in value.map { (name, $0) } })
  }
}
