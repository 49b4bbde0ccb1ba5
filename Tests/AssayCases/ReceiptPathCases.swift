import AssayAuthority

extension CaseFixture {
  /// Adds certification paths of receipts (PTH-1 … PTH-11), by app receipts with the intermediate
  /// in their container, and by the leaves of transaction receipts.
  func addReceiptPathCases() throws {
    try addPathForms()
    try addPathSignatures()
    try addPathShapes()
    try addPathKeys()
    try addPathExtensions()
  }

  private typealias Change = (inout CertificateTemplate) throws -> Void

  /// Adds a path with one certificate that differs from a good one in one thing. A refused leaf is
  /// tried with a transaction receipt as well.
  private func path(
    _ rule: String, _ name: String, _ status: String = "ok", check: String? = "chain.shape",
    leaf: Bool, signer: SigningKey? = nil, _ change: Change
  ) throws {
    let whose = leaf ? "a leaf" : "an intermediate"
    let check = status == "ok" ? nil : check
    let chain =
      leaf
      ? try receipts.chain(.current, leaf: change, leafSigner: signer)
      : try receipts.chain(.current, intermediate: change, intermediateSigner: signer)
    let at = status == "ok" ? nil : leaf ? "leaf" : "certificates[1]"
    try appReceipt(
      rule, "\(whose) \(name)", verifier: "receipts-without-intermediates", status, check: check,
      at: at
    ) {
      $0.chain = chain
      $0.certificates = chain.certificates
    }
    guard leaf else { return }
    try transactionReceipt(
      rule, "a transaction receipt's leaf \(name)", status, check: check, at: at
    ) { $0.chain = chain }
  }

  private func both(
    _ rule: String, _ name: String, _ status: String = "ok", check: String? = "chain.shape",
    _ change: Change
  ) throws {
    for leaf in [true, false] {
      try path(rule, name, status, check: check, leaf: leaf, change)
    }
  }

  /// Adds faults of DER, size and version (PTH-4).
  private func addPathForms() throws {
    let der = "malformed.chain.der"
    try both("PTH-4", "with a serial number that is not minimal", der, check: "chain.certificates")
    { $0.serial = [0, 0, 1] }
    try both("PTH-4", "with an end that is no date", der, check: "chain.certificates") {
      $0.notAfter = .utcText("301301000000Z")
    }
    try both("PTH-4", "with a critical flag of 01", der, check: "chain.certificates") {
      $0.setCritical(OID.keyUsage, 0x01)
    }
    try both("PTH-4", "of version 1", "rejected.chain.version") {
      $0.version = []
      $0.extensions = nil
    }
    try both("PTH-4", "of version 2", "rejected.chain.version") {
      $0.version = DER.explicit(0, DER.unsigned([1]))
    }
    try both("PTH-1", "with serial number 0", "rejected.chain.serial") { $0.serial = [0] }
    try both("PTH-1", "with a negative serial number", "rejected.chain.serial") {
      $0.serial = [0x80, 1]
    }
    try both("PTH-1", "with a serial number of 20 octets") {
      $0.serial = Array(repeating: 0x7f, count: 20)
    }
  }

