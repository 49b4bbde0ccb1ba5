import CLibCrypto

/// An RSA public key that checks RSASSA-PKCS1-v1_5 with SHA-1 or SHA-256
/// (RFC 8017 §8.2.2). Immutable, and safe to use from many threads.
@safe final class RSAPublicKey: @unchecked Sendable {
  let modulusBits: Int
  /// libcrypto's key, which locks what it computes at first use.
  private let key: OpaquePointer

  /// The longest modulus of any certificate here, in bits (PTH-9).
  static let bitCap = 4096

  /// The key of a certificate: rsaEncryption, exponent 65537, at most 4,096
  /// bits; nil for every other.
  static func make(_ certificate: Certificate) -> RSAPublicKey? {
    guard let modulus = certificate.rsaModulus, modulus.count <= bitCap / 8,
      let context = CryptoContext.shared,
      let key = unsafe modulus.withUnsafeBufferPointer({ buffer in
        unsafe assay_shim_rsa(context.engine, buffer.baseAddress, buffer.count)
      })
    else { return nil }
    return unsafe RSAPublicKey(RSAModulus.bits(certificate), key)
  }

  private init(_ modulusBits: Int, _ key: OpaquePointer) {
    self.modulusBits = modulusBits
    unsafe self.key = key
  }

  deinit { unsafe RSA_free(key) }

  /// Whether the signature verifies over the message. Other digests are in no
  /// profile of RSA evidence and never verify.
  func verifies(
    _ signature: ArraySlice<UInt8>, _ digest: Digest, _ message: ArraySlice<UInt8>
  ) -> Bool {
    switch digest {
    case .sha1, .sha256: return isSigned(signature, digest, message)
    case .sha384, .sha512: return false
    }
  }

  /// CER-11: whether a certificate is signed by its own key, for which a root may use
  /// digests that nothing below it may use.
  static func hasSignedItself(_ certificate: Certificate) -> Bool {
    guard let digest = certificate.rsaRootDigest, let key = make(certificate) else {
      return false
    }
    return key.isSigned(
      certificate.bytes(certificate.signature), digest, certificate.bytes(certificate.tbs))
  }

  private func isSigned(
    _ signature: ArraySlice<UInt8>, _ digest: Digest, _ message: ArraySlice<UInt8>
  ) -> Bool {
    let hash = digest.of(message)
    return unsafe hash.withUnsafeBufferPointer { hash in
      unsafe signature.withUnsafeBufferPointer { signature in
        unsafe assay_shim_rsa_verify(
          key, digest.number, hash.baseAddress, hash.count, signature.baseAddress,
          signature.count)
      } == 1
    }
  }
}
