import Testing

@testable import Assay

private typealias Fixture = TriageFixture
private typealias Receipt = TriageFixture.Receipt

@Suite("Triage: forms and categories")
struct TriageTests {
  // MARK: TRI-1

  @Test(
    "TRI-1 what cannot be decoded is malformed, to be sent again",
    arguments: [
      ("", "malformed.transport.empty"), (" \r\n\t", "malformed.transport.empty"),
      ("ewo!", "malformed.transport.base64"), ("ewoJI", "malformed.transport.base64"),
      ("ewoJ%2B", "malformed.transport.base64"), ("not a receipt!", "malformed.transport.base64"),
    ])
  func undecodable(_ text: String, _ status: String) {
    let result = Fixture.look(text)
    #expect(result.status == status)
    #expect(result.category == .malformed)
    #expect(result.form == .unknown)
    #expect(result.disposition == .resend)
    #expect(result.next == .nothing)
    #expect(result.transport == nil)
    #expect(result.checks.ledger.failed.hasSameBytes(as: "transport"))
  }

  @Test("TRI-1 three levels of base64 are one too many")
  func levels() {
    let receipt = Receipt().blob64
    #expect(Fixture.look(receipt).category == .candidate)
    #expect(Fixture.look(Fixture.base64(receipt)).category == .candidate)
    let thrice = Fixture.look(Fixture.base64(Fixture.base64(receipt)))
    #expect(thrice.status == "malformed.transport.levels")
    #expect(thrice.category == .malformed)
  }

