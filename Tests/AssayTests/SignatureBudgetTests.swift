import Testing

@testable import Assay
@testable import AssayAuthority

/// Counts the signatures that one call checks, whatever its evidence (CER-10), and tests the
/// digests of a root's signature (CER-11).
@Suite("Signature checks")
struct SignatureBudgetTests {
  private static let now = Minted.now
  private static let keyIdentifier = "2.5.29.14"
  private static let authorityKeyIdentifier = "2.5.29.35"

  @Test("CER-10 two checks may be in vain, and no candidate is tried after the third")
  func spare() {
    var budget = SignatureBudget()
    for (isGood, isAvailable, allowsOptionalCheck) in [
      (true, true, true), (false, true, true), (false, true, false), (false, false, false),
    ] {
      checkEqual(budget.check(isGood), isGood)
      checkEqual(budget.isAvailable, isAvailable)
      checkEqual(budget.allowsOptionalCheck, allowsOptionalCheck)
    }
    checkEqual(budget.made, 4)
    checkEqual(budget.wasted, 3)
    var wasted = SignatureBudget()
    wasted.addWasted(3)
    check(!wasted.isAvailable)
  }

  // MARK: app receipts

  private typealias Outcome = (status: Status, made: Int)

  private func appReceipt(
    _ trust: ReceiptTrust? = nil, _ change: (inout AppReceiptTemplate) throws -> Void
  ) throws -> Outcome {
    var template = try AppReceiptFixture.authority().appTemplate(
      AppReceiptFacts([Minted.purchase], like: Minted.purchase))
    try change(&template)
    var verification = AppReceiptVerification(
      try trust ?? AppReceiptFixture.trust(), subject: nil, nowMs: Self.now)
    do throws(Refusal) {
      _ = try verification.run(try signed(template))
      return (.ok, verification.budget.made)
    } catch {
      return (error.status, verification.budget.made)
    }
  }

  /// Minting can fail only by a bug, which gives a different refusal.
  private func signed(_ template: AppReceiptTemplate) throws(Refusal) -> [UInt8] {
    guard let bytes = try? template.signed() else { throw Refusal(.internalAssayBug, "DOC-1") }
    return bytes
  }

  /// Returns keys of 2,048 bits that did not sign the leaf.
  private func otherKeys() throws -> [SigningKey] {
    let keys = try AppReceiptFixture.authority().keys
    return [keys.store, keys.relations, keys.developer, keys.xcode, keys.leaf, keys.currentLeaf]
  }

  /// Returns certificates of the intermediate's name, each with another key.
  private func decoys(_ count: Int) throws -> [[UInt8]] {
    try otherKeys().prefix(count).map {
      try AppReceiptFixture.authority().chain(.current, intermediateKey: $0).intermediate
    }
  }

  @Test("CER-10 a good app receipt costs its three signatures, the next one only its own")
  func goodAppReceipt() throws {
    let trust = try AppReceiptFixture.trust()
    try check(appReceipt(trust) { _ in } == (.ok, 3))
    try check(appReceipt(trust) { _ in } == (.ok, 1))
  }

  @Test("CER-10 decoys of the intermediate's name cost an app receipt two checks at most")
  func appReceiptDecoys() throws {
    for count in 0...5 {
      let decoys = try decoys(count)
      let first = try appReceipt { $0.certificates.insert(contentsOf: decoys, at: 1) }
      check(first == (count <= 2 ? (.ok, 3 + count) : (.rejectedChainIssuerUnknown, 3)))
      // After the candidate that passes, the others cost nothing.
      try check(appReceipt { $0.certificates.append(contentsOf: decoys) } == (.ok, 3))
    }
  }

