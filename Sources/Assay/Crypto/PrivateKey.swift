import CLibCrypto

/// A private key on P-256 that signs ES256 (RFC 7518 §3.4). Immutable, and safe to use from many
/// threads; its scalar is wiped when the key is released (EXC-10).
@safe final class PrivateKey: @unchecked Sendable {
  private let context: CryptoContext
  private let key: OpaquePointer
  /// The public key with which every signature is verified before it is used.
  let publicHalf: PublicKey

  /// Creates a key; `nil` if the scalar is no private key, or does not belong to the point.
  ///
  /// - Parameters:
  ///   - scalar: 32 bytes, big-endian.
  ///   - point: The public key in any encoding; empty if it is not known.
  static func make(scalar: ArraySlice<UInt8>, point: ArraySlice<UInt8>) -> PrivateKey? {
    guard let context = CryptoContext.shared else { return nil }
    var key: OpaquePointer?
    let half = unsafe [UInt8](unsafeUninitializedCapacity: 65) { buffer, count in
      unsafe key = unsafe scalar.withUnsafeBufferPointer { scalar in
        unsafe point.withUnsafeBufferPointer { point in
          unsafe assay_shim_private_key(
            context.handle, scalar.baseAddress, scalar.count, point.baseAddress, point.count,
            buffer.baseAddress)
        }
      }
      count = unsafe key == nil ? 0 : 65
    }
    guard let key = unsafe key else { return nil }
    guard let publicHalf = PublicKey.make(.p256, point: half[...]) else {
      unsafe EVP_PKEY_free(key)
      return nil
    }
    return unsafe PrivateKey(context, key, publicHalf)
  }

  private init(_ context: CryptoContext, _ key: OpaquePointer, _ publicHalf: PublicKey) {
    self.context = context
    unsafe self.key = key
    self.publicHalf = publicHalf
  }

  deinit { unsafe EVP_PKEY_free(key) }

  /// Signs the SHA-256 digest of the message.
  ///
  /// - Throws: `internal.sign.self-check` where the system gives no random numbers, or
  ///   the signature does not verify.
  func sign(_ message: [UInt8]) throws(Refusal) -> ECDSASignature {
    try PrivateKey.verified(make(message), over: message, by: publicHalf)
  }

  /// Returns the signature if it verifies (API-12).
  static func verified(
    _ der: [UInt8], over message: [UInt8], by publicHalf: PublicKey
  ) throws(Refusal) -> ECDSASignature {
    guard let signature = ECDSASignature(der: der[...], .p256),
      publicHalf.verifies(signature, .sha256, message[...])
    else { throw Refusal(.internalSignSelfCheck, "EXC-10") }
    return signature
  }

  /// Returns a DER signature; empty if libcrypto cannot sign.
  private func make(_ message: [UInt8]) -> [UInt8] {
    let digest = Digest.sha256.of(message)
    return unsafe [UInt8](unsafeUninitializedCapacity: 72) { buffer, count in
      count = unsafe digest.withUnsafeBufferPointer {
        unsafe assay_shim_sign(context.handle, key, $0.baseAddress, buffer.baseAddress)
      }
    }
  }
}
