/// An intermediate certificate that may have issued the leaf.
struct IssuerCandidate<Stage: Sendable>: Sendable {
  let certificate: Stage
  let location: String
  /// The proof made for this certificate earlier; `nil` if there is none yet.
  let proven: ProvenIntermediate?
}

/// A certification path before any check: a leaf, candidate intermediates and, by profile, a
/// pinned root.
///
/// Verification moves a path through four types: `CandidatePath` (decoded), `ProfiledPath` (each
/// certificate conforms to its profile), `ProvenPath` (signatures verified up to a pinned root)
/// and `ValidPath` (valid at the evidence's date). Each stage is created only by the checks of
/// the previous one; the first two share this file so that their initializers stay private.
struct CandidatePath: Sendable {
  private let profile: ChainProfile
  private let leaf: Certificate
  private var candidates: [IssuerCandidate<Certificate>] = []

  /// Creates a path for evidence that carries its certificates in an unordered set, as CMS does.
  /// Pass the candidates to `addCandidate`.
  init(_ profile: ChainProfile, leaf: Certificate) {
    self.profile = profile
    self.leaf = leaf
  }

  /// Creates a path for evidence that carries its certificates in a fixed order, as `x5c` does
  /// (JWS-21, JWS-32).
  init(_ profile: ChainProfile, leaf: [UInt8], intermediate: [UInt8]) throws(Refusal) {
    let locations = profile.locations
    self.init(profile, leaf: try profile.certificate(leaf, at: locations.leaf))
    let certificate = try profile.certificate(intermediate, at: locations.intermediate)
    candidates = [
      IssuerCandidate(certificate: certificate, location: locations.intermediate, proven: nil)
    ]
  }

  /// Adds `certificate` as a candidate if its subject is the leaf's issuer and no candidate has
  /// the same bytes. A matching name selects a candidate; it proves nothing (PTH-2).
  @inline(never)
  mutating func addCandidate(
    _ certificate: Certificate, at location: String, proven: ProvenIntermediate? = nil
  ) {
    guard certificate.bytes(certificate.subject) == leaf.bytes(leaf.issuer),
      !candidates.contains(where: { $0.certificate.der == certificate.der })
    else { return }
    candidates.append(IssuerCandidate(certificate: certificate, location: location, proven: proven))
  }

  /// Requires at least one candidate.
  ///
  /// - Throws: `rejected.chain.issuer-unknown`, citing `rule`.
  func requireCandidate(_ rule: StaticString) throws(Refusal) {
    try require(
      !candidates.isEmpty, .rejectedChainIssuerUnknown, rule, at: profile.locations.leaf,
      detail: IssuerName.describe(leaf), hint: .testAuthority(leaf.der))
  }

  /// Checks the leaf and the candidates against their profiles, and that their public keys are
  /// points on their curves (JWS-25). At least one candidate must conform.
  func profiled() throws(Refusal) -> ProfiledPath {
    let profiles = profile.certificates
    let profiled = try profiles.leaf.profiled(leaf, at: profile.locations.leaf)
    var refusals = RefusalRanking(profile)
    var conforming: [IssuerCandidate<ProfiledCertificate>] = []
    for candidate in candidates {
      let (location, proven) = (candidate.location, candidate.proven)
      do throws(Refusal) {
        let profiled = try profiles.intermediate.profiled(
          candidate.certificate, at: location, key: proven?.key)
        conforming.append(
          IssuerCandidate(certificate: profiled, location: location, proven: proven))
      } catch {
        refusals.add(error)
      }
    }
    if conforming.isEmpty { throw refusals.refusal }
    // Drops candidates whose key identifier, serial number or validity rules them out (CER-10).
    // If that drops all, keeps all: the signature checks then report the fault.
    let plausible = conforming.filter { $0.certificate.certificate.mayHaveIssued(leaf) }
    return ProfiledPath(
      profile: profile, leaf: profiled, candidates: plausible.isEmpty ? conforming : plausible)
  }
}

