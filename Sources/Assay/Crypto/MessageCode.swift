import CLibCrypto

/// HMAC with SHA-256 (RFC 2104).
enum MessageCode {
  /// The longest key, in octets; a longer one would be hashed first.
  static let keyCap = 64

  /// 32 octets, over `head` and the `body` behind it.
  ///
  /// - Parameter key: at most 64 octets.
  static func of(key: SecretBytes, head: StaticString, _ body: ArraySlice<UInt8>) -> [UInt8] {
    unsafe [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
      unsafe key.bytes.withUnsafeBufferPointer { key in
        unsafe body.withUnsafeBufferPointer { body in
          unsafe assay_shim_hmac(
            CryptoContext.shared?.handle, key.baseAddress, key.count, head.utf8Start,
            head.utf8CodeUnitCount, body.baseAddress, body.count, buffer.baseAddress)
        }
      }
      count = 32
    }
  }
}
