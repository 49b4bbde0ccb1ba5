/// A private key as Apple issues it, a `.p8` file: unencrypted PEM of PKCS#8 (RFC 5958 version 1)
/// with an ECPrivateKey on P-256 (RFC 5915).
enum PrivateKeyFile {
  private static let byteCap = 8192
  private static let header: StaticString = "-----BEGIN PRIVATE KEY-----"
  private static let footer: StaticString = "-----END PRIVATE KEY-----"
  /// id-ecPublicKey and prime256v1, each a whole element.
  private static let algorithm: [UInt8] = [
    0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07,
  ]

  /// Reads the key of such a file; white space around the PEM is ignored. Returns `nil` if the
  /// file has another form, or if libcrypto refuses its scalar as a private key on P-256 or its
  /// point, if it has one, as the public key. No other copy stays in memory (EXC-10).
  static func read(_ pem: [UInt8]) -> PrivateKey? {
    guard pem.count <= byteCap, var der = content(pem) else { return nil }
    defer { Secret.wipe(&der) }
    guard let (scalar, point) = key(der) else { return nil }
    return PrivateKey.make(scalar: der[scalar], point: der[point])
  }

  // MARK: form

  /// Returns the DER inside the PEM text.
  private static func content(_ pem: [UInt8]) -> [UInt8]? {
    let text = ASCII.trimmed(pem[...])
    guard text.prefix(header.utf8CodeUnitCount).elementsEqual(header) else { return nil }
    let rest = text.dropFirst(header.utf8CodeUnitCount)
    guard rest.suffix(footer.utf8CodeUnitCount).elementsEqual(footer) else { return nil }
    // The capacity is reserved because an array that grows leaves copies of the key behind.
    var digits: [UInt8] = []
    digits.reserveCapacity(rest.count)
    for byte in rest.dropLast(footer.utf8CodeUnitCount) where byte != 0x0a && byte != 0x0d {
      digits.append(byte)
    }
    defer { Secret.wipe(&digits) }
    return Base64.decodeStandard(digits[...])
  }

  /// Returns the ranges of the scalar, 32 bytes big-endian, and of the uncompressed point; the
  /// latter is empty if the file has none.
  private static func key(_ der: [UInt8]) -> (scalar: Range<Int>, point: Range<Int>)? {
    var outer = DER.Cursor(der)
    guard let info = outer.next(DER.sequence), outer.isAtEnd else { return nil }
    var fields = DER.Cursor(der, info.content)
    guard let version = fields.next(DER.integer), der[version.content] == [0],
      let algorithm = fields.next(DER.sequence),
      der[algorithm.content].elementsEqual(self.algorithm),
      let wrapped = fields.next(DER.octetString)
    else { return nil }
    // Attributes may follow; they do not affect the key.
    var inner = DER.Cursor(der, wrapped.content)
    guard let key = inner.next(DER.sequence), inner.isAtEnd else { return nil }
    var parts = DER.Cursor(der, key.content)
    guard let form = parts.next(DER.integer), der[form.content] == [1],
      let scalar = parts.next(DER.octetString), scalar.content.count == Curve.p256.byteCount
    else { return nil }
    if let curve = parts.next(0xa0) {
      guard der[curve.content].elementsEqual(self.algorithm.suffix(10)) else { return nil }
    }
    guard let tagged = parts.next(0xa1) else {
      return parts.isAtEnd ? (scalar.content, 0..<0) : nil
    }
    var wrapper = DER.Cursor(der, tagged.content)
    guard parts.isAtEnd, let bits = wrapper.next(DER.bitString), wrapper.isAtEnd,
      der[bits.content].first == 0
    else { return nil }
    return (scalar.content, der[bits.content].dropFirst().indices)
  }
}
