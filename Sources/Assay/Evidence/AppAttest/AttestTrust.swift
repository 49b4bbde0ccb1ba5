/// The state that all verifications of attestations and assertions by one verifier share: policy,
/// anchors, proven chains, and parsed device keys. Immutable apart from the caches.
final class AttestTrust: Sendable {
  let policy: AttestPolicy
  let chains: ChainTrust
  let receipts: AttestReceiptTrust
  private let keys: BytesCache<PublicKey>

  /// The number of device keys that are kept parsed, for devices that are active at the moment.
  private static let keyCap = 64

  private init(_ policy: AttestPolicy, _ proofs: Proofs, keepsKeys: Bool) {
    self.policy = policy
    chains = ChainTrust(AnchorSet(.attestations, policy.anchors), proofs.attestations)
    receipts = AttestReceiptTrust(policy, proofs)
    // Device keys are customers': unlike proven chains, they do not outlive the verifier.
    keys = BytesCache(capacity: keepsKeys ? AttestTrust.keyCap : 0)
  }

  /// - Throws: `internal.certificates.table` if the fingerprint of the built-in root is wrong
  ///   (CER-6).
  static func make(
    _ configuration: Configuration, _ proofs: Proofs
  ) throws(Refusal) -> AttestTrust {
    try require(
      AppleRoots.attestRootIsIntact, .internalCertificatesTable, "CER-6", at: "attest")
    return AttestTrust(
      configuration.attest, proofs, keepsKeys: configuration.storekit.cacheChains != 0)
  }

  /// Requires a configured App ID: without one, no evidence can be of a known app (ATT-23).
  func checkAppIds() throws(Refusal) {
    try require(!policy.appIds.isEmpty, .configAttestAppIds, "ATT-23", at: "attest.appIds")
  }

  /// Returns the key of the point `04 ‖ x ‖ y`; `nil` if the point is not on P-256.
  func key(_ point: ArraySlice<UInt8>) -> PublicKey? {
    if let known = keys.find(point) { return known }
    guard let key = PublicKey.make(.p256, point: point) else { return nil }
    keys.remember(point, key)
    return key
  }
}
