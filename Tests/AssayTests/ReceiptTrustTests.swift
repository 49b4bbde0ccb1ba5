import AssayAuthority
import Testing

@testable import Assay

/// Compares the built-in certificates of receipts with the specification (docs/spec/certificates.md
/// §2).
@Suite("Certificates of receipts")
struct ReceiptTrustTests {
  private static let published: [(name: String, der: [UInt8], sha256: String)] = [
    (
      "Apple Root CA", AppleRoots.rootCA,
      "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024"
    ),
    (
      "Apple Root CA - G2", AppleRoots.rootCAG2,
      "c2b9b042dd57830e7d117dac55ac8ae19407d38e41d88f3215bc3a890444a050"
    ),
    (
      "Apple App Attestation Root CA", AppleRoots.appAttestationRootCA,
      "1cb9823ba28ba6ad2d33a006941de2ae4f513ef1d4e831b9f7e0fa7b6242c932"
    ),
    (
      "iTunes Store CA", AppleRoots.iTunesStoreCA2009,
      "447ad65484610f20fdc33804c8597a1e208fbe4ef9c5653485cc7d3df730c016"
    ),
    (
      "WWDR 2008", AppleRoots.developerRelations2008,
      "64b302913f11ca1b6806093b76cade7f7b123be0c04924fda87f5f4e8647f051"
    ),
    (
      "WWDR 2013", AppleRoots.developerRelations2013,
      "ce057691d730f89ca25e916f7335f4c8a15713dcd273a658c024023f8eb809c2"
    ),
    (
      "WWDR G5", AppleRoots.developerRelationsG5,
      "53fd008278e5a595fe1e908ae9c5e5675f26243264a5a6438c023e3ce2870760"
    ),
    (
      "WWDR G7", AppleRoots.developerRelationsG7,
      "0f570d7502373a2102e2106faaa8fa4844944a07ee676198484f4d6ce15bea47"
    ),
  ]

  @Test("CER-2 each array has the published SHA-256", arguments: published.indices)
  func fingerprints(_ index: Int) {
    let entry = Self.published[index]
    checkEqual(
      String(decoding: Hex.encode(Digest.sha256.of(entry.der)), as: UTF8.self), entry.sha256)
    check(Certificate(entry.der) != nil, "\(entry.name)")
  }

  @Test("CER-6 the table of receipts is intact, and one changed octet shows")
  func table() {
    checkEqual(AppleRoots.receiptTable.count, 6)
    for shipped in AppleRoots.receiptTable {
      check(shipped.isIntact)
      var damaged = shipped.der
      damaged[damaged.count / 2] ^= 1
      check(!AppleRoots.Shipped(der: damaged, sha256: shipped.sha256).isIntact)
    }
  }

  @Test("CER-6 each shipped intermediate is proven under Apple Root CA, in its own line")
  func shippedIntermediates() throws {
    let anchors = AnchorSet(.receipts, [])
    for shipped in AppleRoots.receiptIntermediates {
      let certificate = try require(Certificate(shipped.der))
      let isStore = shipped.der == AppleRoots.iTunesStoreCA2009
      for profile in [ChainProfile.storeReceipt, .receipt] {
        let proven = ReceiptRoots.proven(certificate, under: anchors, .shipped, as: [profile])
        checkEqual(proven != nil, (isStore == (profile == .storeReceipt)))
      }
    }
  }

  @Test("PTH-3 WWDR 2008 and 2013 share name and key and differ in their dates")
  func twins() throws {
    let older = try require(Certificate(AppleRoots.developerRelations2008))
    let newer = try require(Certificate(AppleRoots.developerRelations2013))
    checkEqual(older.bytes(older.subject), newer.bytes(newer.subject))
    checkEqual(older.rsaModulus, newer.rsaModulus)
    check(older.notAfter < newer.notAfter)
  }

  @Test("PTH-9 lengths of the keys")
  func keyLengths() throws {
    for (der, type) in [
      (AppleRoots.rootCA, .rsa(bits: 2048)), (AppleRoots.rootCAG2, .rsa(bits: 4096)),
      (AppleRoots.developerRelationsG5, .rsa(bits: 2048)),
      (AppleRoots.rootCAG3, .elliptic(.p384)),
    ] as [([UInt8], KeyType)] {
      let certificate = try require(Certificate(der))
      checkEqual(certificate.keyType, type)
      checkEqual(certificate.publicKey()?.type, type)
    }
  }

