extension OID {
  public static let rsaEncryption = "1.2.840.113549.1.1.1"
  public static let sha1WithRSA = "1.2.840.113549.1.1.5"
  public static let sha384WithRSA = "1.2.840.113549.1.1.12"
  public static let sha1 = "1.3.14.3.2.26"
  public static let sha256 = "2.16.840.1.101.3.4.2.1"
  public static let sha384 = "2.16.840.1.101.3.4.2.2"
  public static let data = "1.2.840.113549.1.7.1"
  public static let signedData = "1.2.840.113549.1.7.2"
  /// The marker of the iTunes Store intermediate above version 2 transaction receipts.
  public static let storeMarker = "1.2.840.113635.100.6.2.2"
  /// The marker of leaves that sign version 2 transaction receipts.
  public static let purchaseMarker = "1.2.840.113635.100.6.5.1"
  /// The marker of developers' certificates for the distribution of apps.
  public static let developerMarker = "1.2.840.113635.100.6.1.4"
}

extension SigningKey.Digest {
  /// The AlgorithmIdentifier of RSA with this digest, parameters NULL.
  package var rsaAlgorithm: [UInt8] {
    let oid =
      switch self {
      case .sha1: OID.sha1WithRSA
      case .sha256: OID.sha256WithRSA
      case .sha384: OID.sha384WithRSA
      case .sha512: "1.2.840.113549.1.1.13"
      }
    return CertificateTemplate.algorithm(oid, parameters: DER.null)
  }

  /// The AlgorithmIdentifier of the digest, parameters NULL.
  package var algorithm: [UInt8] {
    let oid =
      switch self {
      case .sha1: OID.sha1
      case .sha256: OID.sha256
      case .sha384: OID.sha384
      case .sha512: "2.16.840.1.101.3.4.2.3"
      }
    return CertificateTemplate.algorithm(oid, parameters: DER.null)
  }
}
