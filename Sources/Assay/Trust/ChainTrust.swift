/// What the chains of one kind of evidence are proven under, and those that were.
struct ChainTrust: Sendable {
  let anchors: AnchorSet
  let cache: ChainCache

  init(_ anchors: AnchorSet, _ cache: ChainCache) {
    self.anchors = anchors
    self.cache = cache
  }

  /// A certificate as an intermediate of this root, when the root's key signed it, now or
  /// before (ATT-36, PTH-13). The roots are the same for everything in the cache, so the
  /// answer does not depend on what was verified before.
  func intermediate(
    _ shaped: ShapedCertificate, under anchor: Anchor, _ source: ProvenIntermediate.Source,
    _ signatures: inout SignatureChecks
  ) -> ProvenIntermediate? {
    let certificate = shaped.certificate
    if let known = cache.intermediates.find(certificate.der[...]),
      known.anchor.certificate.der == anchor.certificate.der
    {
      return known
    }
    guard isShipped(certificate) || signatures.check(certificate.isSigned(by: anchor.key)) else {
      return nil
    }
    let proven = ProvenIntermediate(shaped, anchor, source)
    cache.intermediates.remember(certificate.der[...], proven)
    return proven
  }

  /// The same under the first of these roots that it holds for, of few (CER-10).
  func intermediate(
    _ shaped: ShapedCertificate, under anchors: [Anchor], _ source: ProvenIntermediate.Source,
    _ signatures: inout SignatureChecks
  ) -> ProvenIntermediate? {
    for anchor in anchors where signatures.mayGoOn {
      if let proven = intermediate(shaped, under: anchor, source, &signatures) { return proven }
    }
    return nil
  }

  /// JWS-35: Apple's G6 under Apple's root was proven by a test.
  private func isShipped(_ certificate: Certificate) -> Bool {
    anchors.kind == .storekit && anchors.areBuiltIn
      && Digest.sha256.of(certificate.der) == AppleRoots.developerRelationsG6
  }
}
