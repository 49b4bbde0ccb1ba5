import AssayAuthority
import Testing

@testable import Assay

/// Transaction receipts of one authority, and verifications that trust it.
private enum ReceiptFixture {
  static let now: Int64 = Minted.now
  static let day = Purchase.day
  /// 2013-06-01 UTC, within the years of the App Store's signer.
  static let storeYears: Int64 = 1_370_044_800_000

  static let current = Purchase(now: now)
  static let store = Purchase(now: storeYears)

  static func authority() throws -> ReceiptAuthority { try AppReceiptFixture.authority() }

  static func template(
    _ purchase: Purchase = current, version: UInt8 = 3,
    _ change: (inout TransactionReceiptTemplate) throws -> Void = { _ in }
  ) throws -> TransactionReceiptTemplate {
    var template = try authority().transactionTemplate(purchase, version: version)
    try change(&template)
    return template
  }

  static func minted(
    _ purchase: Purchase = current, version: UInt8 = 3,
    _ change: (inout TransactionReceiptTemplate) throws -> Void = { _ in }
  ) throws -> [UInt8] {
    try template(purchase, version: version, change).signed()
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
    return try require(verifier, "\(document.text("error.message") ?? "")")
  }

  static func verify(
    _ receipt: [UInt8], _ changes: [(String, JSONText)] = [], now: Int64 = ReceiptFixture.now
  ) throws -> Document {
    try verifier(changes).verifyReceipt(receipt, kind: .transaction, nowMs: now)
  }

