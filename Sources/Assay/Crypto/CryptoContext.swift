import CLibCrypto

/// Assay's own libcrypto: a library context that reads no configuration file and
/// shares nothing with the host's OpenSSL (JWS-102), and the curves, made once.
/// Immutable after its creation, so threads share it.
@safe final class CryptoContext: @unchecked Sendable {
  /// nil when libcrypto cannot work at all, which is `internal.assay.bug`.
  static let shared = make()

  let library: OpaquePointer
  /// What keys are made with, if libcrypto is the host's.
  let engine: OpaquePointer?
  private let p256: OpaquePointer
  private let p384: OpaquePointer

  private static func make() -> CryptoContext? {
    guard let library = unsafe assay_shim_context(),
      let p256 = unsafe assay_shim_curve(library, NID_X9_62_prime256v1),
      let p384 = unsafe assay_shim_curve(library, NID_secp384r1)
    else { return nil }
    return unsafe CryptoContext(library, p256, p384)
  }

  private init(_ library: OpaquePointer, _ p256: OpaquePointer, _ p384: OpaquePointer) {
    unsafe self.library = library
    unsafe engine = assay_shim_engine()
    unsafe self.p256 = p256
    unsafe self.p384 = p384
  }

  /// libcrypto's group of a curve.
  func group(_ curve: Curve) -> OpaquePointer {
    switch curve {
    case .p256: return unsafe p256
    case .p384: return unsafe p384
    }
  }
}

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
