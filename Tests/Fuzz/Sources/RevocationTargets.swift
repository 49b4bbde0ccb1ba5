import CReference

@testable import Assay
@testable import AssayAuthority

/// A target for OCSP responses: the reader, compared with libcrypto's, and the evaluation of
/// responses with a valid signature.
enum RevocationTargets {
  private static let authority = FuzzFixture.shared.authority

  private static let question: OCSPRequest = {
    guard let certificate = Certificate(authority.chain.intermediate),
      let anchor = Anchor(authority.chain.root, .elliptic)
    else { fatalError("no chain") }
    return OCSPRequest(
      certificate: certificate, issuer: anchor.certificate, issuerKey: anchor.key)
  }()

  /// The replacements in an input, which cannot contain the keys of this run.
  private static let pieces: [[UInt8]] = {
    guard let key = try? authority.rootKey.publicKey(),
      let id = try? authority.certificateID(.intermediate),
      let short = try? authority.certificateID(.intermediate, sha1: true)
    else { fatalError("no names") }
    return [
      id.issuerName, id.issuerKey, id.serial, short.issuerName, short.issuerKey,
      authority.intermediate.issuer, CertificateExtension.keyIdentifier(key),
    ]
  }()

  /// Reads what the first byte selects: a whole response, or its ResponseData, which is then signed
  /// by the issuer.
  static func ocspResponse(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let bytes = ReceiptFixture.assemble(input.dropFirst(), pieces)
    let isSigned = first & 1 != 0
    let body = isSigned ? signed(bytes) : bytes
    compare(body)
    let verifier = OCSPResponseVerifier(
      question: question, nowMs: FuzzFixture.instant, clockSkewMs: 60_000)
    guard let answer = try? verifier.verify(body), let verified = answer.verified else { return }
    demand(isSigned, "believed what nobody signed")
    demand(verified.thisUpdateMs <= FuzzFixture.instant + 60_000, "an answer of the future")
    demand(verified.nextUpdateMs >= FuzzFixture.instant - 60_000, "an answer of the past")
    demand(verified.response == body, "another response is kept")
  }

  /// Checks that libcrypto's reader accepts what Assay's accepts, with as many single responses.
  /// Assay parses names, algorithms and certificates only if one of them has signed.
  private static func compare(_ body: [UInt8]) {
    guard let mine = OCSPEnvelope.read(body) else { return }
    let count = reference_revocation(body, body.count)
    switch mine {
    case .noAnswer: demand(count == -2, "an answer where there is none")
    case .basic(let response):
      guard count >= 0 else { return demand(!readsAll(response), "libcrypto reads no response") }
      demand(
        response.singles.count == min(Int(count), OCSPResponse.lookedAt),
        "\(response.singles.count) answers, not \(count)")
    }
  }

  private static func readsAll(_ response: OCSPResponse) -> Bool {
    guard case .key = response.responder else { return false }
    let algorithm = Array(response.der[response.algorithm])
    return response.certificates.isEmpty
      && algorithm == CertificateTemplate.algorithm(OID.ecdsaWithSHA384)
  }

  private static func signed(_ data: [UInt8]) -> [UInt8] {
    let signature = (try? authority.rootKey.sign(data, .sha384)) ?? []
    let basic = AssayAuthority.DER.sequence(
      data, CertificateTemplate.algorithm(OID.ecdsaWithSHA384),
      AssayAuthority.DER.bitString(signature))
    return AssayAuthority.DER.sequence(
      [0x0a, 1, 0],
      AssayAuthority.DER.explicit(
        0,
        AssayAuthority.DER.sequence(
          AssayAuthority.DER.oid(OID.basicResponse), AssayAuthority.DER.octetString(basic))))
  }
}
