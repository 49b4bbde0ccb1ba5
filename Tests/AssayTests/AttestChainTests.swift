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

  @Test("ATT-33 extended key usage: none, or the one of App Attest")
  func extendedKeyUsage() throws {
    let old = try Fixture.device(.iOS18)
    #expect(try Fixture.attest(try Fixture.attestation(old)).status == .ok)
    func refusal(_ purpose: CertificateExtension) throws -> String {
      try leaf { $0 = $0.replacing(OID.extendedKeyUsage, with: purpose) }
    }
    #expect(
      try refusal(.extendedKeyUsage(AttestLeafExtensions.purpose, critical: true)) == "ok ")
    let both =
      [UInt8]([0x30, 0x15])
      + [0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x01]
      + [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x63, 0x64, 0x04, 0x18]
    #expect(try refusal(CertificateExtension(OID.extendedKeyUsage, both)) == "ok ")
    let refused = "rejected.chain.extended-key-usage x5c[0]"
    #expect(try refusal(.extendedKeyUsage("1.3.6.1.5.5.7.3.1")) == refused)
    #expect(try refusal(.extendedKeyUsage("1.2.840.113635.100.4.25")) == refused)
    for value in [[], [0x30, 0x00], [0x30, 0x02, 0x05, 0x00], both + [0]] as [[UInt8]] {
      #expect(try refusal(CertificateExtension(OID.extendedKeyUsage, value)) == refused)
    }
  }

  @Test("ATT-34 extensions twice, unknown critical ones, name constraints")
  func extensions() throws {
    #expect(
      try leaf { $0 = $0.adding(CertificateExtension("1.2.3.4", critical: true, [0x05, 0x00])) }
        == "rejected.chain.critical-extension x5c[0]")
    #expect(try leaf { $0 = $0.adding(CertificateExtension("1.2.3.4", [0x05, 0x00])) } == "ok ")
    #expect(
      try leaf { $0 = $0.adding(.basicConstraints(ca: false)) }
        == "rejected.chain.duplicate-extension x5c[0]")
    #expect(
      try leaf { $0 = $0.adding(.nameConstraints("a.example", critical: false)) }
        == "rejected.chain.name-constraints x5c[0]")
    #expect(
      try intermediate { $0 = $0.adding(CertificateExtension("1.2.3.4", critical: true, [])) }
        == "rejected.chain.critical-extension x5c[1]")
    #expect(
      try intermediate {
        $0 = $0.adding(.extendedKeyUsage(AttestLeafExtensions.purpose, critical: true))
      } == "rejected.chain.critical-extension x5c[1]")
  }

  @Test("ATT-30 the root: pinned, by its bytes and its key")
  func root() throws {
    let untrusted = "rejected.chain.untrusted-root x5c[1]"
    let foreign = try SigningKey.generate(.p384)
    #expect(try intermediate(signer: foreign) == untrusted)
    #expect(
      try intermediate(signer: foreign) { $0.issuer = $0.subject } == untrusted)
    #expect(try intermediate { $0.signatureForm = .damaged } == untrusted)
    #expect(try intermediate { $0.issuer = $0.subject } == "rejected.chain.names x5c[1]")
    // Apple's root does not vouch for it, nor a root with the same names.
    let apple = try Fixture.verifier([("attest", ["receipt": "ignore"])])
    #expect(try Fixture.attest(try Fixture.attestation(), apple).refusal == untrusted)
    let twin = try AttestAuthority(now: Fixture.now)
    let forged = try Fixture.attestation {
      $0.intermediate = twin.intermediateCertificate
      $0.leafSigner = twin.keys.intermediate
    }
    #expect(try Fixture.attest(forged).refusal == untrusted)
    // With both pinned, each vouches for its own.
    let both: JSONText = [
      .string(utf8: Base64Text.encode(twin.rootCertificate)),
      .string(utf8: Base64Text.encode(try Fixture.authority().rootCertificate)),
    ]
    let broad = try Fixture.verifier([("attest.anchors", both)])
    #expect(try Fixture.attest(forged, broad).status == .ok)
    #expect(try Fixture.attest(try Fixture.attestation(), broad).status == .ok)
  }

  @Test("CER-3 the root of receipts is no root of attestations, and the reverse")
  func mixedRoots() throws {
    let authority = try Fixture.authority()
    let attestation = JSONText.string(utf8: Base64Text.encode(authority.rootCertificate))
    let receipt = JSONText.string(utf8: Base64Text.encode(authority.receiptChain.root))
    let object = try Fixture.attestation()
    let first = try Fixture.verifier([("attest.anchors", [receipt])])
    #expect(try Fixture.attest(object, first).name == "rejected.chain.untrusted-root")
    let second = try Fixture.verifier([("attest.receiptAnchors", [attestation])])
    let refused = try Fixture.attest(object, second)
    #expect(refused.name == "rejected.chain.untrusted-root")
    #expect(refused.outcome("chain") == "true")
    #expect(refused.text("error.at")?.hasPrefix("receipt/") == true)
  }

  @Test("ATT-40 each certificate at the moment, both ends included")
  func validity() throws {
    let second = Fixture.now / 1000
    func refusal(_ from: Int64, _ to: Int64) throws -> String {
      try leaf {
        $0.notBefore = .standard(from)
        $0.notAfter = .standard(to)
      }
    }
    #expect(try refusal(second, second) == "ok ")
    #expect(try refusal(second - 9, second - 1) == "rejected.chain.expired x5c[0]")
    #expect(try refusal(second + 1, second + 9) == "rejected.chain.not-yet-valid x5c[0]")
    #expect(
      try intermediate {
        $0.notBefore = .standard(second - 9)
        $0.notAfter = .standard(second - 1)
      } == "rejected.chain.expired x5c[1]")
    #expect(
      try intermediate {
        $0.notBefore = .standard(second + 1)
        $0.notAfter = .standard(second + 9)
      } == "rejected.chain.not-yet-valid x5c[1]")
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
