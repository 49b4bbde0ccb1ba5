/// Lengths of RSA keys, without building one.
enum RSAModulus {
  /// 0 for a key of another type, parameter or exponent (PTH-9).
  static func bits(_ certificate: Certificate) -> Int {
    guard let modulus = certificate.rsaModulus, let first = modulus.first else { return 0 }
    return modulus.count &* 8 &- first.leadingZeroBitCount
  }
}
