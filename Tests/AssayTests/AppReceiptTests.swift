import AssayAuthority
import CLibCrypto
import Testing

@testable import Assay

// Functions of openssl/cms.h, which the library itself does not use.
@_silgen_name("d2i_CMS_bio")
private func d2i_CMS_bio(_ source: OpaquePointer?, _ target: OpaquePointer?) -> OpaquePointer?
@_silgen_name("CMS_verify")
private func CMS_verify(
  _ message: OpaquePointer?, _ certificates: OpaquePointer?, _ store: OpaquePointer?,
  _ content: OpaquePointer?, _ out: OpaquePointer?, _ flags: UInt32
) -> Int32
@_silgen_name("CMS_ContentInfo_free")
private func CMS_ContentInfo_free(_ message: OpaquePointer?)

/// Reads and verifies the same containers with libcrypto's CMS code.
enum LibcryptoCMS {
  private static let noSignerCertificateVerify: UInt32 = 0x20
  private static let binary: UInt32 = 0x80

  /// CMS needs digests by name, which the library's own initialization does not register.
  private static let digestsAreNamed =
    unsafe (EVP_add_digest(EVP_sha1()) == 1 && EVP_add_digest(EVP_sha256()) == 1)

  /// Whether libcrypto reads the container and its signature is valid; the path of the signer's
  /// certificate is not checked.
  static func verifies(_ bytes: [UInt8]) -> Bool {
    guard CryptoContext.shared != nil, digestsAreNamed else { return false }
    return unsafe bytes.withUnsafeBytes { text in
      let source = unsafe BIO_new_mem_buf(text.baseAddress, Int32(text.count))
      defer { unsafe BIO_free(source) }
      guard let message = unsafe d2i_CMS_bio(source, nil) else {
        ERR_clear_error()
        return false
      }
      defer { unsafe CMS_ContentInfo_free(message) }
      let done = unsafe CMS_verify(
        message, nil, nil, nil, nil, noSignerCertificateVerify | binary)
      ERR_clear_error()
      return done == 1
    }
  }
}

/// One receipt authority, and verifications that trust it.
enum AppReceiptFixture {
  static let now: Int64 = Minted.now
  private static let made = Result { try ReceiptAuthority() }

  static func authority() throws -> ReceiptAuthority { try made.get() }

  static let limits = SignedMessage.Limits(
    ber: BER.Limits(elements: 262_144, depth: 24), certificates: 8, chunks: 64,
    payloadBytes: 1 << 20)
  static let refusals = SignedMessage.Refusals(
    ber: .malformedAppReceiptBer, trailing: .malformedAppReceiptTrailing,
    structure: .malformedAppReceiptStructure, contentType: .unsupportedAppReceiptContentType,
    signers: .unsupportedAppReceiptSigners, signerId: .unsupportedAppReceiptSignerId,
    signedAttributes: .unsupportedAppReceiptSignedAttributes,
    elements: .tooLargeAppReceiptElements, depth: .tooLargeAppReceiptDepth,
    certificates: .tooLargeAppReceiptCertificates, payload: .tooLargeAppReceiptSize)

  struct Answer {
    let receipt: AppReceipt?
    let refusal: Refusal?
    let checks: CheckLog

    var status: Status { refusal?.status ?? .ok }
    var failed: String { "\(checks.failed)" }
  }

  static func verify(
    _ trust: ReceiptTrust, _ input: [UInt8], subject: [UInt8]? = nil, now: Int64
  ) -> Answer {
    var verification = AppReceiptVerification(trust, subject: subject, nowMs: now)
    do throws(Refusal) {
      let receipt = try verification.run(input)
      return Answer(receipt: receipt, refusal: nil, checks: verification.checks.log)
    } catch {
      return Answer(receipt: nil, refusal: error, checks: verification.checks.log)
    }
  }

  /// Returns the value of `appReceipt` in a document.
  static func document(_ receipt: AppReceipt) -> JSONValue {
    var writer = JSONWriter()
    receipt.write(&writer)
    // Only a bug makes this fail; the null value then fails every expectation.
    return (try? JSONReader.readValue(writer.bytes, caps: .files).root)
      ?? JSONValue(json: JSON(bytes: [], nodes: []), index: 0)
  }

