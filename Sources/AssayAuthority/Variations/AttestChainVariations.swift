extension AttestVariation where Template == AttestationTemplate {
  /// Variations of an attestation's certificates (ATT-30 … ATT-34).
  static let chain: [AttestVariation] = roots + intermediates + leaves + both

  /// Returns a variation whose intermediate is changed and signed by the root.
  private static func intermediate(
    _ rule: String, _ name: String, _ status: String = "ok",
    _ change: @escaping CertificateTemplate.Change
  ) -> AttestVariation {
    one(
      rule, "an intermediate \(name)", status, check: status == "ok" ? nil : "chain",
      at: status == "ok" ? nil : "x5c[1]"
    ) { template, authority in
      template.intermediate = try authority.intermediate(change)
    }
  }

  /// Returns a variation whose leaf is changed and signed by the intermediate.
  private static func leaf(
    _ rule: String, _ name: String, _ status: String = "ok",
    _ change: @escaping CertificateTemplate.Change
  ) -> AttestVariation {
    one(
      rule, "a leaf \(name)", status, check: status == "ok" ? nil : "chain",
      at: status == "ok" ? nil : "x5c[0]"
    ) { try change(&$0.leaf) }
  }

  private static let roots: [AttestVariation] = [
    one("ATT-30", "another authority", "rejected.chain.untrusted-root") {
      try $0.use(AttestAuthority(now: $0.madeMs))
    },
    one("ATT-30", "another authority with Apple's names", "rejected.chain.untrusted-root") {
      try $0.use(AttestAuthority(now: $0.madeMs, names: .apple))
    },
    one(
      "ATT-30", "an intermediate of the root for receipts", "rejected.chain.untrusted-root",
      check: "chain"
    ) { template, authority in
      template.intermediate = try authority.intermediate(signer: authority.keys.receiptRoot) {
        $0.issuer = authority.receiptSigners.root.subject
      }
    },
    intermediate("ATT-30", "that names another issuer", "rejected.chain.names") {
      $0.issuer = DistinguishedName.make([("CN", "Somebody else")])
    },
    one(
      "ATT-30", "an intermediate signed by another key", "rejected.chain.untrusted-root",
      check: "chain", at: "x5c[1]"
    ) { template, authority in
      template.intermediate = try authority.intermediate(signer: .generate(.p384))
    },
    one(
      "ATT-30", "an intermediate signed by itself", "rejected.chain.untrusted-root", check: "chain",
      at: "x5c[1]"
    ) { template, authority in
      template.intermediate = try authority.intermediate(signer: authority.keys.intermediate)
    },
    one("ATT-30", "an intermediate with a new key") { template, authority in
      let key = try SigningKey.generate(.p384)
      template.intermediate = try authority.intermediate(key: key)
      template.leafSigner = key
    },
    one(
      "ATT-30", "an intermediate with a P-256 key", "rejected.chain.key", check: "chain",
      at: "x5c[1]"
    ) { template, authority in
      let key = try SigningKey.generate(.p256)
      template.intermediate = try authority.intermediate(key: key)
      template.leafSigner = key
    },
    one(
      "ATT-30", "an intermediate with an RSA key", "rejected.chain.key", check: "chain",
      at: "x5c[1]"
    ) { template, authority in
      template.intermediate = try authority.intermediate(key: .generate(.rsa(bits: 2048)))
    },
  ]

  private static let intermediates: [AttestVariation] = [
    intermediate("ATT-30", "without basicConstraints", "rejected.chain.not-ca") {
      $0 = $0.replacing(OID.basicConstraints, with: nil)
    },
    intermediate("ATT-30", "with CA:FALSE", "rejected.chain.not-ca") {
      $0 = $0.replacing(OID.basicConstraints, with: .basicConstraints(ca: false))
    },
    intermediate("ATT-30", "with a path length of 1", "rejected.chain.not-ca") {
      $0 = $0.replacing(OID.basicConstraints, with: .basicConstraints(ca: true, pathLength: 1))
    },
    intermediate("ATT-30", "whose constraints are not critical", "rejected.chain.not-ca") {
      $0.setCritical(OID.basicConstraints, nil)
    },
    intermediate("ATT-30", "without key usage", "rejected.chain.key-usage") {
      $0 = $0.replacing(OID.keyUsage, with: nil)
    },
    intermediate("ATT-30", "without a path length") {
      $0 = $0.replacing(OID.basicConstraints, with: .basicConstraints(ca: true))
    },
    intermediate("ATT-30", "that may not sign certificates", "rejected.chain.key-usage") {
      $0 = $0.replacing(OID.keyUsage, with: .keyUsage([.cRLSign, .digitalSignature]))
    },
    intermediate(
      "ATT-30", "signed with ecdsa-with-SHA256", "rejected.chain.signature-algorithm"
    ) { $0.use(OID.ecdsaWithSHA256, .sha256) },
    intermediate(
      "ATT-30", "signed with ecdsa-with-SHA512", "rejected.chain.signature-algorithm"
    ) { $0.use(OID.ecdsaWithSHA512, .sha512) },
    intermediate(
      "ATT-30", "with a damaged signature", "rejected.chain.untrusted-root"
    ) { $0.signatureForm = .damaged },
    intermediate(
      "ATT-30", "whose signature is not minimal", "rejected.chain.untrusted-root"
    ) { $0.signatureForm = .paddedInteger },
    intermediate("ATT-40", "that is not valid yet", "rejected.chain.not-yet-valid") {
      $0.notBefore = .standard(4_000_000_000)
      $0.notAfter = .standard(4_050_000_000)
    },
    intermediate("ATT-40", "that ended long ago", "rejected.chain.expired") {
      $0.notBefore = .standard(1_500_000_000)
      $0.notAfter = .standard(1_600_000_000)
    },
  ]

  private static let leaves: [AttestVariation] = [
    one(
      "ATT-31", "a leaf signed by another key", "rejected.chain.signature-leaf", check: "chain",
      at: "x5c[0]"
    ) { $0.leafSigner = try .generate(.p384) },
    one(
      "ATT-31", "a leaf signed by the root", "rejected.chain.signature-leaf", check: "chain",
      at: "x5c[0]"
    ) { template, authority in template.leafSigner = authority.keys.root },
    one(
      "ATT-31", "a leaf signed by its own key", "rejected.chain.signature-leaf", check: "chain",
      at: "x5c[0]"
    ) { $0.leafSigner = $0.device.key },
    leaf("ATT-31", "that names another issuer", "rejected.chain.names") {
      $0.issuer = DistinguishedName.make([("CN", "Somebody else")])
    },
    leaf("ATT-31", "that names its issuer in other bytes", "rejected.chain.names") {
      $0.issuer = DistinguishedName.makePrintable(AttestNames.own.intermediate)
    },
    leaf("ATT-31", "signed with ecdsa-with-SHA384") { $0.use(OID.ecdsaWithSHA384, .sha384) },
    leaf(
      "ATT-31", "signed with ecdsa-with-SHA512", "rejected.chain.signature-algorithm"
    ) { $0.use(OID.ecdsaWithSHA512, .sha512) },
    leaf("ATT-31", "with a damaged signature", "rejected.chain.signature-leaf") {
      $0.signatureForm = .damaged
    },
    leaf("ATT-31", "with a signature of zeros", "rejected.chain.signature-leaf") {
      $0.signatureForm = .numbers(ECDSASignature(r: [], s: []))
    },
    leaf("ATT-31", "that is a CA", "rejected.chain.leaf-is-ca") {
      $0 = $0.replacing(OID.basicConstraints, with: .basicConstraints(ca: true))
    },
    leaf("ATT-31", "without basicConstraints") {
      $0 = $0.replacing(OID.basicConstraints, with: nil)
    },
    leaf("ATT-31", "without key usage") { $0 = $0.replacing(OID.keyUsage, with: nil) },
    leaf("ATT-31", "that may sign certificates", "rejected.chain.key-usage") {
      $0 = $0.replacing(OID.keyUsage, with: .keyUsage([.digitalSignature, .keyCertSign]))
    },
    leaf("ATT-31", "that may sign revocation lists", "rejected.chain.key-usage") {
      $0 = $0.replacing(OID.keyUsage, with: .keyUsage([.digitalSignature, .cRLSign]))
    },
    leaf("ATT-31", "with a P-384 key", "rejected.chain.key") {
      $0.publicKeyInfo = try SigningKey.generate(.p384).publicKeyInfo()
    },
    leaf("ATT-31", "with an RSA key", "rejected.chain.key") {
      $0.publicKeyInfo = try SigningKey.generate(.rsa(bits: 2048)).publicKeyInfo()
    },
    leaf("ATT-31", "with a compressed point", "rejected.chain.key") {
      let point = try SigningKey.generate(.p256).publicKey()
      $0.publicKeyInfo = KeyEncoding.named(OID.p256, KeyEncoding.compressed(point))
    },
    leaf("ATT-31", "with a point on no curve", "rejected.chain.key") {
      let point = try SigningKey.generate(.p256).publicKey()
      $0.publicKeyInfo = KeyEncoding.named(OID.p256, KeyEncoding.offCurve(point))
    },
    one("ATT-31", "a leaf without its nonce", "rejected.chain.leaf-marker", at: "x5c[0]") {
      $0.nonce = { _ in [] }
    },
    one("ATT-34", "a leaf with its nonce twice", "rejected.chain.duplicate-extension", at: "x5c[0]")
    { $0.nonce = { [AttestLeafExtensions.nonce($0), AttestLeafExtensions.nonce($0)] } },
    leaf("ATT-32", "with key identifiers") {
      $0 = $0.adding(.subjectKeyIdentifier([1, 2, 3])).adding(.authorityKeyIdentifier([4, 5]))
    },
    leaf("ATT-33", "without a purpose") { $0 = $0.replacing(OID.extendedKeyUsage, with: nil) },
    leaf("ATT-33", "with its purpose among others") {
      $0 = $0.replacing(OID.extendedKeyUsage, with: purposes(["1.3.6.1.5.5.7.3.2", own]))
    },
    leaf("ATT-33", "for a client", "rejected.chain.extended-key-usage") {
      $0 = $0.replacing(OID.extendedKeyUsage, with: purposes(["1.3.6.1.5.5.7.3.2"]))
    },
    leaf("ATT-33", "for a server and a client", "rejected.chain.extended-key-usage") {
      $0 = $0.replacing(
        OID.extendedKeyUsage, with: purposes(["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]))
    },
    leaf("ATT-33", "for a purpose one arc longer", "rejected.chain.extended-key-usage") {
      $0 = $0.replacing(OID.extendedKeyUsage, with: purposes([own + ".1"]))
    },
    leaf("ATT-40", "that ended an hour ago", "rejected.chain.expired") { leaf in
      guard case .utc(let begin) = leaf.notBefore else { return }
      leaf.notAfter = .utc(begin + 82_800)
    },
    leaf("ATT-40", "that begins in an hour", "rejected.chain.not-yet-valid") { leaf in
      guard case .utc(let begin) = leaf.notBefore else { return }
      leaf.notBefore = .utc(begin + 90_000)
    },
  ]

  private static let own = AttestLeafExtensions.purpose

  private static func purposes(_ list: [String]) -> CertificateExtension {
    CertificateExtension(
      OID.extendedKeyUsage, DER.value(0x30, list.flatMap { DER.oid($0) }))
  }

  /// Variations of the rules that leaf and intermediate share (ATT-34).
  private static let both: [AttestVariation] = shared.flatMap { change in
    [
      leaf(change.rule, change.name, change.status, change.change),
      intermediate(change.rule, change.name, change.status, change.change),
    ]
  }

  private struct Shared: Sendable {
    let rule: String
    let name: String
    let status: String
    let change: CertificateTemplate.Change

    init(
      _ rule: String, _ name: String, _ status: String = "ok",
      _ change: @escaping CertificateTemplate.Change
    ) {
      self.rule = rule
      self.name = name
      self.status = status
      self.change = change
    }
  }

  private static let shared: [Shared] = [
    Shared("ATT-34", "of version 1", "rejected.chain.version") {
      $0.version = []
      $0.extensions = nil
    },
    Shared("ATT-34", "of version 2", "rejected.chain.version") {
      $0.version = DER.explicit(0, DER.unsigned([1]))
    },
    Shared("ATT-34", "with serial number 0", "rejected.chain.serial") { $0.serial = [0] },
    Shared("ATT-34", "with a negative serial number", "rejected.chain.serial") {
      $0.serial = [0x80, 1]
    },
    Shared("ATT-34", "with a serial number of 21 octets", "rejected.chain.serial") {
      $0.serial = Array(repeating: 0x11, count: 21)
    },
    Shared("ATT-34", "with a serial number of 20 octets") {
      $0.serial = Array(repeating: 0x7f, count: 20)
    },
    Shared(
      "ATT-34", "with an unknown critical extension", "rejected.chain.critical-extension"
    ) { $0 = $0.adding(CertificateExtension("1.2.3.4.5", critical: true, DER.null)) },
    Shared("ATT-34", "with an unknown extension that is not critical") {
      $0 = $0.adding(CertificateExtension("1.2.3.4.5", DER.null))
    },
    Shared("ATT-34", "with an extension twice", "rejected.chain.duplicate-extension") {
      $0 = $0.adding(.keyUsage(.digitalSignature)).adding(.keyUsage(.digitalSignature))
    },
    Shared("ATT-34", "with name constraints", "rejected.chain.name-constraints") {
      $0 = $0.adding(.nameConstraints("example.com", critical: false))
    },
    Shared("ATT-31", "with a byte after it", "malformed.chain.der") { $0.form = .trailing([0]) },
    Shared("ATT-31", "with a length that is not the shortest", "malformed.chain.der") {
      $0.form = .longLength
    },
    Shared("ATT-31", "of indefinite length", "malformed.chain.der") {
      $0.form = .indefiniteLength
    },
    Shared("ATT-31", "without its last octet", "malformed.chain.der") { $0.form = .truncated(1) },
    Shared("ATT-31", "with a serial number that is not minimal", "malformed.chain.der") {
      $0.serial = [0, 0, 1]
    },
    Shared(
      "ATT-31", "whose two algorithms differ", "rejected.chain.signature-algorithm"
    ) { $0.outerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA512) },
    Shared(
      "ATT-31", "that names an RSA algorithm", "rejected.chain.signature-algorithm"
    ) {
      $0.innerAlgorithm = CertificateTemplate.algorithm(OID.sha256WithRSA, parameters: DER.null)
    },
  ]
}

extension AttestationTemplate {
  /// Replaces the certificates by those of another authority.
  package mutating func use(_ other: AttestAuthority) throws {
    leaf.issuer = other.intermediate.subject
    leafSigner = other.keys.intermediate
    intermediate = other.intermediateCertificate
  }
}
