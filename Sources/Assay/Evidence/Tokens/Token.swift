/// A verified token: the calling user, proven by a key of a configured issuer
/// (docs/spec/access-tokens.md §4). Created only by a verification.
final class Token: Sendable {
  let issuer: Text
  private let claims: TokenClaims
  private let kid: Text
  private let keys: KeysetInUse
  /// The claims of Sign in with Apple; `nil` under other profiles.
  private let apple: AppleIdentity?

  init(
    _ claims: TokenClaims, _ issuer: Text, kid: Text, _ keys: KeysetInUse,
    _ apple: AppleIdentity?
  ) {
    self.claims = claims
    self.issuer = issuer
    self.kid = kid
    self.keys = keys
    self.apple = apple
  }

  /// The length of the signed claims in bytes, from which the document's size is estimated.
  var payloadBytes: Int { claims.object.json.bytes.count }

  // MARK: document

  func writeWarnings(_ writer: inout JSONWriter) { apple?.writeWarnings(&writer) }

  /// Writes the value of the member `token`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("profile", keys.owner.profile.kind.name)
    writer.member("issuer", issuer)
    writer.member("subject", claims.text("sub"))
    writer.texts("audience", claims.list("aud"))
    if let apple { apple.write(&writer) } else { writeAccess(&writer) }
    writer.member("tokenId", claims.text("jti"))
    writer.member("issuedAtMs", integer: Token.milliseconds(claims.seconds("iat")))
    writer.member("authenticatedAtMs", integer: Token.milliseconds(claims.seconds("auth_time")))
    writer.member("expiresAtMs", integer: Token.milliseconds(claims.seconds("exp")))
    writer.member("kid", kid)
    writer.name("payload")
    writer.raw(claims.object.json.bytes)
    // No offline check can see a sign-out or a deleted user (TOK-30).
    writer.member("revocation", "not-checked")
    keys.write(&writer)
    writer.endObject()
  }

  private func writeAccess(_ writer: inout JSONWriter) {
    writer.member("client", claims.text("client_id"))
    writer.texts("scopes", claims.scopes)
    writer.texts("groups", claims.list("cognito:groups"))
    writer.member("username", claims.text("username"))
    writer.member("originTokenId", claims.text("origin_jti"))
  }

  /// Returns milliseconds; at most 2^53 seconds, whose product cannot overflow.
  private static func milliseconds(_ seconds: Int64?) -> Int64? { seconds.map { $0 &* 1000 } }
}
