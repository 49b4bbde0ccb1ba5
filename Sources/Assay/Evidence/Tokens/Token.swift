/// A verified token: who is calling, proven by a key of a configured issuer
/// (docs/spec/access-tokens.md §4). Only a verification makes one.
final class Token: Sendable {
  let issuer: Text
  private let claims: TokenClaims
  private let kid: Text
  private let keys: KeysetInUse
  /// Of `apple-id` alone.
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

  /// Bytes of the signed claims, for the size of the document.
  var payloadBytes: Int { claims.object.json.bytes.count }

  // MARK: document

  func writeWarnings(_ writer: inout JSONWriter) { apple?.writeWarnings(&writer) }

  /// The value of `token`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("profile", keys.owner.profile.kind.name)
    writer.member("issuer", issuer)
    writer.member("subject", claims.text("sub"))
    writer.texts("audience", claims.list("aud"))
    if let apple { apple.write(&writer) } else { writeAccess(&writer) }
    writer.member("tokenId", claims.text("jti"))
    writer.member("issuedMs", integer: Token.milliseconds(claims.seconds("iat")))
    writer.member("authMs", integer: Token.milliseconds(claims.seconds("auth_time")))
    writer.member("expiresMs", integer: Token.milliseconds(claims.seconds("exp")))
    writer.member("kid", kid)
    writer.name("payload")
    writer.raw(claims.object.json.bytes)
    // TOK-30: nothing offline sees a sign-out.
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

  /// Seconds of at most 2^53, which fit a thousand times.
  private static func milliseconds(_ seconds: Int64?) -> Int64? { seconds.map { $0 &* 1000 } }
}