  @Test("CER-10 a self-made line with many intermediates costs few checks")
  func appReceiptForgery() throws {
    let authority = try AppReceiptFixture.authority()
    let key = authority.keys.xcode
    for count in 1...6 {
      let outcome = try appReceipt { template in
        let forged = try (0..<count).map { number in
          try authority.chain(
            .current, intermediate: { $0.serial = [0x11, UInt8(number)] }, intermediateKey: key,
            intermediateSigner: key)
        }
        template.chain = forged[0]
        template.certificates = [forged[0].leaf] + forged.map(\.intermediate)
      }
      // The leaf's signature is checked once, each intermediate's until two have failed.
      checkEqual(outcome.made, min(count, 2) + 1)
      checkEqual(
        outcome.status,
        (count <= 2 ? .rejectedChainSignatureIntermediate : .rejectedChainIssuerUnknown))
    }
  }

  @Test("CER-10 key identifier, serial number and dates narrow before any signature")
  func narrowed() throws {
    let authority = try AppReceiptFixture.authority()
    let keys = try otherKeys().prefix(5)
    func outcome(
      _ good: (inout CertificateTemplate) throws -> Void = { _ in },
      _ leaf: (inout CertificateTemplate) throws -> Void = { _ in },
      _ decoy: (inout CertificateTemplate) throws -> Void
    ) throws -> Outcome {
      try appReceipt { template in
        let decoys = try keys.map {
          try authority.chain(.current, intermediate: decoy, intermediateKey: $0).intermediate
        }
        template.chain = try authority.chain(.current, intermediate: good, leaf: leaf)
        template.certificates = [template.chain.leaf] + decoys + [template.chain.intermediate]
      }
    }
    func identified(_ byte: UInt8) -> (inout CertificateTemplate) -> Void {
      {
        $0 = $0.replacing(Self.keyIdentifier, with: nil)
          .adding(.subjectKeyIdentifier([byte, 1, 2, 3]))
      }
    }
    func under(_ extension: CertificateExtension) -> (inout CertificateTemplate) -> Void {
      { $0 = $0.replacing(Self.authorityKeyIdentifier, with: nil).adding(`extension`) }
    }
    let mine = under(.authorityKeyIdentifier([1, 1, 2, 3]))
    try check(outcome(identified(1), mine, identified(2)) == (.ok, 3))
    // An equal identifier, or none, rules no candidate out.
    try checkEqual(outcome(identified(1), mine, identified(1)).status, .rejectedChainIssuerUnknown)
    let unidentified = { (template: inout CertificateTemplate) in
      template = template.replacing(Self.keyIdentifier, with: nil)
    }
    try checkEqual(outcome(identified(1), mine, unidentified).status, .rejectedChainIssuerUnknown)
    // If no candidate is plausible, the signature check reports the fault.
    try checkEqual(outcome(identified(2), mine, identified(3)).status, .rejectedChainIssuerUnknown)
    let numbered = under(
      CertificateExtension(
        Self.authorityKeyIdentifier,
        AssayAuthority.DER.sequence(AssayAuthority.DER.implicit(2, [0x44, 1]))))
    try check(
      outcome({ $0.serial = [0x44, 1] }, numbered) { $0.serial = [0x44, 2] } == (.ok, 3))
    try check(
      outcome(unidentified, { _ in }) {
        unidentified(&$0)
        $0.notBefore = .standard(1_000_000_000)
        $0.notAfter = .standard(1_000_000_001)
      } == (.ok, 3))
  }

  @Test("PTH-3 two intermediates of one key cost one check of the leaf")
  func twins() throws {
    let authority = try AppReceiptFixture.authority()
    let list = JSONText.array(authority.intermediates.map { .string($0) })
    let trust = try AppReceiptFixture.trust([("receipts.intermediates", list)])
    let facts = AppReceiptFacts([Minted.purchase], like: Minted.purchase).with {
      $0.creationDate = 1_500_000_000_000
    }
    let outcome = try appReceipt(trust) { $0 = try authority.appTemplate(facts) }
    check(outcome == (.ok, 2))
  }

  // MARK: transaction receipts

