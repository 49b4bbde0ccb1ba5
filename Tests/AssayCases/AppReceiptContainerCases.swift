import AssayAuthority

extension CaseFixture {
  /// Adds faults of the container around an app receipt (APR-1 … APR-8).
  func addAppReceiptContainerCases() throws {
    try addBERCases()
    try addStructureCases()
    try addSignerCases()
    try addSignedAttributeCases()
    try addDigestCases()
    try addContainerLimits()
  }

  /// Adds BER encodings (APR-1).
  private func addBERCases() throws {
    for chunk in [1, 7, 100, 1024, 1 << 20] {
      try appReceipt("APR-1", "indefinite lengths, chunks of \(chunk)") {
        $0.form = .indefinite(chunk: chunk)
      }
    }
    func refuse(
      _ name: String, _ change: (inout AppReceiptTemplate) throws -> Void
    ) throws {
      try appReceipt(
        "APR-1", name, "malformed.app-receipt.ber", check: "receipt.container", change)
    }
    try refuse("an octet missing at the end") { $0.finish = { Array($0.dropLast()) } }
    try refuse("half of it missing") { $0.finish = { Array($0.prefix($0.count / 2)) } }
    try refuse("four octets of it") { $0.finish = { Array($0.prefix(4)) } }
    try refuse("a length with an octet too many") {
      $0.finish = { [$0[0], 0x83, 0] + $0.dropFirst(2) }
    }
    try refuse("a long length that fits a short one") {
      $0.content = .raw([0x04, 0x81, 0x03, 1, 2, 3])
    }
    try refuse("a length beyond the end") {
      $0.finish = { [$0[0], 0x84, 0x7f, 0xff, 0xff, 0xff] + $0.dropFirst(4) }
    }
    try refuse("a primitive of indefinite length") {
      $0.content = .raw([0x04, 0x80, 1, 2, 3, 0, 0])
    }
    try refuse("a tag number above 30") { $0.content = .raw([0x1f, 0x81, 0x01, 0x01, 0x00]) }
    try refuse("a chunk that is no octet string") {
      $0.content = .raw([0x24, 0x80, 0x02, 0x01, 0x00, 0x00, 0x00])
    }
    try refuse("no end of contents") {
      $0.form = .indefinite(chunk: 1000)
      $0.finish = { Array($0.dropLast(2)) }
    }
    try refuse("an end of contents too few") {
      $0.form = .indefinite(chunk: 1000)
      $0.finish = { Array($0.dropLast(4)) }
    }
    try appReceipt(
      "APR-2", "an end of contents too many", "malformed.app-receipt.trailing",
      check: "receipt.container"
    ) {
      $0.form = .indefinite(chunk: 1000)
      $0.finish = { $0 + [0, 0] }
    }
    for form in [ASN1Tree.Form.definite, .indefinite(chunk: 1000)] {
      let name = if case .definite = form { "definite" } else { "indefinite" }
      try appReceipt(
        "APR-2", "an octet after it, \(name)", "malformed.app-receipt.trailing",
        check: "receipt.container"
      ) {
        $0.form = form
        $0.finish = { $0 + [0] }
      }
    }
  }

  /// Adds faults of the container's structure (APR-2).
  private func addStructureCases() throws {
    func refuse(
      _ name: String, _ status: String = "malformed.app-receipt.structure",
      _ change: (inout AppReceiptTemplate) throws -> Void
    ) throws {
      try appReceipt("APR-2", name, status, change)
    }
    let type = "unsupported.app-receipt.content-type"
    try refuse("enveloped data", type) { $0.outerType = "1.2.840.113549.1.7.3" }
    try refuse("another content", type) { $0.contentType = OID.signedData }
    for version in [0, 2, 3, 5] as [UInt8] {
      try refuse("SignedData of version \(version)", type) { $0.version = [version] }
    }
    try refuse("a payload in an octet string of its own") {
      let payload = DER.octetString(AttributeTemplate.set($0.attributes))
      $0.payload = payload
    }
    try refuse("a payload that is a sequence") {
      $0.payload = DER.value(0x30, $0.attributes.flatMap(\.der))
    }
    try refuse("an octet after the set of the payload") {
      $0.payload = AttributeTemplate.set($0.attributes) + [0]
    }
    try refuse("an empty payload") { $0.payload = [] }
    try refuse("a payload of junk") { $0.payload = Array("hello".utf8) }
    try refuse("no content") { $0.content = .raw([]) }
    try refuse("content that is no octet string") { $0.content = .raw(DER.utf8("hello")) }
    try refuse("two octet strings") {
      $0.content = .constructed(0x30, [.octets([1]), .octets([2])])
    }
    try refuse("signers before the certificates") {
      let bag = ASN1Tree.raw(DER.value(0xa0, $0.certificates.flatMap { $0 }))
      let signers = try $0.signerInfo(over: AttributeTemplate.set($0.attributes))
      $0.bag = .constructed(0x31, [signers])
      $0.signerInfos = []
      $0.revocationLists = bag
    }
  }

