/// Verifies an identity token or a sign-in notification with Apple's key set
/// (docs/spec/apple-id.md §2, §3).
struct AppleIDSignIn {
  private var verification: TokenVerification

  /// - Throws: `config.exchange.block-missing`, `misuse.exchange.evidence`,
  ///   `misuse.token.keyset`, `unavailable.token.keyset-too-old`.
  init(
    _ evidence: VerifiedEvidence?, _ configuration: Configuration, nowMs: Int64
  ) throws(Refusal) {
    try require(
      configuration.appleProfile != nil, .configExchangeBlockMissing, "EXC-8", at: "tokens")
    guard case .keyset(let keyset) = evidence else {
      throw Refusal(.misuseExchangeEvidence, "EXC-2", at: "evidence[0]")
    }
    verification = TokenVerification(configuration, keyset, nowMs: nowMs)
    do throws(Refusal) {
      try verification.checkAppleKeys()
    } catch {
      throw error.inside("evidence[0]")
    }
  }

  init(_ context: OperationContext) throws(Refusal) {
    try self.init(context.evidence.first, context.configuration, nowMs: context.nowMs)
  }

  /// The advice to a host whose key set does not have the token's key; `nil` if there is none.
  var keysetAdvice: StaticString? { verification.advice?.name }

  mutating func identity(_ text: Text, _ nonce: IssuedNonce) throws(Refusal) -> Token {
    try verification.identity(text.utf8, nonce)
  }

  mutating func notification(_ text: Text) throws(Refusal) -> AppleNotification {
    try verification.notification(text.utf8)
  }

  /// Reads the member `nonce` of a request (AID-4).
  static func nonce(
    _ request: ExchangeRequest, _ configuration: Configuration
  ) throws(Refusal) -> IssuedNonce {
    let profile = configuration.appleProfile?.profile ?? TokenProfile()
    let text = try request["nonce"]?.refusing(.misuseTokenNonce, "AID-4").text()
    return try IssuedNonce(text, profile)
  }
}
