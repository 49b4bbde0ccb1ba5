import CLibCrypto

/// Octets that must not be left in memory after use (EXC-10).
public enum Secret {
  /// Overwrites the octets where they are. It takes the holder of them: where others hold
  /// the same array it is theirs that stays as it was, so wipe what nobody else has.
  public static func wipe(_ bytes: inout [UInt8]) {
    unsafe bytes.withUnsafeMutableBytes { held in
      guard let start = held.baseAddress else { return }
      unsafe OPENSSL_cleanse(start, held.count)
    }
  }
}
