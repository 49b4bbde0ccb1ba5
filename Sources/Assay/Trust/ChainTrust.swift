/// The anchors of one kind of evidence, and the cache of what was proven under them.
struct ChainTrust: Sendable {
  let anchors: AnchorSet
  let cache: ChainCache

  init(_ anchors: AnchorSet, _ cache: ChainCache) {
    self.anchors = anchors
    self.cache = cache
  }

  /// Returns the proof, made now or earlier, that the key of `anchor` signed a certificate
  /// (ATT-36, PTH-13); `nil` if that key did not sign. All proofs in the cache have the same
  /// anchors, so the result does not depend on earlier calls.
  func intermediate(
    _ profiled: ProfiledCertificate, under anchor: Anchor, _ source: ProvenIntermediate.Source,
    _ budget: inout SignatureBudget
  ) -> ProvenIntermediate? {
    let certificate = profiled.certificate
    if let known = cache.intermediates.find(certificate.der[...]),
      known.anchor.certificate.der == anchor.certificate.der
    {
      return known
    }
    guard isShipped(certificate) || budget.check(certificate.isSigned(by: anchor.key)) else {
      return nil
    }
    let proven = ProvenIntermediate(profiled, anchor, source)
    cache.intermediates.remember(certificate.der[...], proven)
    return proven
  }

  /// Returns the proof under the first of `anchors` whose key signed a certificate, within the
  /// budget of signature checks (CER-10); `nil` if there is none.
  func intermediate(
    _ profiled: ProfiledCertificate, under anchors: [Anchor], _ source: ProvenIntermediate.Source,
    _ budget: inout SignatureBudget
  ) -> ProvenIntermediate? {
    for anchor in anchors where budget.isAvailable {
      if let proven = intermediate(profiled, under: anchor, source, &budget) { return proven }
    }
    return nil
  }

  /// Whether the certificate is Apple's G6 under Apple's root, whose signature a test verifies
  /// (JWS-35).
  private func isShipped(_ certificate: Certificate) -> Bool {
    anchors.kind == .storekit && anchors.areBuiltIn
      && Digest.sha256.of(certificate.der) == AppleRoots.developerRelationsG6
  }
}
