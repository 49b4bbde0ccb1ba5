/// What every attestation and assertion of a verifier shares: policy, what is trusted
/// and proven, and keys in the form that libcrypto takes. Immutable apart from the caches.
final class AttestTrust: Sendable {
  let policy: AttestPolicy
  let chains: ChainTrust
  let receipts: AttestReceiptTrust
  private let keys: BytesCache<PublicKey>

  /// Keys that are kept ready: those of devices that are at work just now.
  private static let keyCap = 64

  private init(_ policy: AttestPolicy, _ proofs: Proofs, keepsKeys: Bool) {
    self.policy = policy
    chains = ChainTrust(AnchorSet(.attestations, policy.anchors), proofs.attestations)
    receipts = AttestReceiptTrust(policy, proofs)
    // Keys of customers' devices: they end with the verifier.
    keys = BytesCache(capacity: keepsKeys ? AttestTrust.keyCap : 0)
  }

  /// - Throws: `internal.certificates.table`: a damaged table is found here, by its
  ///   fingerprint (CER-6).
  static func make(
    _ configuration: Configuration, _ proofs: Proofs
  ) throws(Refusal) -> AttestTrust {
    try require(
      AppleRoots.attestRootIsIntact, .internalCertificatesTable, "CER-6", at: "attest")
    return AttestTrust(
      configuration.attest, proofs, keepsKeys: configuration.storekit.cacheChains != 0)
  }

  /// ATT-23: without an App ID no evidence is ours.
  func checkAppIds() throws(Refusal) {
    try require(!policy.appIds.isEmpty, .configAttestAppIds, "ATT-23", at: "attest.appIds")
  }

  /// The key of a point `04 ‖ x ‖ y` on P-256; nil when it does not lie there.
  func key(_ point: ArraySlice<UInt8>) -> PublicKey? {
    if let known = keys.find(point) { return known }
    guard let key = PublicKey.make(.p256, point: point) else { return nil }
    keys.remember(point, key)
    return key
  }
}
