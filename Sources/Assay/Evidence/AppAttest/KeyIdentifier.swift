/// The identifier of an attested key: SHA-256 of its public key, 32 bytes.
public enum KeyIdentifier {
  /// Returns the 32 bytes of a key identifier given as such or as text. Always bytes are
  /// compared, never texts (ATT-2).
  static func read(_ given: [UInt8]) throws(Refusal) -> [UInt8] {
    if given.count == 32 { return given }
    return try octets(given, at: "key_id")
  }

  /// The normal form of a key identifier: standard base64 with padding, as `attestKey`
  /// takes it and a document's `attestation.keyId` has it. Apps send other forms for the
  /// same key; look up keys by this form only.
  ///
  /// - Parameter text: base64 with padding, base64url without, or hexadecimal digits.
  /// - Returns: 44 characters.
  /// - Throws: `malformed.attest.key-id` for any other text.
  public static func normalForm(of text: [UInt8]) throws(Refusal) -> [UInt8] {
    Base64.encodeStandard(try octets(text, at: "keyId"))
  }

  /// Decodes a text whose length determines its encoding.
  private static func octets(_ text: [UInt8], at place: String) throws(Refusal) -> [UInt8] {
    guard let octets = decode(text), octets.count == 32 else {
      throw Refusal(.malformedAttestKeyId, "ATT-2", at: place)
    }
    return octets
  }

  private static func decode(_ text: [UInt8]) -> [UInt8]? {
    switch text.count {
    case 43: return Base64.decodeURL(text[...])
    case 44: return Base64.decodeStandard(text[...])
    case 64: return Hex.decode(text)
    default: return nil
    }
  }
}
