/// An intermediate certificate that may have issued the leaf.
struct IssuerCandidate<Stage: Sendable>: Sendable {
  let certificate: Stage
  let place: String
  /// The proof made for this certificate earlier; `nil` if there is none yet.
  let known: ProvenIntermediate?
}

/// A certification path before any check: a leaf, candidate intermediates and, by profile, a
/// pinned root.
///
/// Verification moves a path through four types: `CandidatePath` (decoded), `ShapedPath` (each
/// certificate conforms to its profile), `ProvenPath` (signatures verified up to a pinned root)
/// and `JudgedPath` (valid at the evidence's date). Each stage is created only by the checks of
/// the previous one; the first two share this file so that their initializers stay private.
struct CandidatePath: Sendable {
  private let profile: ChainProfile
  private let leaf: Certificate
  private var candidates: [IssuerCandidate<Certificate>] = []

  /// Creates a path for evidence that carries its certificates in an unordered set, as CMS does.
  /// Pass the candidates to `add`.
  init(_ profile: ChainProfile, leaf: Certificate) {
    self.profile = profile
    self.leaf = leaf
  }

  /// Creates a path for evidence that carries its certificates in a fixed order, as `x5c` does
  /// (JWS-21, JWS-32).
  init(_ profile: ChainProfile, leaf: [UInt8], intermediate: [UInt8]) throws(Refusal) {
    let places = profile.places
    self.init(profile, leaf: try profile.certificate(leaf, at: places.leaf))
    let certificate = try profile.certificate(intermediate, at: places.intermediate)
    candidates = [IssuerCandidate(certificate: certificate, place: places.intermediate, known: nil)]
  }

  /// Adds `certificate` as a candidate if its subject is the leaf's issuer and no candidate has
  /// the same bytes. A matching name selects a candidate; it proves nothing (PTH-2).
  @inline(never)
  mutating func add(
    _ certificate: Certificate, at place: String, known: ProvenIntermediate? = nil
  ) {
    guard certificate.bytes(certificate.subject) == leaf.bytes(leaf.issuer),
      !candidates.contains(where: { $0.certificate.der == certificate.der })
    else { return }
    candidates.append(IssuerCandidate(certificate: certificate, place: place, known: known))
  }

  /// Requires at least one candidate.
  ///
  /// - Throws: `rejected.chain.issuer-unknown`, when nobody of that name was added.
  func checkIssuer(_ rule: StaticString) throws(Refusal) {
    try require(
      !candidates.isEmpty, .rejectedChainIssuerUnknown, rule, at: profile.places.leaf,
      detail: IssuerName.describe(leaf), hint: .testAuthority(leaf.der))
  }

  /// Checks the leaf and the candidates against their profiles, and that their public keys are
  /// points on their curves (JWS-25). At least one candidate must conform.
  func shaped() throws(Refusal) -> ShapedPath {
    let demanded = profile.certificates
    let shaped = try demanded.leaf.shaped(leaf, at: profile.places.leaf)
    var contest = Contest(profile)
    var passed: [IssuerCandidate<ShapedCertificate>] = []
    for candidate in candidates {
      let (place, known) = (candidate.place, candidate.known)
      do throws(Refusal) {
        let shaped = try demanded.intermediate.shaped(
          candidate.certificate, at: place, key: known?.key)
        passed.append(IssuerCandidate(certificate: shaped, place: place, known: known))
      } catch {
        contest.lose(error)
      }
    }
    if passed.isEmpty { throw contest.refusal }
    // Drops candidates whose key identifier, serial number or validity rules them out (CER-10).
    // If that drops all, keeps all: the signature checks then report the fault.
    let likely = passed.filter { $0.certificate.certificate.mayHaveIssued(leaf) }
    return ShapedPath(
      profile: profile, leaf: shaped, candidates: likely.isEmpty ? passed : likely)
  }
}

/// A path whose certificates conform to their profiles. No signature has been verified.
struct ShapedPath: Sendable {
  fileprivate let profile: ChainProfile
  fileprivate let leaf: ShapedCertificate
  fileprivate let candidates: [IssuerCandidate<ShapedCertificate>]

  /// How the root of an intermediate is found.
  enum Root: Sendable {
    /// The evidence carries the root; its bytes select the pinned anchor.
    case pinned(Anchor)
    /// The intermediate's issuer name selects anchors; its signature decides.
    case sought
  }

  /// Verifies each candidate under its root, by issuer name and signature. Only the leaf remains
  /// to be verified.
  func rooted(
    _ root: Root, _ trust: ChainTrust, _ signatures: inout SignatureChecks
  ) throws(Refusal) -> ShapedPath {
    var rooted: [IssuerCandidate<ShapedCertificate>] = []
    for each in candidates {
      let known = try intermediate(each, root, trust, &signatures)
      rooted.append(IssuerCandidate(certificate: each.certificate, place: each.place, known: known))
    }
    return ShapedPath(profile: profile, leaf: leaf, candidates: rooted)
  }

