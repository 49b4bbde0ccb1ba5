@_spi(AssaySwift) import Assay

/// The public keys of a token issuer: a JSON Web Key Set, read once and shared.
///
/// It remembers which texts it has verified, so keep it; copies share that. A refreshed
/// set is a new one.
public struct Keyset: Sendable {
  let library: Assay.Keyset
  /// Its keys, and those that were skipped with the reason.
  public let facts: IssuerKeys

  /// Reads what the issuer publishes, a JSON text; a member `issuer` beside `keys` says
  /// whose it is where the configuration has several issuers.
  ///
  /// - Throws: families `malformed` and `tooLarge` when it is no key set; `rejected` for
  ///   one with a key that must not be there, such as a private one: keep the old set, and
  ///   raise an alarm.
  public init(_ jwks: String) throws(Refusal) {
    let (library, document) = Assay.Keyset.make(Array(jwks.utf8))
    facts = try Verifier.accepted(document, "keyset")
    guard let library else { throw Refusal(document) }
    self.library = library
  }
}

extension Verifier {
  /// Verifies an access token: who is calling, proven by a key of a configured issuer.
  ///
  /// - Parameters:
  ///   - token: the compact JWS alone, without the word Bearer.
  ///   - keys: the key set of its issuer, one of those in `tokens` of the configuration.
  ///   - now: the time to judge by.
  /// - Throws: family `rejected` when it is not genuine, has expired, or is of another
  ///   issuer, app or use; after `rejected.token.unknown-key` the document's `error.keyset`
  ///   says whether to fetch the key set once, or to refuse. `unavailable` for a key set
  ///   that is too old, `misuse` for one of no configured issuer; `malformed`,
  ///   `unsupported` or `tooLarge` when it is no such token.
  public func token(
    _ token: String, keys: Keyset, at now: Timestamp = .now
  ) throws(Refusal) -> Token {
    try Verifier.accepted(
      library.verifyToken(
        Array(token.utf8), keyset: keys.library, nowMs: now.milliseconds), "token")
  }
}

extension Verifier {
  /// Verifies an identity token of Sign in with Apple: who signs in, and that it is this
  /// sign-in. It signs in once; issue your own session.
  ///
  /// - Parameters:
  ///   - token: the identity token that the app sent.
  ///   - keys: the key set of Apple.
  ///   - nonce: the one that you issued for this sign-in and now take back; nil only where
  ///     `tokens` says `nonce` "none".
  ///   - now: the time to judge by.
  /// - Throws: family `rejected` when it is not genuine, has expired, is of another app, or of
  ///   another sign-in (`rejected.token.nonce`); after `rejected.token.unknown-key` the
  ///   document's `error.keyset` is as for `token`. `unavailable` for a key set that is too
  ///   old, `misuse` without the nonce or for the key set of another issuer, `config` without
  ///   a profile `apple-id`; `malformed`, `unsupported` or `tooLarge` when it is no such token.
  public func appleIdentity(
    _ token: String, keys: Keyset, nonce: String?, at now: Timestamp = .now
  ) throws(Refusal) -> Token {
    var members: [(String, JSON)] = [("token", JSON(token))]
    if let nonce { members.append(("nonce", JSON(nonce))) }
    return try Token(try found("appleid.identity", members, keys, "token", now))
  }

  /// Verifies what Apple tells about an account that signs in with it.
  ///
  /// Deliveries repeat: act once on each `tokenId`.
  ///
  /// - Parameters:
  ///   - payload: the member `payload` of what Apple posted.
  ///   - keys: the key set of Apple.
  ///   - now: the time to judge by.
  /// - Throws: as `appleIdentity`, but for the nonce.
  public func appleNotification(
    _ payload: String, keys: Keyset, at now: Timestamp = .now
  ) throws(Refusal) -> AppleAccountEvent {
    try AppleAccountEvent(
      try found("appleid.notification", [("payload", JSON(payload))], keys, "appleIdEvent", now))
  }

  /// What a request about a key set found.
  private func found(
    _ kind: String, _ members: [(String, JSON)], _ keys: Keyset, _ member: StaticString,
    _ now: Timestamp
  ) throws(Refusal) -> Members {
    let request = JSON([("kind", JSON(kind))] + members)
    let document = library.call(
      Array(request.text.utf8), evidence: [keys.facts.document], nowMs: now.milliseconds)
    guard document.status == .ok else { throw Refusal(document) }
    return try Members.of(document, "exchange", member)
  }
}