  @Test("TRI-1 the limit of the input is the configured one")
  func tooLarge() {
    let small = Fixture.read(
      environments: #"["Production"]"#, more: #","receipts":{"caps":{"inputBytes":3000}}"#)
    let receipt = Receipt().blob64
    #expect(receipt.count > 3000)
    let result = Fixture.look(receipt, small)
    #expect(result.status == "too-large.transport.input")
    #expect(result.category == .malformed)
    #expect(result.disposition == .resend)
  }

  // MARK: TRI-2

  @Test(
    "TRI-2 the cracker's text, encoded or not",
    arguments: [
      "com.urus.iap.96657290", " com.urus.iap.1\r\n", "Y29tLnVydXMuaWFwLjk2NjU3Mjkw",
      "Y29tLnVydXMuaWFwLjk2NjU3Mjkw\n", "WTI5dExuVnlkWE11YVdGd0xqazJOalUzTWprdw==",
      "aGVsbG8gd29ybGQ=",
    ])
  func crackerText(_ text: String) {
    let result = Fixture.look(text)
    #expect(result.status == "rejected.triage.cracker")
    #expect(result.category == .cracker)
    #expect(result.form == .cracker)
    #expect(result.disposition == .drop)
    #expect(result.next == .nothing)
    #expect(result.claim == nil)
    #expect(result.checks.ledger.failed.hasSameBytes(as: "triage.form"))
  }

  @Test(
    "TRI-2 undecoded, only the cracker's own text counts",
    arguments: [
      "com.urus.iap.", "com.urus.iap.12x", "com.urus.ia.12", "xcom.urus.iap.12",
      "com.urus.iap." + String(repeating: "1", count: 244),
    ])
  func notCrackerText(_ text: String) {
    #expect(Fixture.look(text).category == .malformed)
  }

  @Test("TRI-2 a printable text is a cracker's up to 256 bytes")
  func shortText() {
    let short = [UInt8](repeating: 0x78, count: 256)
    #expect(Fixture.look(Fixture.base64(short)).category == .cracker)
    #expect(Fixture.look(Fixture.base64(short + [0x78])).category == .unsupported)
    #expect(Fixture.look(Fixture.base64(short.dropLast() + [0x01])).category == .unsupported)
    #expect(Fixture.look(Fixture.base64(short.dropLast() + [0x7f])).category == .unsupported)
  }

  @Test(
    "TRI-2 a list with neither signature nor purchase-info",
    arguments: ["{}", "{ \n }", #"{"a"="b";}"#, #"{"purchase_info"="b";"Signature"="c";}"#])
  func crackerList(_ text: String) {
    #expect(Fixture.look(text).status == "rejected.triage.cracker")
    #expect(Fixture.look(Fixture.base64(text)).status == "rejected.triage.cracker")
  }

  // MARK: TRI-3

  @Test(
    "TRI-3 other forms are named",
    arguments: [
      ([0xa3] + utf8("cfmtoapple-appattest"), TriageResult.Form.attestation),
      ([0xa2] + utf8("isignatureX"), .assertion),
      (utf8("<?xml version=\"1.0\"?><plist/>"), .xmlPropertyList),
      (utf8("bplist00abc"), .binaryPropertyList),
      (utf8(#"{"receipt-data":"ewo=","password":"x"}"#), .json),
      (utf8(#"{ "status" : 21002 }"#), .json),
      ([0x30, 0x80, 0x06, 0x01, 0x2a, 0x00, 0x00], .unknown),
      ([0x00, 0x01, 0x02], .unknown),
    ])
  func unsupported(_ bytes: [UInt8], _ form: TriageResult.Form) {
    let result = Fixture.look(Fixture.base64(bytes))
    #expect(result.status == "unsupported.triage.form")
    #expect(result.category == .unsupported)
    #expect(result.form == form)
    #expect(result.disposition == (form == .unknown ? .resend : .keep))
    #expect(result.claim == nil)
  }

  @Test("TRI-3 invalid JSON is a broken list")
  func brokenJSON() {
    let result = Fixture.look(Fixture.base64(#"{"receipt-data":"ewo="#))
    #expect(result.category == .malformed)
    #expect(result.status == "malformed.plist.construct")
    #expect(Fixture.look(#"{"a\"":1}"#).form == .json)
  }

  @Test("TRI-3 where lists and JSON part: a quoted name, then a colon")
  func firstName() {
    func hasColon(_ text: String) -> Bool { TriageForms.hasColonAfterFirstName(utf8(text)) }
    for json in [#"{"a":1}"#, " { \"a\" :", #"{"a\"":"#] { #expect(hasColon(json), "\(json)") }
    for other in [
      "", "{", "{}", "[\"a\":1]", "{a:1}", "{'a':1}", #"{"a":"#.replacing(":", with: "="),
      #"{"a\":1}"#, #"{"a"#, #"{"a""#,
    ] {
      #expect(!hasColon(other), "\(other)")
    }
  }

  // MARK: TRI-4

  @Test(
    "TRI-4 a broken outer list is malformed, to be sent again",
    arguments: [
      ("{\n\t\"signature\" = \"Ap", "malformed.plist.syntax"),
      ("{", "malformed.plist.syntax"),
      (#"{"signature"="a";"purchase-info"="b";"signature"="a";}"#, "malformed.plist.duplicate-key"),
      (#"{"signature"=("a");"purchase-info"="b";}"#, "malformed.plist.construct"),
      ("{\"signature\"=\"\u{1}\0\";}", "malformed.plist.encoding"),
      (#"{"signature"="a";"purchase-info"="b";} x"#, "malformed.plist.syntax"),
    ])
  func brokenList(_ text: String, _ status: String) {
    let result = Fixture.look(Fixture.base64(text))
    #expect(result.status == status)
    #expect(result.category == .malformed)
    #expect(result.form == .transactionReceipt)
    #expect(result.disposition == .resend)
    #expect(result.checks.ledger.failed.hasSameBytes(as: "triage.structure"))
  }

  @Test("TRI-4 a list over the limit of transaction receipts")
  func largeList() {
    let receipt = Receipt().text
    let padded = receipt + String(repeating: " ", count: 16_385 - receipt.utf8.count)
    #expect(Fixture.look(padded).status == "too-large.receipt.outer")
    #expect(Fixture.look(padded).disposition == .resend)
    #expect(Fixture.look(String(padded.dropLast())).category == .candidate)
  }

  @Test("TRI-4 half a receipt is incomplete", arguments: ["signature", "purchase-info"])
  func incomplete(_ missing: String) {
    let half =
      "{"
      + Receipt().outerPairs.filter { $0.key != missing }
      .map { "\"\($0.key)\"=\"\($0.value)\";" }.joined() + "}"
    let result = Fixture.look(Fixture.base64(half))
    #expect(result.status == "rejected.triage.incomplete")
    #expect(result.refusal.place == missing)
    #expect(result.category == .unconfirmed)
    #expect(result.disposition == .resend)
    #expect(result.traitNames == ["missing:" + missing])
  }

  // MARK: TRI-6 … TRI-9

  @Test("TRI-9 a receipt without traits is a candidate, and pending")
  func candidate() throws {
    let result = Fixture.look(Receipt().blob64)
    #expect(result.status == "pending.triage.unverified")
    #expect(result.refusal.status.family == .pending)
    #expect(result.category == .candidate)
    #expect(result.form == .transactionReceipt)
    #expect(result.disposition == .keep)
    #expect(result.next == .lookup)
    #expect(result.traitNames == [])
    let claim = try #require(result.claim)
    #expect(result.claimed(claim.bundleId) == "com.example.app")
    #expect(result.claimed(claim.productId) == "com.example.app.gold")
    #expect(result.claimed(claim.transactionId) == "410000000000042")
    #expect(result.claimed(claim.originalTransactionId) == "410000000000017")
    #expect(result.claimed(claim.webOrderLineItemId) == "410000000000099")
    #expect(claim.purchaseDate == 1_551_690_123_000)
    #expect(claim.environment == .production)
  }

  @Test(
    "TRI-6 another bundle id is foreign, byte for byte",
    arguments: ["com.foreign.game", "com.example.App", "com.example.app.x", "com.example.ap"])
  func foreignBundle(_ bundle: String) {
    let result = Fixture.look(Receipt().setting("bid", bundle).blob64)
    #expect(result.status == "rejected.triage.foreign-bundle")
    #expect(result.category == .foreign)
    #expect(result.disposition == .drop)
    #expect(result.next == .nothing)
    #expect(result.keys == [])
    #expect(result.checks.ledger.failed.hasSameBytes(as: "triage.bundle"))
  }

  @Test("TRI-6 is asked before TRI-7, and neither of a receipt that claims no bundle")
  func bundleFirst() {
    let neither = Receipt().setting("bid", "com.foreign").setting("product-id", "x")
    #expect(Fixture.look(neither.blob64).status == "rejected.triage.foreign-bundle")
    let none = Receipt().setting("bid", nil).setting("product-id", "x")
    #expect(Fixture.look(none.blob64).category == .unconfirmed)
  }

  @Test("TRI-7 an unknown product of ours is kept: it may be new in the store")
  func foreignProduct() {
    let result = Fixture.look(Receipt().setting("product-id", "com.example.app.new").blob64)
    #expect(result.status == "rejected.triage.foreign-product")
    #expect(result.category == .foreign)
    #expect(result.disposition == .keep)
    #expect(result.checks.ledger.failed.hasSameBytes(as: "triage.product"))
    #expect(result.keys == ["Production/410000000000042"])
  }

  @Test("TRI-8 a sandbox receipt at a production verifier is never dropped")
  func environment() {
    let sandbox = Receipt().setting("transaction-id", "1000000000000042")
      .with { $0.outer = [("pod", "100"), ("environment", "Sandbox")] }
    let result = Fixture.look(sandbox.blob64, Fixture.productionOnly)
    #expect(result.status == "pending.triage.unverified")
    #expect(result.category == .unconfirmed)
    #expect(result.traitNames == ["environment"])
    #expect(result.disposition == .keep)
    #expect(result.claim?.environment == .sandbox)
    #expect(Fixture.look(sandbox.blob64).category == .candidate)
  }

  // MARK: TRI-10

  @Test(
    "TRI-10 the keys of the claim, by the catalogue's type",
    arguments: [
      ("com.example.app.gold", ["Production/410000000000042"]),
      (
        "com.example.app.month",
        ["Production/410000000000042", "Production/410000000000017/410000000000099"]
      ),
      ("com.example.app.full", ["Production/410000000000042", "Production/410000000000017"]),
    ])
  func keys(_ product: String, _ keys: [String]) {
    #expect(Fixture.look(Receipt().setting("product-id", product).blob64).keys == keys)
  }

  @Test(
    "TRI-10 RPL-3 an id of 13 digits or fewer, or no number, makes no key",
    arguments: ["0", "9999999999999", "41000000000004x"])
  func noKey(_ id: String) {
    let receipt = Receipt().setting("transaction-id", id)
      .with { $0.outer = [("environment", "Sandbox")] }
    let result = Fixture.look(receipt.blob64)
    #expect(result.keys == [])
    // RCP-28: the outer word says nothing about the claim.
    #expect(result.claim?.environment != .sandbox)
    #expect(result.next == .verify)
  }

  @Test("TRI-10 RCP-28 an id of 14 digits makes one, of the pool unknown where it shows nothing")
  func shortestKey() {
    let receipt = Receipt().setting("transaction-id", "10000000000001")
      .with { $0.outer = [] }
    #expect(Fixture.look(receipt.blob64).keys == ["Production/10000000000001"])
    let unknown = receipt.setting("transaction-id", "999990000000000001")
    for outer in [[], [("environment", "Sandbox")], [("environment", "Production")]] {
      let result = Fixture.look(unknown.with { $0.outer = outer }.blob64)
      #expect(result.keys == ["unknown/999990000000000001"])
      #expect(result.claim?.environment == nil)
    }
  }

  // MARK: TRI-12

  @Test("TRI-12 the document has triage and claimed under every status, and is never ok")
  func document() throws {
    let document = Fixture.look(Receipt().blob64).document(configuration: [1])
    #expect(document.status.family == .pending)
    #expect(document.text("kind") == "triage")
    #expect(document.text("status.name") == "pending.triage.unverified")
    #expect(document.text("triage.category") == "candidate")
    #expect(document.text("triage.form") == "transaction-receipt")
    #expect(document.text("triage.disposition") == "keep")
    #expect(document.text("triage.next") == "lookup")
    #expect(document.text("triage.transport.form") == "base64")
    #expect(document.text("claimed.bundleId") == "com.example.app")
    #expect(document.integer("claimed.purchaseDate") == 1_551_690_123_000)
    #expect(document.text("claimed.environment") == "Production")
    #expect(document.text("claimed.keys.0") == "Production/410000000000042")
    #expect(document.text("checks.5.id") == "triage.traits")
    let tree = try #require(document.tree)
    #expect(tree.member("ok")?.boolean == false)
    #expect(tree.at("triage.kind")?.isNull == true)
    #expect(tree.at("triage.traits")?.count == 0)

    let cracker = Fixture.look("com.urus.iap.12").document(configuration: [])
    #expect(cracker.text("triage.category") == "cracker")
    #expect(cracker.text("error.check") == "triage.form")
    #expect(cracker.text("error.rule") == "TRI-2")
    #expect(cracker.tree?.member("claimed")?.isNull == true)
    #expect(cracker.tree?.at("triage.transport")?.isNull == true)

    let foreign = Fixture.look(Receipt().setting("bid", #"a\"b"#).blob64)
    let written = foreign.document(configuration: [])
    #expect(written.text("error.check") == "triage.bundle")
    #expect(written.text("claimed.bundleId") == "a\"b")
    #expect(written.tree?.at("checks.4.ok")?.isNull == true)
  }

  @Test("TRI-12 texts of the blob stand in no other member than claimed")
  func noLeak() throws {
    let receipt = Receipt().setting("bid", "leak.bid").setting("product-id", "leak.product")
      .setting("leak.key", "leak.value").bare("leak.bare", "1")
    let json = Fixture.look(receipt.blob64).document(configuration: []).json
    let tree = try #require(try? JSONReader.readObject(json).root)
    for member in tree.children where member.name != "claimed" {
      #expect(!String(decoding: member.source, as: UTF8.self).contains("leak"))
    }
  }

  // MARK: §1.5

  static let tolerated: [(String, [UInt8])] = {
    let receipt = Receipt()
    func wrapped(_ separator: String) -> [UInt8] {
      var lines: [UInt8] = []
      for (index, byte) in receipt.blob64.enumerated() {
        if index > 0, index % 76 == 0 { lines += utf8(separator) }
        lines.append(byte)
      }
      return lines
    }
    // Bytes that need both of the digits in which form posts and alphabets differ.
    let odd = receipt.with { $0.outer.append(("x", "\u{3fb}\u{3ff}~~~???>>>")) }
    let urlSafe = odd.blob64.compactMap { byte -> UInt8? in
      byte == 0x3d ? nil : byte == 0x2b ? 0x2d : byte == 0x2f ? 0x5f : byte
    }
    var reversed = receipt
    reversed.outer.reverse()
    return [
      ("white space saved", Fixture.base64(receipt.compact)),
      ("undecoded", utf8(receipt.text)),
      ("pid for pod", receipt.with { $0.outer = [("pid", "41")] }.blob64),
      ("only the two keys", receipt.with { $0.outer = [] }.blob64),
      ("unknown keys", receipt.with { $0.outer.append(("hello", "world")) }.blob64),
      ("other order", reversed.blob64),
      ("wrapped with LF", wrapped("\n")),
      ("wrapped with CRLF", wrapped("\r\n")),
      ("url-safe, unpadded", urlSafe),
      ("plus turned to space", odd.blob64.map { $0 == 0x2b ? 0x20 : $0 }),
      ("base64 twice", Fixture.base64(receipt.blob64)),
      (
        "no ms, no pst, no app-item-id, no device id",
        [
          "purchase-date-ms", "purchase-date-pst", "original-purchase-date-ms",
          "original-purchase-date-pst", "app-item-id", "unique-vendor-identifier",
          "original-purchase-date", "web-order-line-item-id", "item-id", "bvrs",
        ].reduce(receipt) { $0.setting($1, nil) }.blob64
      ),
      (
        "original purchase date after purchase date",
        receipt.setting("original-purchase-date", "2019-03-05 09:02:03 Etc/GMT")
          .setting("original-purchase-date-ms", "1551776523000")
          .setting("original-purchase-date-pst", "2019-03-05 01:02:03 America/Los_Angeles").blob64
      ),
      (
        "purchase date ahead",
        receipt.setting("purchase-date", "2099-03-05 09:02:03 Etc/GMT")
          .setting("purchase-date-ms", nil).setting("purchase-date-pst", nil).blob64
      ),
      ("version 2", receipt.with { $0.blob = Receipt.blob(version: 2) }.blob64),
    ]
  }()

  @Test("§1.5 what triage must not suspect", arguments: tolerated)
  func mustPass(_ name: String, _ blob: [UInt8]) {
    let result = Fixture.look(blob)
    #expect(result.category == .candidate, "\(name): \(result.traitNames)")
    #expect(result.status == "pending.triage.unverified", "\(name)")
  }

  @Test("§1.5 the forms are what they are meant to be")
  func meant() {
    func blob(_ name: String) -> [UInt8] { Self.tolerated.first { $0.0 == name }?.1 ?? [] }
    #expect(Fixture.look(blob("plus turned to space")).transport?.spaceAsPlus == true)
    #expect(Fixture.look(blob("base64 twice")).transport?.levels == 2)
    #expect(Fixture.look(blob("undecoded")).transport?.levels == 0)
    #expect(blob("url-safe, unpadded").contains { $0 == 0x2d || $0 == 0x5f })
    #expect(blob("white space saved").starts(with: utf8("eyJ")))
  }
}