/// A path whose certificates conform to their profiles. No signature has been verified.
struct ProfiledPath: Sendable {
  fileprivate let profile: ChainProfile
  fileprivate let leaf: ProfiledCertificate
  fileprivate let candidates: [IssuerCandidate<ProfiledCertificate>]

  /// How the root of an intermediate is found.
  enum Root: Sendable {
    /// The evidence carries the root; its bytes select the pinned anchor.
    case pinned(Anchor)
    /// The intermediate's issuer name selects anchors; its signature decides.
    case searched
  }

  /// Verifies each candidate under its root, by issuer name and signature. Only the leaf remains
  /// to be verified.
  func withProvenIntermediates(
    _ root: Root, _ trust: ChainTrust, _ budget: inout SignatureBudget
  ) throws(Refusal) -> ProfiledPath {
    var provenCandidates: [IssuerCandidate<ProfiledCertificate>] = []
    for candidate in candidates {
      let proven = try proveIntermediate(candidate, root, trust, &budget)
      provenCandidates.append(
        IssuerCandidate(
          certificate: candidate.certificate, location: candidate.location, proven: proven))
    }
    return ProfiledPath(profile: profile, leaf: leaf, candidates: provenCandidates)
  }

  /// Verifies `candidate` under the pinned anchor (JWS-30, JWS-31) or under the first anchor,
  /// within the budget of signature checks, whose key signed it (JWS-20, ATT-30, CER-10).
  private func proveIntermediate(
    _ candidate: IssuerCandidate<ProfiledCertificate>, _ root: Root, _ trust: ChainTrust,
    _ budget: inout SignatureBudget
  ) throws(Refusal) -> ProvenIntermediate {
    let (certificate, location) = (candidate.certificate.certificate, candidate.location)
    var anchors: [Anchor]
    var refusal = Refusal(
      .rejectedChainSignatureIntermediate, profile.rules.signature, at: location)
    switch root {
    case .pinned(let anchor):
      try certificate.checkIssuerName(anchor.certificate, at: location)
      anchors = [anchor]
    case .searched:
      anchors = Anchor.likely(try trust.anchors.anchors(), of: certificate)
      let isAttestation = profile == .attestation
      // An attestation is checked against all anchors if no name matches: its signature is
      // verified before its name (ATT-30).
      if anchors.isEmpty, isAttestation { anchors = try trust.anchors.anchors() }
      refusal = Refusal(
        .rejectedChainUntrustedRoot, profile.rules.root,
        at: isAttestation ? location : profile.locations.root, hint: .testAuthority(certificate.der)
      )
    }
    for anchor in anchors {
      try require(
        budget.isAvailable, .rejectedChainIssuerUnknown, "CER-10", at: location,
        detail: IssuerName.describe(certificate))
      if let proven = trust.intermediate(
        candidate.certificate, under: anchor, .fixedPosition, &budget)
      {
        try certificate.checkIssuerName(anchor.certificate, at: location)
        return proven
      }
    }
    throw refusal
  }

  /// Verifies signatures from the leaf up to a pinned root.
  ///
  /// Returns the first candidate that verifies within the budget of signature checks (CER-10).
  /// Apple has reissued receipt intermediates under the same name and key; such candidates are
  /// all returned, and the evidence's date selects one later (PTH-3).
  func proven(
    _ trust: ChainTrust, _ budget: inout SignatureBudget
  ) throws(Refusal) -> ProvenPath {
    var refusals = RefusalRanking(profile)
    var checkedKeys = CheckedKeys()
    var proven: [ProvenIntermediate] = []
    for candidate in candidates {
      if !proven.isEmpty {
        guard profile.hasReissuedIntermediates else { break }
        if let reissue = try proveReissue(candidate, of: proven, trust, &budget) {
          proven.append(reissue)
        }
        continue
      }
      try require(
        budget.isAvailable, .rejectedChainIssuerUnknown, "CER-10", at: profile.locations.leaf,
        detail: IssuerName.describe(leaf.certificate))
      do throws(Refusal) {
        proven.append(try proveIssuer(candidate, trust, &checkedKeys, &budget))
      } catch {
        refusals.add(error)
      }
    }
    if proven.isEmpty { throw refusals.refusal }
    return ProvenPath(ProvenChain(profile, leaf, proven), proven, isCached: false)
  }

