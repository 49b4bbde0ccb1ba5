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
