import AssayAuthority
import Testing

@testable import Assay

/// Transaction receipts of one authority, and verifications that trust it.
private enum Bench {
  static let now: Int64 = Minted.now
  static let day = Purchase.day
  /// 2013-06-01 UTC: within the years of the store's signer.
  static let storeYears: Int64 = 1_370_044_800_000

  static let current = Purchase(now: now)
  static let store = Purchase(now: storeYears)

  static func authority() throws -> ReceiptAuthority { try AppReceiptBench.authority() }

  static func template(
    _ purchase: Purchase = current, version: UInt8 = 3,
    generation: ReceiptAuthority.Generation? = nil,
    _ change: (inout TransactionReceiptTemplate) throws -> Void = { _ in }
  ) throws -> TransactionReceiptTemplate {
    var template = try authority().transactionTemplate(
      purchase, version: version, generation: generation)
    try change(&template)
    return template
  }

  static func minted(
    _ purchase: Purchase = current, version: UInt8 = 3,
    generation: ReceiptAuthority.Generation? = nil,
    _ change: (inout TransactionReceiptTemplate) throws -> Void = { _ in }
  ) throws -> [UInt8] {
    try template(purchase, version: version, generation: generation, change).signed()
  }

  static func config(_ changes: [(String, JSONText)] = []) throws -> JSONText {
    let standard: JSONText = [
      "apps": [
        ["bundleId": "com.example.app", "appAppleId": 1_234_567_890],
        ["bundleId": "com.example.other", "appAppleId": 1_000_000_001],
      ],
      "environments": ["Production", "Sandbox"],
      "plans": ["free", "premium"],
      "products": [
        "com.example.app.premium.monthly": [
          "plan": "premium", "type": "auto-renewable", "group": "main",
        ],
        "com.example.app.coins": ["type": "consumable"],
        "com.example.app.lifetime": ["plan": "premium", "type": "non-consumable"],
      ],
      "receipts": try authority().configuration,
    ]
    return standard.setting(changes)
  }

  static func verifier(_ changes: [(String, JSONText)] = []) throws -> Verifier {
    let (verifier, document) = Verifier.alone(try config(changes).bytes)
    return try #require(verifier, "\(document.text("error.message") ?? "")")
  }

  static func verify(
    _ receipt: [UInt8], _ changes: [(String, JSONText)] = [], now: Int64 = Bench.now
  ) throws -> Document {
    try verifier(changes).verifyReceipt(receipt, kind: .transaction, nowMs: now)
  }

  static func status(
    _ receipt: [UInt8], _ changes: [(String, JSONText)] = [], now: Int64 = Bench.now
  ) throws -> Status {
    try verify(receipt, changes, now: now).status
  }

  static let production = Purchase(now: now).with {
    $0.environment = "Production"
    $0.transactionId = "350000900000001"
    $0.originalTransactionId = "350000900000001"
  }
}

@Suite("Transaction receipt")
struct TransactionReceiptTests {
  // MARK: good ones

  @Test("RCP-18 both versions verify, with every fact of the purchase")
  func good() throws {
    for (version, purchase, now) in [
      (UInt8(2), Bench.store, Bench.storeYears), (3, Bench.current, Bench.now),
    ] {
      let answer = try Bench.verify(Bench.minted(purchase, version: version), now: now)
      #expect(answer.status == .ok, "\(answer.text("error.message") ?? "")")
      func text(_ name: String) -> String? { answer.text("transactionReceipt." + name) }
      func number(_ name: String) -> Int64? { answer.integer("transactionReceipt." + name) }
      let tree = try #require(answer.tree)
      func flag(_ name: String) -> Bool? { tree.at("transactionReceipt." + name)?.boolean }
      #expect(number("version") == Int64(version))
      #expect(text("bundleId") == "com.example.app")
      #expect(text("productId") == "com.example.app.premium.monthly")
      #expect(number("quantity") == 1)
      #expect(text("transactionId") == "2000000900000001")
      #expect(text("originalTransactionId") == "2000000900000001")
      #expect(text("webOrderLineItemId") == "2000000090000001")
      #expect(number("purchaseDate") == purchase.purchaseDate)
      #expect(number("originalPurchaseDate") == purchase.originalPurchaseDate)
      #expect(number("expiresDate") == purchase.expiresDate)
      #expect(flag("isTrialPeriod") == false)
      #expect(flag("isInIntroOfferPeriod") == false)
      #expect(text("bundleVersion") == "1.4.2")
      #expect(text("itemId") == "1400000001")
      #expect(tree.at("transactionReceipt.appItemId")?.kind == .null)
      #expect(tree.at("transactionReceipt.versionExternalIdentifier")?.kind == .null)
      #expect(tree.at("transactionReceipt.uniqueIdentifier") == nil)
      #expect(tree.at("transactionReceipt.uniqueVendorIdentifier") == nil)
      #expect(text("environment") == "Sandbox")
      #expect(text("environmentSource") == "transaction-id")
      #expect(flag("outerAltered") == false)
      #expect(flag("signedAfterPurchase") == false)
      #expect(flag("weakKey") == (version == 2))
      #expect(text("keys.transaction") == "Sandbox/2000000900000001")
      #expect(text("keys.purchase") == "Sandbox/2000000900000001/2000000090000001")
      #expect(text("keys.subscription") == "Sandbox/2000000900000001")
      #expect(text("chain.intermediate.source") == "configured")
      #expect(flag("chain.cached") == false)
      #expect(text("transport.form") == "raw")
      #expect(tree.at("warnings")?.children.contains { _ in true } == false)
    }
  }

