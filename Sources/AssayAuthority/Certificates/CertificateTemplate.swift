/// An X.509 certificate before it is signed. Every field can be set to
/// anything; `signed` then signs whatever is there, so that exactly one
/// thing is wrong with a certificate that must be refused.
public struct CertificateTemplate: Sendable {
  /// The whole version field, `[0] EXPLICIT INTEGER`; empty leaves it out (v1).
  public var version: [UInt8] = DER.explicit(0, DER.unsigned([2]))
  /// Content octets of the serial number.
  public var serial: [UInt8]
  /// AlgorithmIdentifier inside the signed part.
  public var innerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA384)
  /// AlgorithmIdentifier beside the signature; `nil`: the same bytes.
  public var outerAlgorithm: [UInt8]?
  /// The digest that is actually signed.
  public var digest = SigningKey.Digest.sha384
  public var issuer: [UInt8]
  public var notBefore: CertificateTime
  public var notAfter: CertificateTime
  public var subject: [UInt8]
  public var publicKeyInfo: [UInt8]
  /// `nil` leaves the whole field out.
  public var extensions: [CertificateExtension]?
  /// Changes the signature value after signing.
  public var signatureForm: SignatureForm = .asSigned
  /// Changes the whole certificate, as the last step.
  public var form: Form = .clean

  public enum SignatureForm: Sendable {
    case asSigned
    /// One bit of s is flipped.
    case damaged
    /// One bit of the last octet is flipped, whatever the algorithm.
    case flipped
    /// r with a leading zero octet too many.
    case paddedInteger
    /// These numbers instead.
    case numbers(ECDSASignature)
    /// Bytes after the ECDSA-Sig-Value, inside the BIT STRING.
    case trailing([UInt8])
  }

  public enum Form: Sendable {
    case clean
    /// Bytes after the certificate.
    case trailing([UInt8])
    /// The outer length in one octet more than needed.
    case longLength
    /// The outer value in indefinite length (BER).
    case indefiniteLength
    /// This many octets fewer at the end.
    case truncated(Int)
  }

  public init(
    serial: [UInt8], issuer: [UInt8], subject: [UInt8], notBefore: CertificateTime,
    notAfter: CertificateTime, publicKeyInfo: [UInt8], extensions: [CertificateExtension]
  ) {
    self.serial = serial
    self.issuer = issuer
    self.subject = subject
    self.notBefore = notBefore
    self.notAfter = notAfter
    self.publicKeyInfo = publicKeyInfo
    self.extensions = extensions
  }

  /// AlgorithmIdentifier without parameters, or with these.
  public static func algorithm(_ oid: String, parameters: [UInt8] = []) -> [UInt8] {
    DER.sequence(DER.oid(oid), parameters)
  }

  /// The part that is signed.
  public var toBeSigned: [UInt8] {
    let fields =
      version + DER.integer(octets: serial) + innerAlgorithm + issuer
      + DER.sequence(notBefore.der, notAfter.der) + subject + publicKeyInfo
    let list = extensions.map { DER.explicit(3, DER.value(0x30, $0.flatMap(\.der))) } ?? []
    return DER.value(0x30, fields + list)
  }

  /// The certificate, signed by `key`.
  public func signed(by key: SigningKey) throws -> [UInt8] {
    let body = toBeSigned
    let value = try shaped(key.sign(body, digest))
    return formed(body + (outerAlgorithm ?? innerAlgorithm) + DER.bitString(value))
  }

  /// A copy in which the first extension of this OID is replaced, or gone.
  public func replacing(
    _ oid: String, with replacement: CertificateExtension?
  ) -> CertificateTemplate {
    var copy = self
    guard let place = (extensions?.firstIndex { $0.oid == oid }) else { return self }
    if let replacement {
      copy.extensions?[place] = replacement
    } else {
      copy.extensions?.remove(at: place)
    }
    return copy
  }

  /// A copy with one more extension at the end.
  public func adding(_ addition: CertificateExtension) -> CertificateTemplate {
    var copy = self
    copy.extensions = (extensions ?? []) + [addition]
    return copy
  }

  private func shaped(_ signature: [UInt8]) throws -> [UInt8] {
    switch signatureForm {
    case .asSigned: return signature
    case .damaged:
      var numbers = try ECDSASignature(der: signature)
      if let last = numbers.s.indices.last { numbers.s[last] ^= 1 }
      return numbers.der
    case .flipped:
      var octets = signature
      if let last = octets.indices.last { octets[last] ^= 1 }
      return octets
    case .paddedInteger:
      let numbers = try ECDSASignature(der: signature)
      let minimal = DER.unsigned(numbers.r)
      return DER.sequence(
        DER.integer(octets: [0] + minimal.dropFirst(2)), DER.unsigned(numbers.s))
    case .numbers(let numbers): return numbers.der
    case .trailing(let bytes): return signature + bytes
    }
  }

  private func formed(_ content: [UInt8]) -> [UInt8] {
    switch form {
    case .clean: return DER.value(0x30, content)
    case .trailing(let bytes): return DER.value(0x30, content) + bytes
    case .longLength:
      let shortest = DER.length(content.count)
      return [0x30, shortest[0] + 1, 0] + shortest.dropFirst() + content
    case .indefiniteLength: return [0x30, 0x80] + content + [0, 0]
    case .truncated(let count): return Array(DER.value(0x30, content).dropLast(count))
    }
  }
}

extension CertificateTemplate {
  /// Serial number and issuer of a certificate that was signed earlier, each a whole value.
  static func fields(of certificate: [UInt8]) throws -> (serial: [UInt8], issuer: [UInt8]) {
    guard let outer = DER.head(certificate[...]) else { throw AuthorityError("no certificate") }
    var rest = certificate[outer.header...]
    guard let body = DER.head(rest) else { throw AuthorityError("no certificate") }
    rest = rest.dropFirst(body.header)
    var fields: [[UInt8]] = []
    while let head = DER.head(rest), rest.count >= head.total, fields.count < 4 {
      fields.append(Array(rest.prefix(head.total)))
      rest = rest.dropFirst(head.total)
    }
    // Certificates of version 1 begin with the serial number.
    if fields.first?.first != 0xa0 { fields.insert([], at: 0) }
    guard fields.count >= 4 else { throw AuthorityError("no certificate") }
    return (fields[1], fields[3])
  }
}
