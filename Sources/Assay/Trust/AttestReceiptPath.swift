/// Builds the proof of the chain above an App Attest receipt, step by step: the
/// signer and its intermediate out of the receipt, the root pinned (FRC-4). Dates
/// are judged for every receipt anew.
struct AttestReceiptPath {
  static let certificateCap = 4096
  /// Certificates of one receipt.
  static let embeddedCap = 8

  private let anchors: [Anchor]
  private let cache: ChainCache
  private var known: ProvenChain? = nil
  private var signer: Certificate? = nil
  private var signerKey: PublicKey? = nil
  private var candidates: [Certificate] = []

  init(_ anchors: [Anchor], _ cache: ChainCache) {
    self.anchors = anchors
    self.cache = cache
  }

  /// The certificates and who of them signed, as one run of bytes. Equal bytes
  /// lead to one chain, whatever stands around them.
  private static func spelling(_ message: SignedMessage) -> ArraySlice<UInt8> {
    guard let first = message.certificates.first,
      first.lowerBound < message.signer.serial.upperBound
    else { return [] }
    return message.slice(first.lowerBound..<message.signer.serial.upperBound)
  }

  /// Finds the certificate that the signer names by issuer and serial, wherever
  /// in the bag it stands, and every one whose name its issuer is.
  mutating func open(_ message: SignedMessage) throws(Refusal) {
    if let chain = cache.chain(header: AttestReceiptPath.spelling(message)) {
      known = chain
      return
    }
    var bag: [Certificate] = []
    for (index, range) in message.certificates.enumerated() {
      bag.append(try AttestReceiptPath.certificate(message.slice(range), index))
    }
    let issuer = message.slice(message.signer.issuer)
    let serial = message.slice(message.signer.serial)
    let found = bag.first { $0.bytes($0.issuer) == issuer && $0.bytes($0.serial) == serial }
    guard let found else { throw Refusal(.rejectedChainNames, "FRC-4", at: "signer") }
    signer = found
    // 30 00: a name without parts.
    candidates = []
    for other in bag where issuer.count > 2 && other.bytes(other.subject) == issuer {
      // Each once: a copy would only be proven again.
      if other.der != found.der, !candidates.contains(where: { $0.der == other.der }) {
        candidates.append(other)
      }
    }
    try require(
      !candidates.isEmpty, .rejectedChainIssuerUnknown, "FRC-4", at: "signer",
      detail: IssuerName.describe(found))
  }

  private static func certificate(
    _ der: ArraySlice<UInt8>, _ index: Int
  ) throws(Refusal) -> Certificate {
    var place: String { "certificates[" + String(index) + "]" }
    try require(der.count <= certificateCap, .tooLargeChainCertificate, "FRC-4", at: place)
    guard let certificate = Certificate(Array(der)) else {
      throw Refusal(.malformedChainDer, "FRC-4", at: place)
    }
    return certificate
  }

  /// Purpose, usage and key of the signer, and of at least one candidate; that
  /// the signer's key is a point of its curve.
  mutating func checkShape() throws(Refusal) {
    if known != nil { return }
    guard let signer else { throw AttestReceiptPath.bug }
    try AttestReceiptRules.checkSigner(signer, at: "signer")
    guard let key = signer.publicKey() else {
      throw Refusal(.rejectedChainKey, "FRC-4", at: "signer")
    }
    signerKey = key
    candidates = try AttestReceiptPath.survivors(candidates) {
      (candidate) throws(Refusal) in
      try AttestReceiptRules.checkIntermediate(candidate, at: "intermediate")
    }
    // CER-10. Where none is likely, all stay: the checks that follow name the fault.
    let likely = candidates.filter { $0.mayHaveIssued(signer) }
    if !likely.isEmpty { candidates = likely }
  }

  /// Signatures of the signer's certificate and of its intermediate: the first
  /// candidate that passes, of few (CER-10).
  func prove(_ signatures: inout SignatureChecks) throws(Refusal) -> ProvenChain {
    if let known { return known }
    guard let signer, let signerKey else { throw AttestReceiptPath.bug }
    var first: Refusal? = nil
    for candidate in candidates {
      try require(
        signatures.mayGoOn, .rejectedChainIssuerUnknown, "CER-10", at: "signer",
        detail: IssuerName.describe(signer))
      do throws(Refusal) {
        let anchor = try prove(candidate, above: signer, &signatures)
        return ProvenChain(
          .attestReceipt, leafKey: signerKey,
          certificates: [signer, candidate, anchor.certificate])
      } catch {
        first = first ?? error
      }
    }
    throw first ?? AttestReceiptPath.bug
  }

  /// The pinned root that signed the candidate, which signed the signer's
  /// certificate. Names come before signatures, and the cheap check first.
  private func prove(
    _ candidate: Certificate, above signer: Certificate, _ signatures: inout SignatureChecks
  ) throws(Refusal) -> Anchor {
    let named = Anchor.likely(anchors, of: candidate)
    try require(!named.isEmpty, .rejectedChainUntrustedRoot, "FRC-4", at: "intermediate")
    guard let key = candidate.publicKey() else {
      throw Refusal(.rejectedChainKey, "FRC-4", at: "intermediate")
    }
    try require(
      signatures.check(signer.isSigned(by: key)), .rejectedChainSignatureLeaf, "FRC-4",
      at: "signer")
    for anchor in named where signatures.mayGoOn {
      let fingerprint = ChainBuilder.fingerprint([candidate.der, anchor.certificate.der])
      if cache.knows(intermediateFingerprint: fingerprint) { return anchor }
      guard signatures.check(candidate.isSigned(by: anchor.key)) else { continue }
      cache.remember(intermediateFingerprint: fingerprint)
      return anchor
    }
    // The signature of the signer's certificate was good, and for nothing.
    signatures.waste(1)
    throw Refusal(.rejectedChainSignatureIntermediate, "FRC-4", at: "intermediate")
  }

  /// Called only after the signer's key verified the receipt's content.
  func remember(_ chain: ProvenChain, _ message: SignedMessage) {
    if known == nil { cache.remember(chain, header: AttestReceiptPath.spelling(message)) }
  }

  /// The candidates that pass; when none does, the refusal of the first.
  private static func survivors(
    _ candidates: [Certificate], _ check: (Certificate) throws(Refusal) -> Void
  ) throws(Refusal) -> [Certificate] {
    var passed: [Certificate] = []
    var first: Refusal? = nil
    for candidate in candidates {
      do throws(Refusal) {
        try check(candidate)
        passed.append(candidate)
      } catch {
        first = first ?? error
      }
    }
    if passed.isEmpty, let first { throw first }
    return passed
  }

  /// FRC-5: every certificate valid at that moment, in whole seconds and both
  /// ends included.
  static func checkValidity(_ chain: ProvenChain, atSeconds seconds: Int64) throws(Refusal) {
    for (index, link) in chain.links.enumerated() {
      var place: String { index == 0 ? "signer" : index == 1 ? "intermediate" : "root" }
      try require(seconds >= link.notBefore, .rejectedChainNotYetValid, "FRC-5", at: place)
      try require(seconds <= link.notAfter, .rejectedChainExpired, "FRC-5", at: place)
    }
  }

  private static var bug: Refusal { Refusal(.internalAssayBug, "DOC-1", at: "chain") }
}