  /// Returns a trust with one app, Production and Sandbox, and only the authority's root.
  static func trust(_ changes: [(String, JSONText)] = []) throws -> ReceiptTrust {
    let config: JSONText = [
      "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]],
      "environments": ["Production", "Sandbox"],
      "receipts": ["anchors": [.string(try authority().anchor)]],
    ]
    return try ReceiptTrust.make(ConfigurationReader.read(config.setting(changes).bytes))
  }

  static func xcodeChanges() throws -> [(String, JSONText)] {
    [
      ("environments", ["Xcode", "Sandbox"]),
      ("storekit.xcodeCertificates", [.string(try authority().xcodeFingerprint)]),
    ]
  }
}

private typealias Write = AssayAuthority.DER

/// Tests receipts that differ from a good one in one thing (APR-1 … APR-24).
@Suite("App receipt")
struct AppReceiptTests {
  private static let now = AppReceiptFixture.now
  private static let vendor = AppReceiptFacts.vendor

  /// Returns the facts of a good receipt of one subscription, in Sandbox unless `isProduction`.
  private func facts(
    isProduction: Bool = false, _ change: (inout AppReceiptFacts) -> Void = { _ in }
  ) -> AppReceiptFacts {
    let purchase = Minted.purchase.with {
      if isProduction {
        $0.environment = "Production"
        $0.transactionId = "110000900000001"
        $0.originalTransactionId = "110000900000001"
        $0.webOrderLineItemId = "110000090000001"
      }
    }
    return AppReceiptFacts([purchase], like: purchase).with(change)
  }

  private func template(
    _ facts: AppReceiptFacts, _ change: (inout AppReceiptTemplate) throws -> Void = { _ in }
  ) throws -> AppReceiptTemplate {
    var template = try AppReceiptFixture.authority().appTemplate(facts)
    try change(&template)
    return template
  }

  private func verify(
    _ facts: AppReceiptFacts, _ config: [(String, JSONText)] = [], subject: [UInt8]? = nil,
    now: Int64 = AppReceiptTests.now,
    _ change: (inout AppReceiptTemplate) throws -> Void = { _ in }
  ) throws -> AppReceiptFixture.Answer {
    try AppReceiptFixture.verify(
      AppReceiptFixture.trust(config), template(facts, change).signed(), subject: subject, now: now)
  }

  private func expect(
    _ status: Status, _ check: String, _ answer: AppReceiptFixture.Answer,
    _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    checkEqual(answer.status, status, comment, sourceLocation: sourceLocation)
    checkEqual(answer.failed, check, comment, sourceLocation: sourceLocation)
  }

  // MARK: good ones

  @Test("APR-5 APR-8 receipts of every generation, definite and in chunks, raw and encoded")
  func good() throws {
    let authority = try AppReceiptFixture.authority()
    for (created, digest) in [
      (1_400_000_000_000, "sha1"), (1_500_000_000_000, "sha1"), (1_680_000_000_000, "sha1"),
      (1_700_000_000_000, "sha256"), (Self.now, "sha256"),
    ] as [(Int64, String)] {
      let facts = facts { $0.creationDate = created }
      for form in [ASN1Tree.Form.definite, .indefinite(chunk: 100)] {
        let raw = try template(facts) { $0.form = form }.signed()
        for input in [raw, Base64.encodeStandard(raw)] {
          let answer = AppReceiptFixture.verify(try AppReceiptFixture.trust(), input, now: Self.now)
          checkEqual(answer.status, .ok, "\(created)")
          let document = AppReceiptFixture.document(try require(answer.receipt))
          checkEqual(document.at("digest")?.text?.string, digest)
          checkEqual(document.at("asOfMs")?.integer, created)
          checkEqual(document.at("chain.intermediate.source")?.text, "embedded")
        }
        check(LibcryptoCMS.verifies(raw))
      }
    }
    for digest in [SigningKey.Digest.sha1, .sha256] {
      let raw = try authority.appTemplate(facts(), digest: digest).signed()
      checkEqual(
        AppReceiptFixture.verify(try AppReceiptFixture.trust(), raw, now: Self.now).status, .ok)
    }
  }

