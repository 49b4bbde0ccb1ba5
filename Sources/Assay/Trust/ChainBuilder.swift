/// What App Store chains are proven under. Immutable apart from the cache.
struct ChainBuilder: Sendable {
  let anchors: AnchorSet
  let cache: ChainCache
  /// `storekit.rootEntry` "ignored": the root is found by names and signatures.
  let rootEntryIsIgnored: Bool

  /// JWS-13: leaf, intermediate, root.
  static let length = 3
  /// JWS-14.
  static let entryCap = 8192

  /// JWS-13, JWS-14, JWS-20: length, base64, and the root by its bytes, before
  /// anything is parsed. A chain that was proven before, spelt in another header, is
  /// found here (JWS-61).
  func open(_ entries: [Text]) throws(Refusal) -> PathStage<GivenPath<[UInt8]>> {
    try require(
      entries.count == ChainBuilder.length, .rejectedChainLength, "JWS-13", at: "x5c",
      detail: String(entries.count) + " certificates")
    let leaf = try ChainBuilder.decode(entries, 0)
    let intermediate = try ChainBuilder.decode(entries, 1)
    var root = GivenCertificates.Root.sought
    if !rootEntryIsIgnored {
      let der = try ChainBuilder.decode(entries, 2)
      guard let anchor = anchors.anchor(withBytes: der) else {
        throw Refusal(.rejectedChainUntrustedRoot, "JWS-20", at: "x5c[2]")
      }
      root = .pinned(anchor)
    }
    let path = GivenPath<[UInt8]>(self, leaf: leaf, intermediate: intermediate, root)
    guard let chain = cache.chains.find(path.given.fingerprint[...]) else { return .next(path) }
    return .proven(ProvenPath(chain, chain.intermediates, isCached: true))
  }

  static func decode(_ entries: [Text], _ index: Int) throws(Refusal) -> [UInt8] {
    var place: String { "x5c[" + String(index) + "]" }
    guard index >= 0, index < entries.count else {
      throw Refusal(.rejectedChainLength, "JWS-13", at: "x5c")
    }
    let text = entries[index].utf8
    try require(text.count <= entryCap, .tooLargeChainCertificate, "JWS-14", at: place)
    guard let der = Base64.decodeStandard(text[...]) else {
      throw Refusal(.malformedChainBase64, "JWS-14", at: place)
    }
    return der
  }
}

/// The path of evidence in which each certificate has its place (docs/spec/storekit-jws.md §5),
/// in stages: bytes, certificates, certificates that are what their profiles say.
struct GivenPath<Stage: Sendable>: Sendable {
  fileprivate let given: GivenCertificates
  fileprivate let leaf: Stage
  fileprivate let intermediate: Stage
}

/// What stays the same from stage to stage.
private struct GivenCertificates: Sendable {
  enum Root: Sendable {
    /// Found by its bytes.
    case pinned(Anchor)
    /// To be found by the intermediate's issuer and signature.
    case sought
  }

  let builder: ChainBuilder
  let root: Root
  /// JWS-61: of leaf, intermediate and root together.
  let fingerprint: [UInt8]
}

extension GivenPath<[UInt8]> {
  fileprivate init(
    _ builder: ChainBuilder, leaf: [UInt8], intermediate: [UInt8], _ root: GivenCertificates.Root
  ) {
    var rootDER: [UInt8] = []
    if case .pinned(let anchor) = root { rootDER = anchor.certificate.der }
    given = GivenCertificates(
      builder: builder, root: root, fingerprint: Fingerprint.of([leaf, intermediate, rootDER]))
    self.leaf = leaf
    self.intermediate = intermediate
  }

  /// JWS-21, JWS-32.
  func parsed() throws(Refusal) -> GivenPath<Certificate> {
    GivenPath<Certificate>(
      given: given, leaf: try ChainProfile.appStore.certificate(leaf, at: "x5c[0]"),
      intermediate: try ChainProfile.appStore.certificate(intermediate, at: "x5c[1]"))
  }
}

extension GivenPath<Certificate> {
  /// JWS-22 … JWS-29, and that both keys are points on their curves (JWS-25).
  func shaped() throws(Refusal) -> GivenPath<ShapedCertificate> {
    let profile = ChainProfile.appStore
    return GivenPath<ShapedCertificate>(
      given: given, leaf: try profile.leaf.shaped(leaf, at: "x5c[0]"),
      intermediate: try profile.intermediate.shaped(intermediate, at: "x5c[1]"))
  }
}

