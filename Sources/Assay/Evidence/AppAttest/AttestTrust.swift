/// What every attestation and assertion of a verifier shares: policy, and what is
/// trusted and proven. Immutable apart from the caches.
final class AttestTrust: Sendable {
  let policy: AttestPolicy
  let roots: AttestRoots
  let receipts: AttestReceiptTrust

  private init(_ policy: AttestPolicy, _ roots: AttestRoots, _ receipts: AttestReceiptTrust) {
    self.policy = policy
    self.roots = roots
    self.receipts = receipts
  }

  /// - Throws: `internal.certificates.table` (CER-6).
  static func make(
    _ configuration: Configuration, _ proofs: Proofs
  ) throws(Refusal) -> AttestTrust {
    let policy = configuration.attest
    let roots = try AttestRoots.make(
      policy.anchors, proofs.attestations, keepsKeys: configuration.storekit.cacheChains != 0)
    return AttestTrust(policy, roots, AttestReceiptTrust(policy, proofs))
  }

  /// ATT-23: without an App ID no evidence is ours.
  func checkAppIds() throws(Refusal) {
    try require(!policy.appIds.isEmpty, .configAttestAppIds, "ATT-23", at: "attest.appIds")
  }
}
