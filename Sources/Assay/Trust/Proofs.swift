/// What verifiers that trust the same have proven (JWS-66): chains and intermediates
/// of Apple's, and nothing of any customer's. A pure function of certificates and of
/// what is trusted, so it never grows old; dates are judged afresh at every use.
///
/// Each kind of evidence has its own: what was proven for one counts for no other.
final class Proofs: Sendable {
  let storekit: ChainCache
  let receipts: ChainCache
  let attestations: ChainCache
  let attestReceipts: ChainCache

  /// - Parameter capacity: entries of each level; 0 keeps nothing.
  init(capacity: Int) {
    storekit = ChainCache(capacity: capacity)
    receipts = ChainCache(capacity: capacity)
    attestations = ChainCache(capacity: capacity)
    attestReceipts = ChainCache(capacity: capacity)
  }

  /// Those of this process, which outlive the verifiers that made them: where each request
  /// has a verifier of its own, the second one begins warm.
  static let ofProcess = ProofTable(capacity: 4)
}
