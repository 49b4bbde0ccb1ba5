/// A certificate that may have issued a leaf.
struct IssuerCandidate: Sendable {
  let certificate: Certificate
  let place: String
  /// Already proven; nil: to be proven.
  let known: ProvenIntermediate?
}

/// The next step on the way to a proof, or the proof, where the cache had it. The
/// stages of a path are in one file, so that only a stage can make the next one.
enum PathStage<Next: Sendable>: Sendable {
  case proven(ProvenPath)
  case next(Next)
}

extension PathStage where Next == CandidatePath {
  func shaped() throws(Refusal) -> PathStage<ShapedPath> {
    switch self {
    case .proven(let path): return .proven(path)
    case .next(let path): return .next(try path.shaped())
    }
  }
}

extension PathStage where Next == ShapedPath {
  func proven(_ prove: (ShapedPath) throws(Refusal) -> ProvenPath) throws(Refusal) -> ProvenPath {
    switch self {
    case .proven(let path): return path
    case .next(let path): return try prove(path)
    }
  }
}

/// The path of evidence whose certificates come in a bag: leaf, one intermediate,
/// pinned root. First stage: the leaf, and whatever has its issuer's name. Names only
/// select (PTH-2); none of them has been judged.
struct CandidatePath: Sendable {
  let profile: ChainProfile
  let leaf: Certificate
  private var candidates: [IssuerCandidate] = []

  init(_ profile: ChainProfile, leaf: Certificate) {
    self.profile = profile
    self.leaf = leaf
  }

  /// Each certificate of the name once: a copy would only be proven again.
  @inline(never)
  mutating func add(
    _ certificate: Certificate, at place: String, known: ProvenIntermediate? = nil
  ) {
    guard certificate.bytes(certificate.subject) == leaf.bytes(leaf.issuer),
      !candidates.contains(where: { $0.certificate.der == certificate.der })
    else { return }
    candidates.append(IssuerCandidate(certificate: certificate, place: place, known: known))
  }

  /// - Throws: `rejected.chain.issuer-unknown`.
  func checkIssuer() throws(Refusal) {
    try require(
      !candidates.isEmpty, .rejectedChainIssuerUnknown, profile.rules.issuer,
      at: Text(stringLiteral: profile.places.leaf).string, detail: IssuerName.describe(leaf))
  }

  /// The leaf is what its profile says, and so is one candidate at least.
  func shaped() throws(Refusal) -> ShapedPath {
    let shaped = try profile.leaf.shaped(
      leaf, at: Text(stringLiteral: profile.places.leaf).string)
    var contest = Contest(profile)
    var passed: [IssuerCandidate] = []
    for candidate in candidates {
      do throws(Refusal) {
        try profile.intermediate.check(candidate.certificate, at: candidate.place)
        passed.append(candidate)
      } catch {
        contest.lose(error)
      }
    }
    if passed.isEmpty { throw contest.refusal }
    // CER-10. Where none is likely, all stay: the checks that follow name the fault.
    let likely = passed.filter { $0.certificate.mayHaveIssued(leaf) }
    return ShapedPath(
      profile: profile, leaf: shaped, candidates: likely.isEmpty ? passed : likely)
  }
}

/// Second stage: certificates that are what their profiles say. No signature
/// has been checked.
struct ShapedPath: Sendable {
  let profile: ChainProfile
  let leaf: ShapedCertificate
  fileprivate let candidates: [IssuerCandidate]

  /// The intermediates that signed the leaf, and that a pinned root signed: the first
  /// of few candidates (CER-10), and where an authority was reissued those of the same
  /// key, among which a date will choose (PTH-3).
  ///
  /// - `known`: intermediates that were proven before, by fingerprint.
  func proven(
    under anchors: [Anchor], _ known: BytesCache<ProvenIntermediate>,
    _ source: ProvenIntermediate.Source, _ signatures: inout SignatureChecks
  ) throws(Refusal) -> ProvenPath {
    var search = IssuerSearch(self, anchors, known, source)
    var contest = Contest(profile)
    var proven: [ProvenIntermediate] = []
    for candidate in candidates {
      if !proven.isEmpty {
        guard profile.sharesKeys else { break }
        if let twin = search.twin(candidate, of: proven, &signatures) { proven.append(twin) }
        continue
      }
      try require(
        signatures.mayGoOn, .rejectedChainIssuerUnknown, "CER-10", at: search.leafPlace,
        detail: IssuerName.describe(leaf.certificate))
      do throws(Refusal) {
        proven.append(try search.issuer(candidate, &signatures))
      } catch {
        contest.lose(error)
      }
    }
    if proven.isEmpty { throw contest.refusal }
    return ProvenPath(ProvenChain(profile, leaf, proven), proven, isCached: false)
  }
}

