import CLibCrypto

/// The digests of Apple's certificates and signatures.
enum Digest: Sendable {
  /// For receipts only (RCP-18, APR-5).
  case sha1
  case sha256
  case sha384
  /// For configured roots only (CER-11).
  case sha512

  var byteCount: Int {
    switch self {
    case .sha1: return 20
    case .sha256: return 32
    case .sha384: return 48
    case .sha512: return 64
    }
  }

  /// libcrypto's number of it.
  var number: Int32 {
    switch self {
    case .sha1: return NID_sha1
    case .sha256: return NID_sha256
    case .sha384: return NID_sha384
    case .sha512: return NID_sha512
    }
  }

  /// The digest of the bytes.
  func of(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let size = byteCount
    return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      unsafe bytes.withUnsafeBufferPointer { input in
        switch self {
        case .sha1: unsafe assay_shim_sha1(input.baseAddress, input.count, buffer.baseAddress)
        case .sha256: unsafe assay_shim_sha256(input.baseAddress, input.count, buffer.baseAddress)
        case .sha384: unsafe assay_shim_sha384(input.baseAddress, input.count, buffer.baseAddress)
        case .sha512: unsafe assay_shim_sha512(input.baseAddress, input.count, buffer.baseAddress)
        }
      }
      count = size
    }
  }

  func of(_ bytes: [UInt8]) -> [UInt8] { of(bytes[...]) }
}
