/// A compact JWS that we sign with ES256 (API-12).
enum CompactToken {
  /// - Parameters:
  ///   - isTyped: whether the header says `"typ":"JWT"`, behind the others.
  ///   - claims: writes the members of the payload.
  /// - Returns: the text, which is wiped when nobody holds it any more.
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

  /// One array that does not grow: growing leaves copies behind (EXC-22).
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
