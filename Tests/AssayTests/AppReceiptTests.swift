import AssayAuthority
import CLibCrypto
import Testing

@testable import Assay

// From openssl/cms.h, which the library itself does not use.
@_silgen_name("d2i_CMS_bio")
private func d2i_CMS_bio(_ source: OpaquePointer?, _ target: OpaquePointer?) -> OpaquePointer?
@_silgen_name("CMS_verify")
private func CMS_verify(
  _ message: OpaquePointer?, _ certificates: OpaquePointer?, _ store: OpaquePointer?,
  _ content: OpaquePointer?, _ out: OpaquePointer?, _ flags: UInt32
) -> Int32
@_silgen_name("CMS_ContentInfo_free")
private func CMS_ContentInfo_free(_ message: OpaquePointer?)

/// Another reader and verifier of the same container.
enum LibcryptoCMS {
  private static let noSignerCertificateVerify: UInt32 = 0x20
  private static let binary: UInt32 = 0x80

  /// The library's own start leaves the names of digests out, which CMS needs.
  private static let digestsAreNamed =
    unsafe (EVP_add_digest(EVP_sha1()) == 1 && EVP_add_digest(EVP_sha256()) == 1)

  /// Whether the container is one that libcrypto reads and its signature fits;
  /// the path of the signer's certificate is not checked.
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
enum AppReceiptBench {
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
    let checks: Ledger

    var status: Status { refusal?.status ?? .ok }
    var failed: String { "\(checks.failed)" }
  }

  static func verify(
    _ trust: ReceiptTrust, _ input: [UInt8], subject: [UInt8]? = nil, now: Int64
  ) -> Answer {
    var verification = AppReceiptVerification(trust, subject: subject, nowMs: now)
    do throws(Refusal) {
      let receipt = try verification.run(input)
      return Answer(receipt: receipt, refusal: nil, checks: verification.checks.ledger)
    } catch {
      return Answer(receipt: nil, refusal: error, checks: verification.checks.ledger)
    }
  }

  /// The value of `appReceipt`.
  static func document(_ receipt: AppReceipt) -> JSONValue {
    var writer = JSONWriter()
    receipt.write(&writer)
    // Only a bug makes this fail, and then every expectation does.
    return (try? JSONReader.readValue(writer.bytes, caps: .files).root)
      ?? JSONValue(json: JSON(bytes: [], nodes: []), index: 0)
  }

  /// One app, Production and Sandbox, only the authority's root.
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

/// APR-1 … APR-24: each receipt differs from a good one in one thing.
@Suite("App receipt")
struct AppReceiptTests {
  private static let now = AppReceiptBench.now
  private static let vendor = AppReceiptFacts.vendor

  /// A good receipt of one subscription, sandbox unless `isProduction`.
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
    var template = try AppReceiptBench.authority().appTemplate(facts)
    try change(&template)
    return template
  }

  private func verify(
    _ facts: AppReceiptFacts, _ config: [(String, JSONText)] = [], subject: [UInt8]? = nil,
    now: Int64 = AppReceiptTests.now,
    _ change: (inout AppReceiptTemplate) throws -> Void = { _ in }
  ) throws -> AppReceiptBench.Answer {
    try AppReceiptBench.verify(
      AppReceiptBench.trust(config), template(facts, change).signed(), subject: subject, now: now)
  }

  private func expect(
    _ status: Status, _ check: String, _ answer: AppReceiptBench.Answer,
    _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(answer.status == status, comment, sourceLocation: sourceLocation)
    #expect(answer.failed == check, comment, sourceLocation: sourceLocation)
  }

  // MARK: good ones

