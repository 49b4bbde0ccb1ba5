/// The chain of an attestation, proven apart from its dates (docs/spec/app-attest.md §4.1).
struct AttestChain: Sendable {
  let leaf: Certificate
  private let intermediate: ProvenIntermediate

  private static let profile = ChainProfile.attestation

  /// ATT-30 … ATT-34, ATT-36: form, names and signatures of leaf and
  /// intermediate, up to a pinned root.
  init(
    leaf leafDER: ArraySlice<UInt8>, intermediate intermediateDER: ArraySlice<UInt8>,
    _ roots: AttestRoots, _ signatures: inout SignatureChecks
  ) throws(Refusal) {
    let profile = AttestChain.profile
    let leaf = try profile.certificate(Array(leafDER), at: "x5c[0]")
    try profile.leaf.check(leaf, at: "x5c[0]")
    let intermediate = try AttestChain.proven(intermediateDER, roots, &signatures)
    try leaf.checkIssuer(intermediate.certificate, at: profile.places.leaf)
    try require(
      signatures.check(leaf.isSigned(by: intermediate.key)), .rejectedChainSignatureLeaf,
      profile.rules.signature, at: "x5c[0]")
    // ATT-31: that the point lies on its curve.
    guard roots.key(leaf.bytes(leaf.key)) != nil else {
      throw Refusal(.rejectedChainKey, "ATT-31", at: "x5c[0]")
    }
    self.leaf = leaf
    self.intermediate = intermediate
  }

  /// `04 ‖ x ‖ y` of the attested key.
  var point: ArraySlice<UInt8> { leaf.bytes(leaf.key) }

  private static func proven(
    _ der: ArraySlice<UInt8>, _ roots: AttestRoots, _ signatures: inout SignatureChecks
  ) throws(Refusal) -> ProvenIntermediate {
    if let known = roots.cache.intermediates.find(der) { return known }
    let certificate = try profile.certificate(Array(der), at: "x5c[1]")
    let shaped = try profile.intermediate.shaped(certificate, at: "x5c[1]")
    let anchors = try roots.anchors()
    // One that it names, if there is one.
    let likely = Anchor.likely(anchors, of: certificate)
    let anchor = try profile.root(
      of: certificate, among: likely.isEmpty ? anchors : likely, at: "x5c[1]", &signatures)
    try certificate.checkIssuer(anchor.certificate, at: profile.places.intermediate)
    let proven = ProvenIntermediate(shaped, anchor, .inPlace)
    roots.cache.intermediates.remember(der, proven)
    return proven
  }

  /// ATT-40: every certificate valid at that moment, in whole seconds and both
  /// ends included.
  ///
  /// - `isNow`: that is the time of the call, not the date of the receipt inside.
  func checkValidity(atSeconds seconds: Int64, isNow: Bool) throws(Refusal) {
    let (rule, places) = (AttestChain.profile.rules.dates, AttestChain.profile.places)
    try leaf.checkValidity(seconds, rule, at: places.leaf, hint: isNow ? nil : .otherDate)
    try intermediate.certificate.checkValidity(
      seconds, rule, at: places.intermediate, hint: .authorityEnded)
    try intermediate.anchor.certificate.checkValidity(
      seconds, rule, at: places.root, hint: .authorityEnded)
  }
}
