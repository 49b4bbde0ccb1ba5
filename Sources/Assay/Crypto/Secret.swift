import CLibCrypto

/// Octets that nobody may find in memory when they have served (EXC-10).
public enum Secret {
  /// Overwrites the octets where they stand, for every holder of the array: only
  /// for one that nobody reads again.
  public static func wipe(_ bytes: [UInt8]) {
    unsafe bytes.withUnsafeBytes { held in
      guard let start = held.baseAddress else { return }
      unsafe OPENSSL_cleanse(UnsafeMutableRawPointer(mutating: start), held.count)
    }
  }
}

/// Octets that are wiped when nobody holds them any more (EXC-10, EXC-22).
final class SecretBytes: Sendable {
  let bytes: [UInt8]

  /// - Parameter bytes: the only copy.
  init(_ bytes: [UInt8]) { self.bytes = bytes }

  deinit { Secret.wipe(bytes) }
}
