/// What was proven of one kind of evidence, found again without decoding or parsing
/// (JWS-60 … JWS-66). Nothing enters that was not proven.
struct ChainCache: Sendable {
  /// By the bytes that carry a chain, once its leaf has signed them: a warm call ends
  /// here.
  let spellings: BytesCache<ProvenChain>
  /// By SHA-256 over all certificates of the chain: anyone can spell a header
  /// differently, but no one can forge the chain in it. For receipts, which may carry only
  /// a leaf: by the leaf's bytes.
  let chains: BytesCache<ProvenChain>
  /// By the intermediate's bytes: a new leaf under a known intermediate saves a
  /// signature.
  let intermediates: BytesCache<ProvenIntermediate>

  /// JWS-64: a longer header would take more than its share of memory.
  private static let spellingByteCap = 6144

  /// 0 switches the cache off.
  init(capacity: Int) {
    spellings = BytesCache(capacity: capacity, byteCap: ChainCache.spellingByteCap)
    chains = BytesCache(capacity: capacity)
    intermediates = BytesCache(capacity: capacity)
  }
}
