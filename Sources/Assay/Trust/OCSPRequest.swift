/// The subject of an OCSP request: whether one certificate of this issuer is revoked.
struct OCSPRequest: Sendable {
  let certificate: Certificate
  let issuer: Certificate
  let issuerKey: PublicKey

  /// The body of the request: one CertID with SHA-256, no nonce (OCSP-3).
  var request: [UInt8] {
    let serial = certificate.bytes(certificate.serial)
    var text: [UInt8] =
      OCSPRequest.sha256 + [DER.octetString, 32] + name(.sha256)
      + [DER.octetString, 32] + key(.sha256)
    // A serial number has at most 20 bytes (JWS-23), so that every length below is under 128.
    text += [DER.integer, UInt8(truncatingIfNeeded: serial.count)] + serial
    for _ in 0..<5 { text = [DER.sequence, UInt8(truncatingIfNeeded: text.count)] + text }
    return text
  }

  /// Whether a SingleResponse is about this certificate, by the digests that it contains
  /// (OCSP-16).
  func isAnswered(by single: OCSPResponse.Single, of response: OCSPResponse) -> Bool {
    func bytes(_ range: Range<Int>) -> ArraySlice<UInt8> { response.der[range] }
    let digest: Digest
    if bytes(single.hashAlgorithm).elementsEqual(ObjectIdentifier.sha1) {
      digest = .sha1
    } else if bytes(single.hashAlgorithm).elementsEqual(ObjectIdentifier.sha256) {
      digest = .sha256
    } else {
      return false
    }
    return bytes(single.serial) == certificate.bytes(certificate.serial)
      && bytes(single.issuerName).elementsEqual(name(digest))
      && bytes(single.issuerKey).elementsEqual(key(digest))
  }

  private func name(_ digest: Digest) -> [UInt8] { digest.of(issuer.bytes(issuer.subject)) }
  private func key(_ digest: Digest) -> [UInt8] { digest.of(issuer.keyBytes) }

  /// The AlgorithmIdentifier of SHA-256 with NULL.
  private static let sha256: [UInt8] = [
    0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00,
  ]
}