  @Test("APR-19 the members of the document, in their order")
  func document() throws {
    let answer = try verify(facts(isProduction: true), subject: Self.vendor)
    let document = AppReceiptFixture.document(try require(answer.receipt))
    checkEqual(
      document.children.map { $0.name.string },
      [
        "type", "environment", "bundleId", "applicationVersion", "originalApplicationVersion",
        "creationDate", "originalPurchaseDate", "expirationDate", "appAppleId", "downloadId",
        "versionExternalIdentifier", "deviceBound", "asOfMs", "purchases", "rawAttributes",
        "unknownAttributes", "chain", "digest", "transport",
      ])
    let purchase = try require(document.at("purchases.0"))
    checkEqual(
      purchase.children.map { $0.name.string },
      [
        "productId", "transactionId", "originalTransactionId", "webOrderLineItemId", "quantity",
        "type", "purchaseDate", "originalPurchaseDate", "expiresDate", "cancellationDate",
        "cancellationReason", "isTrialPeriod", "isInIntroOfferPeriod", "promotionalOfferId",
        "known", "environment", "idConflict", "keys",
      ])
    let ids = AppReceiptCheck.ids.map { "\($0)" }
    check(ids.first == "transport" && ids.last == "freshness" && ids.count == 13)
  }

  @Test("APR-12 numbers stay exact, past 2^53 as text")
  func exact() throws {
    let largest = Write.integer(octets: [0] + [UInt8](repeating: 0xff, count: 8))
    let purchase = Minted.purchase.receiptAttributes
      .setting(AttributeTemplate(1701, largest)).setting(AttributeTemplate(1711, largest))
    let answer = try verify(facts()) {
      $0.attributes = $0.attributes.removing(17)
        .setting(AttributeTemplate(15, largest)).setting(.integer(1, 9_007_199_254_740_993))
        .setting(.integer(16, 9_007_199_254_740_992))
        .setting(AttributeTemplate(17, AttributeTemplate.set(purchase)))
    }
    let document = AppReceiptFixture.document(try require(answer.receipt))
    checkEqual(document.at("downloadId")?.text, "18446744073709551615")
    checkEqual(document.at("appAppleId")?.text, "9007199254740993")
    checkEqual(document.at("versionExternalIdentifier")?.integer, 9_007_199_254_740_992)
    checkEqual(document.at("purchases.0.quantity")?.text, "18446744073709551615")
    checkEqual(document.at("purchases.0.webOrderLineItemId")?.text, "18446744073709551615")
  }

  // MARK: transport and container

  @Test("APR-5 a digest has the parameters NULL or none")
  func digest() throws {
    func algorithm(_ oid: String, _ parameters: [UInt8] = Write.null) -> [UInt8] {
      CertificateTemplate.algorithm(oid, parameters: parameters)
    }
    for (signer, data) in [
      (algorithm(OID.sha256, Write.sequence()), algorithm(OID.sha256)),
      (algorithm(OID.sha256), algorithm(OID.sha256, Write.sequence())),
      (algorithm(OID.data), algorithm(OID.data)),
    ] {
      let answer = try verify(facts()) {
        $0.signerDigest = signer
        $0.digestAlgorithms = [data]
      }
      expect(.unsupportedAppReceiptDigest, "receipt.container", answer)
    }
  }

  @Test("APR-6 a signature algorithm has the parameters NULL or none")
  func algorithm() throws {
    for (oid, parameters, isAccepted) in [
      (OID.rsaEncryption, [], true), (OID.rsaEncryption, Write.sequence(), false),
      (OID.sha256WithRSA, Write.sequence(), false),
    ] as [(String, [UInt8], Bool)] {
      let answer = try verify(facts()) {
        $0.signatureAlgorithm = CertificateTemplate.algorithm(oid, parameters: parameters)
      }
      checkEqual(answer.status == .ok, isAccepted, "\(oid)")
      if !isAccepted {
        expect(.unsupportedAppReceiptSignatureAlgorithm, "receipt.container", answer)
      }
    }
  }

