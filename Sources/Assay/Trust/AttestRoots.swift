/// Under which roots attestations are proven, the intermediates that were, and keys
/// in the form that libcrypto takes. Immutable apart from the caches.
final class AttestRoots: Sendable {
  /// Own roots; empty: Apple's, compiled in.
  private let own: [Anchor]
  /// Intermediates are found again by their bytes (ATT-36): that saves one of the two
  /// P-384 checks.
  let cache: ChainCache
  private let keys: BytesCache<PublicKey>

  /// Keys kept ready: those of recently active devices.
  private static let keyCap = 64

  /// Apple App Attestation Root CA, parsed once in a process.
  private static let apple = Anchor(AppleRoots.appAttestationRootCA, .elliptic)

  private init(_ own: [Anchor], _ cache: ChainCache, keepsKeys: Bool) {
    self.own = own
    self.cache = cache
    // Keys of customers' devices: they end with the verifier.
    keys = BytesCache(capacity: keepsKeys ? AttestRoots.keyCap : 0)
  }

  /// CER-6: a damaged table is found here, by its fingerprint.
  static func make(
    _ own: [Anchor], _ cache: ChainCache, keepsKeys: Bool
  ) throws(Refusal) -> AttestRoots {
    try require(
      AppleRoots.attestRootIsIntact, .internalCertificatesTable, "CER-6", at: "attest")
    return AttestRoots(own, cache, keepsKeys: keepsKeys)
  }

  /// The key of a point `04 ‖ x ‖ y` on P-256; nil when it does not lie there.
  func key(_ point: ArraySlice<UInt8>) -> PublicKey? {
    if let known = keys.find(point) { return known }
    guard let key = PublicKey.make(.p256, point: point) else { return nil }
    keys.remember(point, key)
    return key
  }

  /// Apple's root, or the configured ones in its place (CER-2).
  func anchors() throws(Refusal) -> [Anchor] {
    if !own.isEmpty { return own }
    guard let apple = AttestRoots.apple else {
      throw Refusal(.internalCertificatesTable, "CER-6", at: "Apple App Attestation Root CA")
    }
    return [apple]
  }
}
