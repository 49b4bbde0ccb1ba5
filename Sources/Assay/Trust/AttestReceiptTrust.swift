/// What every verification of App Attest receipts of a verifier shares: policy,
/// the pinned root, and chains that were proven before. Immutable apart from the
/// cache.
final class AttestReceiptTrust: Sendable {
  let policy: AttestPolicy
  let cache: ChainCache

  /// Apple Root CA - G3, parsed and proven once in a process; nil: the
  /// compiled-in table is damaged (CER-6).
  private static let apple = AnchorSet.appleStoreKit()

  /// - `cacheChains`: proven chains that are kept at most; 0 keeps none.
  init(_ policy: AttestPolicy, cacheChains: Int) {
    self.policy = policy
    cache = ChainCache(capacity: cacheChains)
  }

  /// Apple's root, or the configured ones in its place (CER-2, FRC-4).
  func anchors() throws(Refusal) -> [Anchor] {
    if !policy.receiptAnchors.isEmpty { return policy.receiptAnchors }
    guard let apple = AttestReceiptTrust.apple else {
      throw Refusal(.internalCertificatesTable, "CER-6", at: "Apple Root CA - G3")
    }
    return apple.anchors
  }
}
