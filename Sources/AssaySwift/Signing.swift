@_spi(AssaySwift) import Assay

// MARK: sessions

/// What a request asks for, with a session text.
public enum SessionPurpose: String, Sendable {
  case read, free, metered, restore
  /// These two need an assertion.
  case promo, paid
}

extension Verifier {
  /// Makes a session text: this account proved this key a short while ago. Issue it only
  /// when challenge and counter were stored: the library does not see the store.
  ///
  /// Needs the block `session`.
  ///
  /// - Parameters:
  ///   - evidence: facts of one attestation or assertion of this verifier.
  ///   - account: 1 to 255 bytes, no space at either end.
  ///   - isLimited: good for free calls, and for metered ones that you count.
  ///   - risk: the metric of the key's receipt, where it is known.
  ///   - binding: what the caller must show again: best `origin_jti` of its access token.
  ///   - life: at most an hour; nil: `session.ttlMs` of the configuration.
  ///   - now: the time to judge by.
  /// - Throws: family `misuse` for evidence of another kind, or judged by `attest.time`
  ///   "stored"; `config` without the block.
  public func issueSession(
    _ evidence: any Facts, account: String, isLimited: Bool = false, risk: Int64? = nil,
    binding: String? = nil, life: Duration? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> IssuedSession {
    let request = JSON.given([
      ("kind", "session.issue"), ("account", JSON(account)),
      ("verdict", isLimited ? "limited" : "allow"), ("risk", risk.map { JSON($0) }),
      ("binding", binding.map { JSON($0) }), ("ttlMs", life.map { JSON($0.wholeMilliseconds) }),
    ])
    return try IssuedSession(
      try Members.of(try result(request, [evidence], now), "exchange", "session"))
  }

  /// What a session text proves, without any store.
  ///
  /// - Parameters:
  ///   - session: the text that the app sent.
  ///   - purpose: what its request asks for.
  ///   - account: the one of the caller's access token: always pass it where there is one.
  ///   - binding: what was given when the session was issued.
  ///   - now: the time to judge by.
  /// - Throws: families `rejected`, `malformed` and `tooLarge` for a text that is forged,
  ///   over, of somebody else, or not enough: ask the app for a new assertion.
  public func checkSession(
    _ session: String, for purpose: SessionPurpose, account: String? = nil,
    binding: String? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> Session {
    let request = JSON.given([
      ("kind", "session.check"), ("session", JSON(session)), ("for", JSON(purpose.rawValue)),
      ("account", account.map { JSON($0) }), ("binding", binding.map { JSON($0) }),
    ])
    return try Session(
      try Members.of(try result(request, [], now), "exchange", "session"))
  }
}

// MARK: tokens and offers

extension Verifier {
  /// A token for the App Store Server API, good for five minutes: make one for each
  /// request. Needs the block `appStoreServerApi`.
  ///
  /// - Parameters:
  ///   - bundleId: whose; nil where one app is configured.
  ///   - now: when it is made.
  public func signAPIToken(
    bundleId: String? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> SignedToken {
    try signed([("kind", "sign.api-token"), ("bundleId", bundleId.map { JSON($0) })], now)
  }

  /// A token for Apple's DeviceCheck and App Attest servers, good for 20 minutes. Needs the
  /// block `deviceCheck` with its key.
  public func signDeviceCheckToken(at now: Timestamp = .now) throws(Refusal) -> SignedToken {
    try signed([("kind", "sign.devicecheck-token")], now)
  }

  /// The client secret of Sign in with Apple. Needs the block `appleId`.
  ///
  /// - Parameters:
  ///   - clientId: nil where there is one.
  ///   - life: nil: five minutes.
  ///   - now: when it is made.
  public func signAppleIDSecret(
    clientId: String? = nil, life: Duration? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> ClientSecret {
    try signed(
      [
        ("kind", "sign.apple-id-secret"), ("clientId", clientId.map { JSON($0) }),
        ("ttlMs", life.map { JSON($0.wholeMilliseconds) }),
      ], now)
  }

  /// A promotional offer as a JWS for the app. Never let a client choose it. Needs the block
  /// `appStoreServerApi`.
  ///
  /// - Parameters:
  ///   - offerId: of the offer.
  ///   - productId: of the product.
  ///   - transactionId: any transaction of the customer's; without one anybody can use it.
  ///   - bundleId: nil where one app is configured.
  ///   - nonce: a UUID; nil: a new one.
  ///   - now: when it is made.
  public func signPromotionalOffer(
    _ offerId: String, productId: String, transactionId: String? = nil, bundleId: String? = nil,
    nonce: String? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> SignedOffer {
    try signed(
      [
        ("kind", "sign.promotional-offer-v2"), ("bundleId", bundleId.map { JSON($0) }),
        ("productId", JSON(productId)), ("offerIdentifier", JSON(offerId)),
        ("transactionId", transactionId.map { JSON($0) }), ("nonce", nonce.map { JSON($0) }),
      ], now)
  }

  /// A promotional offer of the original StoreKit API: the app passes exactly the four
  /// values. Else as `signPromotionalOffer`.
  ///
  /// - Parameters:
  ///   - offerId: of the offer.
  ///   - productId: of the product.
  ///   - applicationUsername: ASCII: the appAccountToken, or empty.
  ///   - bundleId: nil where one app is configured.
  ///   - nonce: a UUID; nil: a new one.
  ///   - now: when it is made.
  public func signPromotionalOfferV1(
    _ offerId: String, productId: String, applicationUsername: String = "",
    bundleId: String? = nil, nonce: String? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> SignedOfferV1 {
    try signed(
      [
        ("kind", "sign.promotional-offer-v1"), ("bundleId", bundleId.map { JSON($0) }),
        ("productId", JSON(productId)), ("offerId", JSON(offerId)),
        ("applicationUsername", JSON(applicationUsername)), ("nonce", nonce.map { JSON($0) }),
      ], now)
  }

  /// Whether a customer may have the introductory offer, whatever the App Store thinks, as
  /// a JWS for the app. Else as `signPromotionalOffer`.
  public func signIntroductoryOffer(
    isAllowed: Bool, productId: String, transactionId: String, bundleId: String? = nil,
    nonce: String? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> SignedOffer {
    try signed(
      [
        ("kind", "sign.introductory-offer-eligibility"), ("bundleId", bundleId.map { JSON($0) }),
        ("productId", JSON(productId)), ("allowIntroductoryOffer", JSON(isAllowed)),
        ("transactionId", JSON(transactionId)), ("nonce", nonce.map { JSON($0) }),
      ], now)
  }

  private func signed<Signed: FactsObject>(
    _ request: [(String, JSON?)], _ now: Timestamp
  ) throws(Refusal) -> Signed {
    try Signed(try Members.of(try result(.given(request), [], now), "exchange"))
  }
}

extension Duration {
  fileprivate var wholeMilliseconds: Int64 {
    Timestamp(milliseconds: 0).advanced(by: self).milliseconds
  }
}

// MARK: what is not printed

// Printed, dumped or logged these say when they end, not what they are.

extension IssuedSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "IssuedSession, key \(keyId), until \(expires)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension SignedToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "SignedToken, until \(expires)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ClientSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "ClientSecret, until \(expires)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