extension GivenPath<ShapedCertificate> {
  /// Under the root that was found by its bytes; nil: still to be found.
  var rooted: RootedPath? {
    guard case .pinned(let anchor) = given.root else { return nil }
    return RootedPath(path: self, anchor: anchor, intermediateIsProven: false)
  }

  /// JWS-20 under `rootEntry` "ignored": the configured anchor that the
  /// intermediate names and whose key verifies it.
  func sought(_ signatures: inout SignatureChecks) throws(Refusal) -> RootedPath {
    let named = Anchor.likely(given.builder.anchors.anchors, of: intermediate.certificate)
    let anchor = try ChainProfile.appStore.root(
      of: intermediate.certificate, among: named, at: "x5c[2]", &signatures)
    return RootedPath(path: self, anchor: anchor, intermediateIsProven: true)
  }
}

/// A path with the pinned root that it must lead to.
struct RootedPath: Sendable {
  fileprivate let path: GivenPath<ShapedCertificate>
  fileprivate let anchor: Anchor
  /// Whether the anchor was found by the intermediate's signature.
  fileprivate let intermediateIsProven: Bool

  /// JWS-30, JWS-31: names and signatures. Only what passes is remembered.
  func proven(_ signatures: inout SignatureChecks) throws(Refusal) -> ProvenPath {
    let profile = ChainProfile.appStore
    let (leaf, issuer) = (path.leaf.certificate, path.intermediate.certificate)
    let cache = path.given.builder.cache
    try leaf.checkIssuer(issuer, at: profile.places.leaf)
    try issuer.checkIssuer(anchor.certificate, at: profile.places.intermediate)
    let fingerprint = Fingerprint.of([issuer.der, anchor.certificate.der])
    let known = cache.intermediates.find(fingerprint[...])
    if !intermediateIsProven, known == nil, !isShipped {
      try require(
        signatures.check(issuer.isSigned(by: anchor.key)), .rejectedChainSignatureIntermediate,
        profile.rules.signature, at: "x5c[1]")
    }
    try require(
      signatures.check(leaf.isSigned(by: path.intermediate.key)), .rejectedChainSignatureLeaf,
      profile.rules.signature, at: "x5c[0]")
    let intermediate = known ?? ProvenIntermediate(path.intermediate, anchor, .inPlace)
    let chain = ProvenChain(profile, path.leaf, [intermediate])
    cache.chains.remember(path.given.fingerprint[...], chain)
    cache.intermediates.remember(fingerprint[...], intermediate)
    return ProvenPath(chain, chain.intermediates, isCached: false)
  }

  /// JWS-35: Apple's G6 under Apple's root was proven by a test.
  private var isShipped: Bool {
    path.given.builder.anchors.areBuiltIn
      && Digest.sha256.of(path.intermediate.certificate.der) == AppleRoots.developerRelationsG6
  }
}

extension ChainProfile {
  /// The first pinned root, of few (CER-10), whose key signed an intermediate. Where
  /// there is none the refusal is about `place`.
  func root(
    of intermediate: Certificate, among anchors: [Anchor], at place: String,
    _ signatures: inout SignatureChecks
  ) throws(Refusal) -> Anchor {
    for anchor in anchors {
      try require(
        signatures.mayGoOn, .rejectedChainIssuerUnknown, "CER-10", at: "x5c[1]",
        detail: IssuerName.describe(intermediate))
      if signatures.check(intermediate.isSigned(by: anchor.key)) { return anchor }
    }
    throw Refusal(.rejectedChainUntrustedRoot, rules.root, at: place)
  }
}

extension Certificate {
  /// JWS-30: the name of the issuer is that of this certificate, and is not empty.
  func checkIssuer(_ certificate: Certificate, at place: StaticString) throws(Refusal) {
    let name = bytes(issuer)
    // 30 00: a name without parts.
    try require(
      name.count > 2 && name == certificate.bytes(certificate.subject), .rejectedChainNames,
      "JWS-30", at: Text(stringLiteral: place).string)
  }
}