  @Test("CER-10 a transaction receipt costs two checks, and two more under like-named keys")
  func transactionReceipt() throws {
    let authority = try AppReceiptFixture.authority()
    let receipt = try authority.transactionTemplate(Minted.purchase).signed()
    let genuine = try authority.chain(.current).intermediate
    func outcome(_ intermediates: [[UInt8]], _ receipt: [UInt8]) throws -> Outcome {
      let list = JSONText.array(
        intermediates.map { .string(utf8: Base64Text.encode($0)) })
      let config = try Minted.config([
        ("receipts", ["anchors": [.string(authority.anchor)], "intermediates": list]),
        ("plans", ["free", "premium"]),
        (
          "products",
          ["com.example.app.premium.monthly": ["plan": "premium", "type": "auto-renewable"]]
        ),
      ])
      let trust = try ReceiptTrust.make(ConfigurationReader.read(config.bytes))
      var verification = TransactionReceiptVerification(trust, nowMs: Self.now)
      do throws(Refusal) {
        _ = try verification.run(receipt)
        return (.ok, verification.budget.made)
      } catch {
        return (error.status, verification.budget.made)
      }
    }
    for count in 0...5 {
      let outcome = try outcome(try decoys(count) + [genuine], receipt)
      check(outcome == (count <= 2 ? (.ok, 2 + count) : (.rejectedChainIssuerUnknown, 3)))
    }
    // The second check of a bad signature is one of the two (RCP-19).
    var template = try authority.transactionTemplate(Minted.purchase)
    template.digest = .sha256
    let other = try template.signed()
    try check(outcome([genuine], other) == (.unsupportedTransactionReceiptDigest, 3))
    try check(
      outcome(try decoys(2) + [genuine], other) == (.rejectedTransactionReceiptSignature, 4))
  }

  // MARK: App Attest

  private func attestReceipt(
    _ change: (inout AppReceiptTemplate, AttestReceiptFixture) throws -> Void
  ) throws -> Outcome {
    let fixture = try AttestReceiptFixture.shared()
    var template = try fixture.template(try fixture.fields(refreshed: true))
    try change(&template, fixture)
    return try attestReceipt(fixture.trust(), template.signed())
  }

  private func attestReceipt(_ trust: AttestReceiptTrust, _ receipt: [UInt8]) throws -> Outcome {
    var verification = AttestReceiptVerification(trust, nowMs: AttestReceiptFixture.now)
    do throws(Refusal) {
      _ = try verification.run(receipt, subject: nil)
      return (.ok, verification.budget.made)
    } catch {
      return (error.status, verification.budget.made)
    }
  }

  @Test("CER-10 decoys cost a refreshed App Attest receipt two checks at most")
  func attestReceipts() throws {
    let fixture = try AttestReceiptFixture.shared()
    let trust = try fixture.trust()
    let good = try fixture.template(try fixture.fields(refreshed: true)).signed()
    try check(attestReceipt(trust, good) == (.ok, 3))
    try check(attestReceipt(trust, good) == (.ok, 1))
    for count in 0...5 {
      let outcome = try attestReceipt { template, fixture in
        for number in 0..<count {
          var decoy = fixture.intermediate
          decoy.publicKeyInfo = try SigningKey.generate(.p256).publicKeyInfo()
          decoy.serial = [9, UInt8(number)]
          template.certificates.insert(try decoy.signed(by: fixture.rootKey), at: 1)
        }
      }
      check(outcome == (count <= 2 ? (.ok, 3 + count) : (.rejectedChainIssuerUnknown, 3)))
    }
  }

