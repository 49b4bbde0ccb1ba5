/// Verifies an OCSP response (docs/spec/storekit-ocsp.md §3).
struct OCSPResponseVerifier {
  let question: OCSPRequest
  /// The time of the step in which the response arrived, in milliseconds since 1970 UTC, at which
  /// the response's age is checked (EXC-6).
  let nowMs: Int64
  let clockSkewMs: Int64

  static let byteCap = 65_536

  /// Verifies the body of an HTTP response.
  ///
  /// - Returns: The certificate's state; `undetermined` if the responder reports an error.
  /// - Throws: `malformed.ocsp.response`, `rejected.ocsp.signer`, `.signature`,
  ///   `.other-certificate`, `.stale`: nothing that it says may be believed.
  func verify(_ body: [UInt8]) throws(Refusal) -> CertificateRevocation {
    guard let envelope = OCSPEnvelope.read(body) else {
      throw Refusal(.malformedOcspResponse, "OCSP-11", at: "response")
    }
    guard case .basic(let response) = envelope else { return undetermined }
    let signer = try signer(of: response)
    try checkSignature(response, signer.key)
    guard let single = response.singles.first(where: { question.isAnswered(by: $0, of: response) })
    else { throw Refusal(.rejectedOcspOtherCertificate, "OCSP-16", at: "response") }
    let nextUpdate = try checkFreshness(single, response)
    return CertificateRevocation(
      certificate: question.certificate.fingerprint, state: OCSPResponseVerifier.state(single),
      verified: CertificateRevocation.VerifiedOCSPResponse(
        thisUpdateMs: single.thisUpdateMs, nextUpdateMs: nextUpdate, signer: signer.certificate,
        response: body))
  }

  /// The result if no usable response arrived.
  var undetermined: CertificateRevocation {
    CertificateRevocation(
      certificate: question.certificate.fingerprint, state: .undetermined, verified: nil)
  }

  private static func state(_ single: OCSPResponse.Single) -> CertificateRevocation.State {
    switch single.status {
    case .good: return .good
    case .revoked(let time, let reason): return .revoked(atMs: time, reason: reason)
    case .unknown: return .unknown
    }
  }

  // MARK: signer

  /// Returns the signer: the issuer (OCSP-13), or the first certificate in the response that
  /// matches the responder id and that the issuer authorized (OCSP-14).
  private func signer(of response: OCSPResponse) throws(Refusal) -> ProfiledCertificate {
    if isNamed(question.issuer, by: response) {
      return ProfiledCertificate(certificate: question.issuer, key: question.issuerKey)
    }
    var detail = "no certificate of that name or key"
    for range in response.certificates {
      guard let certificate = Certificate(Array(response.der[range])),
        isNamed(certificate, by: response)
      else { continue }
      do throws(Refusal) {
        return try delegate(certificate)
      } catch {
        detail = Text(stringLiteral: error.status.name).string
      }
    }
    throw Refusal(.rejectedOcspSigner, "OCSP-13", at: "signer", detail: detail)
  }

  private func isNamed(_ certificate: Certificate, by response: OCSPResponse) -> Bool {
    switch response.responder {
    case .name(let range):
      return response.der[range] == certificate.bytes(certificate.subject)
    case .key(let range):
      return response.der[range].elementsEqual(Digest.sha1.of(certificate.keyBytes))
    }
  }

  /// Checks that the issuer authorized `certificate` to sign responses.
  ///
  /// - Throws: what its profile demands, `rejected.ocsp.signer` where another made it,
  ///   `rejected.chain.expired` and `.not-yet-valid`.
  private func delegate(_ certificate: Certificate) throws(Refusal) -> ProfiledCertificate {
    let profiled = try CertificateProfile.revocationDelegate.profiled(certificate, at: "signer")
    try require(
      certificate.bytes(certificate.issuer) == question.issuer.bytes(question.issuer.subject),
      .rejectedOcspSigner, "OCSP-14", at: "signer")
    try require(
      certificate.isSigned(by: question.issuerKey), .rejectedOcspSigner, "OCSP-14",
      at: "signer")
    try certificate.checkValidity(nowMs / 1000, "OCSP-14", at: "signer")
    return profiled
  }

  /// Verifies the response's ECDSA signature with the signer's key (OCSP-15).
  private func checkSignature(_ response: OCSPResponse, _ key: PublicKey) throws(Refusal) {
    let name = response.der[response.algorithm]
    let algorithm = SignatureAlgorithm.names.first { name.elementsEqual($0.name) }?.algorithm
    guard let algorithm, algorithm.scheme == .ecdsa else {
      throw Refusal(.rejectedOcspSignature, "OCSP-15", at: "signatureAlgorithm")
    }
    try require(
      key.verifies(
        response.der[response.signature], algorithm.digest, response.der[response.signed]),
      .rejectedOcspSignature, "OCSP-15", at: "signature")
  }

  // MARK: freshness

  /// Requires `thisUpdate` and `producedAt` not to be in the future and `nextUpdate` not to be in
  /// the past, apart from the clock skew (OCSP-17). All times are in 2008 … 2100 and the skew is
  /// at most five minutes: no sum overflows.
  ///
  /// - Returns: `nextUpdate` in milliseconds since 1970 UTC.
  private func checkFreshness(
    _ single: OCSPResponse.Single, _ response: OCSPResponse
  ) throws(Refusal) -> Int64 {
    let latest = nowMs &+ clockSkewMs
    try require(
      single.thisUpdateMs <= latest, .rejectedOcspStale, "OCSP-17", at: "thisUpdate")
    try require(
      response.producedAtMs <= latest, .rejectedOcspStale, "OCSP-17", at: "producedAt")
    guard let nextUpdate = single.nextUpdateMs, nextUpdate >= nowMs &- clockSkewMs else {
      throw Refusal(.rejectedOcspStale, "OCSP-17", at: "nextUpdate")
    }
    return nextUpdate
  }
}
