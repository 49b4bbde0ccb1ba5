import CLibCrypto

/// Comparisons whose duration does not reveal how many bytes are equal.
enum ConstantTime {
  /// Whether both have the same bytes. Lengths are not secret.
  static func areEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    return unsafe left.withUnsafeBytes { mine in
      unsafe right.withUnsafeBytes { other in
        guard let mine = mine.baseAddress, let theirs = other.baseAddress else { return true }
        return unsafe CRYPTO_memcmp(mine, theirs, other.count) == 0
      }
    }
  }
}
