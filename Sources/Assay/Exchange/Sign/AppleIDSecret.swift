/// Signs the client secret of Sign in with Apple (AID-20).
enum AppleIDSecret {
  private static let lives: ClosedRange<Int64> = 60_000...15_777_000_000
  private static let standardLife: Int64 = 300_000
  /// Six months in seconds, the longest lifetime that Apple accepts.
  private static let longestSeconds: Int64 = 15_777_000

  /// - Throws: `config.exchange.block-missing`, `misuse.apple-id.parameter`,
  ///   `internal.sign.self-check`.
  static func make(
    _ request: ExchangeRequest, _ policy: AppleIDPolicy?, nowMs: Int64
  ) throws(Refusal) -> SigningResult {
    guard let policy else {
      throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "appleId")
    }
    let clientId = try clientId(request, policy.clientIds)
    let life =
      try request["ttlMs"]?.refusing(.misuseAppleIdParameter, "AID-20").integer(lives)
      ?? standardLife
    let (secret, expires) = try text(policy, clientId, life: life, nowMs: nowMs)
    return SigningResult(
      members: [("clientSecret", .signature(secret)), ("expiresAtMs", .integer(expires &* 1000))],
      secret: "clientSecret")
  }

  /// Returns a client secret for one request of the library's own.
  ///
  /// - Throws: `internal.sign.self-check`.
  static func standard(
    _ policy: AppleIDPolicy, _ clientId: Text, nowMs: Int64
  ) throws(Refusal) -> SecretBytes {
    try text(policy, clientId, life: standardLife, nowMs: nowMs).secret
  }

  private static func text(
    _ policy: AppleIDPolicy, _ clientId: Text, life: Int64, nowMs: Int64
  ) throws(Refusal) -> (secret: SecretBytes, expires: Int64) {
    let issued = nowMs / 1000 &- 60
    let expires = min(nowMs / 1000 &+ life / 1000, issued &+ longestSeconds)
    let secret = try CompactToken.make(policy.privateKey, keyId: policy.keyId, isTyped: false) {
      $0.member("iss", policy.teamId)
      $0.member("iat", integer: issued)
      $0.member("exp", integer: expires)
      $0.member("aud", "https://appleid.apple.com")
      $0.member("sub", clientId)
    }
    return (secret, expires)
  }

  /// Returns the client id that the request names, which must be configured, or the only
  /// configured one (AID-25).
  static func clientId(
    _ request: ExchangeRequest, _ known: [Text]
  ) throws(Refusal) -> Text {
    if let node = request["clientId"]?.refusing(.misuseAppleIdParameter, "AID-25") {
      let clientId = try node.text()
      try require(known.contains(clientId), node)
      return clientId
    }
    guard let only = known.first, known.count == 1 else {
      throw Refusal(.misuseAppleIdParameter, "AID-25", at: "clientId")
    }
    return only
  }
}
