/// The name of an attested key: SHA-256 of its public key, 32 octets.
public enum KeyIdentifier {
  /// ATT-2: 32 octets as they are, or their text. What is compared is octets.
  static func read(_ given: [UInt8]) throws(Refusal) -> [UInt8] {
    if given.count == 32 { return given }
    return try octets(given, at: "key_id")
  }

  /// The normal form of a key identifier: standard base64 with padding, as `attestKey`
  /// takes it and a document's `attestation.keyId` has it. Apps send other forms for the
  /// same key; look keys up by this one alone.
  ///
  /// - Parameter text: base64 with padding, base64url without, or hexadecimal digits.
  /// - Returns: 44 characters.
  /// - Throws: `malformed.attest.key-id` for any other text.
  public static func normalForm(of text: [UInt8]) throws(Refusal) -> [UInt8] {
    Base64.encodeStandard(try octets(text, at: "keyId"))
  }

  /// Of a text; the length tells its form.
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

/// The public key of an attested key, as it is handed in and out (ATT-3).
enum AttestedKey {
  /// Of `04 ‖ x ‖ y`.
  static let pointBytes = 65

  /// SubjectPublicKeyInfo of a key on P-256, up to the point.
  static let infoPrefix: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08,
    0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
  ]

  /// The point of a key that was given as 65 or as 91 octets; nil for another
  /// form. Whether it lies on the curve is not checked.
  static func point(_ key: [UInt8]) -> ArraySlice<UInt8>? {
    var point = key[...]
    if key.count == infoPrefix.count &+ pointBytes, key.starts(with: infoPrefix) {
      point = key[infoPrefix.count...]
    }
    guard point.count == pointBytes, point.first == 0x04 else { return nil }
    return point
  }

  /// ATT-21: the octets that a COSE key of this point has.
  static func coseKey(_ point: ArraySlice<UInt8>) -> [UInt8] {
    let x = point.dropFirst().prefix(32)
    let y = point.dropFirst(33)
    return [0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + x
      + [0x22, 0x58, 0x20] + y
  }
}