  /// Adds signers and signer infos (APR-3, APR-4, APR-7).
  private func addSignerCases() throws {
    func refuse(
      _ rule: String, _ name: String, _ status: String,
      _ change: (inout AppReceiptTemplate) throws -> Void
    ) throws {
      try appReceipt(rule, name, status, change)
    }
    try refuse("APR-3", "two signers", "unsupported.app-receipt.signers") {
      let one = try $0.signerInfo(over: AttributeTemplate.set($0.attributes))
      $0.signerInfos = [one, one]
    }
    try refuse("APR-3", "no signer", "unsupported.app-receipt.signers") { $0.signerInfos = [] }
    try refuse("APR-3", "a signer by key identifier", "unsupported.app-receipt.signer-id") {
      $0.signerVersion = [3]
      $0.signerIdentifier = DER.implicit(0, Array(repeating: 7, count: 20))
    }
    try appReceipt("APR-3", "attributes in reverse order") { $0.attributes.reverse() }
    let time = DER.sequence(
      DER.oid("1.2.840.113549.1.9.5"), DER.set(DER.value(0x17, Array("261121000000Z".utf8))))
    try refuse("APR-4", "signed attributes", "unsupported.app-receipt.signed-attributes") {
      $0.signedAttributes = DER.value(0xa0, time)
    }
    try refuse(
      "APR-4", "an empty set of signed attributes",
      "unsupported.app-receipt.signed-attributes"
    ) { $0.signedAttributes = DER.value(0xa0, []) }
    try appReceipt("APR-4", "unsigned attributes") {
      $0.unsignedAttributes = DER.value(0xa1, time)
    }
    try appReceipt("APR-4", "revocation lists") {
      $0.revocationLists = .raw(DER.value(0xa1, DER.sequence(DER.octetString([1, 2, 3]))))
    }
    let none = "rejected.app-receipt.signer-certificate"
    try refuse("APR-7", "a signer of another serial number", none) {
      let issuer = try receipts.chain(.developer)
      $0.signerIdentifier = try AppReceiptTemplate.issuerAndSerial(issuer.leaf)
    }
    try refuse("APR-7", "a bag without the leaf", none) { $0.certificates.removeFirst() }
    try appReceipt("APR-7", "the bag in reverse order") { $0.certificates.reverse() }
    try appReceipt("APR-7", "a developer's certificate first in the bag") {
      $0.certificates.insert(try receipts.chain(.developer).leaf, at: 0)
    }
    try appReceipt(
      "APR-8", "signed with a developer's certificate", generation: .developer,
      "rejected.chain.leaf-marker", check: "chain.shape")
    try appReceipt(
      "APR-8", "a leaf under the store's intermediate",
      of: appFacts.with { $0.creationDate = 1_395_000_000_000 },
      "rejected.chain.intermediate-marker", check: "chain.shape"
    ) {
      $0.chain = try receipts.chain(
        .store, leaf: { $0 = $0.replacing(OID.purchaseMarker, with: .marker(OID.leafMarker)) },
        leafKey: receipts.keys.leaf)
      $0.certificates = $0.chain.certificates
    }
  }

