/// Signs with the In-App Purchase key: tokens for the App Store Server API, and offers for the
/// app (docs/spec/app-store-server-api.md §9).
struct AppStoreSigning {
  private let policy: AppStoreServerAPIPolicy
  private let parameters: SigningParameters
  private let bundleId: Text
  /// The time of the call, in milliseconds since 1970 UTC.
  private let nowMs: Int64

  /// - Throws: `config.exchange.block-missing`; `misuse.sign.parameter` for an app that is not
  ///   configured, or for no app if several are.
  init(_ context: OperationContext) throws(Refusal) {
    guard let policy = context.configuration.appStoreServerAPI else {
      throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "appStoreServerApi")
    }
    self.policy = policy
    nowMs = context.nowMs
    parameters = SigningParameters(context.request)
    bundleId = try parameters.bundleId(context.configuration.apps)
  }

  private var seconds: Int64 { nowMs / 1000 }

  /// The lifetime of an API token, in seconds.
  private static let tokenSeconds: Int64 = 300

  /// Returns a token for the API. Its `iat` is a minute in the past: Apple refuses a token from
  /// the future, and the host's clock may be ahead (API-11).
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
      members: [("token", .signature(token)), ("expiresAtMs", .integer(expires))],
      secret: "token")
  }

  /// Signs a promotional offer (SIG-1). Without a transaction id every customer could use the
  /// offer, so the result warns (SIG-2).
  ///
  /// - Parameters:
  ///   - product: the product id if the request has none (RTM-7); `nil`: the request must have it.
  ///   - transaction: the transaction id if the request has none.
  func promotionalOffer(
    product: Text? = nil, transaction: Text? = nil
  ) throws(Refusal) -> SigningResult {
    let offer = try parameters.text("offerIdentifier")
    var productId = try parameters.optionalText("productId") ?? product ?? ""
    if productId.isEmpty { productId = try parameters.text("productId") }
    let transactionId = try parameters.optionalText("transactionId") ?? transaction
    var result = try claims(audience: "promotional-offer") {
      $0.member("productId", productId)
      $0.member("offerIdentifier", offer)
      if let transactionId { $0.member("transactionId", transactionId) }
    }
    if transactionId == nil { result.warnings = [Warning("unbound-offer", at: "transactionId")] }
    return result
  }

  /// Signs a customer's eligibility for an introductory offer (SIG-1).
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

  /// Signs a request of Advanced Commerce, which StoreKit takes in base64 (ACA-3). The result has
  /// its JSON too, for the host's log.
  func inAppRequest(_ request: ExchangeRequest) throws(Refusal) -> SigningResult {
    let json = try AdvancedCommerce.json(request)
    var result = try claims(audience: "advanced-commerce-api") {
      $0.name("request")
      $0.string(utf8: Base64.encodeStandard(json))
    }
    result.members.append(("request", .text(Text(json))))
    return result
  }

  /// Signs the members that such signatures share, and those of `feature`, without an `exp` (SIG-1).
  /// The result has the JWS, `nonce` and `iat` (SIG-4).
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

  /// Signs a promotional offer of the first version: seven fields joined by a separator; its
  /// signature is DER in standard base64, unlike that of a JWS (SIG-5).
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
