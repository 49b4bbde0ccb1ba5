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
