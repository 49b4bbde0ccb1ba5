/// The state that all verifications of attest receipts by one verifier share: policy, pinned root
/// (FRC-4) and proven chains. Immutable apart from the cache.
final class AttestReceiptTrust: Sendable {
  let policy: AttestPolicy
  let chains: ChainTrust

  init(_ policy: AttestPolicy, _ proofs: Proofs) {
    self.policy = policy
    chains = ChainTrust(
      AnchorSet(.attestReceipts, policy.receiptAnchors), proofs.attestReceipts)
  }
}
