/// The chain of an attestation, proven apart from its dates (app-attest.md §4.1).
struct AttestChain {
  let leaf: Certificate
  private let intermediate: AttestIntermediate

  private static let leafPlace = "x5c[0]"
  private static let intermediatePlace = "x5c[1]"

  /// ATT-30 … ATT-34, ATT-36: form, names and signatures of leaf and
  /// intermediate, up to a pinned root.
  init(
    leaf leafDER: ArraySlice<UInt8>, intermediate intermediateDER: ArraySlice<UInt8>,
    _ roots: AttestRoots, _ signatures: inout SignatureChecks
  ) throws(Refusal) {
    let leaf = try ChainBuilder.certificate(Array(leafDER), at: AttestChain.leafPlace)
    try AttestRules.checkLeaf(leaf, at: AttestChain.leafPlace)
    let intermediate = try AttestChain.proven(intermediateDER, roots, &signatures)
    try ChainBuilder.checkNames(leaf, intermediate.certificate, at: AttestChain.leafPlace)
    try require(
      signatures.check(leaf.isSigned(by: intermediate.key)), .rejectedChainSignatureLeaf,
      "ATT-31", at: AttestChain.leafPlace)
    // ATT-31: that the point lies on its curve.
    guard roots.key(leaf.bytes(leaf.key)) != nil else {
      throw Refusal(.rejectedChainKey, "ATT-31", at: AttestChain.leafPlace)
    }
    self.leaf = leaf
    self.intermediate = intermediate
  }

  /// `04 ‖ x ‖ y` of the attested key.
  var point: ArraySlice<UInt8> { leaf.bytes(leaf.key) }

  private static func proven(
    _ der: ArraySlice<UInt8>, _ roots: AttestRoots, _ signatures: inout SignatureChecks
  ) throws(Refusal) -> AttestIntermediate {
    if let known = roots.intermediates.find(der) { return known }
    let certificate = try ChainBuilder.certificate(Array(der), at: intermediatePlace)
    try AttestRules.checkIntermediate(certificate, at: intermediatePlace)
    guard let key = certificate.publicKey() else {
      throw Refusal(.rejectedChainKey, "ATT-30", at: intermediatePlace)
    }
    let anchor = try signer(of: certificate, try roots.anchors(), &signatures)
    try ChainBuilder.checkNames(certificate, anchor.certificate, at: intermediatePlace)
    let proven = AttestIntermediate(certificate, key, anchor)
    roots.intermediates.remember(der, proven)
    return proven
  }

  /// The pinned root whose key verifies the intermediate; one that it names, where
  /// there is such a one.
  private static func signer(
    of certificate: Certificate, _ anchors: [Anchor], _ signatures: inout SignatureChecks
  ) throws(Refusal) -> Anchor {
    let likely = Anchor.likely(anchors, of: certificate)
    for anchor in likely.isEmpty ? anchors : likely {
      try require(
        signatures.mayGoOn, .rejectedChainIssuerUnknown, "CER-10", at: intermediatePlace,
        detail: IssuerName.describe(certificate))
      if signatures.check(certificate.isSigned(by: anchor.key)) { return anchor }
    }
    throw Refusal(.rejectedChainUntrustedRoot, "ATT-30", at: intermediatePlace)
  }

  /// ATT-40: every certificate valid at that moment, in whole seconds and both
  /// ends included.
  ///
  /// - `isNow`: that is the time of the call, not the date of the receipt inside.
  func checkValidity(atSeconds seconds: Int64, isNow: Bool) throws(Refusal) {
    try AttestChain.checkValidity(
      leaf, seconds, at: AttestChain.leafPlace, hint: isNow ? nil : .otherDate)
    try AttestChain.checkValidity(
      intermediate.certificate, seconds, at: AttestChain.intermediatePlace,
      hint: .authorityEnded)
    try AttestChain.checkValidity(
      intermediate.anchor.certificate, seconds, at: "root", hint: .authorityEnded)
  }

  private static func checkValidity(
    _ certificate: Certificate, _ seconds: Int64, at place: String, hint: Explanation?
  ) throws(Refusal) {
    try require(
      seconds >= certificate.notBefore, .rejectedChainNotYetValid, "ATT-40", at: place, hint: hint)
    try require(
      seconds <= certificate.notAfter, .rejectedChainExpired, "ATT-40", at: place, hint: hint)
  }
}
