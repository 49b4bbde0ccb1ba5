import CLibCrypto

/// The kind of a public key, found without building one.
enum KeyType: Sendable, Equatable {
  case elliptic(Curve)
  case rsa(bits: Int)
}

/// A public key that checks signatures: ECDSA, or RSASSA-PKCS1-v1_5 (RFC 8017
/// §8.2.2). Immutable, and safe to use from many threads.
///
/// Made from what a SubjectPublicKeyInfo holds: a point, or a modulus. (No failable
/// initialisers: under Embedded Swift a class whose initialiser fails is never freed.)
@safe final class PublicKey: @unchecked Sendable {
  let type: KeyType
  private let context: CryptoContext
  /// What each check of libcrypto's begins with, an EVP_PKEY_CTX: it is only read.
  private let key: OpaquePointer

  /// The longest modulus of a certificate's key, in bits (PTH-9).
  static let rsaBitCap = 4096

  /// From an uncompressed point (`04 ‖ x ‖ y`); nil when it is of another form
  /// or not on the curve.
  static func make(_ curve: Curve, point: ArraySlice<UInt8>) -> PublicKey? {
    guard point.count == 1 &+ 2 &* curve.byteCount, point.first == 0x04,
      let context = CryptoContext.shared,
      let key = unsafe point.withUnsafeBufferPointer({ buffer in
        unsafe assay_shim_point(
          context.handle, curve.rawValue, buffer.baseAddress, buffer.count)
      })
    else { return nil }
    return unsafe PublicKey(.elliptic(curve), context, key)
  }

  /// From a modulus, big-endian without leading zero, of at most as many bits as the
  /// cap says.
  static func make(
    modulus: ArraySlice<UInt8>, exponent: UInt32 = 65_537, bitCap: Int = rsaBitCap
  ) -> PublicKey? {
    guard let bits = RSAModulus.bits(modulus), bits <= bitCap,
      let context = CryptoContext.shared,
      let key = unsafe modulus.withUnsafeBufferPointer({ buffer in
        unsafe assay_shim_rsa(context.handle, buffer.baseAddress, buffer.count, exponent)
      })
    else { return nil }
    return unsafe PublicKey(.rsa(bits: bits), context, key)
  }

  private init(_ type: KeyType, _ context: CryptoContext, _ key: OpaquePointer) {
    self.type = type
    self.context = context
    unsafe self.key = key
  }

  deinit { unsafe EVP_PKEY_CTX_free(key) }

  /// Whether the ECDSA signature verifies over the message; never under an RSA key.
  func verifies(
    _ signature: ECDSASignature, _ digest: Digest, _ message: ArraySlice<UInt8>
  ) -> Bool {
    guard case .elliptic = type else { return false }
    return verifies(signature.der[...], named: nil, digest.of(message))
  }

  /// Whether the signature verifies over the message, in the form that certificates
  /// have it: DER of r and s under an elliptic key, the octets of RSA.
  func verifies(
    _ signature: ArraySlice<UInt8>, _ digest: Digest, _ message: ArraySlice<UInt8>
  ) -> Bool {
    switch type {
    case .elliptic(let curve):
      guard let value = ECDSASignature(der: signature, curve) else { return false }
      return verifies(value, digest, message)
    case .rsa: return verifies(signature, named: digest, digest.of(message))
    }
  }

  /// - Parameter named: the digest that the signature itself must name: RSA's.
  private func verifies(
    _ signature: ArraySlice<UInt8>, named: Digest?, _ hash: [UInt8]
  ) -> Bool {
    unsafe hash.withUnsafeBufferPointer { hash in
      unsafe signature.withUnsafeBufferPointer { signature in
        unsafe assay_shim_verify(
          context.handle, key, named?.rawValue ?? -1, hash.baseAddress, hash.count,
          signature.baseAddress, signature.count)
      } == 1
    }
  }
}
