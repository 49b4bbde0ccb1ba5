@_spi(AssaySwift) import Assay

// MARK: sessions

/// The kind of request for which a session token is presented.
public enum SessionPurpose: String, Sendable {
  case read, free, metered, restore
  /// Paid and promotional requests need an assertion.
  case promo, paid
}

extension Verifier {
  /// Issues a session token, which proves that this account proved this device key recently.
  /// Issue it only after challenge and counter were stored: the library does not see the
  /// database.
  ///
  /// Needs the block `session`.
  ///
  /// - Parameters:
  ///   - evidence: the facts of one attestation or assertion of this verifier.
  ///   - account: the account, 1 to 255 bytes without a space at either end.
  ///   - isLimited: whether the token is only for free requests and for metered ones that you
  ///     count.
  ///   - risk: the risk metric of the key's receipt, if it is known.
  ///   - binding: a text that the caller must present again, preferably `origin_jti` of its
  ///     access token.
  ///   - life: the lifetime, at most an hour; `nil` for `session.ttlMs` of the configuration.
  ///   - now: the time of issue.
  /// - Throws: family `misuse` for evidence of another kind, or verified with `attest.time`
  ///   "stored"; `config` without the block.
  public func issueSession(
    _ evidence: any Facts, account: String, isLimited: Bool = false, risk: Int64? = nil,
    binding: String? = nil, life: Duration? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> IssuedSession {
    let request = JSON.given([
      ("operation", "issue-session"), ("account", JSON(account)),
      ("verdict", isLimited ? "limited" : "allow"), ("risk", risk.map { JSON($0) }),
      ("binding", binding.map { JSON($0) }), ("ttlMs", life.map { JSON($0.wholeMilliseconds) }),
    ])
    return try IssuedSession(
      try Members.of(try result(request, [evidence], now), "exchange", "session"))
  }

  /// Verifies a session token, without a database.
  ///
  /// - Parameters:
  ///   - session: the session token that the app sent.
  ///   - purpose: the kind of the app's request.
  ///   - account: the account of the caller's access token; always pass it if there is one.
  ///   - binding: the text with which the session token was issued.
  ///   - now: the time at which the session token must be valid.
  /// - Throws: families `rejected`, `malformed` and `tooLarge` for a session token that is
  ///   forged, expired, of another account or app, or not sufficient for the purpose: ask the app
  ///   for a new assertion.
  public func checkSession(
    _ session: String, for purpose: SessionPurpose, account: String? = nil,
    binding: String? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> Session {
    let request = JSON.given([
      ("operation", "verify-session"), ("session", JSON(session)), ("purpose", JSON(purpose.rawValue)),
      ("account", account.map { JSON($0) }), ("binding", binding.map { JSON($0) }),
    ])
    return try Session(
      try Members.of(try result(request, [], now), "exchange", "session"))
  }
}

// MARK: tokens and offers

extension Verifier {
  /// Signs a token for the App Store Server API, valid for five minutes: sign one for each
  /// request. Needs the block `appStoreServerApi`.
  ///
  /// - Parameters:
  ///   - bundleId: the app; `nil` if only one app is configured.
  ///   - now: the time of issue.
  public func signAPIToken(
    bundleId: String? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> SignedToken {
    try signed([("operation", "sign-api-token"), ("bundleId", bundleId.map { JSON($0) })], now)
  }

  /// Signs a token for Apple's DeviceCheck and App Attest servers, valid for 20 minutes. Needs
  /// the block `deviceCheck` with its key.
  public func signDeviceCheckToken(at now: Timestamp = .now) throws(Refusal) -> SignedToken {
    try signed([("operation", "sign-device-check-token")], now)
  }

  /// Signs the client secret of Sign in with Apple. Needs the block `appleId`.
  ///
  /// - Parameters:
  ///   - clientId: the client id; `nil` if only one is configured.
  ///   - life: the lifetime, a minute to about six months; `nil` for five minutes.
  ///   - now: the time of issue.
  public func signAppleIDSecret(
    clientId: String? = nil, life: Duration? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> ClientSecret {
    try signed(
      [
        ("operation", "sign-apple-client-secret"), ("clientId", clientId.map { JSON($0) }),
        ("ttlMs", life.map { JSON($0.wholeMilliseconds) }),
      ], now)
  }

  /// Signs a promotional offer as a JWS for the app. Never let a client choose the offer. Needs
  /// the block `appStoreServerApi`.
  ///
  /// - Parameters:
  ///   - offerId: the id of the offer.
  ///   - productId: the id of the product.
  ///   - transactionId: any transaction of the customer; without it every customer can use the
  ///     offer.
  ///   - bundleId: the app; `nil` if only one app is configured.
  ///   - nonce: a UUID; `nil` for a new one.
  ///   - now: the time of issue.
  public func signPromotionalOffer(
    _ offerId: String, productId: String, transactionId: String? = nil, bundleId: String? = nil,
    nonce: String? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> SignedOffer {
    try signed(
      [
        ("operation", "sign-promotional-offer"), ("bundleId", bundleId.map { JSON($0) }),
        ("productId", JSON(productId)), ("offerIdentifier", JSON(offerId)),
        ("transactionId", transactionId.map { JSON($0) }), ("nonce", nonce.map { JSON($0) }),
      ], now)
  }

  /// Signs a promotional offer of the original StoreKit API, whose four values the app passes on
  /// unchanged. Never let a client choose the offer.
  ///
  /// - Parameters:
  ///   - offerId: the id of the offer.
  ///   - productId: the id of the product.
  ///   - applicationUsername: the appAccountToken in ASCII, or empty.
  ///   - bundleId: the app; `nil` if only one app is configured.
  ///   - nonce: a UUID; `nil` for a new one.
  ///   - now: the time of issue.
  public func signPromotionalOfferV1(
    _ offerId: String, productId: String, applicationUsername: String = "",
    bundleId: String? = nil, nonce: String? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> SignedOfferV1 {
    try signed(
      [
        ("operation", "sign-promotional-offer-v1"), ("bundleId", bundleId.map { JSON($0) }),
        ("productId", JSON(productId)), ("offerId", JSON(offerId)),
        ("applicationUsername", JSON(applicationUsername)), ("nonce", nonce.map { JSON($0) }),
      ], now)
  }

  /// Signs whether a customer may have the introductory offer, in place of the App Store's own
  /// rule, as a JWS for the app. Other arguments are those of `signPromotionalOffer`.
  public func signIntroductoryOffer(
    isAllowed: Bool, productId: String, transactionId: String, bundleId: String? = nil,
    nonce: String? = nil, at now: Timestamp = .now
  ) throws(Refusal) -> SignedOffer {
    try signed(
      [
        ("operation", "sign-introductory-offer-eligibility"),
        ("bundleId", bundleId.map { JSON($0) }),
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

// The following types print, dump and log their end instead of their secret.

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
