/// Makes a compact JWS signed with ES256 (API-12).
enum CompactToken {
  /// - Parameters:
  ///   - isTyped: whether the header ends in `"typ":"JWT"`.
  ///   - claims: writes the members of the payload.
  /// - Returns: the JWS, which is wiped when its last reference is released.
  /// - Throws: `internal.sign.self-check`.
  static func make(
    _ key: PrivateKey, keyId: Text, isTyped: Bool, claims: (inout JSONWriter) -> Void
  ) throws(Refusal) -> SecretBytes {
    var header = JSONWriter(capacity: 64)
    header.beginObject()
    header.member("alg", "ES256")
    header.member("kid", keyId)
    if isTyped { header.member("typ", "JWT") }
    header.endObject()
    var payload = JSONWriter(capacity: 512)
    payload.beginObject()
    claims(&payload)
    payload.endObject()
    return try sign(
      Base64.encodeURL(header.bytes) + [0x2e] + Base64.encodeURL(payload.bytes), key)
  }

  /// Appends the signature, in one array that does not grow: growing leaves copies behind
  /// (EXC-22).
  private static func sign(
    _ message: [UInt8], _ key: PrivateKey
  ) throws(Refusal) -> SecretBytes {
    var signature = try key.sign(message)
    var octets = signature.concatenated(.p256)
    var digits = Base64.encodeURL(octets)
    defer {
      signature.wipe()
      Secret.wipe(&octets)
      Secret.wipe(&digits)
    }
    var text: [UInt8] = []
    text.reserveCapacity(message.count &+ 1 &+ digits.count)
    text.append(contentsOf: message)
    text.append(0x2e)
    text.append(contentsOf: digits)
    return SecretBytes(text)
  }
}
