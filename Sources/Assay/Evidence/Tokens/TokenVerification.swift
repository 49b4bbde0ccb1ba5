/// The checks of a token, in the order in which they are made (docs/spec/access-tokens.md §4).
enum TokenCheck: Int, CheckList {
  case keyset, size, form, header, key, signature, claims, times, issuer, use, client, audience
  case nonce, subject, scopes, groups, age

  static let ids: [StaticString] = [
    "token.keyset", "token.size", "token.form", "token.header", "token.key", "token.signature",
    "token.claims", "token.times", "token.issuer", "token.use", "token.client",
    "token.audience", "token.nonce", "token.subject", "token.scopes", "token.groups",
    "token.age",
  ]
}

/// The verification of one token (docs/spec/access-tokens.md).
struct TokenVerification {
  private let profiles: [TokenProfile.Shared]
  private let skewSeconds: Int64
  private let keyset: Keyset
  private let nowMs: Int64
  private(set) var checks = Checks<TokenCheck>()
  /// The host's next step if the key id is unknown; `nil` after any other refusal.
  private(set) var advice: KeysetAdvice? = nil

  init(_ configuration: Configuration, _ keyset: Keyset, nowMs: Int64) {
    profiles = configuration.tokens
    skewSeconds = configuration.clockSkewMs / 1000
    self.keyset = keyset
    self.nowMs = nowMs
  }

  /// The longest token that a profile may allow, in bytes.
  static let byteCap = 65_536

  /// Verifies a token of the key set's profile. Under `apple-id` the profile must demand no
  /// nonce, because none is passed here (TOK-34).
  mutating func run(_ text: [UInt8]) throws(Refusal) -> Token {
    checks.enter(.keyset)
    let keys = try KeysetInUse.find(keyset, profiles, nowMs: nowMs)
    try require(
      keys.owner.profile.kind != .appleId || keys.owner.profile.nonce == .none, .misuseTokenNonce,
      "TOK-34")
    let (kid, claims) = try proven(text, keys)
    let isApple = keys.owner.profile.kind == .appleId
    let apple = isApple ? try AppleIdentity(claims) : nil
    let issuer = try judge(claims, keys)
    checks.skip(.nonce, isApple ? .notConfigured : .doesNotApply)
    try judgeCaller(claims, keys.owner)
    return Token(claims, issuer, kid: kid, keys, apple)
  }

  // MARK: Sign in with Apple

  /// Returns the key set, which must be that of Sign in with Apple.
  private mutating func appleKeys() throws(Refusal) -> KeysetInUse {
    checks.enter(.keyset)
    let keys = try KeysetInUse.find(keyset, profiles, nowMs: nowMs)
    try require(keys.owner.profile.kind == .appleId, .misuseTokenKeyset, "AID-3", at: "keys")
    return keys
  }

  /// Checks that the key set is of a configured issuer (KST-7) and not too old (KST-5), before
  /// any identity token is verified.
  mutating func checkAppleKeys() throws(Refusal) { _ = try appleKeys() }

  /// Verifies an identity token of Sign in with Apple (AID-1).
  mutating func identity(_ text: [UInt8], _ nonce: IssuedNonce) throws(Refusal) -> Token {
    let keys = try appleKeys()
    let (kid, claims) = try proven(text, keys)
    var apple = try AppleIdentity(claims)
    let issuer = try judge(claims, keys)
    checks.enter(.nonce)
    try apple.judge(nonce, keys.owner.profile)
    try judgeCaller(claims, keys.owner)
    return Token(claims, issuer, kid: kid, keys, apple)
  }

  /// Verifies a sign-in notification (AID-10, AID-11).
  mutating func notification(_ text: [UInt8]) throws(Refusal) -> AppleNotification {
    let keys = try appleKeys()
    let profile = keys.owner.profile
    let (_, claims) = try proven(text, keys)
    let event = try AppleNotification(claims)
    checks.enter(.times)
    if let expires = claims.seconds("exp") { try checkExpiry(expires) }
    let issued = try checkStart(claims, mustSay: true) ?? 0
    try require(
      nowMs <= issued &* 1000 &+ profile.notificationMaxAgeMs, .rejectedTokenTooOld, "AID-10",
      at: "iat")
    _ = try judgeIssuer(claims, keys)
    try judgeAudience(claims, profile)
    checks.enter(.use)
    try event.checkUse()
    return event
  }

