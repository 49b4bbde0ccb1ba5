/// A token issuer for tests, with keys generated at run time and published as a key set. Only a
/// configuration with its issuers, given its key set, accepts its tokens.
public struct TokenAuthority: Sendable {
  public let rsaKey: SigningKey
  public let ellipticKey: SigningKey
  /// The time of the test in milliseconds since 1970 UTC; tokens are issued a minute before.
  public let now: Int64

  /// One user pool in two regions, in the form of Amazon Cognito.
  public static let pool = "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_EXAMPLE01"
  public static let otherRegion =
    "https://cognito-idp.us-west-2.amazonaws.com/us-west-2_EXAMPLE01"
  public static let jwtIssuer = "https://issuer.example.com/tenant"
  public static let ellipticIssuer = "https://es256.example.com"
  public static let apple = "https://appleid.apple.com"
  public static let client = "1h57kf5cpq17m0eml12EXAMPLE"
  public static let rsaKid = "rsa-2048-a"
  public static let ellipticKid = "p256-a"

  public init(now: Int64) throws {
    try self.init(rsaKey: .generate(.rsa(bits: 2048)), ellipticKey: .generate(.p256), now: now)
  }

  public init(rsaKey: SigningKey, ellipticKey: SigningKey, now: Int64) {
    self.rsaKey = rsaKey
    self.ellipticKey = ellipticKey
    self.now = now
  }

  // MARK: keys

  /// Returns the public key of an RSA key as a JWK.
  public static func jwk(rsa key: SigningKey, kid: String) throws -> JSONText {
    let (modulus, exponent) = try numbers(key)
    return [
      "kty": "RSA", "kid": .string(kid), "use": "sig", "alg": "RS256",
      "n": .string(utf8: Base64Text.encodeURL(modulus)),
      "e": .string(utf8: Base64Text.encodeURL(exponent)),
    ]
  }

  /// Returns the public key of a P-256 key as a JWK.
  public static func jwk(elliptic key: SigningKey, kid: String) throws -> JSONText {
    let point = try key.publicKey()
    return [
      "kty": "EC", "kid": .string(kid), "use": "sig", "alg": "ES256", "crv": "P-256",
      "x": .string(utf8: Base64Text.encodeURL(Array(point[1..<33]))),
      "y": .string(utf8: Base64Text.encodeURL(Array(point[33...]))),
    ]
  }

  /// Returns modulus and exponent of an RSA key, big-endian without leading zeros.
  public static func numbers(_ key: SigningKey) throws -> ([UInt8], [UInt8]) {
    // RSAPublicKey is a sequence of two integers, as an ECDSA signature is.
    let pair = try ECDSASignature(der: try key.publicKey())
    return (pair.r, pair.s)
  }

  /// Returns the key set as an issuer publishes it; with `issuer`, as `assay_keyset_new` needs it
  /// if several issuers are configured.
  public func keyset(issuer: String? = TokenAuthority.pool) throws -> JSONText {
    let keys: JSONText = .array([
      try TokenAuthority.jwk(rsa: rsaKey, kid: TokenAuthority.rsaKid),
      try TokenAuthority.jwk(elliptic: ellipticKey, kid: TokenAuthority.ellipticKid),
    ])
    guard let issuer else { return ["keys": keys] }
    return ["issuer": .string(issuer), "keys": keys]
  }

  // MARK: tokens

  private var second: Int64 { now / 1000 }

  /// The token claims of an access token of Amazon Cognito.
  public var cognitoClaims: JSONText {
    [
      "sub": "a1b2c3d4-0000-4000-8000-00000000c0de",
      "cognito:groups": ["players", "testers"], "iss": .string(TokenAuthority.pool),
      "client_id": .string(TokenAuthority.client),
      "origin_jti": "6a4f0f4e-0000-4000-8000-000000000001",
      "event_id": "c6f3e1b2-0000-4000-8000-000000000002", "token_use": "access",
      "scope": "openid shop/read shop/write", "auth_time": .integer(second - 600),
      "exp": .integer(second + 3600), "iat": .integer(second - 60),
      "jti": "f00dfeed-0000-4000-8000-000000000003", "username": "player-one",
    ]
  }

  /// Returns the token claims of a token of any other issuer.
  public func jwtClaims(issuer: String = TokenAuthority.jwtIssuer) -> JSONText {
    [
      "iss": .string(issuer), "sub": "user-1", "aud": ["shop", "games"],
      "exp": .integer(second + 3600), "iat": .integer(second - 60), "jti": "j-1",
    ]
  }

  /// Returns the token claims of an identity token of Sign in with Apple.
  public func appleClaims(audience: String = "com.example.app") -> JSONText {
    [
      "iss": .string(TokenAuthority.apple), "aud": .string(audience),
      "exp": .integer(second + 86_340), "iat": .integer(second - 60),
      "sub": "001234.0123456789abcdef0123456789abcdef.0123", "nonce": "n-0S6_WzA2Mj",
      "c_hash": "LDktKdoQak3Pk0cnXxCltA", "email": "abc@privaterelay.example.com",
      "email_verified": "true", "is_private_email": true,
      "auth_time": .integer(second - 60), "nonce_supported": true, "real_user_status": 2,
    ]
  }

  /// The event in a sign-in notification, before it is written as a string.
  public var appleEvent: JSONText {
    [
      "type": "email-disabled", "sub": "001234.0123456789abcdef0123456789abcdef.0123",
      "email": "abc@privaterelay.example.com", "is_private_email": "true",
      "event_time": .integer(now - 61_000),
    ]
  }

  /// Returns an event of another type; only email events contain an address.
  public func appleEvent(_ type: String, subject: String? = nil) -> JSONText {
    var event = appleEvent.setting("type", .string(type))
    if let subject { event = event.setting("sub", .string(subject)) }
    return type.hasPrefix("email-") ? event : event.removing(["email", "is_private_email"])
  }

  /// Returns the token claims of a sign-in notification.
  public func appleNotificationClaims(
    _ event: JSONText, audience: String = "com.example.app"
  ) -> JSONText {
    [
      "iss": .string(TokenAuthority.apple), "aud": .string(audience),
      "iat": .integer(second - 60), "exp": .integer(second + 86_340), "jti": "event-1",
      "events": .string(utf8: event.bytes),
    ]
  }

  /// Returns an RS256 token with the header that Amazon Cognito and Apple write.
  public func rs256(_ claims: JSONText) -> TokenTemplate {
    TokenTemplate(
      ["kid": .string(TokenAuthority.rsaKid), "alg": "RS256"], claims, rsaKey, isElliptic: false)
  }

  public func es256(_ claims: JSONText) -> TokenTemplate {
    TokenTemplate(
      ["typ": "at+jwt", "kid": .string(TokenAuthority.ellipticKid), "alg": "ES256"], claims,
      ellipticKey, isElliptic: true)
  }

  // MARK: configuration

  /// A value of `tokens` that accepts the tokens of this authority.
  public static var configuration: JSONText {
    [
      [
        "profile": "cognito-access", "issuers": [.string(pool)], "clients": [.string(client)],
      ],
      [
        "profile": "jwt", "issuers": [.string(jwtIssuer)], "algorithm": "RS256",
        "audiences": ["games"],
      ],
      [
        "profile": "jwt", "issuers": [.string(ellipticIssuer)], "algorithm": "ES256",
        "audiences": ["games"],
      ],
      ["profile": "apple-id", "audiences": ["com.example.app"], "nonce": "none"],
    ]
  }
}
