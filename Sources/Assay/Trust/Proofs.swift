/// What verifiers have proven that trust the same (JWS-66): chains and intermediates
/// of Apple's, and nothing of any customer's. A pure function of certificates and of
/// what is trusted, so it never grows old; dates are judged at every use anew.
final class Proofs: Sendable {
  /// Chains of StoreKit JWS (JWS-60 … JWS-64).
  let chains: ChainCache
  /// Leaves of receipts with their intermediates (PTH-13).
  let receiptPaths: PathCache
  /// Intermediates of attestations (ATT-36).
  let attestIntermediates: BytesCache<AttestIntermediate>
  /// Chains of App Attest receipts (FRC-4).
  let attestReceiptChains: ChainCache

  /// - Parameter capacity: entries of each level; 0 keeps nothing.
  init(capacity: Int) {
    chains = ChainCache(capacity: capacity)
    receiptPaths = PathCache(capacity: capacity)
    attestIntermediates = BytesCache(capacity: capacity)
    attestReceiptChains = ChainCache(capacity: capacity)
  }
}
