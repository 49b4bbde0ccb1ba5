/// The token for Apple's DeviceCheck and App Attest servers, made for each request (DVC-1,
/// DVC-2).
struct DeviceCheckBearer {
  let token: SecretBytes
  /// The end of the token's validity, in seconds since 1970 UTC.
  let expires: Int64

  private static let lifeSeconds: Int64 = 1200

  /// - Throws: `config.exchange.block-missing` if no key is configured,
  ///   `internal.sign.self-check`.
  init(_ policy: DeviceCheckPolicy?, nowMs: Int64) throws(Refusal) {
    guard let policy else {
      throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "deviceCheck")
    }
    guard let key = policy.privateKey, let keyId = policy.keyId else {
      throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "deviceCheck.privateKey")
    }
    let seconds = nowMs / 1000
    let expires = seconds &+ DeviceCheckBearer.lifeSeconds
    token = try CompactToken.make(key, keyId: keyId, isTyped: false) {
      $0.member("iss", policy.teamId)
      $0.member("iat", integer: seconds)
      $0.member("exp", integer: expires)
    }
    self.expires = expires
  }

  /// The result of `sign-device-check-token` (SIG-7).
  var result: SigningResult {
    SigningResult(
      members: [("token", .signature(token)), ("expiresAtMs", .integer(expires &* 1000))],
      secret: "token")
  }
}
