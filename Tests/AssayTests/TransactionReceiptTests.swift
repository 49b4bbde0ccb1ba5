import AssayAuthority
import Testing

@testable import Assay

/// Transaction receipts of one authority, and verifications that trust it.
private enum Bench {
  static let now: Int64 = Minted.now
  static let day = Purchase.day

  static let current = Purchase(now: now)

  static func authority() throws -> ReceiptAuthority { try AppReceiptBench.authority() }

  static func template(
    _ purchase: Purchase = current,
    _ change: (inout TransactionReceiptTemplate) throws -> Void = { _ in }
  ) throws -> TransactionReceiptTemplate {
    var template = try authority().transactionTemplate(purchase)
    try change(&template)
    return template
  }

  static func minted(
    _ purchase: Purchase = current,
    _ change: (inout TransactionReceiptTemplate) throws -> Void = { _ in }
  ) throws -> [UInt8] {
    try template(purchase, change).signed()
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
}

@Suite("Transaction receipt")
struct TransactionReceiptTests {
  // MARK: identity

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
