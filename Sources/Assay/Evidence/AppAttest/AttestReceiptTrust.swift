/// What every verification of App Attest receipts of a verifier shares: policy,
/// the pinned root, and chains that were proven before. Immutable apart from the
/// cache.
final class AttestReceiptTrust: Sendable {
  let policy: AttestPolicy
  let cache: ChainCache

  init(_ policy: AttestPolicy, _ proofs: Proofs) {
    self.policy = policy
    cache = proofs.attestReceipts
  }

  /// Apple's root, or the configured ones in its place (CER-2, FRC-4).
  func anchors() throws(Refusal) -> [Anchor] {
    if !policy.receiptAnchors.isEmpty { return policy.receiptAnchors }
    guard let apple = AnchorSet.appleG3 else {
      throw Refusal(.internalCertificatesTable, "CER-6", at: "Apple Root CA - G3")
    }
    return apple.anchors
  }
}