  @Test("PTH-5 a changed octet in the signed part or the signature fails the check")
  func alteredCertificate() throws {
    let root = try require(Certificate(AppleRoots.rootCA))
    let key = try require(root.publicKey())
    let good = try require(Certificate(AppleRoots.developerRelationsG5))
    checkEqual(good.signatureAlgorithm, .rsa(.sha256))
    check(good.isSigned(by: key))
    for place in [good.tbs.upperBound - 1, good.signature.upperBound - 1] {
      var der = good.der
      der[place] ^= 1
      if let altered = Certificate(der) { check(!altered.isSigned(by: key)) }
    }
    let foreign = try require(Certificate(AppleRoots.rootCAG2))
    let other = try require(foreign.publicKey())
    check(!good.isSigned(by: other))
  }

  @Test("CFG-3 only a self-signed RSA authority is a root of receipts")
  func anchors() {
    check(Anchor(AppleRoots.rootCA, .rsa) != nil)
    check(Anchor(AppleRoots.rootCAG3, .rsa) == nil)
    check(Anchor(AppleRoots.rootCAG3, .elliptic) != nil)
    check(Anchor(AppleRoots.rootCA, .elliptic) == nil)
    check(Anchor(AppleRoots.developerRelationsG5, .rsa) == nil)
    check(Anchor([], .rsa) == nil)
  }

  /// Returns the public key of a modulus of this many bytes, whose first bit is set; it has no
  /// private key.
  private func rsa(octets: Int) -> [UInt8] {
    typealias DER = AssayAuthority.DER
    let modulus = [0x00, 0xc3] + [UInt8](repeating: 0x5b, count: octets - 1)
    let pair = DER.sequence(DER.integer(octets: modulus), DER.integer(octets: [1, 0, 1]))
    return DER.sequence(
      DER.sequence(DER.oid(OID.rsaEncryption), DER.null), DER.bitString(pair))
  }

  @Test("CFG-3 PTH-9 a root of receipts is of version 3 and has no fewer than 2,048 bits")
  func anchorForms() throws {
    let authority = try AppReceiptFixture.authority()
    func isAnchor(
      _ key: SigningKey, _ change: (inout CertificateTemplate) throws -> Void = { _ in }
    ) throws -> Bool {
      var root = authority.root
      try change(&root)
      return Anchor(try root.signed(by: key), .rsa) != nil
    }
    let key = authority.keys.root
    try check(isAnchor(key))
    try check(!isAnchor(key) { $0.version = [] })
    let short = try SigningKey.generate(.rsa(bits: 1024))
    try check(!isAnchor(short) { $0.publicKeyInfo = try short.publicKeyInfo() })
  }

  @Test("PTH-9 no modulus of more than 4,096 bits")
  func longModulus() throws {
    let authority = try AppReceiptFixture.authority()
    for (octets, isGood) in [(512, true), (513, false)] {
      let der = try authority.chain(
        .current, intermediate: { $0.publicKeyInfo = rsa(octets: octets) }
      ).intermediate
      let certificate = try require(Certificate(der))
      checkEqual(certificate.keyType, .rsa(bits: octets * 8))
      checkEqual(certificate.publicKey() != nil, isGood)
      do throws(Refusal) {
        try CertificateProfile.receiptIntermediate.check(certificate, at: "")
        check(isGood)
      } catch {
        check(!isGood && error.status == .rejectedChainKey)
      }
    }
  }

  @Test("PTH-13 a leaf of one line is not found for the other")
  func lines() throws {
    let der = try AppReceiptFixture.authority().chain(.current).leaf
    let leaf = try require(Certificate(der))
    let profiled = ProfiledCertificate(certificate: leaf, key: try require(leaf.publicKey()))
    let list = JSONText.array(
      try AppReceiptFixture.authority().intermediates.map { .string($0) })
    let trust = try AppReceiptFixture.trust([("receipts.intermediates", list)])
    let pooled = try require(trust.roots.intermediates.first)
    func isCached(_ profile: ChainProfile) -> Bool {
      guard let path = try? trust.roots.known(profile, leaf: der, embedded: []) else {
        return false
      }
      return path.isCached && path.chain.leaf.der == der
    }
    check(!isCached(.receipt))
    trust.roots.trust.cache.chains.remember(der[...], ProvenChain(.receipt, profiled, [pooled]))
    check(isCached(.receipt))
    check(!isCached(.storeReceipt))
  }

  @Test("PTH-12 SHA-1 signatures verify in this libcrypto")
  func readiness() throws {
    let config = Array(
      #"{"apps":[{"bundleId":"com.example.app","appAppleId":1}]}"#.utf8)
    let configuration = try ConfigurationReader.read(config)
    try ReceiptTrust.make(configuration).roots.checkReadiness()
  }
}
