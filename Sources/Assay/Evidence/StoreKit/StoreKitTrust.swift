/// The state that all JWS verifications of one verifier share. Immutable apart from the cache.
final class StoreKitTrust: Sendable {
  let configuration: Configuration
  let chains: ChainTrust

  init(configuration: Configuration, anchors: AnchorSet, _ proofs: Proofs) {
    self.configuration = configuration
    chains = ChainTrust(anchors, proofs.storekit)
  }

  /// Whether an environment of Xcode is accepted; its own certificates count only then (JWS-80).
  var acceptsXcode: Bool {
    configuration.environments.contains { $0 == .xcode || $0 == .localTesting }
  }
}
