/// An OCSP response before signing (RFC 6960 §4.2). Every field can be set to anything, and
/// `signed` signs it as it is.
public struct OCSPResponseTemplate: Sendable {
  /// The SingleResponse about one certificate.
  public struct Single: Sendable {
    /// The CertID of the certificate.
    public var certificate: CertificateID
    /// The whole CHOICE of CertStatus.
    public var status: [UInt8]
    public var thisUpdate: CertificateTime
    public var nextUpdate: CertificateTime?
    public var extensions: [CertificateExtension] = []

    var der: [UInt8] {
      DER.sequence(
        certificate.der, status, thisUpdate.der,
        nextUpdate.map { DER.explicit(0, $0.der) } ?? [],
        OCSPResponseTemplate.extensions(extensions))
    }
  }

  /// The CertID: the name of a certificate in requests and responses.
  public struct CertificateID: Sendable, Equatable {
    /// The AlgorithmIdentifier of the digest.
    public var algorithm: [UInt8]
    public var issuerName: [UInt8]
    public var issuerKey: [UInt8]
    /// The content bytes of the serial number.
    public var serial: [UInt8]

    /// Creates a CertID from the name and the public key of the issuer.
    public init(
      issuerName: [UInt8], issuerKey: [UInt8], serial: [UInt8], sha1: Bool = false
    ) {
      let digest = sha1 ? CertificateExtension.keyIdentifier : AttestDigest.sha256
      algorithm = CertificateTemplate.algorithm(
        sha1 ? OID.sha1 : OID.sha256, parameters: DER.null)
      self.issuerName = digest(issuerName)
      self.issuerKey = digest(issuerKey)
      self.serial = serial
    }

    /// - Parameter algorithm: the whole AlgorithmIdentifier of the digest of issuer name and key.
    public init(
      algorithm: [UInt8], issuerName: [UInt8], issuerKey: [UInt8], serial: [UInt8]
    ) {
      self.algorithm = algorithm
      self.issuerName = issuerName
      self.issuerKey = issuerKey
      self.serial = serial
    }

    var der: [UInt8] {
      DER.sequence(
        algorithm, DER.octetString(issuerName), DER.octetString(issuerKey),
        DER.integer(octets: serial))
    }
  }

  /// The values of CertStatus.
  public static let good = DER.implicit(0, [])
  public static let unknown = DER.implicit(2, [])

  /// - Parameter seconds: the time of revocation in seconds since 1970.
  public static func revoked(at seconds: Int64, reason: UInt8? = nil) -> [UInt8] {
    DER.explicit(
      1,
      CertificateTime.generalized(seconds).der
        + (reason.map { DER.explicit(0, DER.value(0x0a, [$0])) } ?? []))
  }

  /// The OCSPResponseStatus; any value but 0 omits every other field.
  public var responseStatus: UInt8 = 0
  public var type = OID.basicResponse
  /// The whole version field; empty omits it (version 1).
  public var version: [UInt8] = []
  /// The whole CHOICE of ResponderID.
  public var responder: [UInt8]
  public var producedAt: CertificateTime
  public var singles: [Single]
  public var extensions: [CertificateExtension] = []
  public var algorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA256)
  public var digest = SigningKey.Digest.sha256
  public var certificates: [[UInt8]] = []
  public var key: SigningKey
  /// Whether one bit of the signature is flipped after signing.
  public var signatureIsDamaged = false

  /// Returns the ResponderID by the signer's Name; `byKey` by the signer's public key.
  public static func byName(_ name: [UInt8]) -> [UInt8] { DER.explicit(1, name) }
  public static func byKey(_ key: [UInt8]) -> [UInt8] {
    DER.explicit(2, DER.octetString(CertificateExtension.keyIdentifier(key)))
  }

  /// Returns a response without content, which has only an OCSPResponseStatus.
  public static func failure(_ status: UInt8) -> [UInt8] {
    DER.sequence(DER.value(0x0a, [status]))
  }

  /// Signs the response.
  public func signed() throws -> [UInt8] {
    guard responseStatus == 0 else { return OCSPResponseTemplate.failure(responseStatus) }
    return DER.sequence(
      DER.value(0x0a, [0]),
      DER.explicit(0, DER.sequence(DER.oid(type), DER.octetString(try basic()))))
  }

  private func basic() throws -> [UInt8] {
    let data = DER.sequence(
      version, responder, producedAt.der, DER.value(0x30, singles.flatMap(\.der)),
      OCSPResponseTemplate.extensions(extensions))
    var signature = try key.sign(data, digest)
    if signatureIsDamaged, let last = signature.indices.last { signature[last] ^= 1 }
    let list =
      certificates.isEmpty ? [] : DER.explicit(0, DER.value(0x30, certificates.flatMap { $0 }))
    return DER.sequence(data, algorithm, DER.bitString(signature), list)
  }

  private static func extensions(_ list: [CertificateExtension]) -> [UInt8] {
    list.isEmpty ? [] : DER.explicit(1, DER.value(0x30, list.flatMap(\.der)))
  }
}

extension OID {
  public static let basicResponse = "1.3.6.1.5.5.7.48.1.1"
  /// The extended key usage of OCSP responders.
  public static let ocspSigning = "1.3.6.1.5.5.7.3.9"
}