  /// Adds signatures and digests of the payload (APR-5, APR-6).
  private func addDigestCases() throws {
    for generation in [ReceiptAuthority.Generation.current, .second] {
      let facts =
        generation == .current
        ? appFacts
        : appFacts.with { $0.creationDate = 1_530_000_000_000 }
      for (digest, name) in [(SigningKey.Digest.sha1, "sha1"), (.sha256, "sha256")] {
        try appReceipt(
          "APR-5", "\(name) by a leaf of \(generation.rawValue)", of: facts, digest: digest,
          facts: [("digest", .text(name))])
      }
    }
    try appReceipt("APR-5", "a digest without parameters") {
      $0.signerDigest = CertificateTemplate.algorithm(OID.sha256)
    }
    try appReceipt("APR-5", "a list of digests without parameters") {
      $0.digestAlgorithms = [CertificateTemplate.algorithm(OID.sha256)]
    }
    func refuse(
      _ rule: String, _ name: String, _ status: String, check: String? = nil,
      _ change: (inout AppReceiptTemplate) throws -> Void
    ) throws {
      try appReceipt(rule, name, status, check: check, change)
    }
    let digest = "unsupported.app-receipt.digest"
    try refuse("APR-5", "SHA-384", digest) { $0.digest = .sha384 }
    try refuse("APR-5", "SHA-512", digest) { $0.digest = .sha512 }
    try refuse("APR-5", "another digest in SignedData", digest) {
      $0.digestAlgorithms = [SigningKey.Digest.sha1.algorithm]
    }
    try refuse("APR-5", "another digest in SignerInfo", digest) {
      $0.signerDigest = SigningKey.Digest.sha1.algorithm
    }
    try refuse("APR-5", "MD5", digest) {
      let md5 = CertificateTemplate.algorithm("1.2.840.113549.2.5", parameters: DER.null)
      $0.digestAlgorithms = [md5]
      $0.signerDigest = md5
    }
    let algorithm = "unsupported.app-receipt.signature-algorithm"
    try appReceipt("APR-6", "sha256WithRSAEncryption over SHA-256") {
      $0.signatureAlgorithm = SigningKey.Digest.sha256.rsaAlgorithm
    }
    try appReceipt("APR-6", "sha1WithRSAEncryption over SHA-1", digest: .sha1) {
      $0.signatureAlgorithm = SigningKey.Digest.sha1.rsaAlgorithm
    }
    try refuse("APR-6", "sha1WithRSAEncryption over SHA-256", algorithm) {
      $0.signatureAlgorithm = SigningKey.Digest.sha1.rsaAlgorithm
    }
    try appReceipt(
      "APR-6", "sha256WithRSAEncryption over SHA-1", digest: .sha1, algorithm
    ) { $0.signatureAlgorithm = SigningKey.Digest.sha256.rsaAlgorithm }
    for (name, oid) in [
      ("RSASSA-PSS", "1.2.840.113549.1.1.10"), ("ECDSA", OID.ecdsaWithSHA256),
      ("sha384WithRSAEncryption", OID.sha384WithRSA),
    ] {
      try refuse("APR-6", name, algorithm) {
        $0.signatureAlgorithm = CertificateTemplate.algorithm(oid, parameters: DER.null)
      }
    }
    let signature = "rejected.app-receipt.signature"
    func forge(
      _ name: String, _ change: (inout AppReceiptTemplate) throws -> Void
    ) throws {
      try appReceipt("APR-6", name, signature, check: "receipt.signature", change)
    }
    try forge("a signature with one bit changed") { $0.signature = .damaged }
    try forge("a signature by another key") { $0.signature = .by(receipts.keys.leaf) }
    try forge("an empty signature") { $0.signature = .octets([]) }
    try forge("a signature of 255 octets") {
      $0.signature = .octets(Array(repeating: 1, count: 255))
    }
    try forge("a signature of zeros") { $0.signature = .octets(Array(repeating: 0, count: 256)) }
    try forge("a payload with another product after signing") {
      let other = appFacts.with {
        $0.purchases = [purchase.with { $0.productId = "com.example.app.lifetime" }]
      }
      $0.sentPayload = AttributeTemplate.set(other.attributes)
    }
    try forge("SHA-1 signed where SHA-256 is named") {
      $0.signature = .octets(
        try $0.chain.key.sign(AttributeTemplate.set($0.attributes), .sha1))
    }
    try forge("the whole octet string signed") {
      $0.signature = .octets(
        try $0.chain.key.sign(DER.octetString(AttributeTemplate.set($0.attributes)), .sha256))
    }
  }

  /// Adds containers at and beyond their caps (docs/spec/receipts.md, section 1).
  private func addContainerLimits() throws {
    let filler = try receipts.chain(.store).intermediate
    for (count, status) in [(8, "ok"), (9, "too-large.app-receipt.certificates")] {
      try appReceipt("APR-1", "\(count) certificates", status) {
        while $0.certificates.count < count { $0.certificates.append(filler) }
      }
    }
    try appReceipt("PTH-4", "an embedded certificate of 5 KB", "too-large.chain.certificate") {
      $0.chain = try receipts.chain(
        .current,
        leaf: {
          $0 = $0.adding(
            CertificateExtension("1.2.3.4", DER.octetString(Array(repeating: 7, count: 4096))))
        })
      $0.certificates[0] = $0.chain.leaf
    }
    var deep: [UInt8] = [0xa1, 0x80]
    for _ in 0..<30 { deep += [0x30, 0x80] }
    for _ in 0..<31 { deep += [0, 0] }
    try appReceipt("APR-1", "nested thirty deep", "too-large.app-receipt.depth") {
      $0.revocationLists = .raw(deep)
    }
    // The container 30 80 06 … is never closed; each group of three bytes is one of base64.
    let head: [UInt8] =
      [0x30, 0x80] + DER.oid(OID.signedData) + [0xa0, 0x80, 0x30, 0x80] + DER.unsigned([1])
      + [0x31, 0x80]
    let aligned = head + Array(repeating: 0, count: 0)
    let pad = (3 - aligned.count % 3) % 3
    let prefix = aligned + (pad == 0 ? [] : pad == 1 ? [0x05, 0x00, 0x05, 0x00] : [0x05, 0x00])
    receipt(
      "APR-1", "300,000 elements",
      text: .repeated(
        prefix: Base64Text.encode(prefix), unit: Base64Text.encode([5, 0, 5, 0, 5, 0]),
        count: 100_000, suffix: []),
      kind: .appReceipt, "too-large.app-receipt.elements")
    receipt(
      "APR-1", "a receipt of more than a megabyte",
      text: .repeated(
        prefix: Base64Text.encode([0x30, 0x83, 0x20, 0x00, 0x00, 0x06]),
        unit: Array("AAAA".utf8), count: 400_000, suffix: []),
      kind: .appReceipt, "too-large.app-receipt.size")
  }
}
