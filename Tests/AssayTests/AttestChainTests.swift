import AssayAuthority
import Testing

@testable import Assay

private typealias Fixture = AttestFixture

/// ATT-30 … ATT-36: certificates of attestations that are good but for one thing.
@Suite("Certificates of attestations")
struct AttestChainTests {
  private func leaf(
    _ change: (inout CertificateTemplate) throws -> Void
  ) throws -> String {
    try Fixture.attest(try Fixture.attestation { try change(&$0.leaf) }).refusal
  }

  private func intermediate(
    key: SigningKey? = nil, signer: SigningKey? = nil,
    _ change: (inout CertificateTemplate) throws -> Void = { _ in }
  ) throws -> String {
    let certificate = try Fixture.authority().intermediate(key: key, signer: signer, change)
    return try Fixture.attest(
      try Fixture.attestation {
        $0.intermediate = certificate
        if let key { $0.leafSigner = key }
      }
    ).refusal
  }

  @Test("ATT-31 the leaf")
  func leaf() throws {
    let place = " x5c[0]"
    #expect(
      try leaf {
        $0.innerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA384)
        $0.digest = .sha384
      } == "ok ")
    #expect(try leaf { $0 = $0.replacing(OID.basicConstraints, with: nil) } == "ok ")
    #expect(try leaf { $0 = $0.replacing(OID.keyUsage, with: nil) } == "ok ")
    #expect(try leaf { $0.version = [] } == "rejected.chain.version" + place)
    #expect(try leaf { $0.serial = [0] } == "rejected.chain.serial" + place)
    #expect(try leaf { $0.serial = [0x80] } == "rejected.chain.serial" + place)
    #expect(
      try leaf { $0.serial = [UInt8](repeating: 1, count: 21) } == "rejected.chain.serial" + place)
    #expect(
      try leaf { $0.innerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA512) }
        == "rejected.chain.signature-algorithm" + place)
    #expect(
      try leaf { $0.outerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA384) }
        == "rejected.chain.signature-algorithm" + place)
    #expect(
      try leaf { $0.publicKeyInfo = try SigningKey.generate(.p384).publicKeyInfo() }
        == "rejected.chain.key" + place)
    // A point of P-256 under the name of brainpoolP256r1.
    let point = try SigningKey.generate(.p256).publicKey()
    #expect(
      try leaf { $0.publicKeyInfo = KeyEncoding.named("1.3.36.3.3.2.8.1.1.7", point) }
        == "rejected.chain.key" + place)
    #expect(
      try leaf { $0 = $0.replacing(OID.basicConstraints, with: .basicConstraints(ca: true)) }
        == "rejected.chain.leaf-is-ca" + place)
    for usage in [CertificateExtension.KeyUsage.keyCertSign, .cRLSign] {
      #expect(
        try leaf {
          $0 = $0.replacing(OID.keyUsage, with: .keyUsage([.digitalSignature, usage]))
        } == "rejected.chain.key-usage" + place)
    }
    #expect(
      try leaf { $0.issuer = try Fixture.authority().root.subject }
        == "rejected.chain.names" + place)
    #expect(
      try leaf { $0.signatureForm = .damaged } == "rejected.chain.signature-leaf" + place)
    #expect(
      try leaf { $0.form = .trailing([0]) } == "malformed.chain.der" + place)
    let foreign = try SigningKey.generate(.p384)
    #expect(
      try Fixture.attest(try Fixture.attestation { $0.leafSigner = foreign }).refusal
        == "rejected.chain.signature-leaf" + place)
  }

  @Test("ATT-36 a remembered intermediate is found by its bytes, its dates re-tested")
  func cache() throws {
    let verifier = try Fixture.verifier()
    let trust = verifier.attest
    let der = try Fixture.authority().intermediateCertificate
    #expect(trust.chains.cache.intermediates.find(der[...]) == nil)
    let forged = try Fixture.attestation { $0.leafSigner = try SigningKey.generate(.p384) }
    #expect(try Fixture.attest(forged, verifier).name == "rejected.chain.signature-leaf")
    let known = try #require(trust.chains.cache.intermediates.find(der[...]))
    #expect(known.certificate.der == der)
    var other = der
    other[der.count - 1] ^= 1
    #expect(trust.chains.cache.intermediates.find(other[...]) == nil)
    #expect(try Fixture.attest(try Fixture.attestation(), verifier).status == .ok)
    #expect(trust.chains.cache.intermediates.find(der[...]) === known)
    let later = Fixture.now + 10 * 365 * 86_400_000
    let fresh = try Fixture.attestation(madeMs: later)
    #expect(
      try Fixture.attest(fresh, verifier, now: later).refusal == "rejected.chain.expired x5c[1]")
  }

  @Test("an untrusted intermediate is never remembered, and 0 keeps none")
  func cacheHoldsProvenOnes() throws {
    let verifier = try Fixture.verifier()
    let foreign = try Fixture.authority().intermediate(signer: try SigningKey.generate(.p384))
    let object = try Fixture.attestation { $0.intermediate = foreign }
    #expect(try Fixture.attest(object, verifier).name == "rejected.chain.untrusted-root")
    #expect(verifier.attest.chains.cache.intermediates.find(foreign[...]) == nil)
    let bare = try Fixture.verifier([("storekit", ["cache": ["chains": 0]])])
    #expect(try Fixture.attest(try Fixture.attestation(), bare).status == .ok)
    let der = try Fixture.authority().intermediateCertificate
    #expect(bare.attest.chains.cache.intermediates.find(der[...]) == nil)
  }
}
