import CLibCrypto

/// One extension of a certificate. Every byte can be set.
public struct CertificateExtension: Sendable {
  public var oid: String
  /// The content byte of the `critical` BOOLEAN; `nil` omits it, which means false.
  public var critical: UInt8?
  /// The content of the OCTET STRING.
  public var value: [UInt8]

  public init(_ oid: String, critical: Bool = false, _ value: [UInt8]) {
    self.oid = oid
    self.critical = critical ? 0xff : nil
    self.value = value
  }

  var der: [UInt8] {
    DER.sequence(DER.oid(oid), critical.map { DER.boolean($0) } ?? [], DER.octetString(value))
  }

  /// The bits of keyUsage, as in its first byte.
  public struct KeyUsage: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    public static let digitalSignature = KeyUsage(rawValue: 0x80)
    public static let nonRepudiation = KeyUsage(rawValue: 0x40)
    public static let keyCertSign = KeyUsage(rawValue: 0x04)
    public static let cRLSign = KeyUsage(rawValue: 0x02)
  }

  public static func keyUsage(_ usage: KeyUsage, critical: Bool = true) -> CertificateExtension {
    let unused = UInt8(usage.rawValue == 0 ? 7 : min(7, usage.rawValue.trailingZeroBitCount))
    return CertificateExtension(
      OID.keyUsage, critical: critical, DER.bitString([usage.rawValue], unused: unused))
  }

  /// Returns CA:TRUE with an optional path length, or CA:FALSE as the empty sequence.
  public static func basicConstraints(
    ca: Bool, pathLength: UInt8? = nil, critical: Bool = true
  ) -> CertificateExtension {
    let length = pathLength.map { DER.unsigned([$0]) } ?? []
    return CertificateExtension(
      OID.basicConstraints, critical: critical,
      ca ? DER.sequence(DER.boolean(0xff), length) : DER.sequence())
  }

  public static func subjectKeyIdentifier(_ identifier: [UInt8]) -> CertificateExtension {
    CertificateExtension("2.5.29.14", DER.octetString(identifier))
  }

  public static func authorityKeyIdentifier(_ identifier: [UInt8]) -> CertificateExtension {
    CertificateExtension("2.5.29.35", DER.sequence(DER.implicit(0, identifier)))
  }

  /// Returns the addresses of the issuer's certificate and of its OCSP responder.
  public static func authorityInformationAccess(
    issuers: String? = nil, ocsp: String
  ) -> CertificateExtension {
    func access(_ method: String, _ address: String) -> [UInt8] {
      DER.sequence(DER.oid(method), DER.implicit(6, Array(address.utf8)))
    }
    return CertificateExtension(
      "1.3.6.1.5.5.7.1.1",
      DER.sequence(
        issuers.map { access("1.3.6.1.5.5.7.48.2", $0) } ?? [],
        access("1.3.6.1.5.5.7.48.1", ocsp)))
  }

  public static func crlDistributionPoint(_ address: String) -> CertificateExtension {
    let name = DER.explicit(0, DER.explicit(0, DER.implicit(6, Array(address.utf8))))
    return CertificateExtension("2.5.29.31", DER.sequence(DER.sequence(name)))
  }

  /// Returns a policy with a user notice and the address of a statement.
  public static func certificatePolicies(
    _ policy: String, notice: String, statement: String
  ) -> CertificateExtension {
    let note = DER.sequence(DER.oid("1.3.6.1.5.5.7.2.2"), DER.sequence(DER.utf8(notice)))
    let address = DER.sequence(DER.oid("1.3.6.1.5.5.7.2.1"), DER.ia5(statement))
    return CertificateExtension(
      "2.5.29.32", DER.sequence(DER.sequence(DER.oid(policy), DER.sequence(note, address))))
  }

  public static func extendedKeyUsage(
    _ purpose: String, critical: Bool = false
  ) -> CertificateExtension {
    CertificateExtension(
      OID.extendedKeyUsage, critical: critical, DER.sequence(DER.oid(purpose)))
  }

  /// Returns name constraints that permit only DNS names under `name`.
  public static func nameConstraints(
    _ name: String, critical: Bool
  ) -> CertificateExtension {
    let subtree = DER.sequence(DER.implicit(2, Array(name.utf8)))
    return CertificateExtension(
      OID.nameConstraints, critical: critical, DER.sequence(DER.explicit(0, subtree)))
  }

  /// Returns a marker of Apple's: DER NULL, not critical.
  public static func marker(_ oid: String) -> CertificateExtension {
    CertificateExtension(oid, DER.null)
  }

  /// Returns the SHA-1 of a public key, the usual key identifier.
  public static func keyIdentifier(_ publicKey: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: 20)
    unsafe digest.withUnsafeMutableBufferPointer { out in
      unsafe publicKey.withUnsafeBufferPointer { key in
        _ = unsafe EVP_Digest(key.baseAddress, key.count, out.baseAddress, nil, EVP_sha1(), nil)
      }
    }
    return digest
  }
}

/// The object identifiers that the authority writes.
public enum OID {
  public static let basicConstraints = "2.5.29.19"
  public static let keyUsage = "2.5.29.15"
  public static let extendedKeyUsage = "2.5.29.37"
  public static let nameConstraints = "2.5.29.30"
  public static let ecdsaWithSHA256 = "1.2.840.10045.4.3.2"
  public static let ecdsaWithSHA384 = "1.2.840.10045.4.3.3"
  public static let ecdsaWithSHA512 = "1.2.840.10045.4.3.4"
  public static let sha256WithRSA = "1.2.840.113549.1.1.11"
  public static let ecPublicKey = "1.2.840.10045.2.1"
  public static let p256 = "1.2.840.10045.3.1.7"
  public static let p384 = "1.3.132.0.34"
  public static let p521 = "1.3.132.0.35"
  /// The marker of leaves that sign receipts and JWS.
  public static let leafMarker = "1.2.840.113635.100.6.11.1"
  /// The marker of the Worldwide Developer Relations intermediate.
  public static let intermediateMarker = "1.2.840.113635.100.6.2.1"
}
