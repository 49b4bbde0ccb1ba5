import CLibCrypto

/// HMAC with SHA-256 (RFC 2104).
enum MessageCode {
  /// The longest key in bytes; HMAC would hash a longer one first.
  static let keyCap = 64

  /// Returns the code, 32 bytes, over `head` followed by `body`.
  ///
  /// - Parameter key: At most 64 bytes.
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
