extension Keyset {
  /// The longest keyset that is looked at, in bytes (JWK-1).
  public static let byteCap = KeysetReader.byteCap

  /// Reads a JSON Web Key Set (docs/spec/access-tokens.md §5).
  ///
  /// - Parameter jwks: `{"keys":[…]}` as the issuer publishes it, with a member
  ///   `issuer` beside `keys` where a verifier knows several (JWK-9), or what the
  ///   exchange `jwks` gave.
  /// - Returns: the set, and a document with its keys and with those that were
  ///   skipped; no set, and the refusal, when one key must not be there.
  public static func make(_ jwks: [UInt8]) -> (keyset: Keyset?, document: Document) {
    var reader = KeysetReader()
    do throws(Refusal) {
      try CryptoContext.check()
      let keyset = try reader.run(jwks)
      let envelope = Envelope(kind: "keyset", factsMember: "keyset", checks: reader.checks.ledger)
      return (keyset, envelope.accepted(.keyset(keyset)) { keyset.write(&$0) })
    } catch {
      let envelope = Envelope(kind: "keyset", factsMember: "keyset", checks: reader.checks.ledger)
      return (nil, envelope.refused(error))
    }
  }
}

extension Verifier {
  // MARK: tokens

  /// The longest token that is looked at, in bytes (TOK-5).
  public static let tokenByteCap = TokenVerification.byteCap

  /// Verifies an access token, or an identity token of Sign in with Apple where no
  /// nonce is demanded (docs/spec/access-tokens.md).
  ///
  /// - Parameters:
  ///   - token: the compact JWS alone, without the word Bearer.
  ///   - keyset: the keys of its issuer, which must be configured in `tokens`.
  ///   - nowMs: milliseconds since 1970 UTC, 2008 … 2100.
  /// - Returns: a document with the facts, or with the refusal.
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
      kind: "token", factsMember: "token", checks: verification.checks.ledger,
      configuration: fingerprint, keysetAdvice: verification.advice?.name)
  }
}
