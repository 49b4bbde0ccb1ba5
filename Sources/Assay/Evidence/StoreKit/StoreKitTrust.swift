/// What every verification of a verifier shares. Immutable apart from the cache.
final class StoreKitTrust: Sendable {
  let configuration: Configuration
  let anchors: AnchorSet
  let cache: ChainCache

  init(configuration: Configuration, anchors: AnchorSet, _ proofs: Proofs) {
    self.configuration = configuration
    self.anchors = anchors
    cache = proofs.storekit
  }

  /// The proof of one chain (JWS-20 … JWS-32).
  var chainBuilder: ChainBuilder {
    ChainBuilder(
      anchors: anchors, cache: cache, rootEntryIsIgnored: configuration.storekit.rootEntryIgnored)
  }

  /// JWS-80: Xcode's own certificates count only where such data is accepted.
  var acceptsXcode: Bool {
    configuration.environments.contains { $0 == .xcode || $0 == .localTesting }
  }
}
