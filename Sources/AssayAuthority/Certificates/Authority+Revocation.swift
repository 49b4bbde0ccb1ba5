/// The responder of the test authority.
extension Authority {
  /// Certificates whose revocation can be asked about.
  public enum Revocable: Sendable, CaseIterable { case leaf, intermediate }

  /// The certificate, as a request and an answer name it.
  public func certificateID(
    _ subject: Revocable, sha1: Bool = false
  ) throws -> OCSPResponseTemplate.CertificateID {
    let above = try issuer(of: subject)
    return OCSPResponseTemplate.CertificateID(
      issuerName: above.name, issuerKey: try above.key.publicKey(),
      serial: subject == .leaf ? leaf.serial : intermediate.serial, sha1: sha1)
  }

  /// The request for a certificate, as Assay writes it.
  public func revocationRequest(_ subject: Revocable) throws -> [UInt8] {
    let id = try certificateID(subject)
    return DER.sequence(DER.sequence(DER.sequence(DER.sequence(id.der))))
  }

  /// The certificate that has the issuer of the one that is named, whose serial number may
  /// be another; nil: none of this authority's.
  public func subject(besides named: OCSPResponseTemplate.CertificateID) throws -> Revocable? {
    let usesSHA1 = named.issuerName.count == 20
    return try Revocable.allCases.first {
      var id = try certificateID($0, sha1: usesSHA1)
      id.serial = named.serial
      return id == named
    }
  }

  /// An answer that the issuer itself signs: good, made at `now` (ms since 1970), and
  /// good for twelve hours.
  public func revocationResponse(
    _ subject: Revocable, now: Int64, status: [UInt8] = OCSPResponseTemplate.good
  ) throws -> OCSPResponseTemplate {
    let above = try issuer(of: subject)
    let second = now / 1000
    var template = OCSPResponseTemplate(
      responder: OCSPResponseTemplate.byName(above.name), producedAt: .generalized(second),
      singles: [
        OCSPResponseTemplate.Single(
          certificate: try certificateID(subject), status: status,
          thisUpdate: .generalized(second), nextUpdate: .generalized(second + 43_200))
      ], key: above.key)
    template.algorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA384)
    template.digest = .sha384
    return template
  }

  /// The certificate of a responder that the issuer of `subject` speaks through, as
  /// Apple's do; it is signed by that issuer's key.
  public func responder(
    for subject: Revocable, key: SigningKey, now: Int64
  ) throws -> CertificateTemplate {
    let above = try issuer(of: subject)
    let second = now / 1000
    return CertificateTemplate(
      serial: try Authority.serial(8), issuer: above.name,
      subject: DistinguishedName.make([
        ("CN", "Assay Test OCSP Responder"), ("O", "Assay"), ("C", "US"),
      ]),
      notBefore: .standard(second - 86_400), notAfter: .standard(second + 30 * 86_400),
      publicKeyInfo: try key.publicKeyInfo(),
      extensions: [
        .basicConstraints(ca: false), .keyUsage(.digitalSignature),
        .extendedKeyUsage(OID.ocspSigning, critical: true),
      ])
  }

  private func issuer(of subject: Revocable) throws -> (name: [UInt8], key: SigningKey) {
    subject == .leaf ? (leaf.issuer, intermediateKey) : (intermediate.issuer, rootKey)
  }
}
