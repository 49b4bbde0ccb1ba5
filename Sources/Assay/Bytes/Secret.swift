import CLibCrypto

/// Octets that must not be left in memory after use (EXC-10).
public enum Secret {
  /// Overwrites the octets in place, for every holder of the array: only
  /// for one that is not read again.
  public static func wipe(_ bytes: [UInt8]) {
    unsafe bytes.withUnsafeBytes { held in
      guard let start = held.baseAddress else { return }
      unsafe OPENSSL_cleanse(UnsafeMutableRawPointer(mutating: start), held.count)
    }
  }

  /// Overwrites the octets of the one holder; an array that others hold too is left to them.
  static func wipe(_ bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBytes { held in
      guard let start = held.baseAddress else { return }
      unsafe OPENSSL_cleanse(start, held.count)
    }
  }
}
