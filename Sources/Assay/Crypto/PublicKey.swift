import CLibCrypto

/// The type of a public key, known without creating it.
enum KeyType: Sendable, Equatable {
  case elliptic(Curve)
  case rsa(bits: Int)
}

/// A public key that verifies signatures: ECDSA, or RSASSA-PKCS1-v1_5 (RFC 8017 §8.2.2).
/// Immutable, and safe to use from many threads.
///
/// Keys are made by static functions: under Embedded Swift an instance whose failable initializer
/// fails is never freed.
@safe final class PublicKey: @unchecked Sendable {
  let type: KeyType
  private let context: CryptoContext
  /// An EVP_PKEY_CTX that each verification copies; the original never changes.
  private let key: OpaquePointer

  /// The longest modulus of a certificate's key, in bits (PTH-9).
  static let rsaBitCap = 4096

  /// Creates a key from an uncompressed point (`04 ‖ x ‖ y`); `nil` if it has another form or is
  /// not on the curve.
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

  /// Creates a key from a modulus, big-endian without leading zero; `nil` if it has more than
  /// `bitCap` bits.
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

  /// Whether the ECDSA signature verifies over the message; always false for an RSA key.
  func verifies(
    _ signature: ECDSASignature, _ digest: Digest, _ message: ArraySlice<UInt8>
  ) -> Bool {
    guard case .elliptic = type else { return false }
    return verifies(signature.der[...], named: nil, digest.of(message))
  }

  /// Whether the signature of a certificate verifies over the message: a DER ECDSA-Sig-Value for
  /// an elliptic key, the bare bytes for RSA.
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

  /// - Parameter named: The digest that an RSA signature itself must name; `nil` for ECDSA.
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