  @Test("the checks stand in the order of the specification")
  func checkOrder() throws {
    let answer = try Bench.verify(Bench.minted())
    let ids = try #require(answer.tree?.at("checks")).children.map { $0.string("id") }
    #expect(
      ids == [
        "transport", "plist.outer", "receipt.layout", "chain.certificates", "chain.shape",
        "chain.signatures", "receipt.signature", "plist.info", "receipt.fields",
        "chain.validity", "identity.bundle", "identity.app", "identity.product",
        "identity.environment", "freshness",
      ])
    #expect(TransactionReceiptCheck.allCases.count == ids.count)
    let made = try #require(answer.tree?.at("checks")).children.map { $0.member("ok")?.boolean }
    #expect(
      made == [
        true, true, true, true, true, true, true, true, true, true, true, nil, true, true, nil,
      ])
  }

  @Test("RCP-1 every way in which a receipt may travel gives the same facts")
  func transport() throws {
    let receipt = try Bench.minted()
    let verifier = try Bench.verifier()
    for way in TransportForm.allCases {
      let answer = verifier.verifyReceipt(way.encode(receipt), kind: .transaction, nowMs: Bench.now)
      switch way {
      case .tripled: #expect(answer.status == .malformedTransportLevels)
      case .percentEscaped: #expect(answer.status == .malformedTransportBase64)
      default:
        #expect(answer.status == .ok, "\(way)")
        #expect(answer.text("transactionReceipt.transactionId") == "2000000900000001")
      }
    }
  }

  @Test("RCP-6 RCP-11 spacing, quoting, order and further keys of the outer list do not matter")
  func outerStyles() throws {
    for (name, style) in PropertyListText.Style.all {
      let receipt = try Bench.minted {
        $0.outer = { list in
          PropertyListText(
            [.init("pid", "100")] + list.entries.reversed() + [.init("extra", "é")], style: style)
        }
      }
      #expect(try Bench.status(receipt) == .ok, "\(name)")
    }
    for key in ["environment", "pod", "signing-status"] {
      let receipt = try Bench.minted { $0.outer = { $0.removing(key) } }
      #expect(try Bench.status(receipt) == .ok, "\(key)")
    }
    let escaped = try Bench.minted { $0.outer = { $0.escaped() } }
    #expect(try Bench.status(escaped) == .ok)
  }

  @Test("RCP-2 RCP-11 the inner values may be wrapped, url-safe and unpadded")
  func innerBase64() throws {
    let template = try Bench.template()
    for way in [TransportForm.wrapped, .wrappedLF, .urlSafe, .unpadded] {
      let receipt = try Bench.minted {
        $0.signatureText = way.encode(try template.signatureBlob())
        $0.infoText = way.encode(template.info.bytes)
      }
      #expect(try Bench.status(receipt) == .ok, "\(way)")
    }
  }

  // MARK: outer list

  @Test("RCP-5 the wrong kind is named")
  func kinds() throws {
    let app = try Bench.authority().appReceipt(AppReceiptFacts([], like: Bench.current))
    let answer = try Bench.verify(app)
    #expect(answer.status == .rejectedKindMismatch)
    #expect(answer.text("error.check") == "transport")
    #expect(
      answer.text("error.message")?.hasSuffix(
        "expected transaction receipt, looks like app receipt") == true)
    #expect(try Bench.status(utf8("eyJh.eyJi.c2ln")) == .rejectedKindMismatch)
    let attestation = Base64Text.encode([0xa3, 0x63] + utf8("fmt"))
    #expect(try Bench.status(attestation) == .rejectedKindMismatch)
  }

  @Test("RCP-8 other property lists and JSON")
  func otherLists() throws {
    for text in ["<?xml version=\"1.0\"?><plist/>", "bplist00abcdefg", "{\"receipt-data\":\"x\"}"] {
      let answer = try Bench.verify(Base64Text.encode(utf8(text)))
      #expect(answer.status == .malformedPlistConstruct, "\(text)")
      #expect(answer.text("error.check") == "plist.outer")
    }
    #expect(try Bench.status(ForgedReceipt.cracker(12_345_678)) == .malformedTransportBase64)
    let encoded = Base64Text.encode(ForgedReceipt.cracker(12_345_678))
    #expect(try Bench.status(encoded) == .malformedPlistSyntax)
  }

  @Test("RCP-9 a key twice in either list")
  func duplicates() throws {
    let outer = try Bench.minted { $0.outer = { $0.appending("pod", "100") } }
    #expect(try Bench.status(outer) == .malformedPlistDuplicateKey)
    let inner = try Bench.minted { $0.info = $0.info.appending("quantity", "1") }
    let answer = try Bench.verify(inner)
    #expect(answer.status == .malformedPlistDuplicateKey)
    #expect(answer.text("error.check") == "plist.info")
    #expect(answer.text("error.at")?.hasPrefix("purchase-info/byte ") == true)
  }

  @Test("RCP-11 both values are there and are base64")
  func outerValues() throws {
    for key in ["signature", "purchase-info"] {
      let gone = try Bench.verify(Bench.minted { $0.outer = { $0.removing(key) } })
      #expect(gone.status == .malformedReceiptOuterMissing)
      #expect(gone.text("error.at") == key)
      #expect(gone.text("error.check") == "plist.outer")
      for wrong in ["*", "AAAAA", "AA+/-_AA"] {
        let broken = try Bench.verify(Bench.minted { $0.outer = { $0.setting(key, wrong) } })
        #expect(broken.status == .malformedReceiptBase64, "\(wrong)")
        #expect(broken.text("error.at") == key)
      }
    }
    #expect(
      try Bench.status(Bench.minted { $0.outer = { $0.setting("signature", "") } })
        == .malformedReceiptSignatureLayout)
    #expect(
      try Bench.status(Bench.minted { $0.outer = { $0.setting("purchase-info", "") } })
        == .rejectedReceiptSignature)
  }

  @Test("RCP-1 limits of receipt, purchase-info and blob")
  func limits() throws {
    let receipt = try Bench.minted()
    let exact: [(String, JSONText)] = [
      ("receipts.caps.transactionReceiptBytes", .integer(Int64(receipt.count)))
    ]
    #expect(try Bench.status(receipt, exact) == .ok)
    #expect(try Bench.status(receipt + utf8("\n"), exact) == .tooLargeReceiptOuter)
    let info = try Bench.template().info.bytes.count
    #expect(
      try Bench.status(receipt, [("receipts.caps.purchaseInfoBytes", .integer(Int64(info)))])
        == .ok)
    #expect(
      try Bench.status(receipt, [("receipts.caps.purchaseInfoBytes", .integer(Int64(info - 1)))])
        == .tooLargeReceiptInfo)
    let text = TransportForm.base64.encode(receipt)
    #expect(
      try Bench.status(text, [("receipts.caps.inputBytes", .integer(Int64(text.count - 1)))])
        == .tooLargeTransportInput)
    let blob = try Bench.minted { $0.blob = .octets([UInt8](repeating: 3, count: 4097)) }
    #expect(try Bench.status(blob) == .tooLargeReceiptSignature)
    let entry = try Bench.minted {
      $0.info = $0.info.setting("note", String(repeating: "x", count: 4097))
    }
    #expect(try Bench.status(entry) == .tooLargePlistEntry)
  }

  // MARK: blob, path and signature

  @Test("RCP-17 layout of the blob")
  func layout() throws {
    func status(_ form: TransactionReceiptTemplate.BlobForm) throws -> Status {
      try Bench.status(Bench.minted { $0.blob = form })
    }
    #expect(try status(.prefix(200)) == .malformedReceiptSignatureLayout)
    #expect(try status(.trailing([0])) == .malformedReceiptSignatureLayout)
    #expect(try status(.certificateLength(1)) == .malformedReceiptSignatureLayout)
    #expect(try status(.octets([3])) == .malformedReceiptSignatureLayout)
    #expect(
      try status(.octets([UInt8](repeating: 4, count: 133))) == .unsupportedReceiptVersion)
    for placeholder in [[4], utf8("free coins"), [UInt8](repeating: 4, count: 132)] {
      #expect(try status(.octets(placeholder)) == .rejectedReceiptSignature)
    }
    #expect(
      try status(.octets([UInt8](repeating: 0x2a, count: 1669))) == .rejectedReceiptSignature)
  }

  @Test("RCP-18 exactly version and decoded purchase-info are signed, with SHA-1")
  func signature() throws {
    func answer(_ change: (inout TransactionReceiptTemplate) throws -> Void) throws -> Document {
      try Bench.verify(Bench.minted(Bench.current, change))
    }
    let all: [(inout TransactionReceiptTemplate) throws -> Void] = [
      { $0.signature = .damaged }, { $0.scope = .info }, { $0.scope = .infoText },
      { $0.sentInfo = $0.info.setting("quantity", "9").bytes },
      { $0.sentInfo = $0.info.bytes + utf8("\n") },
      { $0.signature = .octets([UInt8](repeating: 0, count: 256)) },
      { $0.signature = .octets([UInt8](repeating: 0xff, count: 256)) },
    ]
    for change in all {
      let refused = try answer(change)
      #expect(refused.status == .rejectedReceiptSignature)
      #expect(refused.text("error.check") == "receipt.signature")
      #expect(refused.tree?.at("transactionReceipt")?.kind == .null)
    }
  }

  @Test("RCP-19 SHA-256 in the place of SHA-1 is something new, not a forgery")
  func digest() throws {
    #expect(
      try Bench.status(Bench.minted { $0.digest = .sha256 }) == .unsupportedReceiptDigest)
    #expect(
      try Bench.status(
        Bench.minted {
          $0.digest = .sha256
          $0.scope = .info
        }) == .rejectedReceiptSignature)
  }

  @Test("RCP-20 neither a genuine leaf beside a foreign signature nor a foreign chain")
  func forgeries() throws {
    let stranger = try Bench.authority().keys.developer
    #expect(
      try Bench.status(Bench.minted { $0.signature = .by(stranger) })
        == .rejectedReceiptSignature)
    let foreign = try ReceiptAuthority(names: .own)
    let forged = try foreign.transactionReceipt(Bench.current)
    let answer = try Bench.verify(forged)
    #expect(answer.status == .rejectedChainSignatureLeaf)
    #expect(answer.text("error.check") == "chain.signatures")
    let named = try ReceiptAuthority(keys: foreign.keys, names: .apple)
      .transactionReceipt(Bench.current)
    let unknown = try Bench.verify(named)
    #expect(unknown.status == .rejectedChainUntrustedRoot)
    #expect(unknown.text("error.check") == "chain.signatures")
    // No certificate of that name anywhere.
    let strange = try Bench.authority().chain(
      .current, leaf: { $0.issuer = try Bench.authority().root.subject })
    let nameless = try Bench.verify(try Bench.minted { $0.chain = strange })
    #expect(nameless.status == .rejectedChainIssuerUnknown)
    #expect(nameless.text("error.check") == "chain.certificates")
  }

  @Test("RCP-21 version 2 can be switched off")
  func weakVersion() throws {
    let refuse: [(String, JSONText)] = [("receipts.v2", "refuse")]
    let weak = try Bench.minted(Bench.store, version: 2)
    let answer = try Bench.verify(weak, refuse, now: Bench.storeYears)
    #expect(answer.status == .rejectedReceiptV2Disabled)
    #expect(answer.text("error.check") == "receipt.layout")
    #expect(try Bench.status(Bench.minted(), refuse) == .ok)
  }

  @Test("RCP-22 the version decides which line may sign")
  func lines() throws {
    // A version 2 blob has 128 octets of signature, a version 3 blob 256.
    let developer = try Bench.minted(generation: .developer)
    #expect(try Bench.status(developer) == .rejectedChainLeafMarker)
    let authority = try Bench.authority()
    let relations = try authority.chain(.current)
    let store = try authority.chain(.store)
    // The leaf of one line under the other: its issuer is the other's.
    let crossed = try authority.chain(
      .store,
      leaf: { leaf in
        leaf.issuer = try Self.subject(relations.intermediate)
      }, leafSigner: authority.keys.currentRelations)
    #expect(
      try Bench.status(
        Bench.minted(Bench.store, version: 2) { $0.chain = crossed }, now: Bench.storeYears)
        == .rejectedChainIntermediateMarker)
    let reverse = try authority.chain(
      .current,
      leaf: { leaf in
        leaf.issuer = try Self.subject(store.intermediate)
      }, leafSigner: authority.keys.store)
    #expect(
      try Bench.status(Bench.minted { $0.chain = reverse }) == .rejectedChainIntermediateMarker)
  }

  private static func subject(_ der: [UInt8]) throws -> [UInt8] {
    let certificate = try #require(Certificate(der))
    return Array(certificate.bytes(certificate.subject))
  }

  // MARK: signed fields

  @Test("RCP-10 the signed list is read when its signature holds, not before")
  func order() throws {
    let broken = try Bench.minted {
      $0.infoBytes = utf8("{ broken")
      $0.signature = .damaged
    }
    #expect(try Bench.status(broken) == .rejectedReceiptSignature)
    let signed = try Bench.verify(Bench.minted { $0.infoBytes = utf8("{ broken") })
    #expect(signed.status == .malformedPlistSyntax)
    #expect(signed.text("error.check") == "plist.info")
  }

  @Test("RCP-13 RCP-14 RCP-15 faults of signed fields")
  func fields() throws {
    func answer(_ key: String, _ value: String) throws -> Document {
      try Bench.verify(Bench.minted { $0.info = $0.info.setting(key, value) })
    }
    for (key, value, status) in [
      ("quantity", "", Status.malformedReceiptFieldMissing),
      ("quantity", "0", .malformedReceiptFieldFormat),
      ("expires-date", "9999999999999", .rejectedDateRange),
      ("purchase-date-ms", "1795219200000", .rejectedReceiptFieldConflict),
    ] {
      let refused = try answer(key, value)
      #expect(refused.status == status, "\(key)")
      #expect(refused.text("error.check") == "receipt.fields")
      #expect(refused.text("error.at") == key)
    }
    let compact = try Bench.minted { $0.info.style = .compact }
    #expect(try Bench.status(compact) == .ok)
    let bare = try Bench.minted {
      $0.info = $0.info.changing("quantity") { $0.valueQuote = .bare }
    }
    #expect(try Bench.status(bare) == .ok)
  }

  @Test("RCP-23 bought before the signer began: judged at its first moment")
  func signedLater() throws {
    // The current signer began on 2022-09-02.
    let begin: Int64 = 1_662_146_037_000
    func receipt(_ bought: Int64) throws -> [UInt8] {
      let purchase = Bench.current.moved(by: bought - Bench.current.purchaseDate)
      return try Bench.minted(purchase, generation: .current)
    }
    let early = try Bench.verify(receipt(begin - 1000))
    #expect(early.status == .ok)
    #expect(early.tree?.at("transactionReceipt.signedAfterPurchase")?.boolean == true)
    let first = try Bench.verify(receipt(begin))
    #expect(first.status == .ok)
    #expect(first.tree?.at("transactionReceipt.signedAfterPurchase")?.boolean == false)
    let refuse: [(String, JSONText)] = [("receipts.lateSigned", "refuse")]
    let refused = try Bench.verify(receipt(begin - 1000), refuse)
    #expect(refused.status == .rejectedReceiptSignedLater)
    #expect(refused.text("error.check") == "chain.validity")
    #expect(try Bench.status(receipt(begin), refuse) == .ok)
  }

  @Test("RCP-23 PTH-11 bought after the signer ended")
  func expired() throws {
    let last = try #require(Certificate(Bench.authority().chain(.store).leaf)).notAfter * 1000
    func status(_ bought: Int64) throws -> Document {
      let purchase = Bench.store.moved(by: bought - Bench.store.purchaseDate)
      return try Bench.verify(Bench.minted(purchase, version: 2))
    }
    #expect(try status(last).status == .ok)
    let late = try status(last + 1000)
    #expect(late.status == .rejectedChainExpired)
    #expect(late.text("error.check") == "chain.validity")
    #expect(late.text("error.at") == "leaf")
  }

  // MARK: identity

  @Test("RCP-24 the bundle id is compared byte for byte")
  func bundle() throws {
    for bundle in ["com.example.App", "com.example.ap", "com.example.app2", "com.example.stranger"]
    {
      let answer = try Bench.verify(
        Bench.minted { $0.info = $0.info.setting("bid", bundle) })
      #expect(answer.status == .rejectedIdentityBundle, "\(bundle)")
      #expect(answer.text("error.check") == "identity.bundle")
      #expect(answer.text("error.message")?.contains(bundle) == false)
    }
    #expect(
      try Bench.status(Bench.minted { $0.info = $0.info.setting("bid", "com.example.other") })
        == .ok)
  }

  @Test("RCP-30 in Production the app's id is that of the bundle")
  func appItemId() throws {
    func answer(_ id: String?, _ purchase: Purchase = Bench.production) throws -> Document {
      try Bench.verify(
        Bench.minted(purchase) {
          $0.info =
            id.map { [info = $0.info] in info.setting("app-item-id", $0) }
            ?? $0.info.removing("app-item-id")
        })
    }
    let good = try answer("1234567890")
    #expect(good.status == .ok)
    #expect(good.text("transactionReceipt.environment") == "Production")
    #expect(good.text("transactionReceipt.appItemId") == "1234567890")
    #expect(good.text("transactionReceipt.versionExternalIdentifier") == "814000001")
    #expect(try answer(nil).status == .ok)
    #expect(try answer(nil).text("checks.11.why") == "no input for it")
    // The id of another configured app is not this one's.
    for id in ["1000000001", "1", "0", "12345678901234567890"] {
      let refused = try answer(id)
      #expect(refused.status == .rejectedIdentityApp, "\(id)")
      #expect(refused.text("error.check") == "identity.app")
    }
    #expect(try answer("1", Bench.current).status == .ok)
  }

  @Test("RCP-25 a product that the catalogue does not have is kept by the client")
  func product() throws {
    let answer = try Bench.verify(
      Bench.minted { $0.info = $0.info.setting("product-id", "com.example.app.Premium.monthly") })
    #expect(answer.status == .rejectedIdentityProduct)
    #expect(answer.text("error.check") == "identity.product")
    #expect(answer.text("error.retryClass") == "after-config")
  }

  @Test(
    "RCP-27 what the id tells",
    arguments: [
      ("1000000046178817", IdEnvironment.sandbox), ("2000000900000001", .sandbox),
      ("10000000000000", .production), ("350000900000001", .production),
      ("990000000000000", .production), ("3000000900000001", .unknown),
      ("1010000000000000", .unknown), ("9999999999999", .unknown), ("0", .unknown),
      ("", .unknown), ("12345678901234567890", .unknown), ("00000000000000", .unknown),
      ("010000000000000", .unknown), ("a0000000000000", .unknown), ("1a0000000000000", .unknown),
      ("10a0000000000000", .unknown),
    ])
  func idRule(_ id: String, _ told: IdEnvironment) {
    #expect(IdEnvironment.of(utf8(id)[...]) == told)
    #expect(IdEnvironment.of(utf8("xx" + id)[2...]) == told)
    let environment: Environment? =
      told == .sandbox ? .sandbox : told == .production ? .production : nil
    #expect(told.environment == environment)
  }

  @Test("RCP-28 only the signed id shows the environment; what contradicts it is named")
  func outerKeys() throws {
    struct Case {
      let id: String
      let environment: String?
      let pod: String?
      let expected: Environment?
      let altered: String?
    }
    let sandbox = "1000000900000001"
    let production = "350000900000001"
    for one in [
      Case(id: sandbox, environment: "Sandbox", pod: "100", expected: .sandbox, altered: nil),
      Case(id: sandbox, environment: "Sandbox", pod: nil, expected: .sandbox, altered: nil),
      Case(id: sandbox, environment: nil, pod: "100", expected: .sandbox, altered: "environment"),
      Case(
        id: sandbox, environment: "Production", pod: "100", expected: .sandbox,
        altered: "environment"),
      Case(id: sandbox, environment: "Sandbox", pod: "35", expected: .sandbox, altered: "pod"),
      Case(id: production, environment: nil, pod: "35", expected: .production, altered: nil),
      Case(id: production, environment: nil, pod: nil, expected: .production, altered: nil),
      Case(
        id: production, environment: "Production", pod: "35", expected: .production,
        altered: nil),
      Case(
        id: production, environment: "Sandbox", pod: "35", expected: .production,
        altered: "environment"),
      Case(id: production, environment: nil, pod: "100", expected: .production, altered: "pod"),
      Case(id: production, environment: nil, pod: "3", expected: .production, altered: "pod"),
    ] {
      let found = ReceiptEnvironment(
        id: utf8(one.id)[...], environment: one.environment.map { utf8($0)[...] },
        pod: one.pod.map { utf8($0)[...] })
      #expect(found.environment == one.expected, "\(one)")
      #expect(found.alteredKey.map { "\($0)" } == one.altered, "\(one)")
      #expect(found.saysSandbox == (one.environment == "Sandbox"))
    }
    for id in ["251230", "3000000900000001"] {
      for environment in [nil, "Production", "Sandbox"] as [String?] {
        let found = ReceiptEnvironment(
          id: utf8(id)[...], environment: environment.map { utf8($0)[...] }, pod: nil)
        #expect(found.environment == nil)
        #expect(found.saysSandbox == (environment == "Sandbox"))
        #expect(!found.outerAltered)
        let pod = ReceiptEnvironment(
          id: utf8(id)[...], environment: nil, pod: utf8("100")[...])
        #expect(pod.outerAltered)
      }
    }
  }

  @Test("RCP-28 a changed outer list is reported, and changes no verdict on a sandbox receipt")
  func outerAltered() throws {
    for (key, value) in [("environment", nil), ("environment", "Production"), ("pod", "35")]
      as [(String, String?)]
    {
      let receipt = try Bench.minted {
        $0.outer = { list in value.map { list.setting(key, $0) } ?? list.removing(key) }
      }
      let answer = try Bench.verify(receipt)
      #expect(answer.status == .ok)
      #expect(answer.text("transactionReceipt.environment") == "Sandbox")
      #expect(answer.tree?.at("transactionReceipt.outerAltered")?.boolean == true)
      #expect(answer.text("warnings.0.id") == "outer-altered")
      #expect(answer.text("warnings.0.at") == key)
    }
    let production: [(String, JSONText)] = [("environments", ["Production"])]
    let raised = try Bench.minted { $0.outer = { $0.setting("environment", "Production") } }
    #expect(try Bench.status(raised, production) == .rejectedIdentityEnvironment)
  }

  @Test("RCP-29 the environment must be accepted, and known")
  func environments() throws {
    let answer = try Bench.verify(Bench.minted(), [("environments", ["Production"])])
    #expect(answer.status == .rejectedIdentityEnvironment)
    #expect(answer.text("error.check") == "identity.environment")
    #expect(try Bench.status(Bench.minted(Bench.production)) == .ok)
    #expect(
      try Bench.status(Bench.minted(Bench.production), [("environments", ["Sandbox"])])
        == .rejectedIdentityEnvironment)
    let lowered = try Bench.verify(Bench.minted(Bench.production) { $0.environment = "Sandbox" })
    #expect(lowered.text("transactionReceipt.environment") == "Production")
    #expect(lowered.text("transactionReceipt.environmentSource") == "transaction-id")
  }

  @Test("RCP-29 RPL-3 an id that shows nothing: refused, or accepted without keys")
  func unknownEnvironment() throws {
    let old = Bench.current.with {
      $0.environment = "Production"
      $0.transactionId = "251230"
      $0.originalTransactionId = "251230"
    }
    let receipt = try Bench.minted(old) { $0.pod = nil }
    let refused = try Bench.verify(receipt)
    #expect(refused.status == .rejectedIdentityEnvironmentMissing)
    #expect(refused.text("error.check") == "identity.environment")
    let answer = try Bench.verify(receipt, [("receipts.unknownEnvironment", "allow")])
    #expect(answer.status == .ok)
    let tree = try #require(answer.tree)
    for path in [
      "environment", "environmentSource", "keys.transaction", "keys.purchase",
      "keys.subscription",
    ] {
      #expect(tree.at("transactionReceipt." + path)?.kind == .null, "\(path)")
    }
    let decision = try Bench.verifier([("receipts.unknownEnvironment", "allow")])
    let document = decision.verifyReceipt(receipt, kind: .transaction, nowMs: Bench.now)
    #expect(
      decision.decide([document], account: nil, nowMs: Bench.now).status
        == .rejectedPayloadIncomplete)
  }

  // MARK: keys

  @Test("RPL-3 APR-23 ids of 13 digits or fewer never become keys")
  func shortIds() throws {
    let short = try Bench.verify(
      Bench.minted {
        $0.info = $0.info.setting("transaction-id", "1234567890123")
        $0.pod = nil
      }, [("receipts.unknownEnvironment", "allow")])
    #expect(short.status == .ok)
    let tree = try #require(short.tree)
    #expect(tree.at("transactionReceipt.keys.transaction")?.kind == .null)
    #expect(
      short.text("transactionReceipt.keys.purchase")
        == "unknown/2000000900000001/2000000090000001")
    #expect(IdEnvironment.unique(utf8("1234567890123")[...]) == nil)
    #expect(IdEnvironment.unique(utf8("12345678901234")[...]) == "12345678901234")
  }

  @Test("JWS-94 the catalogue's type decides the purchase key")
  func keys() throws {
    func key(_ product: String, _ changes: [(String, String)] = []) throws -> String? {
      let answer = try Bench.verify(
        Bench.minted {
          $0.info = $0.info.setting("product-id", product)
            .setting("transaction-id", "2000000900000007")
          for (key, value) in changes { $0.info = $0.info.setting(key, value) }
        })
      return answer.text("transactionReceipt.keys.purchase")
    }
    #expect(try key("com.example.app.coins") == "Sandbox/2000000900000007")
    #expect(try key("com.example.app.lifetime") == "Sandbox/2000000900000001")
    #expect(
      try key("com.example.app.premium.monthly")
        == "Sandbox/2000000900000001/2000000090000001")
    let bought = Bench.current.purchaseDate
    for absent in ["", "0"] {
      #expect(
        try key("com.example.app.premium.monthly", [("web-order-line-item-id", absent)])
          == "Sandbox/2000000900000001/\(bought)")
    }
  }

  @Test("a restored period has the keys of the first one")
  func restored() throws {
    let first = try Bench.verify(Bench.minted())
    let restored = try Bench.verify(
      Bench.minted { $0.info = $0.info.setting("transaction-id", "2000000900000555") })
    #expect(
      restored.text("transactionReceipt.keys.purchase")
        == first.text("transactionReceipt.keys.purchase"))
    #expect(
      restored.text("transactionReceipt.keys.transaction")
        != first.text("transactionReceipt.keys.transaction"))
  }

  // MARK: age

  @Test("RCP-26 the age counts from the purchase")
  func age() throws {
    let receipt = try Bench.minted()
    let age = Bench.now - Bench.current.purchaseDate
    #expect(try Bench.status(receipt, [("receipts.maxAgeMs", .integer(age))]) == .ok)
    let stale = try Bench.verify(receipt, [("receipts.maxAgeMs", .integer(age - 1))])
    #expect(stale.status == .rejectedFreshnessStale)
    #expect(stale.text("error.check") == "freshness")
  }

  @Test("RCP-26 at most 48 hours and the clock's skew ahead")
  func future() throws {
    let receipt = try Bench.minted()
    let bought = Bench.current.purchaseDate
    let ahead = 48 * 3_600_000 + 60_000 as Int64
    #expect(try Bench.status(receipt, now: bought - ahead) == .ok)
    let early = try Bench.verify(receipt, now: bought - ahead - 1)
    #expect(early.status == .rejectedDateFuture)
    #expect(early.text("error.check") == "chain.validity")
    #expect(
      try Bench.status(receipt, [("clockSkewMs", 0)], now: bought - ahead) == .rejectedDateFuture)
  }

  @Test("device ids are personal data: reported only where that was asked for")
  func deviceIds() throws {
    let answer = try Bench.verify(Bench.minted(), [("receipts.deviceIds", "report")])
    #expect(
      answer.text("transactionReceipt.uniqueIdentifier")
        == "0000000000000000000000000000000000000001")
    #expect(
      answer.text("transactionReceipt.uniqueVendorIdentifier")
        == "8F1A2B3C-4D5E-4F60-8A7B-9C0D1E2F3A4B")
  }

  // MARK: decisions, cache, hostile input

  @Test("DCD-3 what a decision gets of it")
  func evidence() throws {
    let purchase = Bench.current.with {
      $0.offerType = 1
      $0.offerDiscountType = "FREE_TRIAL"
      $0.quantity = 3
    }
    let trust = try Bench.verifier().receipts
    var verification = TransactionReceiptVerification(trust, nowMs: Bench.now)
    let receipt = try verification.run(Bench.minted(purchase))
    let evidence = try receipt.purchaseEvidence(trust.configuration.products)
    let facts = try #require(evidence.purchases.first)
    #expect(evidence.purchases.count == 1)
    #expect(evidence.renewals.isEmpty)
    #expect("\(evidence.kind)" == "transaction-receipt")
    #expect(evidence.asOf == purchase.purchaseDate)
    #expect(facts.environment == .sandbox)
    #expect(facts.transactionId == "2000000900000001")
    #expect(facts.originalTransactionId == "2000000900000001")
    #expect(facts.webOrderLineItemId == "2000000090000001")
    #expect(facts.productId == "com.example.app.premium.monthly")
    #expect(facts.type == nil)
    #expect(facts.start == purchase.purchaseDate)
    #expect(facts.end == purchase.expiresDate)
    #expect(facts.isTrial)
    #expect(!facts.isIntro)
    #expect(facts.quantity == 3)
    #expect(facts.asOf == purchase.purchaseDate)
    #expect(facts.evidenceClass == .signed)
    #expect(facts.shows.isEmpty)
  }

  @Test("a receipt that was decoded before is verified the same")
  func decoded() throws {
    let trust = try Bench.verifier().receipts
    let receipt = try Bench.minted()
    var verification = TransactionReceiptVerification(trust, nowMs: Bench.now)
    let transport = try Transport(TransportForm.doubled.encode(receipt), cap: 1 << 20)
    #expect(try verification.run(transport).info.text(.transactionId) == "2000000900000001")
    var other = TransactionReceiptVerification(trust, nowMs: Bench.now)
    let token = try Transport(utf8("eyJh.eyJi.c2ln"), cap: 1 << 20)
    do throws(Refusal) {
      _ = try other.run(token)
      Issue.record("a JWS was taken")
    } catch {
      #expect(error.status == .rejectedKindMismatch)
    }
  }

  @Test("PTH-13 the second verification finds the path again and judges dates again")
  func cached() throws {
    let verifier = try Bench.verifier()
    let receipt = try Bench.minted()
    #expect(
      verifier.verifyReceipt(receipt, kind: .transaction, nowMs: Bench.now)
        .tree?.at("transactionReceipt.chain.cached")?.boolean == false)
    let again = verifier.verifyReceipt(receipt, kind: .transaction, nowMs: Bench.now)
    #expect(again.tree?.at("transactionReceipt.chain.cached")?.boolean == true)
    let late = Bench.current.moved(by: 40 * 365 * Bench.day)
    let answer = verifier.verifyReceipt(
      try Bench.minted(late), kind: .transaction, nowMs: Bench.now + 40 * 365 * Bench.day)
    #expect(answer.status == .rejectedChainExpired)
  }

  @Test("no truncated and no changed receipt passes, and none ends the process")
  func hostile() throws {
    let verifier = try Bench.verifier()
    let receipt = try Bench.minted()
    func status(_ bytes: [UInt8]) -> Status {
      verifier.verifyReceipt(bytes, kind: .transaction, nowMs: Bench.now).status
    }
    #expect(status(receipt) == .ok)
    for count in stride(from: 0, to: receipt.count, by: 7) {
      #expect(status(Array(receipt.prefix(count))) != .ok, "\(count)")
    }
    // The blob and the signed list, decoded and changed.
    let template = try Bench.template()
    let blob = try template.signatureBlob()
    let info = template.info.bytes
    for at in stride(from: 0, to: blob.count, by: 5) {
      var other = blob
      other[at] ^= 1 << UInt8(at % 8)
      let text = Base64Text.encode(other)
      #expect(status(try Bench.minted { $0.signatureText = text }) != .ok, "\(at)")
    }
    for at in stride(from: 0, to: info.count, by: 5) {
      var other = info
      other[at] ^= 1 << UInt8(at % 8)
      let receipt = try Bench.minted {
        $0.signatureText = Base64Text.encode(blob)
        $0.sentInfo = other
      }
      #expect(status(receipt) == .rejectedReceiptSignature, "\(at)")
    }
  }
}