  // MARK: form, key, signature

  /// Verifies form, header and signature.
  ///
  /// - Returns: the id of the key that signed the token, and the claims, whose types have been
  ///   checked but not their values.
  private mutating func proven(
    _ text: [UInt8], _ keys: KeysetInUse
  ) throws(Refusal) -> (kid: Text, claims: TokenClaims) {
    let owner = keys.owner
    checks.enter(.size)
    try require(text.count <= owner.profile.tokenBytes, .tooLargeTokenSize, "TOK-5")
    checks.enter(.form)
    let token = try TokenText(text)
    checks.enter(.header)
    let header = try TokenHeader(token)
    try header.checkAlgorithm(owner.profile.algorithm)
    if token.signature.isEmpty { checks.enter(.form) }
    try require(!token.signature.isEmpty, .malformedTokenForm, "TOK-6", at: "signature")
    let kid = try header.checkMembers(owner.profile.types)
    checks.enter(.key)
    let key = try self.key(kid, owner)
    checks.enter(.signature)
    try checkSignature(token, key)
    checks.enter(.claims)
    return (kid, try TokenClaims(try TokenText.json(token.payload, at: "payload")))
  }

  /// Returns the key with the header's key id (TOK-13), which must fit the profile's algorithm
  /// (JWK-7).
  private mutating func key(_ kid: Text, _ owner: TokenProfile.Shared) throws(Refusal) -> KeysetKey
  {
    guard let key = keyset.key(kid) else {
      let advice = keyset.advice(nowMs: nowMs)
      self.advice = advice
      throw Refusal(
        .rejectedTokenUnknownKey, "TOK-13", at: "header.kid",
        retryClass: advice == .cooldown ? "never" : nil)
    }
    try require(
      key.fits(owner.profile.algorithm), .rejectedTokenKeyUnfit, "JWK-7", at: "header.kid")
    return key
  }

  /// Verifies the signature over the segments as received (TOK-9), by RSA (TOK-20) or ECDSA
  /// (TOK-21), unless the same key has verified the same text before (KST-11).
  private func checkSignature(_ token: TokenText, _ key: KeysetKey) throws(Refusal) {
    let name = Digest.sha256.of(token.bytes)
    if let verified = keyset.verified.find(name[...]), verified === key { return }
    if case .elliptic = key.key.type {
      try require(
        token.signature.count == 64, .malformedTokenSignatureLength, "TOK-21", at: "signature")
      guard let value = ECDSASignature(concatenated: token.signature, .p256) else {
        throw Refusal(.rejectedTokenSignature, "TOK-21", at: "signature")
      }
      try require(
        key.key.verifies(value, .sha256, token.signed), .rejectedTokenSignature, "TOK-21",
        at: "signature")
    } else {
      try require(
        key.key.verifies(token.signature[...], .sha256, token.signed), .rejectedTokenSignature,
        "TOK-20", at: "signature")
    }
    keyset.verified.remember(name[...], key)
  }

  // MARK: claims

  /// Checks times, issuer, use, client and audience.
  ///
  /// - Returns: the issuer.
  private mutating func judge(
    _ claims: TokenClaims, _ keys: KeysetInUse
  ) throws(Refusal) -> Text {
    let owner = keys.owner
    checks.enter(.times)
    try checkTimes(claims, owner)
    let issuer = try judgeIssuer(claims, keys)
    let isCognito = owner.profile.kind == .cognitoAccess
    if isCognito {
      checks.enter(.use)
      try require(
        claims.object.member("token_use")?.isText("access") == true, .rejectedTokenUse, "TOK-26",
        at: "token_use")
    }
    if checks.enter(.client, where: isCognito, else: .doesNotApply) {
      let isMine = claims.text("client_id").map { owner.profile.clients.contains($0) }
      try require(isMine == true, .rejectedTokenClient, "TOK-26", at: "client_id")
    }
    try judgeAudience(claims, owner.profile)
    checks.enter(.use)
    try require(
      claims.object.member("events") == nil, .rejectedTokenUse, "TOK-34", at: "events")
    return issuer
  }