  static func status(
    _ receipt: [UInt8], _ changes: [(String, JSONText)] = [], now: Int64 = ReceiptFixture.now
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

  @Test("what a good receipt passes, and what had no input")
  func checks() throws {
    let answer = try ReceiptFixture.verify(ReceiptFixture.minted())
    let made = try require(answer.tree?.at("checks")).children.map { $0.member("ok")?.boolean }
    checkEqual(
      made,
      [
        true, true, true, true, true, true, true, true, true, true, true, nil, true, true, nil,
      ])
  }

  // MARK: outer list

  @Test("RCP-6 RCP-11 spacing, quoting, order and further keys of the outer list do not matter")
  func outerStyles() throws {
    for (name, style) in PropertyListText.Style.all {
      let receipt = try ReceiptFixture.minted {
        $0.outer = { list in
          PropertyListText(
            [.init("pid", "100")] + list.entries.reversed() + [.init("extra", "é")], style: style)
        }
      }
      try checkEqual(ReceiptFixture.status(receipt), .ok, "\(name)")
    }
    for key in ["environment", "pod", "signing-status"] {
      let receipt = try ReceiptFixture.minted { $0.outer = { $0.removing(key) } }
      try checkEqual(ReceiptFixture.status(receipt), .ok, "\(key)")
    }
    let escaped = try ReceiptFixture.minted { $0.outer = { $0.escaped() } }
    try checkEqual(ReceiptFixture.status(escaped), .ok)
  }

  @Test("RCP-9 a fault of the signed list says where in it")
  func duplicates() throws {
    let inner = try ReceiptFixture.minted { $0.info = $0.info.appending("quantity", "1") }
    let answer = try ReceiptFixture.verify(inner)
    checkEqual(answer.status, .malformedPlistDuplicateKey)
    checkEqual(answer.text("error.at")?.hasPrefix("purchase-info/byte "), true)
  }

  @Test("RCP-11 both values are there and are base64")
  func outerValues() throws {
    for key in ["signature", "purchase-info"] {
      let gone = try ReceiptFixture.verify(
        ReceiptFixture.minted { $0.outer = { $0.removing(key) } })
      checkEqual(gone.status, .malformedTransactionReceiptOuterMissing)
      checkEqual(gone.text("error.at"), key)
      checkEqual(gone.text("error.check"), "plist.outer")
      let broken = try ReceiptFixture.verify(
        ReceiptFixture.minted { $0.outer = { $0.setting(key, "*") } })
      checkEqual(broken.status, .malformedTransactionReceiptBase64)
      checkEqual(broken.text("error.at"), key)
    }
    try checkEqual(
      ReceiptFixture.status(ReceiptFixture.minted { $0.outer = { $0.setting("signature", "") } }),
      .malformedTransactionReceiptSignatureLayout)
    try checkEqual(
      ReceiptFixture.status(
        ReceiptFixture.minted { $0.outer = { $0.setting("purchase-info", "") } }),
      .rejectedTransactionReceiptSignature)
  }

  // MARK: blob, path and signature

  @Test("RCP-19 SHA-256 over something else is a forgery")
  func digest() throws {
    let answer = try ReceiptFixture.status(
      ReceiptFixture.minted {
        $0.digest = .sha256
        $0.scope = .info
      })
    checkEqual(answer, .rejectedTransactionReceiptSignature)
  }

  @Test("RCP-21 version 2 can be switched off")
  func weakVersion() throws {
    let refuse: [(String, JSONText)] = [("receipts.version2", "refuse")]
    let weak = try ReceiptFixture.minted(ReceiptFixture.store, version: 2)
    let answer = try ReceiptFixture.verify(weak, refuse, now: ReceiptFixture.storeYears)
    checkEqual(answer.status, .rejectedTransactionReceiptV2Disabled)
    checkEqual(answer.text("error.check"), "receipt.layout")
  }

  // MARK: identity

  @Test("RCP-24 a foreign bundle id is not repeated in the message")
  func bundle() throws {
    let answer = try ReceiptFixture.verify(
      ReceiptFixture.minted { $0.info = $0.info.setting("bid", "com.example.stranger") })
    checkEqual(answer.status, .rejectedAppBundleId)
    checkEqual(answer.text("error.message")?.contains("stranger"), false)
  }

  @Test("RCP-30 in Production every other id of an app is refused")
  func appItemId() throws {
    func answer(_ id: String?) throws -> Document {
      try ReceiptFixture.verify(
        ReceiptFixture.minted(ReceiptFixture.production) {
          $0.info =
            id.map { [info = $0.info] in info.setting("app-item-id", $0) }
            ?? $0.info.removing("app-item-id")
        })
    }
    try checkEqual(answer(nil).text("checks.11.reason"), "no input for it")
    // The id of another configured app does not fit this one.
    for id in ["1000000001", "1", "0", "12345678901234567890"] {
      let refused = try answer(id)
      checkEqual(refused.status, .rejectedAppAppAppleId, "\(id)")
    }
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
    checkEqual(IdEnvironment.of(utf8(id)[...]), told)
    checkEqual(IdEnvironment.of(utf8("xx" + id)[2...]), told)
    let environment: Environment? =
      told == .sandbox ? .sandbox : told == .production ? .production : nil
    checkEqual(told.environment, environment)
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
      checkEqual(found.environment, one.expected, "\(one)")
      checkEqual(found.alteredKey.map { "\($0)" }, one.altered, "\(one)")
      checkEqual(found.saysSandbox, (one.environment == "Sandbox"))
    }
    for id in ["251230", "3000000900000001"] {
      for environment in [nil, "Production", "Sandbox"] as [String?] {
        let found = ReceiptEnvironment(
          id: utf8(id)[...], environment: environment.map { utf8($0)[...] }, pod: nil)
        check(found.environment == nil)
        checkEqual(found.saysSandbox, (environment == "Sandbox"))
        check(!found.outerAltered)
        let pod = ReceiptEnvironment(
          id: utf8(id)[...], environment: nil, pod: utf8("100")[...])
        check(pod.outerAltered)
      }
    }
  }

  @Test("RCP-28 a changed outer list is reported, and changes no verdict on a sandbox receipt")
  func outerAltered() throws {
    for (key, value) in [("environment", nil), ("environment", "Production"), ("pod", "35")]
      as [(String, String?)]
    {
      let receipt = try ReceiptFixture.minted {
        $0.outer = { list in value.map { list.setting(key, $0) } ?? list.removing(key) }
      }
      let answer = try ReceiptFixture.verify(receipt)
      checkEqual(answer.status, .ok)
      checkEqual(answer.text("warnings.0.id"), "outer-altered")
      checkEqual(answer.text("warnings.0.at"), key)
    }
  }

  // MARK: keys

