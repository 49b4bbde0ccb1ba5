/// The pinned roots of receipts, and the intermediates that receipts do not carry.
/// Immutable apart from the cache.
final class ReceiptRoots: Sendable {
  /// Own roots; empty: Apple's, compiled in.
  private let ownAnchors: [Anchor]
  private let ownIntermediates: [ProvenIntermediate]
  /// PTH-2: shipped certificates that no own root signed. They are candidates by
  /// their name, and none can lead to a root.
  private let foreignIntermediates: [Certificate]
  let cache: ChainCache

  private init(
    _ ownAnchors: [Anchor], _ ownIntermediates: [ProvenIntermediate], _ foreign: [Certificate],
    _ cache: ChainCache
  ) {
    foreignIntermediates = foreign
    self.ownAnchors = ownAnchors
    self.ownIntermediates = ownIntermediates
    self.cache = cache
  }

  /// Apple's certificates, or the configured roots in their place (CER-2), and
  /// the configured intermediates beside the shipped ones.
  ///
  /// CER-6: a damaged table is found here, by the fingerprints; its signatures
  /// are proven when the first receipt asks for them, and by a test.
  ///
  /// - Parameters:
  ///   - own: the configured roots; empty: Apple's.
  ///   - extra: the configured intermediates.
  static func make(
    _ own: [Anchor], _ extra: [Certificate], _ cache: ChainCache
  ) throws(Refusal) -> ReceiptRoots {
    if own.isEmpty {
      try require(
        AppleRoots.receiptTableIsIntact, .internalCertificatesTable, "CER-6", at: "receipts")
    }
    // Shipped ones count under own roots too, where one of these signed them.
    var intermediates: [ProvenIntermediate] = []
    var foreign: [Certificate] = []
    for certificate in own.isEmpty ? [] : AppleReceipts.certificates {
      if let intermediate = proven(certificate, under: own, .shipped) {
        intermediates.append(intermediate)
      } else {
        foreign.append(certificate)
      }
    }
    for (index, certificate) in extra.enumerated() {
      // CER-6: each must be signed by an accepted root and have its purpose.
      let anchors = own.isEmpty ? AppleReceipts.anchors : own
      guard let intermediate = proven(certificate, under: anchors, .configured) else {
        throw Refusal(
          .configCertificatesIntermediate, "CER-6",
          at: "receipts.intermediates[" + String(index) + "]")
      }
      intermediates.append(intermediate)
    }
    return ReceiptRoots(own, intermediates, foreign, cache)
  }

  /// Whether the anchors are Apple's own, compiled in.
  private var areBuiltIn: Bool { ownAnchors.isEmpty }

  var anchors: [Anchor] { areBuiltIn ? AppleReceipts.anchors : ownAnchors }

  /// Shipped and configured ones, each proven under an anchor. Shipped ones lead
  /// to Apple's root alone.
  var intermediates: [ProvenIntermediate] {
    guard areBuiltIn else { return ownIntermediates }
    let shipped = AppleReceipts.intermediates
    return ownIntermediates.isEmpty ? shipped : shipped + ownIntermediates
  }

  /// An intermediate of either line, when an anchor signed it.
  @inline(never)
  static func proven(
    _ certificate: Certificate, under anchors: [Anchor], _ source: ProvenIntermediate.Source,
    as profiles: [ChainProfile] = [.app, .transactionV2]
  ) -> ProvenIntermediate? {
    let candidate = IssuerCandidate(certificate: certificate, place: "", known: nil)
    for profile in profiles {
      var signatures = SignatureChecks()
      guard (try? profile.intermediate.check(certificate, at: "")) != nil,
        let issued = try? IssuedCandidate(candidate, anchors, profile),
        let proven = issued.proven(BytesCache<ProvenIntermediate>(capacity: 0), source, &signatures)
      else { continue }
      return proven
    }
    return nil
  }

  // MARK: paths

  /// PTH-2, PTH-4: the leaf, and every certificate with the name of its issuer. `bag`:
  /// that of the receipt; copies of the leaf and of a root in it are passed over.
  func open(
    _ profile: ChainProfile, leaf der: [UInt8], embedded bag: [[UInt8]]
  ) throws(Refusal) -> PathStage<CandidatePath> {
    try checkReadiness()
    if let known = cached(profile, der, bag) { return .proven(known) }
    var path = CandidatePath(profile, leaf: try profile.embedded(der, at: "leaf"))
    for known in intermediates {
      path.add(known.certificate, at: "intermediate", known: known)
    }
    for other in foreignIntermediates { path.add(other, at: "intermediate") }
    for (index, other) in bag.enumerated() where other != der && !isRoot(other) {
      let place = "certificates[" + String(index) + "]"
      path.add(try profile.embedded(other, at: place), at: place)
    }
    try path.checkIssuer()
    return .next(path)
  }

