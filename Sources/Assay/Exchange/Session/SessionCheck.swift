/// `session.check`: what a session text proves, without any store (docs/spec/session.md
/// §2).
struct SessionCheck: CallResult {
  /// What a request asks for, as in the risk rules.
  private enum Purpose: Int {
    case read, free, metered, restore, promo, paid

    static let names: [StaticString] = ["read", "free", "metered", "restore", "promo", "paid"]
  }

  private static let longestMs: Int64 = 3_600_000

  private let claims: SessionClaims
  /// The host counts the requests of this account (`risk.limitedPerDay`).
  private let isLimited: Bool

  /// - Throws: `config.exchange.block-missing`, `misuse.exchange.request`; what is wrong with the
  ///   session.
  init(_ context: KindContext) throws(Refusal) {
    let (request, configuration, nowMs) = (context.request, context.configuration, context.nowMs)
    let policy = try SessionText.policy(configuration)
    var text = try request.required("session").text().utf8
    defer { Secret.wipe(&text) }
    let purpose = Purpose(rawValue: try request.required("for").choice(Purpose.names)) ?? .paid
    let account = try request["account"]?.text()
    let binding = try request["binding"]?.text()
    var opened = try SessionText.open(text, policy.secrets)
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
      "SES-14", at: "for")
  }

  /// A clock, or a secret shared with a program that issues longer ones (SES-12).
  private static func checkTimes(
    _ claims: SessionClaims, skewMs: Int64, nowMs: Int64
  ) throws(Refusal) {
    try require(nowMs < claims.expiresMs, .rejectedSessionExpired, "SES-12", at: "session/exp")
    try require(
      claims.issuedMs <= nowMs &+ skewMs, .rejectedSessionExpired, "SES-12", at: "session/iat")
    try require(
      claims.expiresMs &- claims.issuedMs <= longestMs, .rejectedSessionExpired, "SES-12",
      at: "session/exp")
  }

  /// SES-13.
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

  /// SES-14.
  private static func suffices(_ verdict: SessionClaims.Verdict, for purpose: Purpose) -> Bool {
    switch purpose {
    case .read, .free, .metered: return true
    case .restore: return verdict == .allow
    case .promo, .paid: return false
    }
  }

  /// SES-15: `"session":{"account","keyId","appId","environment","verdict","limited",
  /// "risk","issuedMs","expiresMs"}`.
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
    writer.member("issuedMs", integer: claims.issuedMs)
    writer.member("expiresMs", integer: claims.expiresMs)
    writer.endObject()
  }
}
