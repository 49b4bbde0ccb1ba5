import AssayAuthority

/// Plays the OCSP responder of the chain that signs purchases (docs/spec/storekit-ocsp.md).
struct PlayedRevocation: PlayedHost {
  let request: HTTPRequest
  let signer: PlaySigner

  /// A certificate of the chain, its issuer, and who speaks for that one.
  private struct Subject {
    let serial: [UInt8]
    let issuerName: [UInt8]
    let issuerKey: [UInt8]
    let key: SigningKey
  }

  func answer(_ state: inout PlayState) throws -> HTTPAnswer {
    guard request.path.hasPrefix("/ocsp03-") else { return .empty(404) }
    guard request.method == "POST" else { return .empty(405) }
    let type = "application/ocsp-response"
    guard let asked = certificateId() else {
      return .octets(DER.sequence(DER.value(0x0a, [1])), type)  // malformedRequest
    }
    let parts = asked.children
    guard let subject = try subjects().first(where: { Self.fits($0, parts) }) else {
      return .octets(DER.sequence(DER.value(0x0a, [6])), type)  // unauthorized
    }
    return .octets(try response(asked, subject, at: state.clock.now), type)
  }

  /// The first CertID of the request.
  private func certificateId() -> LooseBER? {
    var bytes = request.body[...]
    let list = LooseBER.next(&bytes)?.children.first?.children.first { $0.tag == 0x30 }
    let id = list?.children.first?.children.first
    return id?.children.count == 4 ? id : nil
  }

  private func subjects() throws -> [Subject] {
    let authority = signer.authority.store
    return [
      try Self.subject(authority.chain.intermediate, authority.chain.root, authority.rootKey),
      try Self.subject(
        authority.chain.leaf, authority.chain.intermediate, authority.intermediateKey),
    ]
  }

  private static func subject(
    _ certificate: [UInt8], _ issuer: [UInt8], _ key: SigningKey
  ) throws -> Subject {
    guard let own = fields(certificate), let above = fields(issuer) else {
      throw Problem("a certificate of the authority cannot be read")
    }
    return Subject(
      serial: Array(own[1].content), issuerName: DER.value(above[5].tag, Array(above[5].content)),
      issuerKey: Array((above[6].children.last?.content ?? []).dropFirst()), key: key)
  }

  /// What is in the signed part of a version 3 certificate.
  private static func fields(_ der: [UInt8]) -> [LooseBER]? {
    var bytes = der[...]
    let fields = LooseBER.next(&bytes)?.children.first?.children ?? []
    return fields.count > 6 ? fields : nil
  }

  /// Whether the CertID names that issuer. Its serial number is looked at later: another
  /// one of the same issuer is an unknown certificate.
  private static func fits(_ subject: Subject, _ id: [LooseBER]) -> Bool {
    let isSHA1 = id[1].content.count == 20
    func digest(_ octets: [UInt8]) -> [UInt8] {
      isSHA1 ? CertificateExtension.keyIdentifier(octets) : AttestDigest.sha256(octets)
    }
    return id[1].content.elementsEqual(digest(subject.issuerName))
      && id[2].content.elementsEqual(digest(subject.issuerKey))
  }

  private func response(_ asked: LooseBER, _ subject: Subject, at now: Int64) throws -> [UInt8] {
    let isKnown = asked.children[3].content.elementsEqual(subject.serial)
    let wanted = signer.fault.ocsp ?? (isKnown ? .good : .unknown)
    let hour: Int64 = 3_600_000
    let start = wanted == .stale ? now - 10 * Purchase.day : now - hour
    let status: [UInt8] =
      switch wanted {
      case .revoked: DER.explicit(1, Self.time(now - Purchase.day))
      case .unknown: DER.implicit(2, [])
      default: DER.implicit(0, [])
      }
    let single = DER.sequence(
      DER.value(0x30, Array(asked.content)), status, Self.time(start),
      DER.explicit(0, Self.time(start + 12 * hour)))
    let data = DER.sequence(
      DER.explicit(1, subject.issuerName), Self.time(start), DER.sequence(single))
    let isWrong = wanted == .wrongSigner || signer.fault.hasBadSignature
    let key = isWrong ? signer.authority.store.leafKey : subject.key
    let basic = DER.sequence(
      data, CertificateTemplate.algorithm(OID.ecdsaWithSHA384),
      DER.bitString(try key.sign(data, .sha384)))
    return DER.sequence(
      DER.value(0x0a, [0]),
      DER.explicit(
        0, DER.sequence(DER.oid("1.3.6.1.5.5.7.48.1.1"), DER.octetString(basic))))
  }

  /// GeneralizedTime.
  private static func time(_ ms: Int64) -> [UInt8] {
    DER.value(0x18, WrittenDate.iso(ms).utf8.filter { (0x30...0x39).contains($0) } + [0x5a])
  }
}
