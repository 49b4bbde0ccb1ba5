/// The encodings of an attested public key in requests and documents (ATT-3).
enum AttestedKey {
  /// The length of `04 ‖ x ‖ y`.
  static let pointBytes = 65

  /// The SubjectPublicKeyInfo of a P-256 key, up to the point.
  static let infoPrefix: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08,
    0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
  ]

  /// Returns the point of a key given in 65 or 91 bytes; `nil` for another form. Does not check
  /// that the point is on the curve.
  static func point(_ key: [UInt8]) -> ArraySlice<UInt8>? {
    var point = key[...]
    if key.count == infoPrefix.count &+ pointBytes, key.starts(with: infoPrefix) {
      point = key[infoPrefix.count...]
    }
    guard point.count == pointBytes, point.first == 0x04 else { return nil }
    return point
  }

  /// Returns the COSE encoding of this point, 77 bytes (ATT-21).
  static func coseKey(_ point: ArraySlice<UInt8>) -> [UInt8] {
    let x = point.dropFirst().prefix(32)
    let y = point.dropFirst(33)
    return [0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20] + x
      + [0x22, 0x58, 0x20] + y
  }
}
