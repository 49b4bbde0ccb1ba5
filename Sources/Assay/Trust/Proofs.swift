/// The chains and intermediates proven by verifiers that trust the same (JWS-66): Apple's
/// certificates, no customer's data. A proof depends only on certificates and on what is trusted,
/// so it never expires; dates are checked at every use.
///
/// Each kind of evidence has a cache of its own: a proof for one counts for no other.
final class Proofs: Sendable {
  let storekit: ChainCache
  let receipts: ChainCache
  let attestations: ChainCache
  let attestReceipts: ChainCache

  /// - Parameter capacity: The most entries of each cache; 0 disables them.
  init(capacity: Int) {
    storekit = ChainCache(capacity: capacity)
    receipts = ChainCache(capacity: capacity)
    attestations = ChainCache(capacity: capacity)
    attestReceipts = ChainCache(capacity: capacity)
  }

  /// The proofs of this process, which outlive their verifiers: if a host makes a verifier for
  /// each request, the second one begins warm.
  static let ofProcess = ProofTable(capacity: 4)
}
