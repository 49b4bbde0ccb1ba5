import CLibCrypto

/// Assay's own libcrypto: a library context that reads no configuration file and
/// shares nothing with the host's OpenSSL (JWS-102), and what every check needs
/// of it, fetched once. Immutable after its creation, so threads share it.
@safe final class CryptoContext: @unchecked Sendable {
  /// nil when libcrypto cannot work at all, which is `internal.assay.bug`.
  static let shared = make()

  let library: OpaquePointer
  private let sha1: OpaquePointer
  private let sha256: OpaquePointer
  private let sha384: OpaquePointer
  private let sha512: OpaquePointer
  private let p256: OpaquePointer
  private let p384: OpaquePointer

  private static func make() -> CryptoContext? {
    guard let library = unsafe assay_shim_context() else { return nil }
    assay_shim_begin()
    defer { assay_shim_end() }
    guard let sha1 = unsafe EVP_MD_fetch(library, "SHA1", nil),
      let sha256 = unsafe EVP_MD_fetch(library, "SHA256", nil),
      let sha384 = unsafe EVP_MD_fetch(library, "SHA384", nil),
      let sha512 = unsafe EVP_MD_fetch(library, "SHA512", nil),
      let p256 = unsafe assay_shim_curve(library, "P-256"),
      let p384 = unsafe assay_shim_curve(library, "P-384")
    else { return nil }
    return unsafe CryptoContext(library, sha1, sha256, sha384, sha512, p256, p384)
  }

  private init(
    _ library: OpaquePointer, _ sha1: OpaquePointer, _ sha256: OpaquePointer,
    _ sha384: OpaquePointer, _ sha512: OpaquePointer, _ p256: OpaquePointer,
    _ p384: OpaquePointer
  ) {
    unsafe self.library = library
    unsafe self.sha1 = sha1
    unsafe self.sha256 = sha256
    unsafe self.sha384 = sha384
    unsafe self.sha512 = sha512
    unsafe self.p256 = p256
    unsafe self.p384 = p384
  }

  /// A curve's domain parameters: the template of keys on it.
  func template(_ curve: Curve) -> OpaquePointer {
    switch curve {
    case .p256: return unsafe p256
    case .p384: return unsafe p384
    }
  }

  /// libcrypto's method of a digest.
  func method(_ kind: Digest) -> OpaquePointer {
    switch kind {
    case .sha1: return unsafe sha1
    case .sha256: return unsafe sha256
    case .sha384: return unsafe sha384
    case .sha512: return unsafe sha512
    }
  }

  /// The digest of the bytes; empty when libcrypto fails.
  func digest(_ kind: Digest, _ bytes: ArraySlice<UInt8>) -> [UInt8] {
    let size = kind.byteCount
    let method = unsafe method(kind)
    return unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = 0
      let done = unsafe bytes.withUnsafeBufferPointer { input in
        unsafe EVP_Digest(
          input.baseAddress, input.count, buffer.baseAddress, nil, method, nil)
      }
      if done == 1 { count = size }
    }
  }
}

/// The digests of Apple's certificates and signatures.
enum Digest: Sendable {
  /// Receipts alone (RCP-18, APR-5).
  case sha1
  case sha256
  case sha384
  /// Configured roots alone (CER-11).
  case sha512

  var byteCount: Int {
    switch self {
    case .sha1: return 20
    case .sha256: return 32
    case .sha384: return 48
    case .sha512: return 64
    }
  }

  /// The digest of the bytes; empty when libcrypto cannot work at all.
  func of(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    CryptoContext.shared?.digest(self, bytes) ?? []
  }

  func of(_ bytes: [UInt8]) -> [UInt8] { of(bytes[...]) }
}
