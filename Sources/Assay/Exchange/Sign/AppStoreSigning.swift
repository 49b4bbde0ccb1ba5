/// What the In-App Purchase key signs: tokens for the App Store Server API, and offers
/// for the app (docs/spec/app-store-server-api.md §9).
struct AppStoreSigning {
  private let policy: AppStoreServerAPIPolicy
  private let parameters: SigningParameters
  private let bundleId: Text
  /// Milliseconds since 1970 UTC.
  private let nowMs: Int64

  /// - Throws: `config.exchange.block-missing`; `misuse.sign.parameter` for an app that
  ///   is not configured, or none where there are several.
  init(_ context: KindContext) throws(Refusal) {
    guard let policy = context.configuration.appStoreServerAPI else {
      throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "appStoreServerApi")
    }
    self.policy = policy
    nowMs = context.nowMs
    parameters = SigningParameters(context.request)
    bundleId = try parameters.bundleId(context.configuration.apps)
  }

  private var seconds: Int64 { nowMs / 1000 }

  /// Of a token of the API, from now on.
  private static let tokenSeconds: Int64 = 300

  /// API-11: a host clock that is slightly ahead must not make it "issued in the future".
  static func token(
    _ policy: AppStoreServerAPIPolicy, _ bundleId: Text, nowMs: Int64
  ) throws(Refusal) -> SecretBytes {
    let seconds = nowMs / 1000
    return try CompactToken.make(policy.privateKey, keyId: policy.keyId, isTyped: true) {
      $0.member("iss", policy.issuerId)
      $0.member("iat", integer: seconds &- 60)
      $0.member("exp", integer: seconds &+ tokenSeconds)
      $0.member("aud", "appstoreconnect-v1")
      $0.member("bid", bundleId)
    }
  }

  func apiToken() throws(Refusal) -> SigningResult {
    let token = try AppStoreSigning.token(policy, bundleId, nowMs: nowMs)
    let expires = (seconds &+ AppStoreSigning.tokenSeconds) &* 1000
    return SigningResult(
      members: [("token", .signature(token)), ("expiresMs", .integer(expires))],
      secret: "token")
  }

  /// SIG-1, SIG-2.
  func promotionalOffer() throws(Refusal) -> SigningResult {
    let productId = try parameters.text("productId")
    let offer = try parameters.text("offerIdentifier")
    let transactionId = try parameters.optionalText("transactionId")
    var result = try claims(audience: "promotional-offer") {
      $0.member("productId", productId)
      $0.member("offerIdentifier", offer)
      if let transactionId { $0.member("transactionId", transactionId) }
    }
    if transactionId == nil { result.warnings = [Warning("unbound-offer", at: "transactionId")] }
    return result
  }

  /// SIG-1.
  func introductoryOffer() throws(Refusal) -> SigningResult {
    let productId = try parameters.text("productId")
    let isAllowed = try parameters.boolean("allowIntroductoryOffer")
    let transactionId = try parameters.text("transactionId")
    return try claims(audience: "introductory-offer-eligibility") {
      $0.member("productId", productId)
      $0.member("allowIntroductoryOffer", boolean: isAllowed)
      $0.member("transactionId", transactionId)
    }
  }

  /// SIG-1, SIG-4: without an end.
  private func claims(
    audience: StaticString, _ feature: (inout JSONWriter) -> Void
  ) throws(Refusal) -> SigningResult {
    let nonce = try parameters.nonce()
    let token = try CompactToken.make(policy.privateKey, keyId: policy.keyId, isTyped: true) {
      $0.member("iss", policy.issuerId)
      $0.member("iat", integer: seconds)
      $0.member("aud", audience)
      $0.member("bid", bundleId)
      $0.member("nonce", nonce)
      feature(&$0)
    }
    return SigningResult(members: [
      ("jws", .signature(token)), ("nonce", .text(nonce)), ("iat", .integer(seconds)),
    ])
  }

  /// SIG-5: seven fields, signed as they stand. DER and standard base64, unlike the others.
  func promotionalOfferV1() throws(Refusal) -> SigningResult {
    let productId = try parameters.text("productId")
    let offer = try parameters.text("offerId")
    let username = try parameters.username()
    let timestamp = try parameters.timestamp() ?? nowMs
    let nonce = try parameters.nonce()
    let fields = [
      bundleId, policy.keyId, productId, offer, username, nonce, Text(String(timestamp)),
    ]
    let message = Array(fields.map { $0.utf8 }.joined(separator: SigningParameters.separator))
    let signature = try policy.privateKey.sign(message)
    return SigningResult(members: [
      ("signature", .signature(SecretBytes(Base64.encodeStandard(signature.der)))),
      ("keyId", .text(policy.keyId)), ("nonce", .text(nonce)),
      ("timestamp", .integer(timestamp)),
    ])
  }
}