  /// PTH-5: signatures of the leaf and of the intermediates. Only what passes is
  /// remembered (PTH-13).
  func prove(
    _ path: ShapedPath, _ signatures: inout SignatureChecks
  ) throws(Refusal) -> ProvenPath {
    let proven = try path.proven(under: anchors, cache.intermediates, .embedded, &signatures)
    cache.chains.remember(proven.chain.leaf.der[...], proven.chain)
    return proven
  }

  /// PTH-13: the leaf of this line, where nothing in the bag needs to be looked at:
  /// every certificate is the leaf, a root, or a known intermediate.
  private func cached(_ profile: ChainProfile, _ der: [UInt8], _ bag: [[UInt8]]) -> ProvenPath? {
    guard let chain = cache.chains.find(der[...]),
      (chain.profile == .transactionV2) == (profile == .transactionV2),
      bag.allSatisfy({ other in
        other == der || chain.intermediates.contains { $0.certificate.der == other }
          || isRoot(other)
      })
    else { return nil }
    // A remembered one counts only where this receipt could have led to it.
    let usable = chain.intermediates.filter {
      $0.source != .embedded || bag.contains($0.certificate.der)
    }
    if usable.isEmpty { return nil }
    return ProvenPath(chain, usable, isCached: true)
  }

  private func isRoot(_ der: [UInt8]) -> Bool {
    anchors.contains { $0.certificate.der == der }
  }

  /// APR-21: the pinned certificate of Xcode, with no other path rule.
  static func xcode(certificate der: [UInt8], isPinned: Bool) throws(Refusal) -> ProvenPath {
    try require(isPinned, .rejectedChainUnpinned, "APR-21", at: "leaf")
    let leaf = try ChainProfile.app.embedded(der, at: "leaf")
    guard let key = leaf.publicKey(), case .rsa = key.type else {
      throw Refusal(.rejectedChainKey, "APR-21", at: "leaf")
    }
    let chain = ProvenChain(.xcode, ShapedCertificate(certificate: leaf, key: key), [])
    return ProvenPath(chain, [], isCached: false)
  }

  // MARK: what is reported, and when

  /// Names of certificates for the effective configuration.
  func writeCertificates(_ writer: inout JSONWriter) {
    writer.name("anchors")
    writer.beginObject()
    writer.member("source", areBuiltIn ? "built-in" : "configured")
    writer.name("sha256")
    writer.beginArray()
    if areBuiltIn { writer.string(AppleRoots.receiptRoot.sha256) }
    for anchor in ownAnchors { writer.string(anchor.certificate.fingerprint) }
    writer.endArray()
    writer.endObject()
    writer.name("intermediates")
    writer.beginArray()
    if areBuiltIn {
      for shipped in AppleRoots.receiptIntermediates {
        writer.beginObject()
        writer.member("sha256", shipped.sha256)
        writer.member("source", ProvenIntermediate.Source.shipped.name)
        writer.endObject()
      }
    }
    for intermediate in ownIntermediates {
      writer.beginObject()
      writer.member("sha256", intermediate.certificate.fingerprint)
      writer.member("source", intermediate.source.name)
      writer.endObject()
    }
    writer.endArray()
  }

  /// PTH-12: asked before the first receipt is judged. A libcrypto that forbids
  /// SHA-1 signatures must not make genuine receipts look forged.
  func checkReadiness() throws(Refusal) {
    try require(
      AppleReceipts.root != nil, .internalCryptoSha1Disabled, "PTH-12", at: "libcrypto")
    try require(
      !areBuiltIn || !AppleReceipts.intermediates.isEmpty, .internalCertificatesTable, "CER-6",
      at: "receipts")
  }
}

/// Apple's certificates for receipts, parsed and proven once in a process.
private enum AppleReceipts {
  /// Apple Root CA signed itself with SHA-1: the known answer (PTH-12). nil: libcrypto
  /// forbids that.
  static let root = Anchor(AppleRoots.rootCA, .rsa)

  static var anchors: [Anchor] {
    guard let root else { return [] }
    return [root]
  }

  /// Shipped intermediates, whoever signed them.
  static let certificates = AppleRoots.receiptIntermediates.compactMap { Certificate($0.der) }

  /// The same under Apple's root; none when one of them is not proven.
  static let intermediates = proven()

  private static func proven() -> [ProvenIntermediate] {
    var found: [ProvenIntermediate] = []
    for certificate in certificates {
      guard let one = ReceiptRoots.proven(certificate, under: anchors, .shipped) else { return [] }
      found.append(one)
    }
    return found
  }
}
