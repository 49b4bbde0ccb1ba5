/// Measures RSA moduli.
enum RSAModulus {
  /// Returns the length in bits of a modulus, big-endian without leading zero; `nil` for any
  /// other.
  static func bits(_ modulus: ArraySlice<UInt8>) -> Int? {
    guard let first = modulus.first, first != 0 else { return nil }
    return modulus.count &* 8 &- first.leadingZeroBitCount
  }
}
