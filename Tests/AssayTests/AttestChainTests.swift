import AssayAuthority
import Testing

@testable import Assay

private typealias Fixture = AttestFixture

/// Tests certificates of attestations that are good but for one thing (ATT-30 … ATT-36).
@Suite("Certificates of attestations")
struct AttestChainTests {
  private func leaf(
    _ change: (inout CertificateTemplate) throws -> Void
  ) throws -> String {
    try Fixture.attest(try Fixture.attestation { try change(&$0.leaf) }).refusal
  }

  private func intermediate(
    _ change: (inout CertificateTemplate) throws -> Void
  ) throws -> String {
    let certificate = try Fixture.authority().intermediate(change)
    return try Fixture.attest(try Fixture.attestation { $0.intermediate = certificate }).refusal
  }

  @Test("ATT-31 a point of P-256 under the name of brainpoolP256r1")
  func otherCurve() throws {
    let point = try SigningKey.generate(.p256).publicKey()
    try checkEqual(
      leaf { $0.publicKeyInfo = KeyEncoding.named("1.3.36.3.3.2.8.1.1.7", point) },
      "rejected.chain.key x5c[0]")
  }

  @Test("ATT-31 the leaf")
  func leaf() throws {
    let place = " x5c[0]"
    try checkEqual(
      leaf {
        $0.innerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA384)
        $0.digest = .sha384
      }, "ok ")
    try checkEqual(leaf { $0 = $0.replacing(OID.basicConstraints, with: nil) }, "ok ")
    try checkEqual(leaf { $0 = $0.replacing(OID.keyUsage, with: nil) }, "ok ")
    try checkEqual(leaf { $0.version = [] }, "rejected.chain.version" + place)
    try checkEqual(leaf { $0.serial = [0] }, "rejected.chain.serial" + place)
    try checkEqual(leaf { $0.serial = [0x80] }, "rejected.chain.serial" + place)
    try checkEqual(
      leaf { $0.serial = [UInt8](repeating: 1, count: 21) }, "rejected.chain.serial" + place)
    try checkEqual(
      leaf { $0.innerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA512) },
      "rejected.chain.signature-algorithm" + place)
    try checkEqual(
      leaf { $0.outerAlgorithm = CertificateTemplate.algorithm(OID.ecdsaWithSHA384) },
      "rejected.chain.signature-algorithm" + place)
    try checkEqual(
      leaf { $0.publicKeyInfo = try SigningKey.generate(.p384).publicKeyInfo() },
      "rejected.chain.key" + place)
    // A point of P-256 under the name of brainpoolP256r1.
    let point = try SigningKey.generate(.p256).publicKey()
    try checkEqual(
      leaf { $0.publicKeyInfo = KeyEncoding.named("1.3.36.3.3.2.8.1.1.7", point) },
      "rejected.chain.key" + place)
    try checkEqual(
      leaf { $0 = $0.replacing(OID.basicConstraints, with: .basicConstraints(ca: true)) },
      "rejected.chain.leaf-is-ca" + place)
    for usage in [CertificateExtension.KeyUsage.keyCertSign, .cRLSign] {
      try checkEqual(
        leaf {
          $0 = $0.replacing(OID.keyUsage, with: .keyUsage([.digitalSignature, usage]))
        }, "rejected.chain.key-usage" + place)
    }
    try checkEqual(
      leaf { $0.issuer = try Fixture.authority().root.subject }, "rejected.chain.names" + place)
    try checkEqual(
      leaf { $0.signatureForm = .damaged }, "rejected.chain.signature-leaf" + place)
    try checkEqual(
      leaf { $0.form = .trailing([0]) }, "malformed.chain.der" + place)
    let foreign = try SigningKey.generate(.p384)
    try checkEqual(
      Fixture.attest(try Fixture.attestation { $0.leafSigner = foreign }).refusal,
      "rejected.chain.signature-leaf" + place)
  }

  @Test("ATT-33 extended key usage: critical, and in another form")
  func extendedKeyUsage() throws {
    func refusal(_ purpose: CertificateExtension) throws -> String {
      try leaf { $0 = $0.replacing(OID.extendedKeyUsage, with: purpose) }
    }
    try checkEqual(
      refusal(.extendedKeyUsage(AttestLeafExtensions.purpose, critical: true)), "ok ")
    let both =
      [UInt8]([0x30, 0x15])
      + [0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01]
      + [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x04, 0x18]
    let refused = "rejected.chain.extended-key-usage x5c[0]"
    for value in [[], [0x30, 0x00], [0x30, 0x02, 0x05, 0x00], both + [0]] as [[UInt8]] {
      try checkEqual(refusal(CertificateExtension(OID.extendedKeyUsage, value)), refused)
    }
  }

  @Test("ATT-34 a critical extended key usage is the leaf's alone")
  func extensions() throws {
    try checkEqual(
      intermediate {
        $0 = $0.adding(.extendedKeyUsage(AttestLeafExtensions.purpose, critical: true))
      }, "rejected.chain.critical-extension x5c[1]")
  }

  @Test("ATT-30 of two pinned roots with the same names each vouches for its own")
  func root() throws {
    let twin = try AttestAuthority(now: Fixture.now)
    let forged = try Fixture.attestation {
      $0.intermediate = twin.intermediateCertificate
      $0.leafSigner = twin.keys.intermediate
    }
    let both: JSONText = [
      .string(utf8: Base64Text.encode(twin.rootCertificate)),
      .string(utf8: Base64Text.encode(try Fixture.authority().rootCertificate)),
    ]
    let broad = try Fixture.verifier([("attest.anchors", both)])
    try checkEqual(Fixture.attest(forged, broad).status, .ok)
    try checkEqual(Fixture.attest(try Fixture.attestation(), broad).status, .ok)
  }

  @Test("CER-3 the root of receipts is no root of attestations, and the reverse")
  func mixedRoots() throws {
    let authority = try Fixture.authority()
    let attestation = JSONText.string(utf8: Base64Text.encode(authority.rootCertificate))
    let receipt = JSONText.string(utf8: Base64Text.encode(authority.receiptChain.root))
    let object = try Fixture.attestation()
    let first = try Fixture.verifier([("attest.anchors", [receipt])])
    try checkEqual(Fixture.attest(object, first).name, "rejected.chain.untrusted-root")
    let second = try Fixture.verifier([("attest.receiptAnchors", [attestation])])
    let refused = try Fixture.attest(object, second)
    checkEqual(refused.name, "rejected.chain.untrusted-root")
    checkEqual(refused.outcome("chain"), "true")
    checkEqual(refused.text("error.at")?.hasPrefix("receipt/"), true)
  }

  @Test("ATT-40 the leaf at the moment, both ends included")
  func validity() throws {
    let second = Fixture.now / 1000
    func refusal(_ from: Int64, _ to: Int64) throws -> String {
      try leaf {
        $0.notBefore = .standard(from)
        $0.notAfter = .standard(to)
      }
    }
    try checkEqual(refusal(second, second), "ok ")
    try checkEqual(refusal(second - 9, second - 1), "rejected.chain.expired x5c[0]")
    try checkEqual(refusal(second + 1, second + 9), "rejected.chain.not-yet-valid x5c[0]")
  }

  @Test("ATT-36 a remembered intermediate is found by its bytes, its dates re-tested")
  func cache() throws {
    let verifier = try Fixture.verifier()
    let trust = verifier.attest
    let der = try Fixture.authority().intermediateCertificate
    check(trust.chains.cache.intermediates.find(der[...]) == nil)
    let forged = try Fixture.attestation { $0.leafSigner = try SigningKey.generate(.p384) }
    try checkEqual(Fixture.attest(forged, verifier).name, "rejected.chain.signature-leaf")
    let known = try require(trust.chains.cache.intermediates.find(der[...]))
    checkEqual(known.certificate.der, der)
    var other = der
    other[der.count - 1] ^= 1
    check(trust.chains.cache.intermediates.find(other[...]) == nil)
    try checkEqual(Fixture.attest(try Fixture.attestation(), verifier).status, .ok)
    check(trust.chains.cache.intermediates.find(der[...]) === known)
    let later = Fixture.now + 10 * 365 * 86_400_000
    let fresh = try Fixture.attestation(madeMs: later)
    try checkEqual(
      Fixture.attest(fresh, verifier, now: later).refusal, "rejected.chain.expired x5c[1]")
  }

  @Test("an untrusted intermediate is never remembered, and 0 keeps none")
  func cacheHoldsProvenOnes() throws {
    let verifier = try Fixture.verifier()
    let foreign = try Fixture.authority().intermediate(signer: try SigningKey.generate(.p384))
    let object = try Fixture.attestation { $0.intermediate = foreign }
    try checkEqual(Fixture.attest(object, verifier).name, "rejected.chain.untrusted-root")
    check(verifier.attest.chains.cache.intermediates.find(foreign[...]) == nil)
    let bare = try Fixture.verifier([("storekit", ["cache": ["chains": 0]])])
    try checkEqual(Fixture.attest(try Fixture.attestation(), bare).status, .ok)
    let der = try Fixture.authority().intermediateCertificate
    check(bare.attest.chains.cache.intermediates.find(der[...]) == nil)
  }
}
