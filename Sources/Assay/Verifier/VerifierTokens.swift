extension Keyset {
  /// The longest key set that is read, in bytes (JWK-1).
  public static let byteCap = KeysetReader.byteCap

  /// Reads a JSON Web Key Set (docs/spec/access-tokens.md §5).
  ///
  /// - Parameter jwks: `{"keys":[…]}` as the issuer publishes it, with a member `issuer` beside
  ///   `keys` if a verifier has several issuers (JWK-9), or the result of the
  ///   exchange `fetch-keyset`.
  /// - Returns: the key set, and a document with its keys and the skipped ones; no key set and
  ///   the refusal, if the set contains a key that it must not contain.
  public static func make(_ jwks: [UInt8]) -> (keyset: Keyset?, document: Document) {
    var reader = KeysetReader()
    do throws(Refusal) {
      try CryptoContext.check()
      let keyset = try reader.run(jwks)
      let envelope = Envelope(kind: "keyset", factsMember: "keyset", checks: reader.checks.log)
      return (keyset, envelope.accepted(.keyset(keyset)) { keyset.write(&$0) })
    } catch {
      let envelope = Envelope(kind: "keyset", factsMember: "keyset", checks: reader.checks.log)
      return (nil, envelope.refused(error))
    }
  }
}

extension Verifier {
  // MARK: tokens

  /// The longest token that is read, in bytes (TOK-5).
  public static let tokenByteCap = TokenVerification.byteCap

  /// Verifies an access token, or an identity token of Sign in with Apple if its profile requires
  /// no nonce (docs/spec/access-tokens.md).
  ///
  /// - Parameters:
  ///   - token: the compact JWS, without the word Bearer.
  ///   - keyset: the key set of the token's issuer, which must be configured in `tokens`.
  ///   - nowMs: milliseconds since 1970 UTC, 2008 … 2100.
  /// - Returns: a document with the facts or the refusal.
  public func verifyToken(_ token: [UInt8], keyset: Keyset, nowMs: Int64) -> Document {
    var verification = TokenVerification(configuration, keyset, nowMs: nowMs)
    do throws(Refusal) {
      try TimeWindow.checkNow(nowMs)
      let verified = try verification.run(token)
      return envelope(verification).accepted(
        nil, warnings: { verified.writeWarnings(&$0) }, capacity: verified.payloadBytes + 3072
      ) { verified.write(&$0) }
    } catch {
      return envelope(verification).refused(error)
    }
  }

  private func envelope(_ verification: TokenVerification) -> Envelope {
    Envelope(
      kind: "token", factsMember: "token", checks: verification.checks.log,
      configuration: fingerprint, keysetAdvice: verification.advice?.name)
  }
}
