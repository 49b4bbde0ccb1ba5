import CLibCrypto

/// Erases bytes that must not stay in memory after use (EXC-10).
public enum Secret {
  /// Overwrites `bytes`. An array whose storage is shared is copied first, and the other holder
  /// keeps the secret: wipe only an array that has no other holder.
  public static func wipe(_ bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBytes { held in
      guard let start = held.baseAddress else { return }
      unsafe OPENSSL_cleanse(start, held.count)
    }
  }
}
