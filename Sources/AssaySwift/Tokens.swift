@_spi(AssaySwift) import Assay

/// The public keys of a token issuer, read from a JSON Web Key Set.
///
/// A key set caches the tokens that it has verified, so keep and share it; its copies share the
/// cache. Create a new one for a refreshed set.
public struct Keyset: Sendable {
  let library: Assay.Keyset
  /// The keys, and the skipped ones with the reason.
  public let facts: IssuerKeys

  /// Reads the JSON text that the issuer publishes. If the configuration has several issuers, a
  /// member `issuer` beside `keys` names this one.
  ///
  /// - Throws: families `malformed` and `tooLarge` if the text is not a key set; `rejected` for a
  ///   set with a key that it must not contain, such as a private one: keep the old set, and
  ///   raise an alarm.
  public init(_ jwks: String) throws(AssayError) {
    let (library, document) = Assay.Keyset.make(Array(jwks.utf8))
    facts = try Verifier.accepted(document, "keyset")
    guard let library else { throw AssayError(document) }
    self.library = library
  }
}

extension Verifier {
  /// Verifies an access token, and so the caller, with a key of a configured issuer.
  ///
  /// - Parameters:
  ///   - token: the compact JWS, without the word Bearer.
  ///   - keys: the key set of the issuer, which must be in `tokens` of the configuration.
  ///   - now: the time at which the token must be valid.
  /// - Throws: family `rejected` if the token is not genuine, has expired, or is of another
  ///   issuer, app or use; after `rejected.token.unknown-key` the document's `error.keyset` states
  ///   whether to fetch the key set once, or to refuse. `unavailable` for a key set that is too
  ///   old; `misuse` for the key set of an issuer that is not configured; `malformed`,
  ///   `unsupported` or `tooLarge` if the text is not such a token.
  public func verifyToken(
    _ token: String, keys: Keyset, at now: Timestamp = .now
  ) throws(AssayError) -> Token {
    try Verifier.accepted(
      library.verifyToken(
        Array(token.utf8), keyset: keys.library, nowMs: now.milliseconds), "token")
  }
}

extension Verifier {
  /// Verifies an identity token of Sign in with Apple: the person who signs in, and that the
  /// token is of this sign-in. Use it for one sign-in only, and issue your own session afterwards.
  ///
  /// - Parameters:
  ///   - token: the identity token that the app sent.
  ///   - keys: Apple's key set.
  ///   - nonce: the nonce that you issued for this sign-in and now consume; `nil` only if
  ///     `tokens` has `nonce` "none".
  ///   - now: the time at which the token must be valid.
  /// - Throws: family `rejected` if the token is not genuine, has expired, is of another app, or
  ///   of another sign-in (`rejected.token.nonce`); after `rejected.token.unknown-key` the
  ///   document's `error.keyset` is as for `verifyToken`. `unavailable` for a key set that is
  ///   too old; `misuse` without the nonce or for the key set of another issuer; `config` without a
  ///   profile `apple-id`; `malformed`, `unsupported` or `tooLarge` if the text is not such a
  ///   token.
  public func verifyAppleIdentityToken(
    _ token: String, keys: Keyset, nonce: String?, at now: Timestamp = .now
  ) throws(AssayError) -> Token {
    var members: [(String, JSON)] = [("token", JSON(token))]
    if let nonce { members.append(("nonce", JSON(nonce))) }
    return try Token(try found("verify-apple-identity-token", members, keys, "token", now))
  }

  /// Verifies a sign-in notification: Apple's report of a change of an account that signs in with
  /// Apple.
  ///
  /// Apple delivers notifications repeatedly: act once on each `tokenId`.
  ///
  /// - Parameters:
  ///   - payload: the member `payload` of the body that Apple posted.
  ///   - keys: Apple's key set.
  ///   - now: the time at which the notification must be valid.
  /// - Throws: the errors of `verifyAppleIdentityToken`, except those of the nonce.
  public func verifySignInNotification(
    _ payload: String, keys: Keyset, at now: Timestamp = .now
  ) throws(AssayError) -> AppleAccountEvent {
    try AppleAccountEvent(
      try found(
        "verify-sign-in-notification", [("payload", JSON(payload))], keys, "appleIdEvent", now))
  }

  /// Returns the result of an operation with a key set.
  private func found(
    _ operation: String, _ members: [(String, JSON)], _ keys: Keyset, _ member: StaticString,
    _ now: Timestamp
  ) throws(AssayError) -> Members {
    let request = JSON([("operation", JSON(operation))] + members)
    let document = library.call(
      Array(request.text.utf8), evidence: [keys.facts.document], nowMs: now.milliseconds)
    guard document.status == .ok else { throw AssayError(document) }
    return try Members.of(document, "exchange", member)
  }
}
