import CLibCrypto

/// An RSA public key that checks RSASSA-PKCS1-v1_5 with SHA-1 or SHA-256
/// (RFC 8017 §8.2.2). Immutable, and safe to use from many threads: each check
/// works on its own copy of a prepared libcrypto context.
@safe final class RSAPublicKey: @unchecked Sendable {
  let modulusBits: Int
  private let context: CryptoContext
  private let sha1: OpaquePointer
  private let sha256: OpaquePointer

  /// The longest modulus of any certificate here, in bits (PTH-9).
  static let bitCap = 4096

  /// The key of a certificate: rsaEncryption, exponent 65537, at most 4,096
  /// bits; nil for every other.
  static func make(_ certificate: Certificate) -> RSAPublicKey? {
    guard let context = CryptoContext.shared, let key = unsafe key(of: certificate, context) else {
      return nil
    }
    // The prepared contexts keep the key.
    defer { unsafe EVP_PKEY_free(key) }
    guard
      let sha1 = unsafe assay_shim_rsa_verifier(context.library, key, context.method(.sha1))
    else { return nil }
    guard
      let sha256 = unsafe assay_shim_rsa_verifier(context.library, key, context.method(.sha256))
    else {
      unsafe EVP_PKEY_CTX_free(sha1)
      return nil
    }
    return unsafe RSAPublicKey(RSAModulus.bits(certificate), context, sha1, sha256)
  }

  private static func key(
    of certificate: Certificate, _ context: CryptoContext
  ) -> OpaquePointer? {
    guard let modulus = certificate.rsaModulus, modulus.count <= bitCap / 8 else { return nil }
    return unsafe modulus.withUnsafeBufferPointer { buffer in
      unsafe assay_shim_rsa(context.library, buffer.baseAddress, buffer.count, 65537)
    }
  }

  private init(
    _ modulusBits: Int, _ context: CryptoContext, _ sha1: OpaquePointer, _ sha256: OpaquePointer
  ) {
    self.modulusBits = modulusBits
    self.context = context
    unsafe self.sha1 = sha1
    unsafe self.sha256 = sha256
  }

  deinit {
    unsafe EVP_PKEY_CTX_free(sha1)
    unsafe EVP_PKEY_CTX_free(sha256)
  }

  /// Whether the signature verifies over the message. Other digests are in no
  /// profile of RSA evidence and never verify.
  func verifies(
    _ signature: ArraySlice<UInt8>, _ digest: Digest, _ message: ArraySlice<UInt8>
  ) -> Bool {
    switch digest {
    case .sha1: return unsafe Self.verifies(sha1, signature, digest, message, context)
    case .sha256: return unsafe Self.verifies(sha256, signature, digest, message, context)
    case .sha384, .sha512: return false
    }
  }

  /// CER-11: whether a certificate is signed by the key in it, which a root may do
  /// with digests that nothing below it may have.
  static func hasSignedItself(_ certificate: Certificate) -> Bool {
    guard let digest = certificate.rsaRootDigest, let context = CryptoContext.shared,
      let key = unsafe key(of: certificate, context)
    else { return false }
    defer { unsafe EVP_PKEY_free(key) }
    guard
      let verifier = unsafe assay_shim_rsa_verifier(context.library, key, context.method(digest))
    else { return false }
    defer { unsafe EVP_PKEY_CTX_free(verifier) }
    return unsafe verifies(
      verifier, certificate.bytes(certificate.signature), digest,
      certificate.bytes(certificate.tbs), context)
  }

  private static func verifies(
    _ verifier: OpaquePointer, _ signature: ArraySlice<UInt8>, _ digest: Digest,
    _ message: ArraySlice<UInt8>, _ context: CryptoContext
  ) -> Bool {
    let hash = context.digest(digest, message)
    guard hash.count == digest.byteCount else { return false }
    return unsafe hash.withUnsafeBufferPointer { hash in
      unsafe signature.withUnsafeBufferPointer { signature in
        unsafe assay_shim_verify(
          verifier, hash.baseAddress, hash.count, signature.baseAddress, signature.count)
      } == 1
    }
  }
}
