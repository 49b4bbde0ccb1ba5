/// The OCSP responder of the test authority.
extension Authority {
  /// The certificates whose revocation a responder can be asked about.
  public enum Revocable: Sendable, CaseIterable { case leaf, intermediate }

  /// Returns the CertID by which requests and responses name the certificate.
  public func certificateID(
    _ subject: Revocable, sha1: Bool = false
  ) throws -> OCSPResponseTemplate.CertificateID {
    let above = try issuer(of: subject)
    return OCSPResponseTemplate.CertificateID(
      issuerName: above.name, issuerKey: try above.key.publicKey(),
      serial: subject == .leaf ? leaf.serial : intermediate.serial, sha1: sha1)
  }

  /// Returns the OCSP request for a certificate, as Assay writes it.
  public func revocationRequest(_ subject: Revocable) throws -> [UInt8] {
    let id = try certificateID(subject)
    return DER.sequence(DER.sequence(DER.sequence(DER.sequence(id.der))))
  }

  /// Finds the certificate with the issuer of `named`, whatever its serial number; `nil` if the
  /// issuer is not of this authority.
  public func subject(besides named: OCSPResponseTemplate.CertificateID) throws -> Revocable? {
    let usesSHA1 = named.issuerName.count == 20
    return try Revocable.allCases.first {
      var id = try certificateID($0, sha1: usesSHA1)
      id.serial = named.serial
      return id == named
    }
  }

  /// Returns a response signed by the issuer itself: state good, produced at `now` (ms since
  /// 1970), valid for twelve hours.
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

  /// Returns the certificate of a delegated responder, signed with the key of the issuer of
  /// `subject`, as Apple's are.
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
