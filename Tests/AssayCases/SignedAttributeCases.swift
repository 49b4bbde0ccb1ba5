import AssayAuthority

extension CaseFixture {
  /// Adds app receipts with signed attributes (APR-4).
  func addSignedAttributeCases() throws {
    try addGoodAttributes()
    try addAttributeForms()
    try addAttributeSignatures()
  }

  private static let contentType = attribute("3", DER.oid(OID.data))
  private static let time = attribute("5", DER.value(0x17, Array("261121000000Z".utf8)))

  /// Returns an attribute of PKCS#9 with this last arc and these values.
  private static func attribute(_ arc: String, _ values: [UInt8]...) -> [UInt8] {
    DER.sequence(DER.oid("1.2.840.113549.1.9." + arc), DER.set(values.flatMap { $0 }))
  }

  /// Returns the attribute with the digest of the template's payload.
  private static func digest(_ template: AppReceiptTemplate) -> [UInt8] {
    attribute("4", DER.octetString(hash(template)))
  }

  private static func hash(_ template: AppReceiptTemplate) -> [UInt8] {
    let payload = AttributeTemplate.set(template.attributes)
    return template.digest == .sha1
      ? CertificateExtension.keyIdentifier(payload) : AttestDigest.sha256(payload)
  }

  /// Adds a receipt whose signature covers the attributes that `make` returns.
  private func attributes(
    _ name: String, digest: SigningKey.Digest? = nil, _ status: String = "ok", at: String? = nil,
    facts: Facts = [], form: ASN1Tree.Form = .definite,
    _ make: (AppReceiptTemplate) throws -> [UInt8]
  ) throws {
    try appReceipt("APR-4", name, digest: digest, status, at: at, facts: facts) {
      $0.form = form
      $0.signedAttributes = DER.value(0xa0, try make($0))
      $0.attributesAreSigned = true
    }
  }

  private func addGoodAttributes() throws {
    for (digest, name) in [(SigningKey.Digest.sha1, "sha1"), (.sha256, "sha256")] {
      try attributes(
        "signed attributes over \(name)", digest: digest,
        facts: [
          ("digest", .text(name)), ("purchases.0.transactionId", .text(purchase.transactionId)),
        ]
      ) { Self.contentType + Self.digest($0) }
    }
    try attributes("signed attributes with the signing time") {
      Self.contentType + Self.time + Self.digest($0)
    }
    try attributes(
      "signed attributes in a container of indefinite lengths", form: .indefinite(chunk: 100)
    ) {
      Self.contentType + Self.digest($0)
    }
  }

  private func addAttributeForms() throws {
    func refuse(_ name: String, _ make: (AppReceiptTemplate) throws -> [UInt8]) throws {
      try attributes(
        "signed attributes: \(name)", "unsupported.app-receipt.signed-attributes",
        at: "signedAttrs", make)
    }
    try refuse("no digest") { _ in Self.contentType }
    try refuse("no content type") { Self.digest($0) }
    try refuse("another content type") {
      Self.attribute("3", DER.oid(OID.signedData)) + Self.digest($0)
    }
    try refuse("two content types") {
      Self.attribute("3", DER.oid(OID.data), DER.oid(OID.signedData)) + Self.digest($0)
    }
    try refuse("a content type that is a text") {
      Self.attribute("3", DER.utf8("data")) + Self.digest($0)
    }
    try refuse("two digests in one attribute") {
      Self.contentType
        + Self.attribute("4", DER.octetString([0xff]), DER.octetString(Self.hash($0)))
    }
    try refuse("the digest as a bit string") {
      Self.contentType + Self.attribute("4", DER.value(0x03, [0] + Self.hash($0)))
    }
    try refuse("the digest attribute twice") {
      Self.attribute("4", DER.octetString([1])) + Self.contentType + Self.digest($0)
    }
    try refuse("not sorted") { Self.digest($0) + Self.contentType }
    try refuse("an attribute that is no sequence") {
      Self.contentType + Self.digest($0) + DER.set(DER.oid(OID.data))
    }
    try refuse("an attribute without values") {
      DER.sequence(DER.oid("1.2.840.113549.1.9.5")) + Self.contentType + Self.digest($0)
    }
    try refuse("an attribute with a member too many") {
      DER.sequence(DER.oid("1.2.840.113549.1.9.5"), DER.set(DER.null), DER.null)
        + Self.contentType + Self.digest($0)
    }
    try appReceipt(
      "APR-4", "signed attributes of indefinite length",
      "unsupported.app-receipt.signed-attributes", at: "signedAttrs"
    ) {
      $0.signedAttributes = [0xa0, 0x80] + Self.contentType + Self.digest($0) + [0, 0]
      $0.attributesAreSigned = true
    }
  }

  private func addAttributeSignatures() throws {
    let status = "rejected.app-receipt.signature"
    try attributes(
      "signed attributes with the digest of another payload", status,
      at: "signedAttrs.messageDigest"
    ) { template in
      var other = template
      other.attributes.removeLast()
      return Self.contentType + Self.digest(other)
    }
    try attributes(
      "signed attributes with half of the digest", status, at: "signedAttrs.messageDigest"
    ) { Self.contentType + Self.attribute("4", DER.octetString(Array(Self.hash($0).prefix(16)))) }
    try attributes(
      "signed attributes with the digest of the other algorithm", digest: .sha1, status,
      at: "signedAttrs.messageDigest"
    ) {
      Self.contentType
        + Self.attribute(
          "4", DER.octetString(AttestDigest.sha256(AttributeTemplate.set($0.attributes))))
    }
    try appReceipt(
      "APR-4", "signed attributes beside a signature of the payload", status, at: "signature"
    ) { $0.signedAttributes = DER.value(0xa0, Self.contentType + Self.digest($0)) }
    try appReceipt(
      "APR-4", "a payload other than the signed attributes have", status,
      at: "signedAttrs.messageDigest"
    ) {
      $0.signedAttributes = DER.value(0xa0, Self.contentType + Self.digest($0))
      $0.attributesAreSigned = true
      var other = $0
      other.attributes.removeLast()
      $0.sentPayload = AttributeTemplate.set(other.attributes)
    }
    try appReceipt(
      "APR-4", "signed attributes that are presented as the payload",
      "malformed.app-receipt.ber", check: "receipt.attributes"
    ) { $0.payload = DER.set(Self.contentType + Self.digest($0)) }
    try appReceipt(
      "APR-4", "a payload that is presented as signed attributes",
      "unsupported.app-receipt.signed-attributes", at: "signedAttrs"
    ) {
      $0.signedAttributes = [0xa0] + AttributeTemplate.set($0.attributes).dropFirst()
      $0.attributesAreSigned = true
    }
  }
}
