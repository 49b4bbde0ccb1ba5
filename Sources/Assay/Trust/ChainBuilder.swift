/// Builds the proof of an App Store chain from the entries of `x5c`
/// (storekit-jws.md §5), step by step.
struct ChainBuilder {
  private let anchors: AnchorSet
  private let cache: ChainCache
  private let rootEntryIsIgnored: Bool
  private var leafDER: [UInt8] = []
  private var intermediateDER: [UInt8] = []
  private var anchor: Anchor? = nil
  /// Whether the anchor was found by the intermediate's signature.
  private var intermediateIsProven = false
  private var leaf: Certificate? = nil
  private var intermediate: Certificate? = nil
  private var leafKey: PublicKey? = nil
  private var intermediateKey: PublicKey? = nil

  /// JWS-13: leaf, intermediate, root.
  static let length = 3
  /// JWS-14.
  static let entryCap = 8192

  init(_ anchors: AnchorSet, _ cache: ChainCache, rootEntryIsIgnored: Bool) {
    self.anchors = anchors
    self.cache = cache
    self.rootEntryIsIgnored = rootEntryIsIgnored
  }

  /// JWS-13, JWS-14, JWS-20: length, base64, and the root by its bytes, before
  /// anything is parsed.
  mutating func open(_ entries: [Text]) throws(Refusal) {
    try require(
      entries.count == ChainBuilder.length, .rejectedChainLength, "JWS-13", at: "x5c",
      detail: String(entries.count) + " certificates")
    leafDER = try ChainBuilder.decode(entries, 0)
    intermediateDER = try ChainBuilder.decode(entries, 1)
    if rootEntryIsIgnored { return }
    let root = try ChainBuilder.decode(entries, 2)
    guard let match = anchors.anchor(withBytes: root) else {
      throw Refusal(.rejectedChainUntrustedRoot, "JWS-20", at: "x5c[2]")
    }
    anchor = match
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

  /// JWS-61: a chain that was proven before, spelt in another header.
  func known() -> ProvenChain? { cache.chain(fingerprint: fingerprint) }

  /// JWS-21, JWS-32.
  mutating func parse() throws(Refusal) {
    leaf = try ChainBuilder.certificate(leafDER, at: "x5c[0]")
    intermediate = try ChainBuilder.certificate(intermediateDER, at: "x5c[1]")
  }

  static func certificate(_ der: [UInt8], at place: String) throws(Refusal) -> Certificate {
    guard let certificate = Certificate(der) else {
      throw Refusal(.malformedChainDer, "JWS-21", at: place)
    }
    return certificate
  }

  /// JWS-22 … JWS-29, and that both keys are points on their curves (JWS-25).
  mutating func checkShape() throws(Refusal) {
    guard let leaf, let intermediate else { throw ChainBuilder.bug }
    try CertificateRules.checkLeaf(leaf, at: "x5c[0]")
    guard let key = leaf.publicKey() else {
      throw Refusal(.rejectedChainKey, "JWS-25", at: "x5c[0]")
    }
    leafKey = key
    try CertificateRules.checkIntermediate(intermediate, at: "x5c[1]")
    guard let key = intermediate.publicKey() else {
      throw Refusal(.rejectedChainKey, "JWS-25", at: "x5c[1]")
    }
    intermediateKey = key
  }

  /// JWS-20 under `rootEntry` "ignored": the configured anchor that the
  /// intermediate names and whose key verifies it.
  mutating func findAnchor(_ signatures: inout SignatureChecks) throws(Refusal) {
    guard let intermediate else { throw ChainBuilder.bug }
    for anchor in Anchor.likely(anchors.anchors, of: intermediate) {
      try require(
        signatures.mayGoOn, .rejectedChainIssuerUnknown, "CER-10", at: "x5c[1]",
        detail: IssuerName.describe(intermediate))
      guard signatures.check(intermediate.isSigned(by: anchor.key)) else { continue }
      self.anchor = anchor
      intermediateIsProven = true
      return
    }
    throw Refusal(.rejectedChainUntrustedRoot, "JWS-20", at: "x5c[2]")
  }

  /// JWS-30, JWS-31: names and signatures. Only what passes is remembered.
  func prove(_ signatures: inout SignatureChecks) throws(Refusal) -> ProvenChain {
    guard let leaf, let intermediate, let anchor, let leafKey, let intermediateKey else {
      throw ChainBuilder.bug
    }
    try ChainBuilder.checkNames(leaf, intermediate, at: "x5c[0]")
    try ChainBuilder.checkNames(intermediate, anchor.certificate, at: "x5c[1]")
    let known = knownIntermediate(anchor)
    if !intermediateIsProven, !known.isProven {
      try require(
        signatures.check(intermediate.isSigned(by: anchor.key)),
        .rejectedChainSignatureIntermediate, "JWS-31", at: "x5c[1]")
    }
    try require(
      signatures.check(leaf.isSigned(by: intermediateKey)), .rejectedChainSignatureLeaf,
      "JWS-31", at: "x5c[0]")
    let chain = ProvenChain(
      .appStore, leafKey: leafKey, certificates: [leaf, intermediate, anchor.certificate])
    cache.remember(chain, fingerprint: fingerprint)
    cache.remember(intermediateFingerprint: known.fingerprint)
    return chain
  }

  static func checkNames(
    _ issued: Certificate, _ issuer: Certificate, at place: String
  ) throws(Refusal) {
    let name = issued.bytes(issued.issuer)
    // 30 00: a name without parts.
    try require(
      name.count > 2 && name == issuer.bytes(issuer.subject), .rejectedChainNames, "JWS-30",
      at: place)
  }

  /// Whether this very intermediate was proven under this very anchor before:
  /// Apple's G6 by a test (JWS-35), any other by an earlier call.
  private func knownIntermediate(_ anchor: Anchor) -> (isProven: Bool, fingerprint: [UInt8]) {
    let mine = ChainBuilder.fingerprint([intermediateDER, anchor.certificate.der])
    if anchors.areBuiltIn,
      Digest.sha256.of(intermediateDER) == AppleRoots.developerRelationsG6
    {
      return (true, mine)
    }
    return (cache.knows(intermediateFingerprint: mine), mine)
  }

  /// JWS-61: of leaf, intermediate and anchor together.
  private var fingerprint: [UInt8] {
    ChainBuilder.fingerprint([
      leafDER, intermediateDER, rootEntryIsIgnored ? [] : anchor?.certificate.der ?? [],
    ])
  }

  /// SHA-256 over the parts, each after its length: no bytes may move from one
  /// part to the next.
  static func fingerprint(_ parts: [[UInt8]]) -> [UInt8] {
    var text: [UInt8] = []
    for part in parts {
      let count = UInt32(truncatingIfNeeded: part.count)
      for shift in [24, 16, 8, 0] as [UInt32] {
        text.append(UInt8(truncatingIfNeeded: count >> shift))
      }
      text += part
    }
    return Digest.sha256.of(text)
  }

  private static var bug: Refusal { Refusal(.internalAssayBug, "DOC-1", at: "chain") }
}
