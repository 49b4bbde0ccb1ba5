/// Signs and opens session tokens: `as1~` payload `~` MAC, both in base64url (SES-2). No JWS
/// contains a `~`, so that neither format is ever read as the other.
enum SessionToken {
  static let byteCap = 2048
  private static let scheme: [UInt8] = Array("as1".utf8)
  private static let tilde: UInt8 = 0x7e
  /// Separates this use of the secret from every other use; ends in a NUL (SES-3).
  private static let purpose: StaticString = "assay-session-v1\0"

  /// - Throws: `config.exchange.block-missing`.
  static func policy(_ configuration: Configuration) throws(Refusal) -> SessionPolicy {
    guard let policy = configuration.session else {
      throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "session")
    }
    return policy
  }

  static func make(_ payload: [UInt8], _ secret: SecretBytes) -> SecretBytes {
    var body = Base64.encodeURL(payload)
    var code = code(body[...], secret)
    var digits = Base64.encodeURL(code)
    defer {
      Secret.wipe(&body)
      Secret.wipe(&code)
      Secret.wipe(&digits)
    }
    // The array must not grow: growing leaves copies of the token behind (EXC-22).
    var text: [UInt8] = []
    text.reserveCapacity(scheme.count &+ body.count &+ digits.count &+ 2)
    text.append(contentsOf: scheme)
    text.append(tilde)
    text.append(contentsOf: body)
    text.append(tilde)
    text.append(contentsOf: digits)
    return SecretBytes(text)
  }

  /// Verifies a session token. The payload is not decoded before its MAC is verified (SES-11).
  ///
  /// - Returns: the payload, and the secret that signed it.
  /// - Throws: `too-large.session.size`, `malformed.session.form`, `rejected.session.signature`.
  static func open(
    _ text: [UInt8], _ secrets: [SessionPolicy.Entry]
  ) throws(Refusal) -> (payload: [UInt8], signer: SessionPolicy.Entry) {
    try require(text.count <= byteCap, .tooLargeSessionSize, "SES-10", at: "session")
    let parts = text.split(separator: tilde, omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].elementsEqual(scheme),
      var payload = Base64.decodeURL(parts[1]), var given = Base64.decodeURL(parts[2]),
      given.count == 32
    else { throw Refusal(.malformedSessionForm, "SES-10", at: "session") }
    defer { Secret.wipe(&given) }
    for secret in secrets {
      var code = code(parts[1], secret.bytes)
      defer { Secret.wipe(&code) }
      if ConstantTime.areEqual(code[...], given[...]) { return (payload, secret) }
    }
    Secret.wipe(&payload)
    throw Refusal(.rejectedSessionSignature, "SES-11", at: "session")
  }

  /// Returns the HMAC of the encoded payload (SES-3).
  private static func code(_ body: ArraySlice<UInt8>, _ secret: SecretBytes) -> [UInt8] {
    MessageCode.of(key: secret, head: purpose, body)
  }
}
