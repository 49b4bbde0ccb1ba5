/// The anchors of receipts, and the intermediates that receipts need not contain. Immutable apart
/// from the cache.
struct ReceiptRoots: Sendable {
  let trust: ChainTrust
  /// Configured intermediates and, under configured anchors, the shipped intermediates that one
  /// of these anchors signed.
  private let own: [ProvenIntermediate]
  /// Shipped intermediates that no configured anchor signed, which remain candidates by name
  /// (PTH-2) but lead to no root.
  private let foreign: [Certificate]

  /// Adds the configured intermediates to the shipped ones. Under configured anchors a shipped
  /// one counts only if one of them signed it.
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

  /// The shipped and configured intermediates, each proven under an anchor.
  var intermediates: [ProvenIntermediate] {
    trust.anchors.areBuiltIn ? ShippedIntermediates.proven + own : own
  }

  /// Returns `certificate` as an intermediate of one of `profiles`; `nil` if no anchor signed it.
  @inline(never)
  static func proven(
    _ certificate: Certificate, under anchors: AnchorSet, _ source: ProvenIntermediate.Source,
    as profiles: [ChainProfile] = [.receipt, .storeReceipt]
  ) -> ProvenIntermediate? {
    let trust = ChainTrust(anchors, ChainCache(capacity: 0))
    for profile in profiles {
      var budget = SignatureBudget()
      if let anchors = try? anchors.anchors(),
        let profiled = try? profile.certificates.intermediate.profiled(certificate, at: ""),
        let proven = trust.intermediate(
          profiled, under: Anchor.likely(anchors, of: certificate), source, &budget)
      {
        return proven
      }
    }
    return nil
  }

  // MARK: paths

  /// Returns the cached proof of a leaf, if every certificate in the receipt is the leaf, an
  /// anchor or a proven intermediate, so that none needs verification (PTH-13). `nil` otherwise.
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
    // A cached intermediate from another receipt counts only if this one contains it too.
    let usable = chain.intermediates.filter {
      $0.source != .embedded || bag.contains($0.certificate.der)
    }
    return usable.isEmpty ? nil : ProvenPath(chain, usable, isCached: true)
  }

  /// Opens the path of a leaf, with every certificate whose subject is its issuer as a candidate
  /// (PTH-2, PTH-4).
  ///
  /// - Parameter bag: The certificates in the receipt. Copies of the leaf and of anchors are
  ///   skipped.
  func open(
    _ profile: ChainProfile, leaf der: [UInt8], embedded bag: [[UInt8]]
  ) throws(Refusal) -> CandidatePath {
    let anchors = try trust.anchors.anchors()
    var path = CandidatePath(profile, leaf: try profile.embedded(der, at: profile.locations.leaf))
    let place = profile.locations.intermediate
    for known in intermediates { path.addCandidate(known.certificate, at: place, proven: known) }
    for other in foreign { path.addCandidate(other, at: place) }
    for (index, other) in bag.enumerated()
    where other != der && !anchors.contains(where: { $0.certificate.der == other }) {
      let place = "certificates[" + String(index) + "]"
      path.addCandidate(try profile.embedded(other, at: place), at: place)
    }
    try path.requireCandidate("PTH-2")
    return path
  }

  /// Verifies the signatures of leaf and intermediates (PTH-5). Only a proven chain is cached
  /// (PTH-13).
  func prove(
    _ path: ProfiledPath, _ budget: inout SignatureBudget
  ) throws(Refusal) -> ProvenPath {
    let proven = try path.proven(trust, &budget)
    trust.cache.chains.remember(proven.chain.leaf.der[...], proven.chain)
    return proven
  }

  // MARK: reports and self-test

  /// Writes the certificates' members of the effective configuration.
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

  /// Requires libcrypto to verify SHA-1 signatures and the built-in table to be intact, before
  /// any receipt is verified (PTH-12). A libcrypto that forbids SHA-1 would otherwise report
  /// genuine receipts as forged. Configured anchors do not change that.
  func checkReadiness() throws(Refusal) {
    _ = try AnchorSet(.receipts, []).anchors()
    try require(
      !trust.anchors.areBuiltIn || !ShippedIntermediates.proven.isEmpty,
      .internalCertificatesTable, "CER-6", at: "receipts")
  }
}

/// Apple's intermediates for receipts, decoded and verified once in a process.
private enum ShippedIntermediates {
  /// All shipped intermediates, whether or not an anchor signed them.
  static let certificates = AppleRoots.receiptIntermediates.compactMap { Certificate($0.der) }

  /// The intermediates, proven under Apple's root; none if one of them fails.
  static let proven: [ProvenIntermediate] = {
    let found = certificates.compactMap {
      ReceiptRoots.proven($0, under: AnchorSet(.receipts, []), .shipped)
    }
    return found.count == certificates.count ? found : []
  }()
}
