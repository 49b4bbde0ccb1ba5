/// Lengths of RSA keys.
enum RSAModulus {
  /// Of a modulus, big-endian without leading zero; nil: it has no bits.
  static func bits(_ modulus: ArraySlice<UInt8>) -> Int? {
    guard let first = modulus.first, first != 0 else { return nil }
    return modulus.count &* 8 &- first.leadingZeroBitCount
  }
}
