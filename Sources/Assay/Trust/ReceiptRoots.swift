/// What receipts are proven under, and the intermediates that they do not carry.
/// Immutable apart from the cache.
struct ReceiptRoots: Sendable {
  let trust: ChainTrust
  /// Configured intermediates, and under own roots the shipped ones that one of these
  /// signed.
  private let own: [ProvenIntermediate]
  /// PTH-2: shipped certificates that no own root signed. They are candidates by
  /// their name, and none can lead to a root.
  private let foreign: [Certificate]

  /// The configured intermediates count beside the shipped ones, and these under own
  /// roots too, where one of them signed them.
  ///
  /// - Throws: `internal.certificates.table`: a damaged table is found here, by the
  ///   fingerprints; its signatures are proven when the first receipt asks for them, and by
  ///   a test. `config.certificates.intermediate`: each must be signed by an accepted root
  ///   and have its purpose (CER-6).
  init(
    _ anchors: AnchorSet, _ configured: [Certificate], _ cache: ChainCache
  ) throws(Refusal) {
    if anchors.areBuiltIn {
      try require(
        AppleRoots.receiptTableIsIntact, .internalCertificatesTable, "CER-6", at: "receipts")
    }
    var own: [ProvenIntermediate] = []
    var foreign: [Certificate] = []
    for certificate in anchors.areBuiltIn ? [] : ShippedIntermediates.certificates {
      if let intermediate = ReceiptRoots.proven(certificate, under: anchors, .shipped) {
        own.append(intermediate)
      } else {
        foreign.append(certificate)
      }
    }
    for (index, certificate) in configured.enumerated() {
      guard let intermediate = ReceiptRoots.proven(certificate, under: anchors, .configured) else {
        throw Refusal(
          .configCertificatesIntermediate, "CER-6",
          at: "receipts.intermediates[" + String(index) + "]")
      }
      own.append(intermediate)
    }
    trust = ChainTrust(anchors, cache)
    self.own = own
    self.foreign = foreign
  }

  /// Shipped and configured ones, each proven under an anchor. Shipped ones lead
  /// to Apple's root alone.
  var intermediates: [ProvenIntermediate] {
    trust.anchors.areBuiltIn ? ShippedIntermediates.proven + own : own
  }

  /// An intermediate of either line, when an anchor signed it.
  @inline(never)
  static func proven(
    _ certificate: Certificate, under anchors: AnchorSet, _ source: ProvenIntermediate.Source,
    as profiles: [ChainProfile] = [.receipt, .storeReceipt]
  ) -> ProvenIntermediate? {
    let trust = ChainTrust(anchors, ChainCache(capacity: 0))
    for profile in profiles {
      var signatures = SignatureChecks()
      if let anchors = try? anchors.anchors(),
        let shaped = try? profile.certificates.intermediate.shaped(certificate, at: ""),
        let proven = trust.intermediate(
          shaped, under: Anchor.likely(anchors, of: certificate), source, &signatures)
      {
        return proven
      }
    }
    return nil
  }

  // MARK: paths

  /// PTH-13: what is known of the leaf of this line, where nothing in the bag needs to be
  /// looked at: every certificate is the leaf, a root, or a known intermediate.
  func known(
    _ profile: ChainProfile, leaf der: [UInt8], embedded bag: [[UInt8]]
  ) throws(Refusal) -> ProvenPath? {
    try checkReadiness()
    let anchors = try trust.anchors.anchors()
    guard let chain = trust.cache.chains.find(der[...]), chain.profile == profile,
      bag.allSatisfy({ other in
        other == der || chain.intermediates.contains { $0.certificate.der == other }
          || anchors.contains { $0.certificate.der == other }
      })
    else { return nil }
    // A remembered one counts only where this receipt could have led to it.
    let usable = chain.intermediates.filter {
      $0.source != .embedded || bag.contains($0.certificate.der)
    }
    return usable.isEmpty ? nil : ProvenPath(chain, usable, isCached: true)
  }

  /// PTH-2, PTH-4: the leaf, and every certificate whose name its issuer is. `bag`:
  /// that of the receipt; copies of the leaf and of a root in it are passed over.
  func open(
    _ profile: ChainProfile, leaf der: [UInt8], embedded bag: [[UInt8]]
  ) throws(Refusal) -> CandidatePath {
    let anchors = try trust.anchors.anchors()
    var path = CandidatePath(profile, leaf: try profile.embedded(der, at: profile.places.leaf))
    let place = profile.places.intermediate
    for known in intermediates { path.add(known.certificate, at: place, known: known) }
    for other in foreign { path.add(other, at: place) }
    for (index, other) in bag.enumerated()
    where other != der && !anchors.contains(where: { $0.certificate.der == other }) {
      let place = "certificates[" + String(index) + "]"
      path.add(try profile.embedded(other, at: place), at: place)
    }
    try path.checkIssuer("PTH-2")
    return path
  }

  /// PTH-5: signatures of the leaf and of the intermediates. Only what passes is
  /// remembered (PTH-13).
  func prove(
    _ path: ShapedPath, _ signatures: inout SignatureChecks
  ) throws(Refusal) -> ProvenPath {
    let proven = try path.proven(trust, &signatures)
    trust.cache.chains.remember(proven.chain.leaf.der[...], proven.chain)
    return proven
  }

  // MARK: what is told, and when

  /// Names of certificates for the effective configuration.
  func writeCertificates(_ writer: inout JSONWriter) {
    trust.anchors.write("anchors", &writer)
    writer.name("intermediates")
    writer.beginArray()
    for shipped in trust.anchors.areBuiltIn ? AppleRoots.receiptIntermediates : [] {
      writer.beginObject()
      writer.member("sha256", shipped.sha256)
      writer.member("source", ProvenIntermediate.Source.shipped.name)
      writer.endObject()
    }
    for intermediate in own {
      writer.beginObject()
      writer.member("sha256", intermediate.certificate.fingerprint)
      writer.member("source", intermediate.source.name)
      writer.endObject()
    }
    writer.endArray()
  }

  /// PTH-12: asked before the first receipt is judged, under own roots, too. A libcrypto
  /// that forbids SHA-1 signatures must not make forgeries of genuine receipts.
  func checkReadiness() throws(Refusal) {
    _ = try AnchorSet(.receipts, []).anchors()
    try require(
      !trust.anchors.areBuiltIn || !ShippedIntermediates.proven.isEmpty,
      .internalCertificatesTable, "CER-6", at: "receipts")
  }
}

/// Apple's intermediates for receipts, parsed and proven once in a process.
private enum ShippedIntermediates {
  /// Whoever signed them.
  static let certificates = AppleRoots.receiptIntermediates.compactMap { Certificate($0.der) }

  /// Under Apple's root; none when one of them is not proven.
  static let proven: [ProvenIntermediate] = {
    let found = certificates.compactMap {
      ReceiptRoots.proven($0, under: AnchorSet(.receipts, []), .shipped)
    }
    return found.count == certificates.count ? found : []
  }()
}
