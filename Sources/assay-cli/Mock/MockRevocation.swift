import AssayAuthority

/// Mocks the OCSP responder of the chain that signs purchases (docs/spec/storekit-ocsp.md).
struct MockRevocation: MockHost {
  let request: HTTPRequest
  let signer: MockSigner

  func answer(_ state: inout MockState) throws -> HTTPResponse {
    guard request.path.hasPrefix("/ocsp03-") else { return .empty(404) }
    guard request.method == "POST" else { return .empty(405) }
    let type = "application/ocsp-response"
    guard let asked = certificateId() else {
      return .octets(OCSPResponseTemplate.failure(1), type)  // malformedRequest
    }
    guard let subject = try signer.authority.store.subject(besides: asked) else {
      return .octets(OCSPResponseTemplate.failure(6), type)  // unauthorized
    }
    return .octets(try response(asked, subject, at: state.clock.now).signed(), type)
  }

  /// Returns the first CertID of the request; `nil` if there is none.
  private func certificateId() -> OCSPResponseTemplate.CertificateID? {
    var bytes = request.body[...]
    let list = LooseBER.next(&bytes)?.children.first?.children.first { $0.tag == 0x30 }
    guard let parts = list?.children.first?.children.first?.children, parts.count == 4 else {
      return nil
    }
    return OCSPResponseTemplate.CertificateID(
      algorithm: DER.value(parts[0].tag, Array(parts[0].content)),
      issuerName: Array(parts[1].content), issuerKey: Array(parts[2].content),
      serial: Array(parts[3].content))
  }

  /// Returns a response. Another serial number of the same issuer is an unknown certificate.
  private func response(
    _ asked: OCSPResponseTemplate.CertificateID, _ subject: Authority.Revocable, at now: Int64
  ) throws -> OCSPResponseTemplate {
    let store = signer.authority.store
    let isKnown = try store.certificateID(subject).serial == asked.serial
    let wanted = signer.fault.ocsp ?? (isKnown ? .good : .unknown)
    let hour: Int64 = 3_600_000
    let status =
      switch wanted {
      case .revoked: OCSPResponseTemplate.revoked(at: (now - Purchase.day) / 1000)
      case .unknown: OCSPResponseTemplate.unknown
      default: OCSPResponseTemplate.good
      }
    var template = try store.revocationResponse(
      subject, now: wanted == .stale ? now - 10 * Purchase.day : now - hour, status: status)
    template.singles[0].certificate = asked
    if wanted == .wrongSigner || signer.fault.hasBadSignature { template.key = store.leafKey }
    return template
  }
}
