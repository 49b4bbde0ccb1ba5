/// A certificate that may have issued a leaf.
struct IssuerCandidate<Stage: Sendable>: Sendable {
  let certificate: Stage
  let place: String
  /// Already proven; nil: to be proven.
  let known: ProvenIntermediate?
}

/// The one way from certificates to a proof: leaf, one intermediate, pinned root. First
/// stage: the certificates as they were read; nobody has judged any of them. The stages
/// stand in one file: nothing but a stage makes the next one.
struct CandidatePath: Sendable {
  private let profile: ChainProfile
  private let leaf: Certificate
  private var candidates: [IssuerCandidate<Certificate>] = []

  /// The path of evidence whose certificates come in a bag; its candidates are added.
  init(_ profile: ChainProfile, leaf: Certificate) {
    self.profile = profile
    self.leaf = leaf
  }

  /// The path of evidence in which each certificate has its place (JWS-21, JWS-32).
  init(_ profile: ChainProfile, leaf: [UInt8], intermediate: [UInt8]) throws(Refusal) {
    let places = profile.places
    self.init(profile, leaf: try profile.certificate(leaf, at: places.leaf))
    let certificate = try profile.certificate(intermediate, at: places.intermediate)
    candidates = [IssuerCandidate(certificate: certificate, place: places.intermediate, known: nil)]
  }

  /// Whoever has the name of the leaf's issuer, once: a copy would only be proven again.
  /// Names only select (PTH-2).
  @inline(never)
  mutating func add(
    _ certificate: Certificate, at place: String, known: ProvenIntermediate? = nil
  ) {
    guard certificate.bytes(certificate.subject) == leaf.bytes(leaf.issuer),
      !candidates.contains(where: { $0.certificate.der == certificate.der })
    else { return }
    candidates.append(IssuerCandidate(certificate: certificate, place: place, known: known))
  }

  /// - Throws: `rejected.chain.issuer-unknown`, when nobody of that name was added.
  func checkIssuer(_ rule: StaticString) throws(Refusal) {
    try require(
      !candidates.isEmpty, .rejectedChainIssuerUnknown, rule, at: profile.places.leaf,
      detail: IssuerName.describe(leaf), hint: .testAuthority(leaf.der))
  }

  /// The leaf is what its profile says, and so is one candidate at least; their keys are
  /// points on their curves (JWS-25).
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
    // CER-10. Where none is likely, all stay: the checks that follow name the fault.
    let likely = passed.filter { $0.certificate.certificate.mayHaveIssued(leaf) }
    return ShapedPath(
      profile: profile, leaf: shaped, candidates: likely.isEmpty ? passed : likely)
  }
}

/// Second stage: certificates that are what their profiles say. Nobody has looked at
/// a signature.
struct ShapedPath: Sendable {
  fileprivate let profile: ChainProfile
  fileprivate let leaf: ShapedCertificate
  fileprivate let candidates: [IssuerCandidate<ShapedCertificate>]

  /// How the root of a given intermediate is found.
  enum Root: Sendable {
    /// By its bytes.
    case pinned(Anchor)
    /// By the intermediate's issuer and signature.
    case sought
  }

  /// The given intermediate under its root: names and signature. What stays to be proven
  /// is the leaf.
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

  /// JWS-30, JWS-31; under a sought root JWS-20, ATT-30: the first, of few (CER-10), whose
  /// key signed the intermediate.
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
      // ATT-30: where it names none, all; its name is judged after its signature.
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

  /// The intermediates that signed the leaf, and that a pinned root signed: the first
  /// of few candidates (CER-10), and where an authority was reissued those of the same
  /// key, among which a date will choose (PTH-3).
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

  /// The candidate, proven. Names come before signatures, and the leaf's before that
  /// of a root, which costs more.
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
      // The signature of the leaf was good, and for nothing.
      signatures.waste(1)
      throw Refusal(
        .rejectedChainSignatureIntermediate, profile.rules.signature, at: candidate.place)
    }
    return proven
  }

  /// A candidate with the key of a proven one: it signed the leaf, too.
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

  /// That this key signed the leaf, asked once of each where keys are shared.
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

  /// PTH-14: only receipts may find their intermediate elsewhere than in the evidence.
  private var source: ProvenIntermediate.Source { profile.sharesKeys ? .embedded : .inPlace }

  /// Keys that were asked whether they signed the leaf.
  private typealias AskedKeys = [(key: ArraySlice<UInt8>, hasSigned: Bool)]
}

extension Certificate {
  /// JWS-30: the name of the issuer is that of this certificate, and no empty one.
  fileprivate func checkIssuer(_ certificate: Certificate, at place: String) throws(Refusal) {
    let name = bytes(issuer)
    // 30 00: a name without parts.
    try require(
      name.count > 2 && name == certificate.bytes(certificate.subject), .rejectedChainNames,
      "JWS-30", at: place)
  }
}
