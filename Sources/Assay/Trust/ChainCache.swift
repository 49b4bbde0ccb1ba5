/// The proven chains of one kind of evidence, found again without decoding (JWS-60 … JWS-66).
/// Only proven chains enter.
struct ChainCache: Sendable {
  /// Chains by the bytes that contain the certificates, such as a JWS header, once the leaf's key
  /// has verified a signature over them. A warm call ends here.
  let headers: BytesCache<ProvenChain>
  /// Chains by the SHA-256 over all certificates: anyone can vary the header around a genuine
  /// chain, but not the chain. Chains of receipts, which may contain only a leaf, by the leaf's
  /// bytes.
  let chains: BytesCache<ProvenChain>
  /// Intermediates by their bytes: a new leaf under a known intermediate needs one signature
  /// check less.
  let intermediates: BytesCache<ProvenIntermediate>

  /// A longer header would take more than its share of memory (JWS-64).
  private static let headerByteCap = 6144

  /// Creates empty caches of `capacity` entries each; 0 disables them.
  init(capacity: Int) {
    headers = BytesCache(capacity: capacity, byteCap: ChainCache.headerByteCap)
    chains = BytesCache(capacity: capacity)
    intermediates = BytesCache(capacity: capacity)
  }
}