  @Test("APR-6 an altered payload or signature, judged as libcrypto does")
  func signature() throws {
    let authority = try AppReceiptFixture.authority()
    let good = try template(facts())
    let payload = AttributeTemplate.set(good.attributes)
    var other = payload
    other[payload.count / 2] ^= 1
    for (name, change) in [
      ("payload", { $0.sentPayload = other }), ("signature", { $0.signature = .damaged }),
      ("another key", { $0.signature = .by(authority.keys.developer) }),
      ("empty signature", { $0.signature = .octets([]) }),
      ("short signature", { $0.signature = .octets([UInt8](repeating: 1, count: 255)) }),
      ("long signature", { $0.signature = .octets([UInt8](repeating: 1, count: 257)) }),
    ] as [(String, (inout AppReceiptTemplate) -> Void)] {
      let answer = try verify(facts(), [], change)
      expect(.rejectedAppReceiptSignature, "receipt.signature", answer, "\(name)")
      check(!LibcryptoCMS.verifies(try template(facts(), change).signed()), "\(name)")
    }
  }

  @Test("APR-9 the payload is read only after the signature was verified")
  func order() throws {
    let nested = Write.octetString(AttributeTemplate.set(try template(facts()).attributes))
    expect(
      .malformedAppReceiptStructure, "receipt.attributes",
      try verify(facts()) { $0.payload = nested })
    let unsigned = try verify(facts()) {
      $0.payload = nested
      $0.signature = .damaged
    }
    expect(.rejectedAppReceiptSignature, "receipt.signature", unsigned)
  }

  @Test("APR-7 the signer is the certificate that it names, wherever it is")
  func signer() throws {
    let authority = try AppReceiptFixture.authority()
    let other = try authority.chain(.developer)
    let empty = try verify(facts()) { $0.certificates = [] }
    expect(.rejectedAppReceiptSignerCertificate, "chain.certificates", empty)
    let leaf = try require(Certificate(try template(facts()).chain.leaf))
    let issuer = Array(leaf.bytes(leaf.issuer))
    let serial = Array(leaf.bytes(leaf.serial))
    for (name, number) in [
      (issuer, serial + [1]), (Array(leaf.bytes(leaf.subject)), serial),
    ] {
      let answer = try verify(facts()) {
        $0.signerIdentifier = Write.sequence(name, Write.integer(octets: number))
      }
      expect(.rejectedAppReceiptSignerCertificate, "chain.certificates", answer)
    }
    // The signer id names another certificate, whose key does not fit.
    let foreign = try verify(facts()) {
      $0.certificates.append(other.leaf)
      $0.signerIdentifier = try AppReceiptTemplate.issuerAndSerial(other.leaf)
    }
    check(foreign.receipt == nil)
  }

  @Test("PTH-4 every certificate of the bag is definite DER that begins as one")
  func bag() throws {
    let leaf = try template(facts()).chain.leaf
    let tbs = try require(BER.head(leaf, 0, leaf.count))
    let content = Array(leaf[tbs.content...])
    for wrong in [
      Write.sequence(), Write.sequence(Write.null), Write.sequence(Write.sequence()),
      Write.sequence(Write.sequence(Write.unsigned([1]))),
      Write.sequence(Write.sequence(Write.unsigned([1]), Write.sequence())),
      Write.sequence(Write.sequence(Write.unsigned([1]), Write.sequence(), Write.sequence())),
      Write.sequence(
        Write.sequence(Write.unsigned([1]), Write.sequence(), Write.sequence(), Write.sequence())),
      [0x30, 0x80] + content + [0, 0],
    ] {
      let answer = try verify(facts()) { $0.certificates.append(wrong) }
      expect(.malformedChainDer, "chain.certificates", answer)
      checkEqual(answer.refusal?.place, "certificates[3]")
    }
  }

