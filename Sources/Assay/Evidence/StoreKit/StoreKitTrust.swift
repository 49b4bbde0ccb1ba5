/// What every verification of a verifier shares. Immutable apart from the cache.
final class StoreKitTrust: Sendable {
  let configuration: Configuration
  let chains: ChainTrust

  init(configuration: Configuration, anchors: AnchorSet, _ proofs: Proofs) {
    self.configuration = configuration
    chains = ChainTrust(anchors, proofs.storekit)
  }

  /// JWS-80: Xcode's own certificates count only where such data is accepted.
  var acceptsXcode: Bool {
    configuration.environments.contains { $0 == .xcode || $0 == .localTesting }
  }
}