  /// Requires an issuer of the profile whose keys the key set has (TOK-25, TOK-32).
  private mutating func judgeIssuer(
    _ claims: TokenClaims, _ keys: KeysetInUse
  ) throws(Refusal) -> Text {
    checks.enter(.issuer)
    let profile = keys.owner.profile
    guard let issuer = claims.text("iss"), profile.issuers.contains(issuer),
      issuer == keys.issuer || profile.keysIssuer(of: issuer) == keys.issuer
    else { throw Refusal(.rejectedTokenIssuer, "TOK-25", at: "iss") }
    return issuer
  }

  /// Requires a configured audience, if there are any (TOK-27; in Cognito tokens TOK-31).
  private mutating func judgeAudience(
    _ claims: TokenClaims, _ profile: TokenProfile
  ) throws(Refusal) {
    guard checks.enter(.audience, where: !profile.audiences.isEmpty, else: .notConfigured)
    else { return }
    try require(
      claims.list("aud").contains { profile.audiences.contains($0) }, .rejectedTokenAudience,
      profile.kind == .cognitoAccess ? "TOK-31" : "TOK-27", at: "aud")
  }

  /// Checks expiry (TOK-23) and beginning (TOK-24) in whole seconds.
  private func checkTimes(_ claims: TokenClaims, _ owner: TokenProfile.Shared) throws(Refusal) {
    guard let expires = claims.seconds("exp") else {
      throw Refusal(.rejectedTokenNoExpiry, "TOK-23", at: "exp")
    }
    try checkExpiry(expires)
    _ = try checkStart(claims, mustSay: owner.profile.kind != .jwt)
  }

  private func checkExpiry(_ expires: Int64) throws(Refusal) {
    try require(
      nowMs / 1000 < expires &+ skewSeconds, .rejectedTokenExpired, "TOK-23", at: "exp")
  }

  /// Checks that the token is valid already (TOK-24).
  ///
  /// - Parameter mustSay: whether the token must contain `iat`.
  /// - Returns: `iat` in seconds since 1970 UTC; `nil` if absent.
  private func checkStart(_ claims: TokenClaims, mustSay: Bool) throws(Refusal) -> Int64? {
    let latest = nowMs / 1000 &+ skewSeconds
    if let start = claims.seconds("nbf") {
      try require(start <= latest, .rejectedTokenNotYetValid, "TOK-24", at: "nbf")
    }
    guard let issued = claims.seconds("iat") else {
      try require(!mustSay, .rejectedTokenNoIssuedAt, "TOK-24", at: "iat")
      return nil
    }
    try require(issued <= latest, .rejectedTokenIssuedInFuture, "TOK-24", at: "iat")
    return issued
  }

  /// Checks the subject (TOK-28), scopes, groups and age (TOK-29).
  private mutating func judgeCaller(
    _ claims: TokenClaims, _ owner: TokenProfile.Shared
  ) throws(Refusal) {
    checks.enter(.subject)
    try require(
      TokenVerification.isSubject(claims.text("sub")), .rejectedTokenSubject, "TOK-28", at: "sub")
    if checks.enter(.scopes, where: !owner.profile.scopes.isEmpty, else: .notConfigured) {
      let scopes = claims.scopes
      try require(
        owner.profile.scopes.allSatisfy { scopes.contains($0) }, .rejectedTokenScope, "TOK-29",
        at: "scope")
    }
    if checks.enter(.groups, where: !owner.profile.groups.isEmpty, else: .notConfigured) {
      try require(
        owner.profile.groups.contains { claims.list("cognito:groups").contains($0) },
        .rejectedTokenGroup, "TOK-29",
        at: "cognito:groups")
    }
    guard checks.enter(.age, where: owner.profile.maxAgeMs != nil, else: .notConfigured),
      let limit = owner.profile.maxAgeMs
    else { return }
    guard let issued = claims.seconds("iat") else {
      throw Refusal(.rejectedTokenNoIssuedAt, "TOK-29", at: "iat")
    }
    // Each summand is below 2^53 × 1,000: the sum cannot overflow.
    try require(nowMs <= issued &* 1000 &+ limit, .rejectedTokenTooOld, "TOK-29", at: "iat")
  }

  static func isSubject(_ subject: Text?) -> Bool {
    guard let subject else { return false }
    return !subject.isEmpty && subject.count <= 255
      && subject.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
  }
}
