import CLibCrypto

/// What is looked up once in libcrypto (JWS-102): one that is inside the library reads no
/// configuration file; of the host's, what its openssl.cnf says holds. Immutable after its
/// creation, so threads share it.
@safe final class CryptoContext: @unchecked Sendable {
  /// nil where libcrypto lacks what Assay needs.
  static let shared = unsafe assay_shim_open().map { unsafe CryptoContext($0) }

  /// What the shim is given.
  let handle: UnsafeMutablePointer<assay_crypto>

  private init(_ handle: UnsafeMutablePointer<assay_crypto>) { unsafe self.handle = handle }

  /// Whether libcrypto has the digests, keys and signatures of Apple's evidence.
  ///
  /// - Throws: `config.libcrypto.algorithms`.
  static func check() throws(Refusal) {
    guard shared != nil else {
      throw Refusal(.configLibcryptoAlgorithms, "JWS-102", at: "libcrypto")
    }
  }
}
