/// An X.509 certificate before signing. Every field can be set to anything, and `signed` signs it
/// as it is, so that a certificate that must be refused has exactly one fault.
public struct CertificateTemplate: Sendable {
  /// The whole version field, `[0] EXPLICIT INTEGER`; empty omits it (version 1).
  public var version: [UInt8] = DER.explicit(0, DER.unsigned([2]))
  /// The content bytes of the serial number.
  public var serial: [UInt8]
  /// The AlgorithmIdentifier inside the signed part.
  public var innerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA384)
  /// The AlgorithmIdentifier beside the signature; `nil` for the same bytes.
  public var outerAlgorithm: [UInt8]?
  /// The digest that is used for signing.
  public var digest = SigningKey.Digest.sha384
  public var issuer: [UInt8]
  public var notBefore: CertificateTime
  public var notAfter: CertificateTime
  public var subject: [UInt8]
  public var publicKeyInfo: [UInt8]
  /// The extensions; `nil` omits the whole field.
  public var extensions: [CertificateExtension]?
  /// Changes the signature value after signing.
  public var signatureForm: SignatureForm = .asSigned
  /// Changes the whole certificate, as the last step.
  public var form: Form = .clean

  public enum SignatureForm: Sendable {
    case asSigned
    /// One bit of s is flipped.
    case damaged
    /// One bit of the last byte is flipped, whatever the algorithm.
    case flipped
    /// r has one leading zero byte too many.
    case paddedInteger
    /// The signature is replaced by these numbers.
    case numbers(ECDSASignature)
    /// The BIT STRING contains these bytes after the ECDSA-Sig-Value.
    case trailing([UInt8])
  }

  public enum Form: Sendable {
    case clean
    /// These bytes follow the certificate.
    case trailing([UInt8])
    /// The outer length has one byte more than needed.
    case longLength
    /// The outer value has an indefinite length (BER).
    case indefiniteLength
    /// The last bytes are missing, as many as given.
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

  /// Returns an AlgorithmIdentifier, without parameters unless they are given.
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

  /// Signs the certificate with `key`.
  public func signed(by key: SigningKey) throws -> [UInt8] {
    let body = toBeSigned
    let value = try shaped(key.sign(body, digest))
    return formed(body + (outerAlgorithm ?? innerAlgorithm) + DER.bitString(value))
  }

  /// Returns a copy in which the first extension with this OID is replaced, or removed.
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

  /// Returns a copy with one more extension at the end.
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
  /// Returns serial number and issuer of a signed certificate, each as a whole DER value.
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
    // A certificate of version 1 has no version field, so its first value is the serial number.
    if fields.first?.first != 0xa0 { fields.insert([], at: 0) }
    guard fields.count >= 4 else { throw AuthorityError("no certificate") }
    return (fields[1], fields[3])
  }
}