  // MARK: dates

  @Test("APR-9 the creation date: absent, empty, unreadable")
  func dates() throws {
    func answer(_ text: String) throws -> AppReceiptFixture.Answer {
      try verify(facts()) { $0.attributes = $0.attributes.setting(.ascii(12, text)) }
    }
    expect(.rejectedDateMissing, "chain.validity", try answer(""))
    expect(.malformedAppReceiptDate, "chain.validity", try answer("2026-11-20"))
    let absent = try verify(facts()) { $0.attributes = $0.attributes.removing(12) }
    expect(.malformedAppReceiptMissingAttribute, "receipt.attributes", absent)
  }

  // MARK: identity

  @Test("APR-18 without opaque value or hash no device is the receipt's")
  func device() throws {
    for device in [Self.vendor, AppReceiptFacts.address] {
      let facts = facts { $0.device = device }
      for type in [4, 5] {
        let answer = try verify(facts, subject: device) {
          $0.attributes = $0.attributes.removing(type)
        }
        expect(.rejectedAccountDevice, "device", answer)
      }
    }
  }

  @Test("APR-18 comparison in constant time is comparison")
  func constantTime() {
    check(ConstantTime.areEqual([], []))
    check(ConstantTime.areEqual([1, 2], [0, 1, 2].dropFirst()))
    for other in [[1], [1, 3], [2, 2], [1, 2, 0], []] as [[UInt8]] {
      check(!ConstantTime.areEqual([1, 2], other[...]))
    }
  }

  // MARK: Xcode

  private func xcode(
    _ change: (inout AppReceiptTemplate) throws -> Void = { _ in }
  ) throws -> AppReceiptFixture.Answer {
    var template = try AppReceiptFixture.authority().xcodeTemplate(facts())
    try change(&template)
    return AppReceiptFixture.verify(
      try AppReceiptFixture.trust(AppReceiptFixture.xcodeChanges()), try template.signed(),
      now: Self.now)
  }

  @Test("APR-21 a pinned Xcode certificate stands alone")
  func pinned() throws {
    try check(xcode().receipt != nil)
    // Beside another certificate, Xcode's certificate belongs to a path without an anchor.
    let chain = try AppReceiptFixture.authority().chain(.current)
    let accompanied = try xcode { $0.certificates.append(chain.intermediate) }
    check(accompanied.receipt == nil)
  }

  @Test("APR-21 Xcode's certificate must be valid at the creation date")
  func xcodeValidity() throws {
    for (created, status) in [
      ("2020-04-01T17:52:35Z", .ok), ("2020-04-01T17:52:34Z", .rejectedChainNotYetValid),
    ] as [(String, Status)] {
      let answer = try xcode { $0.attributes = $0.attributes.setting(.ascii(12, created)) }
      checkEqual(answer.status, status, "\(created)")
    }
  }

  // MARK: purchases

  @Test("JWS-94 DEC-4 the type of a purchase is the signed one, else the catalogue's")
  func productTypes() throws {
    let products: JSONText = [
      "com.example.app.gold": ["type": "non-consumable"]
    ]
    for (signed, name, key) in [
      (0, "Non-Consumable", "Sandbox/2000000900000000"),
      (1, "Consumable", "Sandbox/2000000900000001"),
      (2, "Non-Renewing Subscription", "Sandbox/2000000900000001"),
      (3, "Auto-Renewable Subscription", "Sandbox/2000000900000000/2000000090000001"),
      (4, "Free Subscription", "Sandbox/2000000900000000"),
      (9, "9", "Sandbox/2000000900000000"), (nil, nil, "Sandbox/2000000900000000"),
    ] as [(Int64?, String?, String)] {
      let purchase = Minted.purchase.with {
        $0.productId = "com.example.app.gold"
        $0.originalTransactionId = "2000000900000000"
      }
      var list = purchase.receiptAttributes.removing(1707)
      if let signed { list.append(.integer(1707, signed)) }
      let answer = try verify(facts(), [("products", products)]) {
        $0.attributes =
          $0.attributes.removing(17)
          + [AttributeTemplate(17, AttributeTemplate.set(list))]
      }
      let receipt = try require(answer.receipt)
      let document = AppReceiptFixture.document(receipt)
      checkEqual(document.at("purchases.0.type")?.text?.string, name)
      checkEqual(document.at("purchases.0.keys.purchase")?.text?.string, key, "\(signed ?? -1)")
      checkEqual(document.at("purchases.0.known")?.boolean, true)
      var warnings = JSONWriter()
      warnings.beginArray()
      receipt.writeWarnings(&warnings)
      warnings.endArray()
      let expected =
        signed == 9 ? #"[{"id":"unknown-value","at":"purchases[0].type"}]"# : "[]"
      checkEqual(warnings.bytes, utf8(expected))
    }
  }

