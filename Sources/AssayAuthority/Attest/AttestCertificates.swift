extension OID {
  /// The marker of the Application Integration intermediate above the signers of App Attest
  /// receipts.
  public static let integrationMarker = "1.2.840.113635.100.6.2.3"
  /// The marker of leaves that sign App Attest receipts.
  public static let attestReceiptMarker = "1.2.840.113635.100.12.15"
}

/// The certificate templates of an App Attest authority, with Apple's shape.
enum AttestCertificates {
  /// The first and last second of each certificate's validity, since 1970.
  struct Windows {
    var root: ClosedRange<Int64>
    var intermediate: ClosedRange<Int64>
    var receiptLeaf: ClosedRange<Int64>

    /// Creates windows about as wide as Apple's that contain `now` (ms since 1970).
    init(around now: Int64) {
      let second = now / 1000
      let year: Int64 = 365 * 86_400
      root = (second - 6 * year)...(second + 19 * year)
      intermediate = (second - 6 * year)...(second + 4 * year)
      receiptLeaf = (second - year / 2)...(second + 7 * year / 12)
    }
  }

  static func root(
    _ name: AttestNames.Name, _ key: SigningKey, _ window: ClosedRange<Int64>
  ) throws -> CertificateTemplate {
    let own = DistinguishedName.make(name)
    return CertificateTemplate(
      serial: try Authority.serial(8), issuer: own, subject: own,
      notBefore: .standard(window.lowerBound), notAfter: .standard(window.upperBound),
      publicKeyInfo: try key.publicKeyInfo(),
      extensions: [
        .subjectKeyIdentifier(try identifier(key)), .basicConstraints(ca: true),
        .keyUsage([.keyCertSign, .cRLSign]),
      ])
  }

  static func intermediate(
    _ names: AttestNames, _ keys: AttestAuthority.Keys, _ window: ClosedRange<Int64>
  ) throws -> CertificateTemplate {
    CertificateTemplate(
      serial: try Authority.serial(16), issuer: DistinguishedName.make(names.root),
      subject: DistinguishedName.make(names.intermediate),
      notBefore: .standard(window.lowerBound), notAfter: .standard(window.upperBound),
      publicKeyInfo: try keys.intermediate.publicKeyInfo(),
      extensions: [
        .basicConstraints(ca: true, pathLength: 0),
        .authorityKeyIdentifier(try identifier(keys.root)),
        .subjectKeyIdentifier(try identifier(keys.intermediate)),
        .keyUsage([.keyCertSign, .cRLSign]),
      ])
  }

  /// Returns the certificate of one attested key without extension 8.2 (the nonce). Valid from
  /// one day before the attestation to two days after it; has neither authority nor subject key
  /// identifier.
  ///
  /// - Parameter madeMs: the time of the attestation in milliseconds since 1970.
  static func leaf(
    _ device: AttestedDevice, issuer: [UInt8], madeMs: Int64
  ) throws -> CertificateTemplate {
    let second = madeMs / 1000
    let day: Int64 = 86_400
    var template = CertificateTemplate(
      serial: DER.unsignedOctets(UInt64(max(1, madeMs))), issuer: issuer,
      subject: DistinguishedName.make([
        ("CN", device.keyIdHex), ("OU", "AAA Certification"), ("O", "Assay"),
        ("2.5.4.8", "California"),
      ]),
      notBefore: .standard(second - day), notAfter: .standard(second + 2 * day),
      publicKeyInfo: try device.key.publicKeyInfo(),
      extensions: [
        .basicConstraints(ca: false),
        CertificateExtension(OID.keyUsage, critical: true, [0x03, 0x02, 0x04, 0xf0]),
      ])
    if device.system.hasPurpose {
      template = template.adding(.extendedKeyUsage(AttestLeafExtensions.purpose))
    }
    template = template.adding(AttestLeafExtensions.keyFacts(appId: device.appId))
      .adding(AttestLeafExtensions.systemFacts(device.system))
    if let octets = device.system.accessControl {
      template = template.adding(AttestLeafExtensions.accessControl(octets))
    }
    template.use(OID.ecdsaWithSHA256, .sha256)
    return template
  }

  static func receiptIntermediate(
    _ names: AttestNames, _ keys: AttestAuthority.Keys, _ window: ClosedRange<Int64>
  ) throws -> CertificateTemplate {
    CertificateTemplate(
      serial: try Authority.serial(8), issuer: DistinguishedName.make(names.receiptRoot),
      subject: DistinguishedName.make(names.receiptIntermediate),
      notBefore: .standard(window.lowerBound), notAfter: .standard(window.upperBound),
      publicKeyInfo: try keys.receiptIntermediate.publicKeyInfo(),
      extensions: [
        .basicConstraints(ca: true),
        .authorityKeyIdentifier(try identifier(keys.receiptRoot)),
        .authorityInformationAccess(ocsp: "http://ocsp.apple.com/ocsp03-assaytestroot"),
        .crlDistributionPoint("http://crl.apple.com/assaytestroot.crl"),
        .subjectKeyIdentifier(try identifier(keys.receiptIntermediate)),
        .keyUsage([.keyCertSign, .cRLSign]), .marker(OID.integrationMarker),
      ])
  }

  static func receiptLeaf(
    _ names: AttestNames, _ keys: AttestAuthority.Keys, _ window: ClosedRange<Int64>
  ) throws -> CertificateTemplate {
    var template = CertificateTemplate(
      serial: try Authority.serial(16),
      issuer: DistinguishedName.make(names.receiptIntermediate),
      subject: DistinguishedName.make(names.receiptLeaf),
      notBefore: .standard(window.lowerBound), notAfter: .standard(window.upperBound),
      publicKeyInfo: try keys.receiptLeaf.publicKeyInfo(),
      extensions: [
        .basicConstraints(ca: false),
        .authorityKeyIdentifier(try identifier(keys.receiptIntermediate)),
        .authorityInformationAccess(ocsp: "http://ocsp.apple.com/ocsp03-assaytestaai"),
        .subjectKeyIdentifier(try identifier(keys.receiptLeaf)),
        .keyUsage(.digitalSignature), .marker(OID.attestReceiptMarker),
      ])
    template.use(OID.ecdsaWithSHA256, .sha256)
    return template
  }

  private static func identifier(_ key: SigningKey) throws -> [UInt8] {
    CertificateExtension.keyIdentifier(try key.publicKey())
  }
}

extension DER {
  /// Returns the content bytes of a minimal positive INTEGER.
  static func unsignedOctets(_ number: UInt64) -> [UInt8] {
    let octets = Array(CBORText.octets(number, 8).drop { $0 == 0 })
    return (octets.first ?? 0x80) >= 0x80 ? [0] + octets : octets
  }
}
