import CLibCrypto

/// A private key on P-256 that signs ES256 (RFC 7518 §3.4). Immutable, and safe to use
/// from many threads; its scalar is wiped with it (EXC-10).
@safe final class PrivateKey: @unchecked Sendable {
  private let context: CryptoContext
  private let key: OpaquePointer
  /// What every signature is verified with before it is used.
  let publicHalf: PublicKey

  /// - Parameters:
  ///   - scalar: 32 octets, big-endian.
  ///   - point: of its public half, in any form; empty where it is not known.
  /// - Returns: nil where the scalar is no private key, or not the one of that point.
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

  /// Signs the SHA-256 of the message.
  ///
  /// - Throws: `internal.sign.self-check` where the system gives no random numbers, or
  ///   the signature does not verify.
  func sign(_ message: [UInt8]) throws(Refusal) -> ECDSASignature {
    try PrivateKey.verified(make(message), over: message, by: publicHalf)
  }

  /// The signature, once it verifies (API-12).
  static func verified(
    _ der: [UInt8], over message: [UInt8], by publicHalf: PublicKey
  ) throws(Refusal) -> ECDSASignature {
    guard let signature = ECDSASignature(der: der[...], .p256),
      publicHalf.verifies(signature, .sha256, message[...])
    else { throw Refusal(.internalSignSelfCheck, "EXC-10") }
    return signature
  }

  /// DER; empty where libcrypto cannot sign.
  private func make(_ message: [UInt8]) -> [UInt8] {
    let digest = Digest.sha256.of(message)
    return unsafe [UInt8](unsafeUninitializedCapacity: 72) { buffer, count in
      count = unsafe digest.withUnsafeBufferPointer {
        unsafe assay_shim_sign(context.handle, key, $0.baseAddress, buffer.baseAddress)
      }
    }
  }
}