  /// Adds signatures and issuer names (PTH-2, PTH-5).
  private func addPathSignatures() throws {
    let other = try SigningKey.generate(.rsa(bits: 2048))
    let signatures = "chain.signatures"
    try path(
      "PTH-5", "signed by another key", "rejected.chain.signature-leaf", check: signatures,
      leaf: true, signer: other
    ) { _ in }
    try path(
      "PTH-5", "signed by another key", "rejected.chain.signature-intermediate",
      check: signatures, leaf: false, signer: other
    ) { _ in }
    try path(
      "PTH-5", "with a damaged signature", "rejected.chain.signature-leaf", check: signatures,
      leaf: true
    ) { $0.signatureForm = .flipped }
    try path(
      "PTH-5", "with a damaged signature", "rejected.chain.signature-intermediate",
      check: signatures, leaf: false
    ) { $0.signatureForm = .flipped }
    try path(
      "PTH-5", "under a root of another name", "rejected.chain.untrusted-root",
      check: signatures, leaf: false
    ) { $0.issuer = DistinguishedName.makePrintable(ReceiptNames.apple.root) }
    try path(
      "PTH-5", "under a root whose name is another string type",
      "rejected.chain.untrusted-root", check: signatures, leaf: false
    ) { $0.issuer = DistinguishedName.make(ReceiptNames.own.root) }
    try appReceipt(
      "PTH-2", "a leaf whose issuer is a name with another string type",
      verifier: "receipts-without-intermediates", "rejected.chain.issuer-unknown",
      check: "chain.certificates", at: "leaf"
    ) {
      $0.chain = try receipts.chain(
        .current,
        leaf: { $0.issuer = DistinguishedName.makePrintable(ReceiptNames.own.currentRelations) })
      $0.certificates[0] = $0.chain.leaf
    }
    let foreign = try ReceiptAuthority(
      keys: try .init { $0 == "receipt-root" ? other : try receiptKey($0) })
    try appReceipt(
      "CER-1", "a chain under another root with the same name",
      verifier: "receipts-without-intermediates", "rejected.chain.signature-intermediate",
      check: signatures
    ) {
      $0.chain = try foreign.chain(.current)
      $0.certificates = $0.chain.certificates
    }
    try appReceipt(
      "PTH-3", "a whole chain under the configured names, whose forged intermediate comes furthest",
      "rejected.chain.signature-intermediate", check: signatures
    ) {
      let own = try ReceiptAuthority(
        keys: try .init {
          ["receipt-root", "receipt-current-relations"].contains($0)
            ? other : try receiptKey($0)
        })
      $0.chain = try own.chain(.current)
      $0.certificates = $0.chain.certificates
    }
    try appReceipt(
      "PTH-3", "a forged intermediate beside the configured one"
    ) { $0.certificates[1] = try foreign.chain(.current).intermediate }
    try appReceipt(
      "PTH-3", "a forged intermediate before the good one",
      verifier: "receipts-without-intermediates"
    ) { $0.certificates.insert(try foreign.chain(.current).intermediate, at: 1) }
    let strangers = try [receipts.keys.store, receipts.keys.relations, receipts.keys.developer].map
    {
      try receipts.chain(.current, intermediateKey: $0).intermediate
    }
    try appReceipt(
      "CER-10", "two others of the intermediate's name before the good one",
      verifier: "receipts-without-intermediates"
    ) { $0.certificates.insert(contentsOf: strangers.prefix(2), at: 1) }
    try appReceipt(
      "CER-10", "three others of the intermediate's name before the good one",
      verifier: "receipts-without-intermediates", "rejected.chain.issuer-unknown",
      check: signatures, at: "leaf"
    ) { $0.certificates.insert(contentsOf: strangers, at: 1) }
    let algorithm = "rejected.chain.signature-algorithm"
    try both("PTH-5", "signed with SHA-384", algorithm) { $0.sign(.sha384) }
    try both("PTH-5", "whose algorithm has no parameters", algorithm) {
      $0.innerAlgorithm = CertificateTemplate.algorithm(OID.sha256WithRSA)
    }
    try both("PTH-5", "whose two algorithms differ", algorithm) {
      $0.outerAlgorithm = SigningKey.Digest.sha1.rsaAlgorithm
    }
    try both("PTH-5", "that names an ECDSA algorithm", algorithm) {
      $0.innerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA256)
    }
    try both("PTH-5", "signed with SHA-1") { $0.sign(.sha1) }
  }

  private func receiptKey(_ name: String) throws -> SigningKey {
    let keys = receipts.keys
    switch name {
    case "receipt-root": return keys.root
    case "receipt-store": return keys.store
    case "receipt-relations": return keys.relations
    case "receipt-current-relations": return keys.currentRelations
    case "receipt-store-leaf": return keys.storeLeaf
    case "receipt-leaf": return keys.leaf
    case "receipt-current-leaf": return keys.currentLeaf
    case "receipt-developer": return keys.developer
    default: return keys.xcode
    }
  }

  /// Adds extensions that a profile requires (PTH-6 … PTH-8).
  private func addPathShapes() throws {
    func replacing(_ oid: String, _ with: CertificateExtension?) -> Change {
      { $0 = $0.replacing(oid, with: with) }
    }
    try path(
      "PTH-6", "that is no CA", "rejected.chain.not-ca", leaf: false,
      replacing(OID.basicConstraints, .basicConstraints(ca: false)))
    try path(
      "PTH-6", "without basicConstraints", "rejected.chain.not-ca", leaf: false,
      replacing(OID.basicConstraints, nil))
    for length in [nil, 0, 5] as [UInt8?] {
      let name = length.map { "with path length \($0)" } ?? "without a path length"
      try path(
        "PTH-6", name, leaf: false,
        replacing(OID.basicConstraints, .basicConstraints(ca: true, pathLength: length)))
    }
    try path(
      "PTH-6", "whose key may not sign certificates", "rejected.chain.key-usage", leaf: false,
      replacing(OID.keyUsage, .keyUsage([.digitalSignature, .cRLSign])))
    for leaf in [true, false] {
      try path("PTH-6", "without keyUsage", leaf: leaf, replacing(OID.keyUsage, nil))
    }
    try path(
      "PTH-7", "that is a CA", "rejected.chain.leaf-is-ca", leaf: true,
      replacing(OID.basicConstraints, .basicConstraints(ca: true)))
    try path("PTH-7", "without basicConstraints", leaf: true, replacing(OID.basicConstraints, nil))
    try path(
      "PTH-7", "whose key may not sign", "rejected.chain.key-usage", leaf: true,
      replacing(OID.keyUsage, .keyUsage([.nonRepudiation])))
    try path(
      "PTH-8", "without its marker", "rejected.chain.leaf-marker", leaf: true,
      replacing(OID.leafMarker, nil))
    try path(
      "PTH-8", "without its marker", "rejected.chain.intermediate-marker", leaf: false,
      replacing(OID.intermediateMarker, nil))
    try path(
      "PTH-8", "with a developer's marker", "rejected.chain.leaf-marker", leaf: true,
      replacing(OID.leafMarker, .marker(OID.developerMarker)))
    try path(
      "PTH-8", "with the marker of version 2", "rejected.chain.leaf-marker", leaf: true,
      replacing(OID.leafMarker, .marker(OID.purchaseMarker)))
    try path(
      "PTH-8", "with the store's marker", "rejected.chain.intermediate-marker", leaf: false,
      replacing(OID.intermediateMarker, .marker(OID.storeMarker)))
    try path(
      "PTH-8", "with a marker of any value", leaf: true,
      replacing(OID.leafMarker, CertificateExtension(OID.leafMarker, DER.utf8("x"))))
    try path("PTH-8", "with a second marker", leaf: true) {
      $0 = $0.adding(.marker(OID.developerMarker))
    }
  }

  /// Adds public keys (PTH-9).
  private func addPathKeys() throws {
    func key(_ info: [UInt8]) -> Change { { $0.publicKeyInfo = info } }
    let refused = "rejected.chain.key"
    let short = try SigningKey.generate(.rsa(bits: 1024))
    let long = try SigningKey.generate(.rsa(bits: 3072))
    let curve = try SigningKey.generate(.p256)
    try path("PTH-9", "with 1,024 bits", refused, leaf: true, key(try short.publicKeyInfo()))
    try path("PTH-9", "with 3,072 bits", refused, leaf: true, key(try long.publicKeyInfo()))
    try path("PTH-9", "with 1,024 bits", refused, leaf: false, key(try short.publicKeyInfo()))
    try both("PTH-9", "with a P-256 key", refused, key(try curve.publicKeyInfo()))
    let modulus = try receipts.keys.currentLeaf.publicKey()
    let small = DER.sequence(
      DER.sequence(DER.oid(OID.rsaEncryption), DER.null),
      DER.bitString(ReceiptKeys.exponent3(modulus)))
    try both("PTH-9", "with exponent 3", refused, key(small))
    let pss = DER.sequence(
      DER.sequence(DER.oid("1.2.840.113549.1.1.10"), DER.null), DER.bitString(modulus))
    try both("PTH-9", "with a key for RSASSA-PSS", refused, key(pss))
    try appReceipt(
      "PTH-9", "an intermediate with 3,072 bits", verifier: "receipts-without-intermediates"
    ) {
      $0.chain = try receipts.chain(.current, intermediateKey: long)
      $0.certificates = $0.chain.certificates
    }
  }

  /// Adds unknown and duplicate extensions (PTH-10).
  private func addPathExtensions() throws {
    try both("PTH-10", "with an unknown critical extension", "rejected.chain.critical-extension") {
      $0 = $0.adding(CertificateExtension("1.2.3.4.5", critical: true, DER.null))
    }
    try both("PTH-10", "with a critical extended key usage", "rejected.chain.critical-extension") {
      $0 = $0.adding(.extendedKeyUsage("1.3.6.1.5.5.7.3.3", critical: true))
    }
    try both("PTH-10", "with an unknown extension") {
      $0 = $0.adding(CertificateExtension("1.2.3.4.5", DER.null))
    }
    try both("PTH-10", "with an extension twice", "rejected.chain.duplicate-extension") {
      $0 = $0.adding(CertificateExtension("2.5.29.14", DER.octetString([1])))
    }
    for critical in [true, false] {
      try both(
        "PTH-10", "with \(critical ? "critical " : "")name constraints",
        "rejected.chain.name-constraints"
      ) { $0 = $0.adding(.nameConstraints("example.com", critical: critical)) }
    }
    try path(
      "PTH-10", "whose marker is critical", "rejected.chain.critical-extension", leaf: true
    ) { $0.setCritical(OID.leafMarker, 0xff) }
    try path(
      "PTH-10", "whose marker is critical", "rejected.chain.critical-extension", leaf: false
    ) { $0.setCritical(OID.intermediateMarker, 0xff) }
  }
}

/// Keys that no certificate of a path may have.
enum ReceiptKeys {
  /// Returns a DER RSAPublicKey with the same modulus and exponent 3.
  static func exponent3(_ key: [UInt8]) -> [UInt8] {
    guard let outer = DER.head(key[...]), let modulus = DER.head(key[outer.header...]) else {
      return key
    }
    return DER.sequence(
      Array(key[outer.header..<outer.header + modulus.total]), DER.unsigned([3]))
  }
}
