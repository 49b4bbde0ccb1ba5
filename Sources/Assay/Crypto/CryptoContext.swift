import CLibCrypto

/// The algorithms of libcrypto, fetched once (JWS-102). A libcrypto inside the library reads no
/// configuration file; that of the host obeys its openssl.cnf. Immutable after creation, so that
/// threads share it.
@safe final class CryptoContext: @unchecked Sendable {
  /// The only instance; `nil` if libcrypto lacks an algorithm that Assay needs.
  static let shared = unsafe assay_shim_open().map { unsafe CryptoContext($0) }

  /// The shim's object, passed to each of its functions.
  let handle: UnsafeMutablePointer<assay_crypto>

  private init(_ handle: UnsafeMutablePointer<assay_crypto>) { unsafe self.handle = handle }

  /// Requires libcrypto to have the digests, keys and signatures of Apple's evidence.
  ///
  /// - Throws: `config.libcrypto.algorithms`.
  static func check() throws(Refusal) {
    guard shared != nil else {
      throw Refusal(.configLibcryptoAlgorithms, "JWS-102", at: "libcrypto")
    }
  }
}