  @Test("CER-10 decoys that signed a forged signer's certificate cost four checks at most")
  func attestReceiptForgery() throws {
    for count in 1...6 {
      let outcome = try attestReceipt { template, fixture in
        let key = try SigningKey.generate(.p256)
        let signer = try fixture.signer.signed(by: key)
        var decoy = fixture.intermediate
        decoy.publicKeyInfo = try key.publicKeyInfo()
        template.certificates = [signer]
        for number in 0..<count {
          decoy.serial = [9, UInt8(number)]
          template.certificates.append(try decoy.signed(by: SigningKey.generate(.p384)))
        }
      }
      checkEqual(outcome.made, min(count, 2) * 2)
      checkEqual(
        outcome.status,
        (count <= 2 ? .rejectedChainSignatureIntermediate : .rejectedChainIssuerUnknown))
    }
  }

  @Test("CER-10 an attestation costs its chain and its receipt's, and two more at most")
  func attestation() throws {
    let authority = try AttestFixture.authority()
    func outcome(
      _ anchors: [[UInt8]], _ object: [UInt8], cacheChains: JSONText = 0
    ) throws -> Outcome {
      let list = JSONText.array(anchors.map { .string(utf8: Base64Text.encode($0)) })
      let config = try AttestFixture.config([
        ("attest.anchors", list), ("storekit.cache", ["chains": cacheChains]),
      ])
      let trust = try AttestTrust.make(ConfigurationReader.read(config.bytes))
      var verification = AttestationVerification(trust, nowMs: AttestFixture.now)
      let keyId = try AttestFixture.device().keyId
      do throws(Refusal) {
        _ = try verification.run(object, keyId: keyId, .data(AttestFixture.clientData))
        return (.ok, verification.budget.made)
      } catch {
        return (error.status, verification.budget.made)
      }
    }
    let root = authority.rootCertificate
    // Roots of the same name, or of other names.
    func roots(_ count: Int, named: Bool) throws -> [[UInt8]] {
      try (0..<count).map { number in
        let key = try SigningKey.generate(.p384)
        var other = authority.root
        other.publicKeyInfo = try key.publicKeyInfo()
        other = other.replacing(Self.keyIdentifier, with: nil)
        if !named {
          other.subject = DistinguishedName.make([("CN", "Other \(number)")])
          other.issuer = other.subject
        }
        return try other.signed(by: key)
      }
    }
    let good = try AttestFixture.attestation()
    try check(outcome([root], good) == (.ok, 5))
    for count in 0...4 {
      try check(outcome(try roots(count, named: false) + [root], good) == (.ok, 5))
      let named = try outcome(try roots(count, named: true) + [root], good)
      check(named == (count <= 2 ? (.ok, 5 + count) : (.rejectedChainIssuerUnknown, 3)))
    }
    // An intermediate without a known issuer is not tried under every root.
    let stray = try AttestFixture.attestation { template in
      var other = authority.intermediate
      other.issuer = DistinguishedName.make([("CN", "Nobody")])
      template.intermediate = try other.signed(by: SigningKey.generate(.p384))
    }
    try check(outcome([root], stray) == (.rejectedChainUntrustedRoot, 1))
    try check(
      outcome(try roots(6, named: false) + [root], stray) == (.rejectedChainIssuerUnknown, 3))
    // The budget spent on roots is not spent again on the receipt inside.
    let forged = try AttestFixture.attestation { template in
      template.changeReceipt = { template in
        let decoy = try AttestReceiptFixture.shared().certificates().intermediate
        template.certificates.insert(decoy, at: 1)
      }
    }
    try check(outcome([root], forged).made <= 5 + SignatureBudget.spare)
  }

  // MARK: JWS

  private func jws(
    _ trust: StoreKitTrust, _ jws: [UInt8], _ kind: StoreKitKind = .transaction
  ) -> Outcome {
    var verification = StoreKitVerification(trust, kind, nowMs: Self.now)
    do throws(Refusal) {
      _ = try verification.run(jws)
      return (.ok, verification.budget.made)
    } catch {
      return (error.status, verification.budget.made)
    }
  }