  /// Verifies `candidate` under the pinned anchor (JWS-30, JWS-31) or under the first anchor,
  /// within the budget of signature checks, whose key signed it (JWS-20, ATT-30, CER-10).
  private func intermediate(
    _ candidate: IssuerCandidate<ShapedCertificate>, _ root: Root, _ trust: ChainTrust,
    _ signatures: inout SignatureChecks
  ) throws(Refusal) -> ProvenIntermediate {
    let (certificate, place) = (candidate.certificate.certificate, candidate.place)
    var anchors: [Anchor]
    var refusal = Refusal(
      .rejectedChainSignatureIntermediate, profile.rules.signature, at: place)
    switch root {
    case .pinned(let anchor):
      try certificate.checkIssuer(anchor.certificate, at: place)
      anchors = [anchor]
    case .sought:
      anchors = Anchor.likely(try trust.anchors.anchors(), of: certificate)
      let isAttestation = profile == .attestation
      // An attestation is checked against all anchors if no name matches: its signature is
      // verified before its name (ATT-30).
      if anchors.isEmpty, isAttestation { anchors = try trust.anchors.anchors() }
      refusal = Refusal(
        .rejectedChainUntrustedRoot, profile.rules.root,
        at: isAttestation ? place : profile.places.root, hint: .testAuthority(certificate.der))
    }
    for anchor in anchors {
      try require(
        signatures.mayGoOn, .rejectedChainIssuerUnknown, "CER-10", at: place,
        detail: IssuerName.describe(certificate))
      if let proven = trust.intermediate(
        candidate.certificate, under: anchor, .inPlace, &signatures)
      {
        try certificate.checkIssuer(anchor.certificate, at: place)
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
    _ trust: ChainTrust, _ signatures: inout SignatureChecks
  ) throws(Refusal) -> ProvenPath {
    var contest = Contest(profile)
    var asked = AskedKeys()
    var proven: [ProvenIntermediate] = []
    for candidate in candidates {
      if !proven.isEmpty {
        guard profile.sharesKeys else { break }
        if let twin = try twin(candidate, of: proven, trust, &signatures) { proven.append(twin) }
        continue
      }
      try require(
        signatures.mayGoOn, .rejectedChainIssuerUnknown, "CER-10", at: profile.places.leaf,
        detail: IssuerName.describe(leaf.certificate))
      do throws(Refusal) {
        proven.append(try issuer(candidate, trust, &asked, &signatures))
      } catch {
        contest.lose(error)
      }
    }
    if proven.isEmpty { throw contest.refusal }
    return ProvenPath(ProvenChain(profile, leaf, proven), proven, isCached: false)
  }

  /// Verifies that `candidate` signed the leaf and that a root signed `candidate`. Checks names
  /// first, then the leaf's signature, then the root's, which costs most.
  private func issuer(
    _ candidate: IssuerCandidate<ShapedCertificate>, _ trust: ChainTrust, _ asked: inout AskedKeys,
    _ signatures: inout SignatureChecks
  ) throws(Refusal) -> ProvenIntermediate {
    let issuer = candidate.certificate
    if let known = candidate.known {
      try leaf.certificate.checkIssuer(issuer.certificate, at: profile.places.leaf)
      try checkLeaf(issuer, &asked, &signatures)
      return known
    }
    let anchors = Anchor.likely(try trust.anchors.anchors(), of: issuer.certificate)
    try require(
      !anchors.isEmpty, .rejectedChainUntrustedRoot, profile.rules.root, at: candidate.place,
      hint: .testAuthority(issuer.certificate.der))
    try checkLeaf(issuer, &asked, &signatures)
    guard let proven = trust.intermediate(issuer, under: anchors, source, &signatures) else {
      // The leaf's signature was valid, but belongs to no path: it counts as wasted.
      signatures.waste(1)
      throw Refusal(
        .rejectedChainSignatureIntermediate, profile.rules.signature, at: candidate.place)
    }
    return proven
  }

  /// Verifies `candidate` under a root if it has the public key of an already proven
  /// intermediate, and so signed the leaf too. Returns `nil` if it has another key, if no root
  /// signed it, or if the budget allows no further check.
  private func twin(
    _ candidate: IssuerCandidate<ShapedCertificate>, of proven: [ProvenIntermediate],
    _ trust: ChainTrust, _ signatures: inout SignatureChecks
  ) throws(Refusal) -> ProvenIntermediate? {
    let issuer = candidate.certificate
    guard proven.contains(where: { $0.certificate.keyBytes == issuer.certificate.keyBytes })
    else { return nil }
    if let known = candidate.known { return known }
    let anchors = Anchor.likely(try trust.anchors.anchors(), of: issuer.certificate)
    guard signatures.hasSpare,
      let twin = trust.intermediate(issuer, under: anchors, source, &signatures)
    else { return nil }
    signatures.waste(1)
    return twin
  }

  /// Verifies that the key of `issuer` signed the leaf. Verifies each distinct key only once if
  /// the profile has reissued intermediates.
  private func checkLeaf(
    _ issuer: ShapedCertificate, _ asked: inout AskedKeys, _ signatures: inout SignatureChecks
  ) throws(Refusal) {
    let key = issuer.certificate.keyBytes
    let answer = profile.sharesKeys ? asked.first { $0.key == key }?.hasSigned : nil
    let hasSigned = answer ?? signatures.check(leaf.certificate.isSigned(by: issuer.key))
    if answer == nil { asked.append((key, hasSigned)) }
    try require(
      hasSigned, .rejectedChainSignatureLeaf, profile.rules.signature, at: profile.places.leaf)
  }

  /// The reported source of an intermediate. Only that of a receipt may come from outside the
  /// evidence (PTH-14).
  private var source: ProvenIntermediate.Source { profile.sharesKeys ? .embedded : .inPlace }

  /// Public keys already checked against the leaf's signature, with the result.
  private typealias AskedKeys = [(key: ArraySlice<UInt8>, hasSigned: Bool)]
}

extension Certificate {
  /// Requires a non-empty issuer name that equals the subject of `certificate` (JWS-30).
  fileprivate func checkIssuer(_ certificate: Certificate, at place: String) throws(Refusal) {
    let name = bytes(issuer)
    // An empty name is encoded in two bytes, 30 00.
    try require(
      name.count > 2 && name == certificate.bytes(certificate.subject), .rejectedChainNames,
      "JWS-30", at: place)
  }
}