/// One search among candidates: what they are held against, and what was found out
/// about their keys.
private struct IssuerSearch {
  let profile: ChainProfile
  let leaf: Certificate
  let anchors: [Anchor]
  let known: BytesCache<ProvenIntermediate>
  let source: ProvenIntermediate.Source
  /// Keys for which it is known whether they signed the leaf.
  private var asked: [(key: ArraySlice<UInt8>, hasSigned: Bool)] = []

  init(
    _ path: ShapedPath, _ anchors: [Anchor], _ known: BytesCache<ProvenIntermediate>,
    _ source: ProvenIntermediate.Source
  ) {
    profile = path.profile
    leaf = path.leaf.certificate
    self.anchors = anchors
    self.known = known
    self.source = source
  }

  var leafPlace: String { Text(stringLiteral: profile.places.leaf).string }

  /// The candidate, proven. Names come before signatures, and the leaf's before that
  /// of a root, which costs more.
  mutating func issuer(
    _ candidate: IssuerCandidate, _ signatures: inout SignatureChecks
  ) throws(Refusal) -> ProvenIntermediate {
    if let known = candidate.known {
      try checkLeaf(known.certificate, known.key, &signatures)
      return known
    }
    let issued = try IssuedCandidate(candidate, anchors, profile)
    try checkLeaf(candidate.certificate, issued.shaped.key, &signatures)
    guard let proven = issued.proven(known, source, &signatures) else {
      // The signature of the leaf was good, but of no use.
      signatures.waste(1)
      throw Refusal(
        .rejectedChainSignatureIntermediate, profile.rules.signature, at: candidate.place)
    }
    return proven
  }

  /// A candidate with the key of a proven one: it signed the leaf, too.
  func twin(
    _ candidate: IssuerCandidate, of proven: [ProvenIntermediate],
    _ signatures: inout SignatureChecks
  ) -> ProvenIntermediate? {
    let key = candidate.certificate.bytes(candidate.certificate.key)
    guard proven.contains(where: { $0.certificate.bytes($0.certificate.key) == key }) else {
      return nil
    }
    if let known = candidate.known { return known }
    guard signatures.hasSpare,
      let issued = try? IssuedCandidate(candidate, anchors, profile)
    else { return nil }
    let twin = issued.proven(known, source, &signatures)
    if twin != nil { signatures.waste(1) }
    return twin
  }

  /// That this key signed the leaf: checked once for each key where keys are shared.
  private mutating func checkLeaf(
    _ issuer: Certificate, _ key: PublicKey, _ signatures: inout SignatureChecks
  ) throws(Refusal) {
    let bytes = issuer.bytes(issuer.key)
    let answer = profile.sharesKeys ? asked.first { $0.key == bytes }?.hasSigned : nil
    let hasSigned = answer ?? signatures.check(leaf.isSigned(by: key))
    if answer == nil { asked.append((bytes, hasSigned)) }
    try require(
      hasSigned, .rejectedChainSignatureLeaf, profile.rules.signature, at: leafPlace)
  }
}

/// A candidate with the pinned roots that may have signed it.
struct IssuedCandidate: Sendable {
  let shaped: ShapedCertificate
  private let anchors: [Anchor]

  /// The candidate names a pinned root, and its key is one.
  init(
    _ candidate: IssuerCandidate, _ anchors: [Anchor], _ profile: ChainProfile
  ) throws(Refusal) {
    self.anchors = Anchor.likely(anchors, of: candidate.certificate)
    try require(
      !self.anchors.isEmpty, .rejectedChainUntrustedRoot, profile.rules.root, at: candidate.place)
    shaped = ShapedCertificate(
      certificate: candidate.certificate,
      key: try profile.intermediate.key(of: candidate.certificate, at: candidate.place))
  }

  /// As an intermediate of the root whose key signed it, or is known to have signed
  /// it; nil: there is none.
  func proven(
    _ known: BytesCache<ProvenIntermediate>, _ source: ProvenIntermediate.Source,
    _ signatures: inout SignatureChecks
  ) -> ProvenIntermediate? {
    for anchor in anchors where signatures.mayGoOn {
      let fingerprint = Fingerprint.of([shaped.certificate.der, anchor.certificate.der])
      if let proven = known.find(fingerprint[...]) { return proven }
      guard signatures.check(shaped.certificate.isSigned(by: anchor.key)) else { continue }
      let proven = ProvenIntermediate(shaped, anchor, source)
      known.remember(fingerprint[...], proven)
      return proven
    }
    return nil
  }
}