  @Test("DCD-4 what the purchases contribute to a decision")
  func evidence() throws {
    let bought = Minted.purchase.with {
      $0.revocationDate = $0.signedDate / 1000 * 1000
      $0.revocationReason = 1
      $0.quantity = 3
    }
    var list = bought.receiptAttributes + [.text(1721, "spring")]
    list = list.setting(.integer(1713, 1)).setting(.integer(1719, 1))
    let least: [AttributeTemplate] = [
      .text(1702, "p"), .text(1703, "2000000900000009"),
      .ascii(1704, "2026-11-20T10:20:30Z"), .integer(1707, 7),
    ]
    let answer = try verify(facts()) {
      $0.attributes =
        $0.attributes.removing(17) + [
          AttributeTemplate(17, AttributeTemplate.set(list)),
          AttributeTemplate(17, AttributeTemplate.set(least)),
        ]
    }
    let receipt = try require(answer.receipt)
    let evidence = receipt.purchaseEvidence(Catalogue())
    checkEqual("\(evidence.kind)", "app-receipt")
    check(evidence.renewals.isEmpty && evidence.purchases.count == 2)
    let first = try require(evidence.purchases.first)
    check(first.environment == .sandbox && first.type == .autoRenewable)
    checkEqual(first.transactionId.string, bought.transactionId)
    checkEqual(first.originalTransactionId.string, bought.originalTransactionId)
    checkEqual(first.webOrderLineItemId?.string, bought.webOrderLineItemId)
    checkEqual(first.productId.string, bought.productId)
    checkEqual(first.start, bought.purchaseDate / 1000 * 1000)
    checkEqual(first.end, bought.expiresDate.map { $0 / 1000 * 1000 })
    check(first.revokedAtMs == bought.revocationDate && first.revocationReason == 1)
    check(first.isTrial && first.isIntro && first.hasOffer)
    check(first.quantity == 3 && first.asOfMs == receipt.creationDate)
    check(first.evidenceClass == .signed && first.canReport == .revocation && !first.typeIsUnknown)
    let second = try require(evidence.purchases.last)
    checkEqual(second.originalTransactionId, "2000000900000009")
    check(second.type == nil && second.typeIsUnknown && second.quantity == 1)
    check(second.webOrderLineItemId == nil && second.end == nil && second.revokedAtMs == nil)
    check(!second.isTrial && !second.isIntro && !second.hasOffer)
  }

  @Test("APR-1 receipts with one changed byte: another fact is never accepted")
  func flips() throws {
    let trust = try AppReceiptFixture.trust()
    let good = try template(facts()).signed()
    let proven = AppReceiptFixture.verify(trust, good, now: Self.now)
    let expected = try require(proven.receipt).attributes.payload
    var refused = 0
    for place in stride(from: 0, to: good.count, by: 3) {
      var bytes = good
      bytes[place] ^= 0x01 << UInt8(place % 8)
      let answer = AppReceiptFixture.verify(trust, bytes, now: Self.now)
      if let receipt = answer.receipt {
        // The changed byte is not signed, for example in a copy of the root.
        checkEqual(receipt.attributes.payload.slice, expected.slice)
      } else {
        refused += 1
      }
    }
    check(refused > good.count / 6)
  }
}