  @Test("APR-5 APR-8 receipts of every generation, definite and in chunks, raw and encoded")
  func good() throws {
    let authority = try AppReceiptBench.authority()
    for (created, digest) in [
      (1_400_000_000_000, "sha1"), (1_500_000_000_000, "sha1"), (1_680_000_000_000, "sha1"),
      (1_700_000_000_000, "sha256"), (Self.now, "sha256"),
    ] as [(Int64, String)] {
      let facts = facts { $0.creationDate = created }
      for form in [ASN1Tree.Form.definite, .indefinite(chunk: 100)] {
        let raw = try template(facts) { $0.form = form }.signed()
        for input in [raw, Base64.encodeStandard(raw)] {
          let answer = AppReceiptBench.verify(try AppReceiptBench.trust(), input, now: Self.now)
          #expect(answer.status == .ok, "\(created)")
          let document = AppReceiptBench.document(try #require(answer.receipt))
          #expect(document.at("digest")?.text?.string == digest)
          #expect(document.at("asOf")?.integer == created)
          #expect(document.at("chain.intermediate.source")?.text == "embedded")
        }
        #expect(LibcryptoCMS.verifies(raw))
      }
    }
    for digest in [SigningKey.Digest.sha1, .sha256] {
      let raw = try authority.appTemplate(facts(), digest: digest).signed()
      #expect(AppReceiptBench.verify(try AppReceiptBench.trust(), raw, now: Self.now).status == .ok)
    }
  }

  @Test("APR-8 the intermediate may come from the configuration, with only the leaf in the bag")
  func strippedBag() throws {
    let authority = try AppReceiptBench.authority()
    let list = JSONText.array(authority.intermediates.map { .string($0) })
    let stripped = { (template: inout AppReceiptTemplate) in
      template.certificates = [template.chain.leaf]
    }
    let answer = try verify(facts(), [("receipts.intermediates", list)], stripped)
    let document = AppReceiptBench.document(try #require(answer.receipt))
    #expect(document.at("chain.intermediate.source")?.text == "configured")
    expect(
      .rejectedChainIssuerUnknown, "chain.certificates", try verify(facts(), [], stripped))
  }

  @Test("APR-19 the members of the document, in their order")
  func document() throws {
    let answer = try verify(facts(isProduction: true), subject: Self.vendor)
    let document = AppReceiptBench.document(try #require(answer.receipt))
    #expect(
      document.children.map { $0.name.string } == [
        "type", "environment", "bundleId", "applicationVersion", "originalApplicationVersion",
        "creationDate", "originalPurchaseDate", "expirationDate", "appAppleId", "downloadId",
        "versionExternalIdentifier", "deviceBound", "asOf", "purchases", "keptAttributes",
        "unknownAttributes", "chain", "digest", "transport",
      ])
    let purchase = try #require(document.at("purchases.0"))
    #expect(
      purchase.children.map { $0.name.string } == [
        "productId", "transactionId", "originalTransactionId", "webOrderLineItemId", "quantity",
        "type", "purchaseDate", "originalPurchaseDate", "expiresDate", "cancellationDate",
        "cancellationReason", "isTrialPeriod", "isInIntroOfferPeriod", "promotionalOfferId",
        "known", "environment", "idConflict", "keys",
      ])
    for (path, text) in [
      ("type", "Production"), ("environment", "Production"), ("bundleId", "com.example.app"),
      ("downloadId", "500000000000000123"), ("transport.form", "raw"),
      ("purchases.0.type", "Auto-Renewable Subscription"),
      ("purchases.0.transactionId", "110000900000001"),
      ("purchases.0.webOrderLineItemId", "110000090000001"),
      ("purchases.0.keys.transaction", "Production/110000900000001"),
      ("purchases.0.keys.purchase", "Production/110000900000001/110000090000001"),
      ("purchases.0.keys.subscription", "Production/110000900000001"),
    ] {
      #expect(document.at(path)?.text?.string == text, "\(path)")
    }
    #expect(document.at("appAppleId")?.integer == 1_234_567_890)
    #expect(document.at("versionExternalIdentifier")?.integer == 814_000_001)
    #expect(document.at("deviceBound")?.boolean == true)
    #expect(document.at("unknownAttributes")?.integer == 1)
    #expect(document.at("expirationDate")?.isNull == true)
    #expect(document.at("purchases.0.cancellationDate")?.isNull == true)
    #expect(document.at("purchases.0.known")?.boolean == false)
    let ids = AppReceiptCheck.ids.map { "\($0)" }
    #expect(ids.first == "transport" && ids.last == "freshness" && ids.count == 13)
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
    let document = AppReceiptBench.document(try #require(answer.receipt))
    #expect(document.at("downloadId")?.text == "18446744073709551615")
    #expect(document.at("appAppleId")?.text == "9007199254740993")
    #expect(document.at("versionExternalIdentifier")?.integer == 9_007_199_254_740_992)
    #expect(document.at("purchases.0.quantity")?.text == "18446744073709551615")
    #expect(document.at("purchases.0.webOrderLineItemId")?.text == "18446744073709551615")
  }

  // MARK: transport and container

  @Test("RCP-1 RCP-5 what is no app receipt, and what is too long")
  func transport() throws {
    let trust = try AppReceiptBench.trust()
    func answer(_ input: [UInt8]) -> AppReceiptBench.Answer {
      AppReceiptBench.verify(trust, input, now: Self.now)
    }
    expect(.malformedTransportEmpty, "transport", answer([]))
    expect(.rejectedKindMismatch, "transport", answer(utf8("{\n\t\"signature\" = \"AA==\";\n}")))
    expect(
      .rejectedKindMismatch, "transport",
      answer(try Minted.authority().mint(["bundleId": "com.example.app"])))
    expect(.malformedAppReceiptBer, "receipt.container", answer([0x30, 0x80, 0x01]))
    let good = try template(facts()).signed()
    for (cap, status) in [(good.count, .ok), (good.count - 1, .tooLargeAppReceiptSize)]
      as [(Int, Status)]
    {
      let caps: JSONText = ["appReceiptBytes": .integer(Int64(cap))]
      let answer = AppReceiptBench.verify(
        try AppReceiptBench.trust([("receipts.caps", caps)]), good, now: Self.now)
      #expect(answer.status == status)
      if status != .ok { #expect(answer.failed == "receipt.container") }
    }
    var verification = AppReceiptVerification(trust, subject: nil, nowMs: Self.now)
    let receipt = try verification.run(Transport(good, cap: good.count))
    #expect(receipt.bundleId == "com.example.app")
    let text = try Transport(utf8("{\n\t\"signature\" = \"AA==\";\n}"), cap: 100)
    var other = AppReceiptVerification(trust, subject: nil, nowMs: Self.now)
    #expect(throws: Refusal(.rejectedKindMismatch, "")) { try other.run(text) }
  }

  @Test("APR-5 the digest is the signer's, SHA-1 or SHA-256, and SignedData agrees")
  func digest() throws {
    func algorithm(_ oid: String, _ parameters: [UInt8] = Write.null) -> [UInt8] {
      CertificateTemplate.algorithm(oid, parameters: parameters)
    }
    let accepted = try verify(facts()) {
      $0.signerDigest = algorithm(OID.sha256, [])
      $0.digestAlgorithms = [algorithm(OID.sha256)]
    }
    #expect(accepted.status == .ok)
    for (signer, data) in [
      (algorithm(OID.sha384), algorithm(OID.sha384)), (algorithm(OID.sha256), algorithm(OID.sha1)),
      (algorithm(OID.sha1), algorithm(OID.sha256)),
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
    // The digest that is named is the one that counts.
    let named = algorithm(OID.sha1)
    let answer = try verify(facts()) {
      $0.signerDigest = named
      $0.digestAlgorithms = [named]
    }
    expect(.rejectedAppReceiptSignature, "receipt.signature", answer)
  }

  @Test("APR-6 the signature algorithm is RSA, alone or with the digest")
  func algorithm() throws {
    for (oid, parameters, isAccepted) in [
      (OID.rsaEncryption, Write.null, true), (OID.rsaEncryption, [], true),
      (OID.sha256WithRSA, Write.null, true), (OID.sha1WithRSA, Write.null, false),
      (OID.sha384WithRSA, Write.null, false), (OID.ecdsaWithSHA256, [], false),
      (OID.rsaEncryption, Write.sequence(), false), (OID.sha256WithRSA, Write.sequence(), false),
    ] as [(String, [UInt8], Bool)] {
      let answer = try verify(facts()) {
        $0.signatureAlgorithm = CertificateTemplate.algorithm(oid, parameters: parameters)
      }
      #expect((answer.status == .ok) == isAccepted, "\(oid)")
      if !isAccepted {
        expect(.unsupportedAppReceiptSignatureAlgorithm, "receipt.container", answer)
      }
    }
    for (oid, isAccepted) in [(OID.sha1WithRSA, true), (OID.sha256WithRSA, false)] {
      let old = facts { $0.creationDate = 1_500_000_000_000 }
      let answer = try verify(old) {
        $0.signatureAlgorithm = CertificateTemplate.algorithm(oid, parameters: Write.null)
      }
      #expect((answer.status == .ok) == isAccepted)
    }
  }

  @Test("APR-6 an altered payload or signature, judged as libcrypto does")
  func signature() throws {
    let authority = try AppReceiptBench.authority()
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
      #expect(!LibcryptoCMS.verifies(try template(facts(), change).signed()), "\(name)")
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
    #expect(try verify(facts()) { $0.certificates.reverse() }.status == .ok)
    let authority = try AppReceiptBench.authority()
    let other = try authority.chain(.developer)
    #expect(try verify(facts()) { $0.certificates.insert(other.leaf, at: 0) }.status == .ok)
    let none = try verify(facts()) { $0.certificates.removeFirst() }
    expect(.rejectedAppReceiptSignerCertificate, "chain.certificates", none)
    let empty = try verify(facts()) { $0.certificates = [] }
    expect(.rejectedAppReceiptSignerCertificate, "chain.certificates", empty)
    let leaf = try #require(Certificate(try template(facts()).chain.leaf))
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
    // Another certificate's name: its key does not fit.
    let foreign = try verify(facts()) {
      $0.certificates.append(other.leaf)
      $0.signerIdentifier = try AppReceiptTemplate.issuerAndSerial(other.leaf)
    }
    #expect(foreign.receipt == nil)
  }

  @Test("PTH-4 every certificate of the bag is definite DER that begins as one")
  func bag() throws {
    let leaf = try template(facts()).chain.leaf
    let tbs = try #require(BER.head(leaf, 0, leaf.count))
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
      #expect(answer.refusal?.place == "certificates[3]")
    }
  }

  @Test("APR-8 a developer's certificate of the same intermediate signs no receipt")
  func developer() throws {
    let raw = try AppReceiptBench.authority().appTemplate(facts(), generation: .developer).signed()
    #expect(LibcryptoCMS.verifies(raw))
    let answer = AppReceiptBench.verify(try AppReceiptBench.trust(), raw, now: Self.now)
    expect(.rejectedChainLeafMarker, "chain.shape", answer)
  }

  // MARK: dates

  @Test("APR-9 the creation date: absent, empty, unreadable, out of range, ahead")
  func dates() throws {
    func answer(_ text: String) throws -> AppReceiptBench.Answer {
      try verify(facts()) { $0.attributes = $0.attributes.setting(.ascii(12, text)) }
    }
    expect(.rejectedDateMissing, "chain.validity", try answer(""))
    expect(.malformedAppReceiptDate, "chain.validity", try answer("2026-11-20"))
    expect(.rejectedDateRange, "chain.validity", try answer("2007-12-31T23:59:59Z"))
    expect(.rejectedDateRange, "chain.validity", try answer("2100-01-01T00:00:00Z"))
    let absent = try verify(facts()) { $0.attributes = $0.attributes.removing(12) }
    expect(.malformedAppReceiptMissingAttribute, "receipt.attributes", absent)
    let ahead = facts { $0.creationDate = Self.now + 60_000 }
    #expect(try verify(ahead).status == .ok)
    expect(.rejectedDateFuture, "chain.validity", try verify(ahead, now: Self.now - 1000))
    #expect(
      try verify(ahead, [("clockSkewMs", 61_000)], now: Self.now - 1000).status == .ok)
  }

  @Test("APR-9 PTH-11 the path is judged at the creation date")
  func validity() throws {
    let authority = try AppReceiptBench.authority()
    for (created, status) in [
      (1_289_512_680_000, .rejectedChainNotYetValid), (1_289_512_681_000, .ok),
      (1_447_279_081_000, .ok), (1_447_279_082_000, .rejectedChainExpired),
    ] as [(Int64, Status)] {
      let facts = facts { $0.creationDate = created }
      let raw = try authority.appTemplate(facts, generation: .first).signed()
      let answer = AppReceiptBench.verify(try AppReceiptBench.trust(), raw, now: Self.now)
      #expect(answer.status == status, "\(created)")
      if status != .ok { #expect(answer.failed == "chain.validity") }
    }
  }

  @Test("APR-19 age, only where the configuration limits it")
  func freshness() throws {
    let facts = facts()
    let age = Self.now - facts.creationDate
    #expect(try verify(facts, now: Self.now + 300 * Purchase.day).status == .ok)
    #expect(try verify(facts, [("receipts.maxAgeMs", .integer(age))]).status == .ok)
    expect(
      .rejectedFreshnessStale, "freshness",
      try verify(facts, [("receipts.maxAgeMs", .integer(age - 1))]))
  }

  // MARK: identity

  @Test("APR-15 the bundle id byte for byte, the app id in Production")
  func identity() throws {
    for bundle in ["com.example.App", "com.example.other", "com.example.app ", ""] {
      let answer = try verify(facts()) {
        $0.attributes = $0.attributes.setting(.text(2, bundle))
      }
      expect(.rejectedIdentityBundle, "identity.bundle", answer)
    }
    let largest = Write.integer(octets: [0] + [UInt8](repeating: 0xff, count: 8))
    for isProduction in [true, false] {
      for change in [
        { $0.removing(1) }, { $0.setting(.integer(1, 1_234_567_891)) },
        { $0.setting(.integer(1, 0)) }, { $0.setting(AttributeTemplate(1, largest)) },
      ] as [([AttributeTemplate]) -> [AttributeTemplate]] {
        let answer = try verify(facts(isProduction: isProduction)) {
          $0.attributes = change($0.attributes)
        }
        if isProduction {
          expect(.rejectedIdentityApp, "identity.app", answer)
        } else {
          #expect(answer.status == .ok)
        }
      }
    }
    #expect(try verify(facts(isProduction: true)).status == .ok)
  }

  @Test("APR-16 the type gives the environment, and that must be accepted")
  func types() throws {
    for (type, environment) in [
      ("Production", "Production"), ("ProductionVPP", "Production"),
      ("ProductionSandbox", "Sandbox"), ("ProductionVPPSandbox", "Sandbox"),
    ] {
      let facts = facts(isProduction: environment == "Production") { $0.type = type }
      let answer = try verify(facts)
      #expect(answer.receipt.map { "\($0.environment.name)" } == environment, "\(type)")
      let other: JSONText = environment == "Production" ? ["Sandbox"] : ["Production"]
      expect(
        .rejectedIdentityEnvironment, "identity.environment",
        try verify(facts, [("environments", other)]))
    }
    let sandboxOnly: [(String, JSONText)] = [
      ("environments", ["Sandbox"]), ("apps", [["bundleId": "com.example.app"]]),
    ]
    expect(
      .rejectedIdentityEnvironment, "identity.environment",
      try verify(facts(isProduction: true), sandboxOnly))
    for type in ["production", "Sandbox", "ProductionSandbox2", ""] {
      expect(
        .unsupportedAppReceiptType, "identity.environment", try verify(facts { $0.type = type }))
    }
    expect(
      .rejectedIdentityEnvironment, "identity.environment", try verify(facts { $0.type = "Xcode" }))
    expect(
      .rejectedIdentityEnvironmentProfile, "identity.environment",
      try verify(facts { $0.type = "Xcode" }, try AppReceiptBench.xcodeChanges()))
  }

  @Test("APR-17 an id of the other environment is reported, not refused")
  func conflict() throws {
    for (id, hasConflict) in [
      ("2000000900000001", false), ("1000000900000001", false), ("110000900000001", true),
      ("1", false), ("3000000900000001", false),
    ] {
      let purchase = Minted.purchase.with { $0.transactionId = id }
      let answer = try verify(AppReceiptFacts([purchase], like: purchase))
      let document = AppReceiptBench.document(try #require(answer.receipt))
      #expect(document.at("purchases.0.idConflict")?.boolean == hasConflict, "\(id)")
      #expect(document.at("purchases.0.environment")?.text == "Sandbox")
    }
  }

  @Test("APR-18 the device by vendor id or address")
  func device() throws {
    for device in [Self.vendor, AppReceiptFacts.address] {
      let facts = facts { $0.device = device }
      #expect(try verify(facts, subject: device).receipt?.isDeviceBound == true)
      #expect(try verify(facts).receipt?.isDeviceBound == false)
      var other = device
      other[0] ^= 1
      expect(.rejectedAccountDevice, "device", try verify(facts, subject: other))
      for type in [4, 5] {
        let answer = try verify(facts, subject: device) {
          $0.attributes = $0.attributes.removing(type)
        }
        expect(.rejectedAccountDevice, "device", answer)
      }
      let opaque = try verify(facts, subject: device) {
        $0.attributes = $0.attributes.setting(
          AttributeTemplate(4, [UInt8](repeating: 0, count: 16)))
      }
      expect(.rejectedAccountDevice, "device", opaque)
    }
    for count in [0, 1, 5, 7, 15, 17, 36] {
      let answer = try verify(facts(), subject: [UInt8](repeating: 1, count: count))
      expect(.misuseReceiptSubject, "call", answer)
    }
  }

  @Test("APR-18 comparison in constant time is comparison")
  func constantTime() {
    #expect(ConstantTime.areEqual([], []))
    #expect(ConstantTime.areEqual([1, 2], [0, 1, 2].dropFirst()))
    for other in [[1], [1, 3], [2, 2], [1, 2, 0], []] as [[UInt8]] {
      #expect(!ConstantTime.areEqual([1, 2], other[...]))
    }
  }

  // MARK: Xcode

  private func xcode(
    _ config: [(String, JSONText)]? = nil, now: Int64 = AppReceiptTests.now,
    _ change: (inout AppReceiptTemplate) throws -> Void = { _ in }
  ) throws -> AppReceiptBench.Answer {
    var template = try AppReceiptBench.authority().xcodeTemplate(facts())
    try change(&template)
    let standard = try AppReceiptBench.xcodeChanges()
    return AppReceiptBench.verify(
      try AppReceiptBench.trust(config ?? standard), try template.signed(), now: now)
  }

  @Test("APR-20 APR-21 a pinned Xcode certificate, where the environment is accepted")
  func pinned() throws {
    let answer = try xcode()
    let document = AppReceiptBench.document(try #require(answer.receipt))
    #expect(document.at("environment")?.text == "Xcode")
    #expect(document.at("chain.intermediate")?.isNull == true)
    #expect(document.at("purchases.0.transactionId")?.text == "0")
    let unpinned = try xcode(
      [("environments", ["Xcode", "Sandbox"])] + [
        ("storekit.xcodeCertificates", [.string(String(repeating: "a", count: 64))])
      ])
    expect(.rejectedChainUnpinned, "chain.certificates", unpinned)
    expect(.rejectedChainUnpinned, "chain.certificates", try xcode([]))
    expect(.rejectedAppReceiptSignature, "receipt.signature", try xcode { $0.signature = .damaged })
    let type = try xcode {
      $0.attributes = $0.attributes.setting(.text(0, "ProductionSandbox"))
    }
    expect(.rejectedIdentityEnvironmentProfile, "identity.environment", type)
    // Beside another certificate it is one of a path that leads nowhere.
    let chain = try AppReceiptBench.authority().chain(.current)
    let accompanied = try xcode { $0.certificates.append(chain.intermediate) }
    #expect(accompanied.receipt == nil)
  }

  @Test("APR-21 Xcode's certificate must be valid at the creation date")
  func xcodeValidity() throws {
    for (created, status) in [
      ("2020-04-01T17:52:35Z", .ok), ("2020-04-01T17:52:34Z", .rejectedChainNotYetValid),
    ] as [(String, Status)] {
      let answer = try xcode { $0.attributes = $0.attributes.setting(.ascii(12, created)) }
      #expect(answer.status == status, "\(created)")
    }
  }

  @Test("APR-23 ids of 13 digits and fewer are parts of no key")
  func shortIds() throws {
    for (id, isKey) in [
      ("0", false), ("1234567890123", false), ("20000009000000", true), ("2000000900000001", true),
    ] {
      let purchase = Minted.purchase.with {
        $0.transactionId = id
        $0.originalTransactionId = id
      }
      let answer = try verify(AppReceiptFacts([purchase], like: purchase))
      let document = AppReceiptBench.document(try #require(answer.receipt))
      for key in ["transaction", "purchase", "subscription"] {
        #expect((document.at("purchases.0.keys." + key)?.text != nil) == isKey, "\(id) \(key)")
      }
    }
    let document = AppReceiptBench.document(try #require(try xcode().receipt))
    #expect(document.at("purchases.0.keys.transaction")?.isNull == true)
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
      let receipt = try #require(answer.receipt)
      let document = AppReceiptBench.document(receipt)
      #expect(document.at("purchases.0.type")?.text?.string == name)
      #expect(document.at("purchases.0.keys.purchase")?.text?.string == key, "\(signed ?? -1)")
      #expect(document.at("purchases.0.known")?.boolean == true)
      var warnings = JSONWriter()
      warnings.beginArray()
      receipt.writeWarnings(&warnings)
      warnings.endArray()
      let expected =
        signed == 9 ? #"[{"id":"unknown-value","at":"purchases[0].type"}]"# : "[]"
      #expect(warnings.bytes == utf8(expected))
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
    let receipt = try #require(answer.receipt)
    let evidence = receipt.purchaseEvidence(Catalogue())
    #expect("\(evidence.kind)" == "app-receipt")
    #expect(evidence.renewals.isEmpty && evidence.purchases.count == 2)
    let first = try #require(evidence.purchases.first)
    #expect(first.environment == .sandbox && first.type == .autoRenewable)
    #expect(first.transactionId.string == bought.transactionId)
    #expect(first.originalTransactionId.string == bought.originalTransactionId)
    #expect(first.webOrderLineItemId?.string == bought.webOrderLineItemId)
    #expect(first.productId.string == bought.productId)
    #expect(first.start == bought.purchaseDate / 1000 * 1000)
    #expect(first.end == bought.expiresDate.map { $0 / 1000 * 1000 })
    #expect(first.revokedAt == bought.revocationDate && first.revocationReason == 1)
    #expect(first.isTrial && first.isIntro && first.hasOffer)
    #expect(first.quantity == 3 && first.asOf == receipt.creationDate)
    #expect(first.evidenceClass == .signed && first.shows == .revocation && !first.typeIsUnknown)
    let second = try #require(evidence.purchases.last)
    #expect(second.originalTransactionId == "2000000900000009")
    #expect(second.type == nil && second.typeIsUnknown && second.quantity == 1)
    #expect(second.webOrderLineItemId == nil && second.end == nil && second.revokedAt == nil)
    #expect(!second.isTrial && !second.isIntro && !second.hasOffer)
  }

  @Test("APR-1 8,192 purchases pass, one more is refused, and the cap can be set")
  func manyPurchases() throws {
    func answer(
      _ count: Int, _ config: [(String, JSONText)] = []
    ) throws -> AppReceiptBench.Answer {
      try verify(facts { $0.purchases = [] }, config) { template in
        template.attributes += (0..<count).map { number in
          AttributeTemplate(
            17,
            AttributeTemplate.set([
              .text(1702, "p"), .text(1703, String(2_000_000_900_000_000 + number)),
              .ascii(1704, "2026-11-20T10:20:30Z"),
            ]))
        }
      }
    }
    let receipt = try #require(try answer(8192).receipt)
    #expect(receipt.attributes.purchases.count == 8192)
    expect(.tooLargeAppReceiptPurchases, "receipt.attributes", try answer(8193))
    let caps = [("receipts.caps", ["purchases": 2])] as [(String, JSONText)]
    #expect(try answer(2, caps).status == .ok)
    expect(.tooLargeAppReceiptPurchases, "receipt.attributes", try answer(3, caps))
    let document = AppReceiptBench.document(receipt)
    #expect(document.at("purchases.8191.transactionId")?.text == "2000000900008191")
    let none = AppReceiptBench.document(try #require(try answer(0).receipt))
    #expect(none.at("purchases")?.count == 0)
  }

  @Test("APR-1 receipts with one changed byte: another fact is never accepted")
  func flips() throws {
    let trust = try AppReceiptBench.trust()
    let good = try template(facts()).signed()
    let proven = AppReceiptBench.verify(trust, good, now: Self.now)
    let expected = try #require(proven.receipt).attributes.payload
    var refused = 0
    for place in stride(from: 0, to: good.count, by: 3) {
      var bytes = good
      bytes[place] ^= 0x01 << UInt8(place % 8)
      let answer = AppReceiptBench.verify(trust, bytes, now: Self.now)
      if let receipt = answer.receipt {
        // Unsigned bytes: the root in the bag, say.
        #expect(receipt.attributes.payload.slice == expected.slice)
      } else {
        refused += 1
      }
    }
    #expect(refused > good.count / 6)
  }
}