  @Test("CER-10 a JWS costs its three signatures, nested ones theirs, and a forgery one")
  func jws() throws {
    let authority = try Minted.authority()
    let transaction = try authority.mint(Minted.purchase.transactionPayload)
    let trust = try Minted.trust()
    check(jws(trust, transaction) == (.ok, 3))
    check(jws(trust, transaction) == (.ok, 1))
    let body = NotificationPayload.data(
      Minted.purchase, transaction: transaction,
      renewal: try authority.mint(Minted.purchase.renewalPayload))
    let notification = try authority.mint(
      NotificationPayload("DID_RENEW", signedDate: Minted.purchase.signedDate).payload()
        .appending("data", body))
    check(jws(trust, notification, .notification) == (.ok, 3))
    let uncached = try Minted.trust([("storekit.cache", ["chains": 0])])
    check(jws(uncached, notification, .notification) == (.ok, 9))
    // Nothing inside is verified before the outer signature.
    var forged = notification
    forged[forged.count - 3] = forged[forged.count - 3] == 0x41 ? 0x42 : 0x41
    check(jws(uncached, forged, .notification) == (.rejectedJwsSignature, 3))
    check(jws(trust, forged, .notification) == (.rejectedJwsSignature, 1))
  }

  @Test("CER-10 an anchor that is found by its signature is not asked twice")
  func ignoredRootEntry() throws {
    let changes: [(String, JSONText)] = [
      ("storekit.x5cRoot", "ignored"), ("storekit.cache", ["chains": 0]),
    ]
    let transaction = try Minted.authority().mint(Minted.purchase.transactionPayload)
    check(jws(try Minted.trust(changes), transaction) == (.ok, 3))
  }

  // MARK: certificates

  @Test("JWS-104 a certificate has at most 64 extensions")
  func extensions() throws {
    let fixture = try AttestReceiptFixture.shared()
    func certificate(_ count: Int) throws -> Certificate? {
      var template = fixture.root
      template.extensions = (0..<count).map {
        CertificateExtension("1.3.6.1.\($0 + 1)", [0x05, 0x00])
      }
      return Certificate(try template.signed(by: fixture.rootKey))
    }
    try check(certificate(64) != nil)
    try check(certificate(65) == nil)
  }

  // MARK: roots

  @Test("CER-11 a configured root may be signed with any SHA-2, and what is below it must not")
  func rootDigests() throws {
    let authority = try AppReceiptFixture.authority()
    for (digest, isGood) in [
      (.sha1, true), (.sha256, true), (.sha384, true), (.sha512, true),
    ] as [(SigningKey.Digest, Bool)] {
      var root = authority.root
      root.sign(digest)
      checkEqual((Anchor(try root.signed(by: authority.keys.root), .rsa) != nil), isGood)
      root.signatureForm = .flipped
      check(Anchor(try root.signed(by: authority.keys.root), .rsa) == nil)
    }
    let fixture = try AttestReceiptFixture.shared()
    for (oid, digest) in [
      (OID.ecdsaWithSHA256, .sha256), (OID.ecdsaWithSHA384, .sha384),
      (OID.ecdsaWithSHA512, .sha512),
    ] as [(String, SigningKey.Digest)] {
      var root = fixture.root
      root.innerAlgorithm = CertificateTemplate.algorithm(oid)
      root.digest = digest
      let der = try root.signed(by: fixture.rootKey)
      let anchor = try require(Anchor(der, .elliptic))
      root.signatureForm = .damaged
      check(Anchor(try root.signed(by: fixture.rootKey), .elliptic) == nil)
      // PTH-5 and JWS-24 apply below a root.
      checkEqual(anchor.certificate.isSigned(by: anchor.key), (digest != .sha512))
    }
    let g2 = try require(Anchor(AppleRoots.rootCAG2, .rsa))
    checkEqual(g2.key.type, .rsa(bits: 4096))
    check(!g2.certificate.isSigned(by: g2.key))
  }
}
