/// What every verification of App Attest receipts of a verifier shares: policy,
/// the pinned root (FRC-4), and chains that were proven before. Immutable apart from the
/// cache.
final class AttestReceiptTrust: Sendable {
  let policy: AttestPolicy
  let chains: ChainTrust

  init(_ policy: AttestPolicy, _ proofs: Proofs) {
    self.policy = policy
    chains = ChainTrust(
      AnchorSet(.attestReceipts, policy.receiptAnchors), proofs.attestReceipts)
  }
}