  @Test("RPL-3 APR-23 ids of 13 digits or fewer never become keys")
  func shortIds() {
    check(IdEnvironment.unique(utf8("1234567890123")[...]) == nil)
    checkEqual(IdEnvironment.unique(utf8("12345678901234")[...]), "12345678901234")
  }

  // MARK: decisions, cache, hostile input

  @Test("DCD-3 what a decision gets of it")
  func evidence() throws {
    let purchase = ReceiptFixture.current.with {
      $0.offerType = 1
      $0.offerDiscountType = "FREE_TRIAL"
      $0.quantity = 3
    }
    let trust = try ReceiptFixture.verifier().receipts
    var verification = TransactionReceiptVerification(trust, nowMs: ReceiptFixture.now)
    let receipt = try verification.run(ReceiptFixture.minted(purchase))
    let evidence = try receipt.purchaseEvidence(trust.configuration.products)
    let facts = try require(evidence.purchases.first)
    checkEqual(evidence.purchases.count, 1)
    check(evidence.renewals.isEmpty)
    checkEqual("\(evidence.kind)", "transaction-receipt")
    checkEqual(evidence.asOfMs, purchase.purchaseDate)
    checkEqual(facts.environment, .sandbox)
    checkEqual(facts.transactionId, "2000000900000001")
    checkEqual(facts.originalTransactionId, "2000000900000001")
    checkEqual(facts.webOrderLineItemId, "2000000090000001")
    checkEqual(facts.productId, "com.example.app.premium.monthly")
    check(facts.type == nil)
    checkEqual(facts.start, purchase.purchaseDate)
    checkEqual(facts.end, purchase.expiresDate)
    check(facts.isTrial)
    check(!facts.isIntro)
    checkEqual(facts.quantity, 3)
    checkEqual(facts.asOfMs, purchase.purchaseDate)
    checkEqual(facts.evidenceClass, .signed)
    check(facts.canReport.isEmpty)
  }

  @Test("PTH-13 the second verification finds the path again and judges dates again")
  func cached() throws {
    let verifier = try ReceiptFixture.verifier()
    let receipt = try ReceiptFixture.minted()
    checkEqual(
      verifier.verifyReceipt(receipt, kind: .transaction, nowMs: ReceiptFixture.now)
        .tree?.at("transactionReceipt.chain.cached")?.boolean, false)
    let again = verifier.verifyReceipt(receipt, kind: .transaction, nowMs: ReceiptFixture.now)
    checkEqual(again.tree?.at("transactionReceipt.chain.cached")?.boolean, true)
    let late = ReceiptFixture.current.moved(by: 40 * 365 * ReceiptFixture.day)
    let answer = verifier.verifyReceipt(
      try ReceiptFixture.minted(late), kind: .transaction,
      nowMs: ReceiptFixture.now + 40 * 365 * ReceiptFixture.day)
    checkEqual(answer.status, .rejectedChainExpired)
  }

  @Test("no truncated and no changed receipt passes, and none ends the process")
  func hostile() throws {
    let verifier = try ReceiptFixture.verifier()
    let receipt = try ReceiptFixture.minted()
    func status(_ bytes: [UInt8]) -> Status {
      verifier.verifyReceipt(bytes, kind: .transaction, nowMs: ReceiptFixture.now).status
    }
    checkEqual(status(receipt), .ok)
    for count in stride(from: 0, to: receipt.count, by: 7) {
      check(status(Array(receipt.prefix(count))) != .ok, "\(count)")
    }
    // The decoded blob and signed list, changed.
    let template = try ReceiptFixture.template()
    let blob = try template.signatureBlob()
    let info = template.info.bytes
    for at in stride(from: 0, to: blob.count, by: 5) {
      var other = blob
      other[at] ^= 1 << UInt8(at % 8)
      let text = Base64Text.encode(other)
      check(status(try ReceiptFixture.minted { $0.signatureText = text }) != .ok, "\(at)")
    }
    for at in stride(from: 0, to: info.count, by: 5) {
      var other = info
      other[at] ^= 1 << UInt8(at % 8)
      let receipt = try ReceiptFixture.minted {
        $0.signatureText = Base64Text.encode(blob)
        $0.sentInfo = other
      }
      checkEqual(status(receipt), .rejectedTransactionReceiptSignature, "\(at)")
    }
  }
}
