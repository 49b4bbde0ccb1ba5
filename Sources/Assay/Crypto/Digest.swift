import CLibCrypto

/// The digests of Apple's certificates and signatures.
///
/// The raw value is the index in the shim's table.
enum Digest: Int32, Sendable {
  /// Accepted for receipts only (RCP-18, APR-5).
  case sha1 = 0
  case sha256 = 1
  case sha384 = 2
  /// Accepted for configured roots only (CER-11).
  case sha512 = 3

  var byteCount: Int {
    switch self {
    case .sha1: return 20
    case .sha256: return 32
    case .sha384: return 48
    case .sha512: return 64
    }
  }

  /// Returns the digest of `bytes`.
  func of(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let size = byteCount
    return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      unsafe bytes.withUnsafeBufferPointer { input in
        unsafe assay_shim_digest(
          CryptoContext.shared?.handle, rawValue, input.baseAddress, input.count,
          buffer.baseAddress)
      }
      count = size
    }
  }

  func of(_ bytes: [UInt8]) -> [UInt8] { of(bytes[...]) }
}
