/// An app receipt or App Attest receipt before signing: PKCS#7 around a SET of attributes. Every
/// member of the container can be replaced; the signature covers the payload's bytes.
public struct AppReceiptTemplate: Sendable {
  public var attributes: [AttributeTemplate]
  /// The payload, in place of the SET of `attributes`.
  public var payload: [UInt8]?
  /// The payload that is sent; `nil` for the signed one.
  public var sentPayload: [UInt8]?
  public var chain: CertificateChain
  /// The certificates in their order; Apple's receipts have leaf, intermediate and root.
  public var certificates: [[UInt8]]
  /// The digest that is used for signing; the container names the same unless another is set.
  public var digest: SigningKey.Digest
  public var signature = TransactionReceiptTemplate.SignatureForm.asSigned
  public var form = ASN1Tree.Form.definite
  /// The content bytes of the version of SignedData.
  public var version: [UInt8] = [1]
  /// The digest algorithms of SignedData; `nil` for the one that is used.
  public var digestAlgorithms: [[UInt8]]?
  public var contentType = OID.data
  public var outerType = OID.signedData
  /// A value in place of the OCTET STRING of the content.
  public var content: ASN1Tree?
  /// The certificates as `[0]`; `nil` for those of `certificates`.
  public var bag: ASN1Tree?
  /// A value between certificates and signers, for example CRLs as `[1]`.
  public var revocationLists: ASN1Tree?
  /// Whether the SET of SignerInfos has definite lengths although `form` has not, as in App
  /// Attest receipts.
  public var signersAreDefinite = false
  /// The SignerInfos; `nil` for one that is made of the following members.
  public var signerInfos: [ASN1Tree]?
  public var signerVersion: [UInt8] = [1]
  /// The issuerAndSerialNumber; `nil` for the leaf's.
  public var signerIdentifier: [UInt8]?
  public var signerDigest: [UInt8]?
  /// The signed attributes, `[0]` of SignerInfo.
  public var signedAttributes: [UInt8] = []
  /// Whether the signature covers `signedAttributes` as a SET OF, and not the payload.
  public var attributesAreSigned = false
  public var signatureAlgorithm = CertificateTemplate.algorithm(
    OID.rsaEncryption, parameters: DER.null)
  /// The unsigned attributes, `[1]` of SignerInfo.
  public var unsignedAttributes: [UInt8] = []
  /// Changes the finished bytes.
  public var finish: @Sendable ([UInt8]) -> [UInt8] = { $0 }

  public init(
    attributes: [AttributeTemplate], chain: CertificateChain, digest: SigningKey.Digest
  ) {
    self.attributes = attributes
    self.chain = chain
    self.digest = digest
    certificates = chain.certificates
  }

  /// Returns the signed receipt in DER or BER.
  public func signed() throws -> [UInt8] {
    let payload = payload ?? AttributeTemplate.set(attributes)
    let signers = try signerInfos ?? [signerInfo(over: payload)]
    let inner = content ?? .octets(sentPayload ?? payload)
    let bag = bag ?? certificateBag
    var parts: [ASN1Tree] = [
      .raw(DER.integer(octets: version)),
      .raw(DER.value(0x31, (digestAlgorithms ?? [digest.algorithm]).flatMap { $0 })),
      .constructed(0x30, [.raw(DER.oid(contentType)), .constructed(0xa0, [inner])]),
      bag,
    ]
    if let revocationLists { parts.append(revocationLists) }
    let signerSet = ASN1Tree.constructed(0x31, signers)
    parts.append(signersAreDefinite ? .raw(signerSet.encoded(.definite)) : signerSet)
    let whole = ASN1Tree.constructed(
      0x30, [.raw(DER.oid(outerType)), .constructed(0xa0, [.constructed(0x30, parts)])])
    return finish(whole.encoded(form))
  }

  private var certificateBag: ASN1Tree {
    if signersAreDefinite { return .constructed(0xa0, certificates.map { .raw($0) }) }
    return .raw(DER.value(0xa0, certificates.flatMap { $0 }))
  }

  /// Returns a SignerInfo whose signature covers `payload`.
  public func signerInfo(over payload: [UInt8]) throws -> ASN1Tree {
    .constructed(
      0x30,
      [
        .raw(DER.integer(octets: signerVersion)),
        .raw(try signerIdentifier ?? AppReceiptTemplate.issuerAndSerial(chain.leaf)),
        .raw(signerDigest ?? digest.algorithm), .raw(signedAttributes),
        .raw(signatureAlgorithm),
        .raw(
          DER.octetString(
            try signatureOctets(
              attributesAreSigned ? [0x31] + signedAttributes.dropFirst() : payload))),
        .raw(unsignedAttributes),
      ])
  }

  private func signatureOctets(_ payload: [UInt8]) throws -> [UInt8] {
    switch signature {
    case .asSigned: return try chain.key.sign(payload, digest)
    case .damaged:
      var octets = try chain.key.sign(payload, digest)
      octets[octets.count / 2] ^= 1
      return octets
    case .octets(let octets): return octets
    case .by(let key): return try key.sign(payload, digest)
    }
  }

  /// Returns the issuerAndSerialNumber of a certificate that the authority made.
  public static func issuerAndSerial(_ certificate: [UInt8]) throws -> [UInt8] {
    let fields = try CertificateTemplate.fields(of: certificate)
    return DER.sequence(fields.issuer, fields.serial)
  }
}

extension ReceiptAuthority {
  /// Returns an app receipt before signing. The creation date selects generation and digest
  /// unless others are given; SHA-256 is used since August 2023.
  public func appTemplate(
    _ facts: AppReceiptFacts, generation: Generation? = nil, digest: SigningKey.Digest? = nil
  ) throws -> AppReceiptTemplate {
    let seconds = facts.creationDate / 1000
    let own: Generation =
      seconds < 1_447_279_081 ? .first : seconds < 1_675_806_527 ? .second : .current
    return AppReceiptTemplate(
      attributes: facts.attributes, chain: try chain(generation ?? own),
      digest: digest ?? (seconds < 1_690_848_000 ? .sha1 : .sha256))
  }

  /// Returns an app receipt before signing as Xcode makes it: BER with one self-signed
  /// certificate.
  public func xcodeTemplate(_ facts: AppReceiptFacts) -> AppReceiptTemplate {
    let chain = CertificateChain(
      leaf: xcodeCertificate, intermediate: [], root: [], key: keys.xcode)
    var template = AppReceiptTemplate(
      attributes: facts.xcodeAttributes, chain: chain, digest: .sha256)
    template.certificates = [xcodeCertificate]
    template.form = .indefinite(chunk: 1 << 20)
    template.signatureAlgorithm = SigningKey.Digest.sha256.rsaAlgorithm
    return template
  }

  /// Returns a genuine app receipt as the client posts it, base64.
  public func appReceipt(_ facts: AppReceiptFacts) throws -> [UInt8] {
    Base64Text.encode(try appTemplate(facts).signed())
  }
}
