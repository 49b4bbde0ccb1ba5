extension AttestVariation where Template == AppReceiptTemplate {
  /// Variations of the PKCS#7 container (FRC-1 … FRC-3).
  static let container: [AttestVariation] = form + algorithms + signatures

  private static let form: [AttestVariation] = [
    one("FRC-1", "definite lengths") { $0.form = .definite },
    one("FRC-1", "chunks of 100 octets") { $0.form = .indefinite(chunk: 100) },
    one("FRC-1", "one chunk") { $0.form = .indefinite(chunk: 8192) },
    one("FRC-1", "a definite bag of certificates") {
      let bag = DER.value(0xa0, $0.certificates.flatMap { $0 })
      $0.bag = .raw(bag)
    },
    one("FRC-1", "chunks of 20 octets", "malformed.attest-receipt.structure") {
      $0.form = .indefinite(chunk: 20)
    },
    one("FRC-1", "a payload of more than 8,192 octets", "too-large.attest-receipt.size") {
      $0.attributes.append(AttributeTemplate(99, [UInt8](repeating: 7, count: 8192)))
    },
    one("FRC-1", "nine certificates", "too-large.attest-receipt.size") {
      let filler = $0.chain.intermediate
      while $0.certificates.count < 9 { $0.certificates.append(filler) }
    },
    one("FRC-1", "eight certificates") {
      let filler = $0.chain.root
      while $0.certificates.count < 8 { $0.certificates.append(filler) }
    },
    one("FRC-1", "a byte after", "malformed.attest-receipt.trailing") {
      $0.finish = { $0 + [0] }
    },
    one("FRC-1", "two zero bytes after", "malformed.attest-receipt.trailing") {
      $0.finish = { $0 + [0, 0] }
    },
    one("FRC-1", "the last byte missing", "malformed.attest-receipt.ber") {
      $0.finish = { Array($0.dropLast()) }
    },
    one("FRC-1", "half of it missing", "malformed.attest-receipt.ber") {
      $0.finish = { Array($0.prefix($0.count / 2)) }
    },
    one("FRC-1", "another type outside", "malformed.attest-receipt.structure") {
      $0.outerType = OID.data
    },
    one("FRC-2", "another type inside", "malformed.attest-receipt.structure") {
      $0.contentType = OID.signedData
    },
  ]

  private static let algorithms: [AttestVariation] = [
    one("FRC-2", "SHA-384", "unsupported.attest-receipt.digest") { $0.digest = .sha384 },
    one("FRC-2", "SHA-1", "unsupported.attest-receipt.digest") { $0.digest = .sha1 },
    one("FRC-2", "another digest in SignedData", "unsupported.attest-receipt.digest") {
      $0.digestAlgorithms = [SigningKey.Digest.sha1.algorithm]
    },
    one("FRC-2", "another digest in SignerInfo", "unsupported.attest-receipt.digest") {
      $0.signerDigest = SigningKey.Digest.sha1.algorithm
    },
    one("FRC-2", "ecdsa-with-SHA384", badAlgorithm) {
      $0.signatureAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA384)
    },
    one("FRC-2", "an RSA signature", badAlgorithm) {
      $0.signatureAlgorithm = SigningKey.Digest.sha256.rsaAlgorithm
    },
    one("FRC-2", "no signer", "unsupported.attest-receipt.signers") { $0.signerInfos = [] },
    one("FRC-2", "two signers", "unsupported.attest-receipt.signers") {
      let signer = try $0.signerInfo(over: AttributeTemplate.set($0.attributes))
      $0.signerInfos = [signer, signer]
    },
    one("FRC-3", "signed attributes", "unsupported.attest-receipt.signed-attributes") {
      let type = DER.sequence(
        DER.oid("1.2.840.113549.1.9.3"), DER.set(DER.oid(OID.data)))
      $0.signedAttributes = DER.value(0xa0, type)
    },
    one("FRC-3", "all signed attributes", "unsupported.attest-receipt.signed-attributes") {
      let type = DER.sequence(
        DER.oid("1.2.840.113549.1.9.3"), DER.set(DER.oid(OID.data)))
      let digest = AttestDigest.sha256(AttributeTemplate.set($0.attributes))
      $0.signedAttributes = DER.value(
        0xa0,
        type + DER.sequence(DER.oid("1.2.840.113549.1.9.4"), DER.set(DER.octetString(digest))))
    },
  ]

  private static let badAlgorithm = "unsupported.attest-receipt.signature-algorithm"
  private static let badSignature = "rejected.attest-receipt.signature"

  private static let signatures: [AttestVariation] = [
    one("FRC-3", "the signature of another key", badSignature) {
      $0.signature = .by(try .generate(.p256))
    },
    one("FRC-3", "an empty signature", badSignature) { $0.signature = .octets([]) },
    one("FRC-3", "a signature of zeros", badSignature) {
      $0.signature = .octets(ECDSASignature(r: [], s: []).der)
    },
    one("FRC-3", "a signature that is not minimal", badSignature) {
      let made = try $0.chain.key.sign(AttributeTemplate.set($0.attributes), .sha256)
      let numbers = try ECDSASignature(der: made)
      let longer = DER.integer(octets: [0, 0] + numbers.r)
      $0.signature = .octets(DER.sequence(longer, DER.unsigned(numbers.s)))
    },
    one("FRC-3", "a field changed after signing", badSignature) {
      let text = AttributeTemplate(2, Array("ABCDE12345.com.example.other".utf8))
      $0.sentPayload = AttributeTemplate.set($0.attributes.setting(text))
    },
    one("FRC-3", "the whole octet string signed", badSignature) {
      $0.signature = .octets(
        try $0.chain.key.sign(
          DER.octetString(AttributeTemplate.set($0.attributes)), .sha256))
    },
  ]

  /// Variations of the fields (FRC-6, FRC-7).
  static let fields: [AttestVariation] =
    [2, 3, 4, 5, 7, 12, 21].map { type in
      one("FRC-6", "without field \(type)", "malformed.attest-receipt.field") {
        $0.attributes = $0.attributes.removing(type)
      }
    }
    + [
      one("FRC-6", "without field 6", "malformed.attest-receipt.field") {
        $0.attributes = $0.attributes.removing(6)
      },
      one("FRC-6", "field 5 twice", "malformed.attest-receipt.field") {
        $0.attributes += $0.attributes.filter { $0.isType(5) }
      },
      one("FRC-6", "an unknown field twice", "malformed.attest-receipt.field") {
        $0.attributes += [AttributeTemplate(99, [1]), AttributeTemplate(99, [1])]
      },
      one("FRC-6", "field 2 of version 2", "malformed.attest-receipt.field") {
        $0.attributes = $0.attributes.changing(2) { $0.versionOctets = [2] }
      },
      one("FRC-6", "field 12 of version 0", "malformed.attest-receipt.field") {
        $0.attributes = $0.attributes.changing(12) { $0.versionOctets = [0] }
      },
      one("FRC-6", "33 fields", "malformed.attest-receipt.field") {
        while $0.attributes.count < 33 {
          $0.attributes.append(AttributeTemplate(100 + $0.attributes.count, [1]))
        }
      },
      one("FRC-6", "32 fields") {
        while $0.attributes.count < 32 {
          $0.attributes.append(AttributeTemplate(100 + $0.attributes.count, [1]))
        }
      },
      one("FRC-6", "an unknown field", facts: [("attestReceipt.unknownFields.0", 99)]) {
        $0.attributes.append(AttributeTemplate(99, [1, 2, 3]))
      },
      one("FRC-6", "fields in another order") { $0.attributes.reverse() },
      one("FRC-6", "a key that is no certificate", "malformed.attest-receipt.field") {
        $0.attributes = $0.attributes.setting(AttributeTemplate(3, [0x30, 0x00]))
      },
      one("FRC-7", "an ATTEST with a metric", "malformed.attest-receipt.type") {
        $0.attributes.append(AttributeTemplate(17, Array("1".utf8)))
      },
      one("FRC-7", "an ATTEST with a date of refresh", "malformed.attest-receipt.type") {
        let date = $0.attributes.first { $0.isType(21) }?.value ?? []
        $0.attributes.append(AttributeTemplate(19, date))
      },
      one("FRC-7", "a RECEIPT without metric and date", "malformed.attest-receipt.type") {
        $0.attributes = $0.attributes.setting(AttributeTemplate(6, Array("RECEIPT".utf8)))
      },
      one("FRC-7", "another type", "malformed.attest-receipt.type") {
        $0.attributes = $0.attributes.setting(AttributeTemplate(6, Array("OTHER".utf8)))
      },
      one("FRC-7", "a type in lower case", "malformed.attest-receipt.type") {
        $0.attributes = $0.attributes.setting(AttributeTemplate(6, Array("attest".utf8)))
      },
    ]
    + times

  /// Unreadable times in field 21, on which no other check depends.
  private static let times: [AttestVariation] =
    [
      "2027-02-19T00:00:00", "2027-02-19T00:00:00+00:00", "2027-02-19 00:00:00Z",
      "2027-02-29T00:00:00Z", "2027-13-01T00:00:00Z", "2027-02-19T24:00:00Z",
      "2027-02-19T00:60:00Z", "2027-02-19T00:00:00.Z", "2027-02-19T00:00:00.0123456789Z",
      "20270219T000000Z", "2027-02-19", "", "x",
    ].map { text in
      one("FRC-7", "an end of \"\(text)\"", "malformed.attest-receipt.time") {
        $0.attributes = $0.attributes.setting(AttributeTemplate(21, Array(text.utf8)))
      }
    }
    + [
      ("no fraction", "2027-02-19T00:00:00Z", 1_802_995_200_000),
      ("one digit", "2027-02-19T00:00:00.1Z", 1_802_995_200_100),
      ("two digits", "2027-02-19T00:00:00.12Z", 1_802_995_200_120),
      ("nine digits", "2027-02-19T00:00:00.123999999Z", 1_802_995_200_123),
    ].map { name, text, value in
      one("FRC-7", "an end with \(name)", facts: [("attestReceipt.expiresAtMs", .integer(value))]) {
        $0.attributes = $0.attributes.setting(AttributeTemplate(21, Array(text.utf8)))
      }
    }

  /// Variations of the certificates that sign receipts (FRC-4).
  static let signers: [AttestVariation] = roots + certificates

  private static func signer(
    _ name: String, _ status: String = "ok", _ change: @escaping CertificateTemplate.Change
  ) -> AttestVariation {
    one("FRC-4", "a signer \(name)", status, at: status == "ok" ? nil : "signer") {
      template, authority in template.use(try authority.receiptChain(leaf: change))
    }
  }

  private static func intermediate(
    _ name: String, _ status: String = "ok", _ change: @escaping CertificateTemplate.Change
  ) -> AttestVariation {
    one("FRC-4", "an intermediate \(name)", status) { template, authority in
      template.use(try authority.receiptChain(intermediate: change))
    }
  }

  /// Returns a variation with `count` certificates of the intermediate's name before the
  /// intermediate.
  private static func others(_ count: Int, _ status: String = "ok") -> AttestVariation {
    one("CER-10", "\(count) others of the intermediate's name", status) { template, authority in
      for _ in 0..<count {
        let chain = try authority.receiptChain(intermediateKey: .generate(.p256))
        template.certificates.insert(chain.intermediate, at: 1)
      }
    }
  }

  private static let roots: [AttestVariation] = [
    one("FRC-4", "the root missing in the bag") {
      $0.certificates = Array($0.certificates.prefix(2))
    },
    one("FRC-4", "a foreign root in the bag") { template, authority in
      template.certificates[2] = try authority.receiptSigners.root.signed(by: .generate(.p384))
    },
    one("FRC-4", "the signer as the last certificate") { $0.certificates.reverse() },
    one("FRC-4", "no intermediate", "rejected.chain.issuer-unknown") {
      $0.certificates.remove(at: 1)
    },
    one("FRC-4", "the root of attestations", "rejected.chain.untrusted-root") {
      template, authority in
      template.use(
        try authority.receiptChain(
          intermediate: { $0.issuer = authority.root.subject },
          intermediateSigner: authority.keys.root))
    },
    one("FRC-4", "another root of the same name", "rejected.chain.signature-intermediate") {
      template, authority in
      template.use(try authority.receiptChain(intermediateSigner: .generate(.p384)))
    },
    one("FRC-4", "another authority with Apple's names", "rejected.chain.untrusted-root") {
      $0.use(try AttestAuthority(now: 1_795_219_200_000, names: .apple).receiptChain)
    },
    others(2), others(3, "rejected.chain.issuer-unknown"),
    one("FRC-4", "a signer signed by another key", "rejected.chain.signature-leaf") {
      template, authority in template.use(try authority.receiptChain(leafSigner: .generate(.p256)))
    },
    one("FRC-4", "a signer with a P-384 key", "rejected.chain.key", at: "signer") {
      template, authority in template.use(try authority.receiptChain(leafKey: .generate(.p384)))
    },
    one("FRC-4", "a signer with a new key") { template, authority in
      template.use(try authority.receiptChain(leafKey: .generate(.p256)))
    },
    one("FRC-4", "an intermediate with a P-384 key", "rejected.chain.key") { template, authority in
      template.use(try authority.receiptChain(intermediateKey: .generate(.p384)))
    },
    one("FRC-4", "a certificate of more than 4,096 bytes", "too-large.chain.certificate") {
      template, authority in
      template.use(try authority.receiptChain(leaf: { $0 = $0.filled(4096) }))
    },
  ]

  private static let certificates: [AttestVariation] = [
    signer("without its marker", "rejected.chain.leaf-marker") {
      $0 = $0.replacing(OID.attestReceiptMarker, with: nil)
    },
    signer("with the marker of the store", "rejected.chain.leaf-marker") {
      $0 = $0.replacing(OID.attestReceiptMarker, with: .marker(OID.leafMarker))
    },
    signer("that may not sign data", "rejected.chain.key-usage") {
      $0 = $0.replacing(OID.keyUsage, with: .keyUsage(.nonRepudiation))
    },
    signer("that is a CA", "rejected.chain.leaf-is-ca") {
      $0 = $0.replacing(OID.basicConstraints, with: .basicConstraints(ca: true))
    },
    signer("with an unknown critical extension", "rejected.chain.critical-extension") {
      $0 = $0.adding(CertificateExtension("1.2.3.4.5", critical: true, DER.null))
    },
    signer("with an unknown extension") {
      $0 = $0.adding(CertificateExtension("1.2.3.4.5", DER.null))
    },
    signer("of version 2", "rejected.chain.version") {
      $0.version = DER.explicit(0, DER.unsigned([1]))
    },
    signer("with serial number 0", "rejected.chain.serial") { $0.serial = [0] },
    intermediate("without its marker", "rejected.chain.intermediate-marker") {
      $0 = $0.replacing(OID.integrationMarker, with: nil)
    },
    intermediate("with the marker of developers", "rejected.chain.intermediate-marker") {
      $0 = $0.replacing(OID.integrationMarker, with: .marker(OID.intermediateMarker))
    },
    intermediate("that is no CA", "rejected.chain.not-ca") {
      $0 = $0.replacing(OID.basicConstraints, with: .basicConstraints(ca: false))
    },
    intermediate("that may not sign certificates", "rejected.chain.key-usage") {
      $0 = $0.replacing(OID.keyUsage, with: .keyUsage(.cRLSign))
    },
    intermediate("with a damaged signature", "rejected.chain.signature-intermediate") {
      $0.signatureForm = .damaged
    },
  ]
}

extension AppReceiptTemplate {
  /// Replaces chain, certificates and key.
  mutating func use(_ other: CertificateChain) {
    chain = other
    certificates = other.certificates
  }
}
