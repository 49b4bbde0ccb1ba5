/// The SHA-256 over everything on which a proof depends: every trusted certificate in order, and
/// the settings that decide what counts as proven.
enum TrustDigest {
  static func of(_ configuration: Configuration) -> [UInt8] {
    let storekit = configuration.storekit
    let acceptsXcode = configuration.environments.contains { $0 == .xcode || $0 == .localTesting }
    return Fingerprint.of([
      // The cache's capacity is included because one shared set has one capacity.
      [
        UInt8(truncatingIfNeeded: storekit.cacheChains), storekit.x5cRootIgnored ? 1 : 0,
        acceptsXcode ? 1 : 0, configuration.receipts.version2Refused ? 1 : 0,
      ],
      // An empty list represents Apple's built-in certificates.
      list(storekit.anchors.map { $0.certificate.der }),
      list(storekit.xcodeCertificates),
      list(configuration.receipts.anchors.map { $0.certificate.der }),
      list(configuration.receipts.intermediates.map { $0.der }),
      list(configuration.attest.anchors.map { $0.certificate.der }),
      list(configuration.attest.receiptAnchors.map { $0.certificate.der }),
    ])
  }

  private static func list(_ entries: [[UInt8]]) -> [UInt8] { Fingerprint.of(entries) }
}

extension ProofTable {
  /// Returns the proofs shared by all verifiers of this process that trust the same. If
  /// `cache.chains` is 0, returns an empty set that is neither filled nor shared.
  func proofs(of configuration: Configuration) -> Proofs {
    let capacity = configuration.storekit.cacheChains
    guard capacity > 0 else { return Proofs(capacity: 0) }
    let digest = TrustDigest.of(configuration)
    if let known = find(digest[...]) { return known }
    let fresh = Proofs(capacity: capacity)
    remember(digest[...], fresh)
    return fresh
  }
}
