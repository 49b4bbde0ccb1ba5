@_spi(AssaySwift) import Assay

/// The kind of request for which a session token is presented.
public enum SessionPurpose: String, Sendable {
  case read, free, metered, restore
  /// Paid and promotional requests need an assertion.
  case promo, paid
}

/// Issues and verifies session tokens. Created by `Verifier.sessions`.
public struct Sessions: Sendable {
  let verifier: Verifier

  /// Issues a session token, which proves that this account proved this device key recently.
  /// Issue it only after challenge and counter were stored, which the library cannot check.
  ///
  /// Needs the block `session`.
  ///
  /// - Parameters:
  ///   - evidence: the facts of one attestation or assertion of this verifier.
  ///   - account: the account, 1 to 255 bytes without a space at either end.
  ///   - isLimited: whether the token is only for free requests and for metered ones that you
  ///     count.
  ///   - risk: the risk metric of the key's receipt, if it is known.
  ///   - binding: a text that the caller must present again, preferably `origin_jti` of its
  ///     access token.
  ///   - life: the lifetime, at most an hour; `nil` for `session.ttlMs` of the configuration.
  ///   - now: the time of issue.
  /// - Throws: family `misuse` for evidence of another kind, or verified with `attest.time`
  ///   "stored"; `config` without the block.
  public func issueSession(
    _ evidence: any Facts, account: String, isLimited: Bool = false, risk: Int64? = nil,
    binding: String? = nil, life: Duration? = nil, at now: Timestamp = .now
  ) throws(AssayError) -> IssuedSession {
    let request = JSON.given([
      ("operation", "issue-session"), ("account", JSON(account)),
      ("verdict", isLimited ? "limited" : "allow"), ("risk", risk.map { JSON($0) }),
      ("binding", binding.map { JSON($0) }), ("ttlMs", life.map { JSON($0.wholeMilliseconds) }),
    ])
    return try IssuedSession(
      try Members.of(try verifier.result(request, [evidence], now), "exchange", "session"))
  }

  /// Verifies a session token, without a database.
  ///
  /// - Parameters:
  ///   - session: the session token that the app sent.
  ///   - purpose: the kind of the app's request.
  ///   - account: the account of the caller's access token; always pass it if there is one.
  ///   - binding: the text with which the session token was issued.
  ///   - now: the time at which the session token must be valid.
  /// - Throws: families `rejected`, `malformed` and `tooLarge` for a session token that is
  ///   forged, expired, of another account or app, or not sufficient for the purpose: ask the app
  ///   for a new assertion.
  public func verifySession(
    _ session: String, for purpose: SessionPurpose, account: String? = nil,
    binding: String? = nil, at now: Timestamp = .now
  ) throws(AssayError) -> Session {
    let request = JSON.given([
      ("operation", "verify-session"), ("session", JSON(session)),
      ("purpose", JSON(purpose.rawValue)),
      ("account", account.map { JSON($0) }), ("binding", binding.map { JSON($0) }),
    ])
    return try Session(
      try Members.of(try verifier.result(request, [], now), "exchange", "session"))
  }
}

extension Verifier {
  /// The session tokens of this verifier.
  public var sessions: Sessions { Sessions(verifier: self) }
}
