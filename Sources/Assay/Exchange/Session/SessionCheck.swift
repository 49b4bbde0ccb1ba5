/// `verify-session`: verifies a session token without a database (docs/spec/session.md §2).
struct SessionCheck: CallResult {
  /// The kind of request that the session token must suffice for, as in the risk rules.
  private enum Purpose: Int {
    case read, free, metered, restore, promo, paid

    static let names: [StaticString] = ["read", "free", "metered", "restore", "promo", "paid"]
  }

  private static let longestMs: Int64 = 3_600_000

  private let claims: SessionClaims
  /// Whether the host must count the requests of this account (`risk.limitedPerDay`).
  private let isLimited: Bool

  /// - Throws: `config.exchange.block-missing`, `misuse.exchange.request`; the refusals of the
  ///   session token.
  init(_ context: OperationContext) throws(Refusal) {
    let (request, configuration, nowMs) = (context.request, context.configuration, context.nowMs)
    let policy = try SessionToken.policy(configuration)
    var text = try request.required("session").text().utf8
    defer { Secret.wipe(&text) }
    let purpose = Purpose(rawValue: try request.required("purpose").choice(Purpose.names)) ?? .paid
    let account = try request["account"]?.text()
    let binding = try request["binding"]?.text()
    var opened = try SessionToken.open(text, policy.secrets)
    defer { Secret.wipe(&opened.payload) }
    do throws(Refusal) {
      claims = try SessionClaims(opened.payload)
      try require(
        claims.secretId == opened.signer.id, .malformedSessionForm, "SES-11", at: "kid")
    } catch {
      throw error.inside("session")
    }
    try SessionCheck.checkTimes(claims, skewMs: configuration.clockSkewMs, nowMs: nowMs)
    try SessionCheck.checkOwner(claims, configuration, account: account, binding: binding)
    isLimited = claims.verdict == .limited && purpose == .metered
    try require(
      SessionCheck.suffices(claims.verdict, for: purpose), .rejectedSessionAssertionRequired,
      "SES-14", at: "purpose")
  }

  /// Checks the times. Even a signed lifetime is bounded: another program that shares the secret
  /// may issue longer ones, or may have a wrong clock (SES-12).
  private static func checkTimes(
    _ claims: SessionClaims, skewMs: Int64, nowMs: Int64
  ) throws(Refusal) {
    try require(nowMs < claims.expiresAtMs, .rejectedSessionExpired, "SES-12", at: "session/exp")
    try require(
      claims.issuedAtMs <= nowMs &+ skewMs, .rejectedSessionExpired, "SES-12", at: "session/iat")
    try require(
      claims.expiresAtMs &- claims.issuedAtMs <= longestMs, .rejectedSessionExpired, "SES-12",
      at: "session/exp")
  }

  /// Checks that the token was issued for a configured app, this account and this binding
  /// (SES-13).
  private static func checkOwner(
    _ claims: SessionClaims, _ configuration: Configuration, account: Text?, binding: Text?
  ) throws(Refusal) {
    try require(
      configuration.attest.appIds.contains { $0.text == claims.appId }, .rejectedSessionMismatch,
      "SES-13", at: "session/app")
    try require(
      account == nil || account == claims.account, .rejectedSessionMismatch, "SES-13",
      at: "account")
    try require(
      binding.map { SessionClaims.binding($0) } == claims.binding, .rejectedSessionMismatch,
      "SES-13", at: "binding")
  }

  /// Whether the verdict permits a request of this kind; the costly ones need a new assertion
  /// (SES-14).
  private static func suffices(_ verdict: SessionClaims.Verdict, for purpose: Purpose) -> Bool {
    switch purpose {
    case .read, .free, .metered: return true
    case .restore: return verdict == .allow
    case .promo, .paid: return false
    }
  }

  /// Writes `"session":{"account","keyId","appId","environment","verdict","limited","risk",
  /// "issuedAtMs","expiresAtMs"}` (SES-15).
  func write(_ writer: inout JSONWriter) {
    writer.name("session")
    writer.beginObject()
    writer.member("account", claims.account)
    writer.member("keyId", claims.keyId)
    writer.member("appId", claims.appId)
    writer.name("environment")
    claims.writeEnvironment(&writer)
    writer.member("verdict", claims.verdict.name)
    writer.member("limited", boolean: isLimited)
    writer.member("risk", integer: claims.risk)
    writer.member("issuedAtMs", integer: claims.issuedAtMs)
    writer.member("expiresAtMs", integer: claims.expiresAtMs)
    writer.endObject()
  }
}
