/// The public key of a certificate, and the algorithm of its signature.
extension Certificate {
  /// The key as encoded: `04 ‖ x ‖ y`, or the SEQUENCE of an RSA key.
  var keyBytes: ArraySlice<UInt8> { bytes(key) }

  /// The type of the key; `nil` for an unsupported type, parameter, exponent or encoding. Does
  /// not check that a point is on its curve.
  var keyType: KeyType? {
    if bytes(keyAlgorithm).elementsEqual(ObjectIdentifier.ecPublicKey) {
      if bytes(keyParameters).elementsEqual(ObjectIdentifier.p256) { return .elliptic(.p256) }
      if bytes(keyParameters).elementsEqual(ObjectIdentifier.p384) { return .elliptic(.p384) }
      return nil
    }
    return rsaModulus.flatMap(RSAModulus.bits).map { .rsa(bits: $0) }
  }

  /// Returns the key if it is an uncompressed point on one of the named curves, or an RSA key of
  /// at most 4,096 bits.
  func publicKey() -> PublicKey? {
    switch keyType {
    case .elliptic(let curve): return PublicKey.make(curve, point: bytes(key))
    case .rsa: return rsaModulus.flatMap { PublicKey.make(modulus: $0) }
    case nil: return nil
    }
  }

  /// The modulus of an RSA key, big-endian without leading zero; `nil` unless the algorithm is
  /// rsaEncryption with parameters NULL and the exponent is 65537 (PTH-9).
  var rsaModulus: ArraySlice<UInt8>? {
    guard bytes(keyAlgorithm).elementsEqual(ObjectIdentifier.rsaEncryption),
      bytes(keyParameters).elementsEqual(ObjectIdentifier.nullParameters)
    else { return nil }
    var outer = DER.Cursor(der, key)
    guard let pair = outer.next(DER.sequence), outer.isAtEnd else { return nil }
    var inner = DER.Cursor(der, pair.content)
    guard let modulus = inner.next(DER.integer), let exponent = inner.next(DER.integer),
      inner.isAtEnd, bytes(exponent.content).elementsEqual([0x01, 0x00, 0x01])
    else { return nil }
    let digits = bytes(modulus.content)
    guard DER.isMinimalInteger(digits), let first = digits.first, first < 0x80 else { return nil }
    let significant = digits.drop { $0 == 0 }
    return significant.isEmpty ? nil : significant
  }

  /// The signature algorithm, which both fields must state with the right parameters; `nil`
  /// otherwise.
  var signatureAlgorithm: SignatureAlgorithm? {
    let name = bytes(innerAlgorithm)
    guard name == bytes(outerAlgorithm) else { return nil }
    return SignatureAlgorithm.names.first { name.elementsEqual($0.name) }?.algorithm
  }

  /// Whether `key` signed this certificate with an algorithm that is allowed below a root
  /// (JWS-31, PTH-5).
  func isSigned(by key: PublicKey) -> Bool {
    guard let algorithm = signatureAlgorithm, !algorithm.isOfRootsAlone else { return false }
    return isSigned(algorithm, by: key)
  }

  /// Whether `key`, the root's own, signed this root with any algorithm allowed for roots
  /// (CER-11).
  func hasSignedItself(_ key: PublicKey) -> Bool {
    guard let algorithm = signatureAlgorithm else { return false }
    return isSigned(algorithm, by: key)
  }

  private func isSigned(_ algorithm: SignatureAlgorithm, by key: PublicKey) -> Bool {
    algorithm.fits(key.type) && key.verifies(bytes(signature), algorithm.digest, bytes(tbs))
  }
}
