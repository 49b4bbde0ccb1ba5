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
