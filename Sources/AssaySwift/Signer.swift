@_spi(AssaySwift) import Assay

/// Signs tokens, secrets and offers for Apple and for the app. Created by `Verifier.signer`.
public struct Signer: Sendable {
  let verifier: Verifier

  /// Signs a token for the App Store Server API, valid for five minutes: sign one for each
  /// request. Needs the block `appStoreServerApi`.
  ///
  /// - Parameters:
  ///   - bundleId: the app; `nil` if only one app is configured.
  ///   - now: the time of issue.
  public func signApiToken(
    bundleId: String? = nil, at now: Timestamp = .now
  ) throws(AssayError) -> SignedToken {
    try signed([("operation", "sign-api-token"), ("bundleId", bundleId.map { JSON($0) })], now)
  }

  /// Signs a token for Apple's DeviceCheck and App Attest servers, valid for 20 minutes. Needs
  /// the block `deviceCheck` with its key.
  public func signDeviceCheckToken(at now: Timestamp = .now) throws(AssayError) -> SignedToken {
    try signed([("operation", "sign-device-check-token")], now)
  }

  /// Signs the client secret of Sign in with Apple. Needs the block `appleId`.
  ///
  /// - Parameters:
  ///   - clientId: the client id; `nil` if only one is configured.
  ///   - life: the lifetime, a minute to about six months; `nil` for five minutes.
  ///   - now: the time of issue.
  public func signAppleClientSecret(
    clientId: String? = nil, life: Duration? = nil, at now: Timestamp = .now
  ) throws(AssayError) -> ClientSecret {
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
  ) throws(AssayError) -> SignedOffer {
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
  ) throws(AssayError) -> SignedOfferV1 {
    try signed(
      [
        ("operation", "sign-promotional-offer-v1"), ("bundleId", bundleId.map { JSON($0) }),
        ("productId", JSON(productId)), ("offerId", JSON(offerId)),
        ("applicationUsername", JSON(applicationUsername)), ("nonce", nonce.map { JSON($0) }),
      ], now)
  }

  /// Signs whether a customer may have the introductory offer, in place of the App Store's own
  /// rule, as a JWS for the app. Other arguments are those of `signPromotionalOffer`.
  public func signIntroductoryOfferEligibility(
    isAllowed: Bool, productId: String, transactionId: String, bundleId: String? = nil,
    nonce: String? = nil, at now: Timestamp = .now
  ) throws(AssayError) -> SignedOffer {
    try signed(
      [
        ("operation", "sign-introductory-offer-eligibility"),
        ("bundleId", bundleId.map { JSON($0) }),
        ("productId", JSON(productId)), ("allowIntroductoryOffer", JSON(isAllowed)),
        ("transactionId", JSON(transactionId)), ("nonce", nonce.map { JSON($0) }),
      ], now)
  }

  func signed<Signed: FactsObject>(
    _ request: [(String, JSON?)], _ now: Timestamp
  ) throws(AssayError) -> Signed {
    try Signed(try Members.of(try verifier.result(.given(request), [], now), "exchange"))
  }
}

extension Verifier {
  /// The signatures that this verifier makes.
  public var signer: Signer { Signer(verifier: self) }
}

extension Duration {
  var wholeMilliseconds: Int64 {
    Timestamp(milliseconds: 0).advanced(by: self).milliseconds
  }
}

// MARK: what is not printed

// The following types print, dump and log their end instead of their secret.

extension IssuedSession: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "IssuedSession, key \(keyId), until \(expiresAt)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension SignedToken: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "SignedToken, until \(expiresAt)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension ClientSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "ClientSecret, until \(expiresAt)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
