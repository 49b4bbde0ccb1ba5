import AssayAuthority

/// The certificates of `--tls`, in the folder of the authority (PLY-4):
///
///     play-ca.pem             what a client must trust
///     play-tls.pem            the server's certificate, for every mocked host
///     play-tls-expired.pem    one that has expired
///     play-ca-key.pem play-tls-key.pem
struct MockCertificates {
  let path: String

  var ca: String { path + "/play-ca.pem" }
  var key: String { path + "/play-tls-key.pem" }
  var current: String { path + "/play-tls.pem" }
  var expired: String { path + "/play-tls-expired.pem" }

  private static let day: Int64 = 86_400

  /// Writes new certificates of the server; the one that clients trust does not change.
  ///
  /// - Parameter now: the time of the clients' clock in milliseconds since 1970 UTC.
  init(_ path: String, now: Int64) throws {
    self.path = path
    let second = now / 1000
    let caKey = try MockAuthority.key(path, "play-ca", .p256)
    let serverKey = try MockAuthority.key(path, "play-tls", .p256)
    let name = DistinguishedName.make([("CN", "Assay Play CA"), ("O", "Assay")])
    if !FileSystem.exists(ca) {
      try write(try Self.authority(name, caKey, second).signed(by: caKey), to: ca)
    }
    for (file, window) in [
      (current, second - Self.day...second + 365 * Self.day),
      (expired, second - 30 * Self.day...second - Self.day),
    ] {
      let template = try Self.server(name, caKey, serverKey, window, second)
      try write(try template.signed(by: caKey), to: file)
    }
  }

  private static func authority(
    _ name: [UInt8], _ key: SigningKey, _ second: Int64
  ) throws -> CertificateTemplate {
    let identifier = CertificateExtension.keyIdentifier(try key.publicKey())
    return shaped(
      CertificateTemplate(
        serial: serial(second, 1), issuer: name, subject: name,
        notBefore: .standard(second - day), notAfter: .standard(second + 3650 * day),
        publicKeyInfo: try key.publicKeyInfo(),
        extensions: [
          .subjectKeyIdentifier(identifier), .basicConstraints(ca: true),
          .keyUsage([.keyCertSign, .cRLSign]),
        ]))
  }

  private static func server(
    _ issuer: [UInt8], _ caKey: SigningKey, _ key: SigningKey, _ window: ClosedRange<Int64>,
    _ second: Int64
  ) throws -> CertificateTemplate {
    let names = (MockRouter.names + ["localhost"]).map { DER.implicit(2, Array($0.utf8)) }
    let addresses = [DER.implicit(7, [127, 0, 0, 1]), DER.implicit(7, ipv6Loopback)]
    return shaped(
      CertificateTemplate(
        serial: serial(second, window.upperBound > second ? 2 : 3), issuer: issuer,
        subject: DistinguishedName.make([("CN", "localhost"), ("O", "Assay")]),
        notBefore: .standard(window.lowerBound), notAfter: .standard(window.upperBound),
        publicKeyInfo: try key.publicKeyInfo(),
        extensions: [
          .authorityKeyIdentifier(CertificateExtension.keyIdentifier(try caKey.publicKey())),
          .subjectKeyIdentifier(CertificateExtension.keyIdentifier(try key.publicKey())),
          .basicConstraints(ca: false), .keyUsage(.digitalSignature),
          .extendedKeyUsage("1.3.6.1.5.5.7.3.1"),
          CertificateExtension(
            "2.5.29.17", DER.value(0x30, (names + addresses).flatMap { $0 })),
        ]))
  }

  private static let ipv6Loopback = [UInt8](repeating: 0, count: 15) + [1]

  private static func serial(_ second: Int64, _ number: UInt8) -> [UInt8] {
    [0x40] + (0..<5).reversed().map { UInt8(truncatingIfNeeded: second >> (8 * $0)) } + [number]
  }

  private static func shaped(_ template: CertificateTemplate) -> CertificateTemplate {
    var template = template
    template.innerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA256)
    template.digest = .sha256
    return template
  }

  private func write(_ der: [UInt8], to file: String) throws {
    let text = Base64Text.encode(der)
    var pem = Array("-----BEGIN CERTIFICATE-----\n".utf8)
    for at in stride(from: 0, to: text.count, by: 64) {
      pem += text[at..<min(text.count, at + 64)] + [0x0a]
    }
    try OutputFile.write(pem + Array("-----END CERTIFICATE-----\n".utf8), to: file)
  }
}