  /// Verifies that `candidate` signed the leaf and that a root signed `candidate`. Checks names
  /// first, then the leaf's signature, then the root's, which costs most.
  private func proveIssuer(
    _ candidate: IssuerCandidate<ProfiledCertificate>, _ trust: ChainTrust,
    _ checkedKeys: inout CheckedKeys,
    _ budget: inout SignatureBudget
  ) throws(Refusal) -> ProvenIntermediate {
    let issuer = candidate.certificate
    if let proven = candidate.proven {
      try leaf.certificate.checkIssuerName(issuer.certificate, at: profile.locations.leaf)
      try checkLeafSignature(issuer, &checkedKeys, &budget)
      return proven
    }
    let anchors = Anchor.likely(try trust.anchors.anchors(), of: issuer.certificate)
    try require(
      !anchors.isEmpty, .rejectedChainUntrustedRoot, profile.rules.root, at: candidate.location,
      hint: .testAuthority(issuer.certificate.der))
    try checkLeafSignature(issuer, &checkedKeys, &budget)
    guard let proven = trust.intermediate(issuer, under: anchors, source, &budget) else {
      // The leaf's signature was valid, but belongs to no path: it counts as wasted.
      budget.addWasted(1)
      throw Refusal(
        .rejectedChainSignatureIntermediate, profile.rules.signature, at: candidate.location)
    }
    return proven
  }

  /// Verifies `candidate` under a root if it has the public key of an already proven
  /// intermediate, and so signed the leaf too. Returns `nil` if it has another key, if no root
  /// signed it, or if the budget allows no further check.
  private func proveReissue(
    _ candidate: IssuerCandidate<ProfiledCertificate>, of proven: [ProvenIntermediate],
    _ trust: ChainTrust, _ budget: inout SignatureBudget
  ) throws(Refusal) -> ProvenIntermediate? {
    let issuer = candidate.certificate
    guard proven.contains(where: { $0.certificate.keyBytes == issuer.certificate.keyBytes })
    else { return nil }
    if let proven = candidate.proven { return proven }
    let anchors = Anchor.likely(try trust.anchors.anchors(), of: issuer.certificate)
    guard budget.allowsOptionalCheck,
      let reissue = trust.intermediate(issuer, under: anchors, source, &budget)
    else { return nil }
    budget.addWasted(1)
    return reissue
  }

  /// Verifies that the key of `issuer` signed the leaf. Verifies each distinct key only once if
  /// the profile has reissued intermediates.
  private func checkLeafSignature(
    _ issuer: ProfiledCertificate, _ checkedKeys: inout CheckedKeys, _ budget: inout SignatureBudget
  ) throws(Refusal) {
    let key = issuer.certificate.keyBytes
    let earlier =
      profile.hasReissuedIntermediates ? checkedKeys.first { $0.key == key }?.hasSigned : nil
    let hasSigned = earlier ?? budget.check(leaf.certificate.isSigned(by: issuer.key))
    if earlier == nil { checkedKeys.append((key, hasSigned)) }
    try require(
      hasSigned, .rejectedChainSignatureLeaf, profile.rules.signature, at: profile.locations.leaf)
  }

  /// The reported source of an intermediate. Only that of a receipt may come from outside the
  /// evidence (PTH-14).
  private var source: ProvenIntermediate.Source {
    profile.hasReissuedIntermediates ? .embedded : .fixedPosition
  }

  /// Public keys already checked against the leaf's signature, with the result.
  private typealias CheckedKeys = [(key: ArraySlice<UInt8>, hasSigned: Bool)]
}

extension Certificate {
  /// Requires a non-empty issuer name that equals the subject of `certificate` (JWS-30).
  fileprivate func checkIssuerName(_ certificate: Certificate, at location: String) throws(Refusal)
  {
    let name = bytes(issuer)
    // An empty name is encoded in two bytes, 30 00.
    try require(
      name.count > 2 && name == certificate.bytes(certificate.subject), .rejectedChainNames,
      "JWS-30", at: location)
  }
}
