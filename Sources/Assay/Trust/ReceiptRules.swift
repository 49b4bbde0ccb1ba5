/// Whose certificate signs a receipt: key size and the pair of purpose OIDs that
/// keeps every other Apple certificate out (RCP-22, APR-8).
enum ReceiptSigner: Sendable, Equatable {
  /// Version 2 transaction receipts: iTunes Store line, RSA-1024.
  case transactionV2
  /// Version 3 transaction receipts: Worldwide Developer Relations line.
  case transactionV3
  /// App receipts: the same line.
  case app

  var leafBits: Int { self == .transactionV2 ? 1024 : 2048 }

  var leafMarker: [UInt8] {
    self == .transactionV2
      ? ObjectIdentifier.storeReceiptSigning : ObjectIdentifier.receiptSigning
  }

  var intermediateMarker: [UInt8] {
    self == .transactionV2
      ? ObjectIdentifier.iTunesStore : ObjectIdentifier.developerRelations
  }
}

/// What the path of a receipt demands of its certificates (PTH-4 … PTH-10). Each
/// rule is one small check. `progress` counts the checks that passed, so that
/// among several candidates the refusal of the one that came furthest is told
/// (PTH-3).
enum ReceiptRules {
  /// PTH-4, PTH-7, PTH-8, PTH-9, PTH-10.
  static func checkLeaf(
    _ leaf: Certificate, _ signer: ReceiptSigner, at place: String
  ) throws(Refusal) {
    try checkForm(leaf, at: place)
    try require(
      leaf.basicConstraints?.isAuthority != true, .rejectedChainLeafIsCa, "PTH-7", at: place)
    try CertificateRules.checkUsage(
      leaf, Certificate.KeyUsage.digitalSignature, "PTH-7", at: place)
    try checkMarker(leaf, signer.leafMarker, .rejectedChainLeafMarker, at: place)
    try require(
      leaf.keyType == .rsa(bits: signer.leafBits), .rejectedChainKey, "PTH-9", at: place)
  }

  /// PTH-4, PTH-6, PTH-8, PTH-9, PTH-10.
  static func checkIntermediate(
    _ candidate: Certificate, _ signer: ReceiptSigner, at place: String, _ progress: inout Int
  ) throws(Refusal) {
    try checkForm(candidate, at: place)
    progress &+= 1
    try require(
      candidate.basicConstraints?.isAuthority == true, .rejectedChainNotCa, "PTH-6", at: place)
    progress &+= 1
    try CertificateRules.checkUsage(
      candidate, Certificate.KeyUsage.keyCertSign, "PTH-6", at: place)
    progress &+= 1
    try checkMarker(
      candidate, signer.intermediateMarker, .rejectedChainIntermediateMarker, at: place)
    progress &+= 1
    guard case .rsa(let bits) = candidate.keyType else {
      throw Refusal(.rejectedChainKey, "PTH-9", at: place)
    }
    try require(bits >= 2048 && bits <= 4096, .rejectedChainKey, "PTH-9", at: place)
    progress &+= 1
  }

  /// The whole proof of an intermediate under one of the anchors.
  static func prove(
    _ candidate: Certificate, _ signer: ReceiptSigner, _ anchors: [Anchor],
    _ source: ReceiptIntermediate.Source, at place: String, _ progress: inout Int
  ) throws(Refusal) -> ReceiptIntermediate {
    try checkIntermediate(candidate, signer, at: place, &progress)
    var signatures = SignatureChecks()
    guard let proven = try issued(candidate, anchors, at: place).proven(source, &signatures) else {
      throw Refusal(.rejectedChainSignatureIntermediate, "PTH-5", at: place)
    }
    return proven
  }

  /// A candidate with the pinned roots that may have signed it.
  struct Issued {
    let certificate: Certificate
    let key: PublicKey
    fileprivate let anchors: [Anchor]

    /// PTH-5: as an intermediate of the root whose key signed it; nil: there is none.
    func proven(
      _ source: ReceiptIntermediate.Source, _ signatures: inout SignatureChecks
    ) -> ReceiptIntermediate? {
      for anchor in anchors where signatures.mayGoOn {
        if signatures.check(certificate.isSigned(by: anchor.key)) {
          return ReceiptIntermediate(certificate, key, anchor, source)
        }
      }
      return nil
    }
  }

  /// PTH-5: the candidate names a pinned root.
  static func issued(
    _ candidate: Certificate, _ anchors: [Anchor], at place: String
  ) throws(Refusal) -> Issued {
    let issuer = candidate.bytes(candidate.issuer)
    let named = anchors.filter { $0.certificate.bytes($0.certificate.subject) == issuer }
    try require(!named.isEmpty, .rejectedChainUntrustedRoot, "PTH-5", at: place)
    guard let key = candidate.publicKey() else {
      throw Refusal(.rejectedChainKey, "PTH-9", at: place)
    }
    let likely = named.filter { $0.certificate.mayHaveIssued(candidate) }
    return Issued(
      certificate: candidate, key: key, anchors: likely.isEmpty ? named : likely)
  }

  // MARK: parts

  private static func checkForm(_ certificate: Certificate, at place: String) throws(Refusal) {
    try require(certificate.version == 3, .rejectedChainVersion, "PTH-4", at: place)
    try require(
      CertificateRules.hasGoodSerial(certificate), .rejectedChainSerial, "PTH-1", at: place)
    try require(
      certificate.signatureAlgorithm == .rsa(.sha1)
        || certificate.signatureAlgorithm == .rsa(.sha256),
      .rejectedChainSignatureAlgorithm, "PTH-5", at: place)
    try CertificateRules.checkExtensions(certificate, "PTH-10", at: place)
  }

  /// PTH-8: present and not critical; a critical one fails PTH-10 already.
  private static func checkMarker(
    _ certificate: Certificate, _ identifier: [UInt8], _ status: Status, at place: String
  ) throws(Refusal) {
    try require(certificate.extension(identifier) != nil, status, "PTH-8", at: place)
  }
}
