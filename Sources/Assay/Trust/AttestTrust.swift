/// What every attestation and assertion of a verifier shares: policy, pinned
/// roots, the intermediates that were proven, and keys in the form that libcrypto
/// takes. Immutable apart from the caches.
final class AttestTrust: Sendable {
  let policy: AttestPolicy
  let receipts: AttestReceiptTrust
  /// Found again by their bytes (ATT-36): that saves one of the two P-384 checks.
  let intermediates: BytesCache<AttestIntermediate>
  private let keys: BytesCache<PublicKey>

  /// Keys that are kept ready: those of devices that are at work just now.
  private static let keyCap = 64

  /// Apple App Attestation Root CA, parsed once in a process.
  private static let apple = Anchor(AppleRoots.appAttestationRootCA, .elliptic)

  private init(_ configuration: Configuration, _ proofs: Proofs) {
    policy = configuration.attest
    receipts = AttestReceiptTrust(configuration.attest, proofs)
    intermediates = proofs.attestIntermediates
    // Keys of customers' devices: they end with the verifier.
    keys = BytesCache(capacity: configuration.storekit.cacheChains == 0 ? 0 : AttestTrust.keyCap)
  }

  /// The key of a point `04 ‖ x ‖ y` on P-256; nil when it does not lie there.
  func key(_ point: ArraySlice<UInt8>) -> PublicKey? {
    if let known = keys.find(point) { return known }
    guard let key = PublicKey.make(.p256, point: point) else { return nil }
    keys.remember(point, key)
    return key
  }

  /// CER-6: a damaged table is found here, by its fingerprint.
  static func make(
    _ configuration: Configuration, _ proofs: Proofs
  ) throws(Refusal) -> AttestTrust {
    try require(
      AppleRoots.attestRootIsIntact, .internalCertificatesTable, "CER-6", at: "attest")
    return AttestTrust(configuration, proofs)
  }

  /// Apple's root, or the configured ones in its place (CER-2).
  func anchors() throws(Refusal) -> [Anchor] {
    if !policy.anchors.isEmpty { return policy.anchors }
    guard let apple = AttestTrust.apple else {
      throw Refusal(.internalCertificatesTable, "CER-6", at: "Apple App Attestation Root CA")
    }
    return [apple]
  }

  /// ATT-23: without an App ID nobody's evidence is ours.
  func checkAppIds() throws(Refusal) {
    try require(!policy.appIds.isEmpty, .configAttestAppIds, "ATT-23", at: "attest.appIds")
  }
}

/// An intermediate of attestations that was proven under a pinned root, apart
/// from the dates of both, which are judged at each use (ATT-36).
final class AttestIntermediate: Sendable {
  let certificate: Certificate
  let key: PublicKey
  let anchor: Anchor

  init(_ certificate: Certificate, _ key: PublicKey, _ anchor: Anchor) {
    self.certificate = certificate
    self.key = key
    self.anchor = anchor
  }
}

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
    _ trust: AttestTrust, _ signatures: inout SignatureChecks
  ) throws(Refusal) {
    let leaf = try ChainBuilder.certificate(Array(leafDER), at: AttestChain.leafPlace)
    try AttestRules.checkLeaf(leaf, at: AttestChain.leafPlace)
    let intermediate = try AttestChain.proven(intermediateDER, trust, &signatures)
    try ChainBuilder.checkNames(leaf, intermediate.certificate, at: AttestChain.leafPlace)
    try require(
      signatures.check(leaf.isSigned(by: intermediate.key)), .rejectedChainSignatureLeaf,
      "ATT-31", at: AttestChain.leafPlace)
    // ATT-31: that the point lies on its curve.
    guard trust.key(leaf.bytes(leaf.key)) != nil else {
      throw Refusal(.rejectedChainKey, "ATT-31", at: AttestChain.leafPlace)
    }
    self.leaf = leaf
    self.intermediate = intermediate
  }

  /// `04 ‖ x ‖ y` of the attested key.
  var point: ArraySlice<UInt8> { leaf.bytes(leaf.key) }

  private static func proven(
    _ der: ArraySlice<UInt8>, _ trust: AttestTrust, _ signatures: inout SignatureChecks
  ) throws(Refusal) -> AttestIntermediate {
    if let known = trust.intermediates.find(der) { return known }
    let certificate = try ChainBuilder.certificate(Array(der), at: intermediatePlace)
    try AttestRules.checkIntermediate(certificate, at: intermediatePlace)
    guard let key = certificate.publicKey() else {
      throw Refusal(.rejectedChainKey, "ATT-30", at: intermediatePlace)
    }
    let anchor = try signer(of: certificate, try trust.anchors(), &signatures)
    try ChainBuilder.checkNames(certificate, anchor.certificate, at: intermediatePlace)
    let proven = AttestIntermediate(certificate, key, anchor)
    trust.intermediates.remember(der, proven)
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
