import Testing

@testable import Assay

private typealias Fixture = TriageFixture
private typealias Receipt = TriageFixture.Receipt

@Suite("Triage: forms and categories")
struct TriageTests {
  // MARK: TRI-2

  @Test(
    "TRI-2 undecoded, only the cracker's own text counts",
    arguments: [
      "com.urus.iap.", "com.urus.iap.12x", "com.urus.ia.12", "xcom.urus.iap.12",
      "com.urus.iap." + String(repeating: "1", count: 244),
    ])
  func notCrackerText(_ text: String) {
    checkEqual(Fixture.look(text).category, .malformed)
  }

  @Test("TRI-2 a printable text is a cracker's up to 256 bytes")
  func shortText() {
    let short = [UInt8](repeating: 0x78, count: 256)
    checkEqual(Fixture.look(Fixture.base64(short)).category, .cracker)
    checkEqual(Fixture.look(Fixture.base64(short + [0x78])).category, .unsupported)
    checkEqual(Fixture.look(Fixture.base64(short.dropLast() + [0x01])).category, .unsupported)
    checkEqual(Fixture.look(Fixture.base64(short.dropLast() + [0x7f])).category, .unsupported)
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
    checkEqual(result.status, "unsupported.triage.format")
    checkEqual(result.category, .unsupported)
    checkEqual(result.form, form)
    checkEqual(result.disposition, (form == .unknown ? .resend : .keep))
    check(result.claim == nil)
  }

  @Test("TRI-3 invalid JSON is a broken list")
  func brokenJSON() {
    let result = Fixture.look(Fixture.base64(#"{"receipt-data":"ewo="#))
    checkEqual(result.category, .malformed)
    checkEqual(result.status, "malformed.plist.construct")
    checkEqual(Fixture.look(#"{"a\"":1}"#).form, .json)
  }

  @Test("TRI-3 where lists and JSON part: a quoted name, then a colon")
  func firstName() {
    func hasColon(_ text: String) -> Bool { TriageForms.hasColonAfterFirstName(utf8(text)) }
    for json in [#"{"a":1}"#, " { \"a\" :", #"{"a\"":"#] { check(hasColon(json), "\(json)") }
    for other in [
      "", "{", "{}", "[\"a\":1]", "{a:1}", "{'a':1}", #"{"a":"#.replacing(":", with: "="),
      #"{"a\":1}"#, #"{"a"#, #"{"a""#,
    ] {
      check(!hasColon(other), "\(other)")
    }
  }

  // MARK: TRI-4

  @Test(
    "TRI-4 a broken outer list is malformed, to be sent again",
    arguments: [
      ("{\n\t\"signature\" = \"Ap", "malformed.plist.syntax")
    ])
  func brokenList(_ text: String, _ status: String) {
    let result = Fixture.look(Fixture.base64(text))
    checkEqual(result.status, status)
    checkEqual(result.category, .malformed)
    checkEqual(result.form, .transactionReceipt)
    checkEqual(result.disposition, .resend)
    check(result.checks.log.failed.hasSameBytes(as: "triage.structure"))
  }

  @Test("TRI-4 a list over the limit of transaction receipts")
  func largeList() {
    let receipt = Receipt().text
    let padded = receipt + String(repeating: " ", count: 16_385 - receipt.utf8.count)
    checkEqual(Fixture.look(padded).status, "too-large.transaction-receipt.outer")
    checkEqual(Fixture.look(padded).disposition, .resend)
    checkEqual(Fixture.look(String(padded.dropLast())).category, .candidate)
  }

  @Test("TRI-4 half a receipt is incomplete", arguments: ["signature", "purchase-info"])
  func incomplete(_ missing: String) {
    let half =
      "{"
      + Receipt().outerPairs.filter { $0.key != missing }
      .map { "\"\($0.key)\"=\"\($0.value)\";" }.joined() + "}"
    let result = Fixture.look(Fixture.base64(half))
    checkEqual(result.status, "rejected.triage.incomplete")
    checkEqual(result.refusal.place, missing)
    checkEqual(result.category, .unconfirmed)
    checkEqual(result.disposition, .resend)
    checkEqual(result.traitNames, ["missing:" + missing])
  }

  // MARK: TRI-6 … TRI-9

  @Test("TRI-6 and TRI-7 are not asked of a receipt that claims no bundle")
  func bundleFirst() {
    let none = Receipt().setting("bid", nil).setting("product-id", "x")
    checkEqual(Fixture.look(none.blob64).category, .unconfirmed)
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
    checkEqual(Fixture.look(Receipt().setting("product-id", product).blob64).keys, keys)
  }

  @Test(
    "TRI-10 RPL-3 an id of 13 digits or fewer, or no number, makes no key",
    arguments: ["0", "9999999999999", "41000000000004x"])
  func noKey(_ id: String) {
    let receipt = Receipt().setting("transaction-id", id)
      .with { $0.outer = [("environment", "Sandbox")] }
    let result = Fixture.look(receipt.blob64)
    checkEqual(result.keys, [])
    // The outer member proves nothing about the content (RCP-28).
    check(result.claim?.environment != .sandbox)
    checkEqual(result.next, .verify)
  }

  // MARK: TRI-12

  @Test("TRI-12 the document has triage and claimed under every status, and is never ok")
  func document() throws {
    let document = Fixture.look(Receipt().blob64).document(configuration: [1])
    checkEqual(document.status.family, .pending)
    checkEqual(document.text("kind"), "triage")
    checkEqual(document.text("status.name"), "pending.triage.verify-next")
    checkEqual(document.text("triage.category"), "candidate")
    checkEqual(document.text("triage.format"), "transaction-receipt")
    checkEqual(document.text("triage.disposition"), "keep")
    checkEqual(document.text("triage.nextStep"), "lookup")
    checkEqual(document.text("triage.transport.form"), "base64")
    checkEqual(document.text("unverified.bundleId"), "com.example.app")
    checkEqual(document.integer("unverified.purchaseDate"), 1_551_690_123_000)
    checkEqual(document.text("unverified.environment"), "Production")
    checkEqual(document.text("unverified.keys.0"), "Production/410000000000042")
    checkEqual(document.text("checks.5.id"), "triage.anomalies")
    let tree = try require(document.tree)
    checkEqual(tree.member("ok")?.boolean, false)
    checkEqual(tree.at("triage.kind")?.isNull, true)
    checkEqual(tree.at("triage.anomalies")?.count, 0)

    let cracker = Fixture.look("com.urus.iap.12").document(configuration: [])
    checkEqual(cracker.text("triage.category"), "cracking-tool")
    checkEqual(cracker.text("error.check"), "triage.format")
    checkEqual(cracker.text("error.rule"), "TRI-2")
    checkEqual(cracker.tree?.member("unverified")?.isNull, true)
    checkEqual(cracker.tree?.at("triage.transport")?.isNull, true)

    let foreign = Fixture.look(Receipt().setting("bid", #"a\"b"#).blob64)
    let written = foreign.document(configuration: [])
    checkEqual(written.text("error.check"), "triage.bundle")
    checkEqual(written.text("unverified.bundleId"), "a\"b")
    checkEqual(written.tree?.at("checks.4.ok")?.isNull, true)

    let product = Fixture.look(Receipt().setting("product-id", "x").blob64)
    checkEqual(product.document(configuration: []).text("error.check"), "triage.product")
    check(Fixture.look("ewo!").checks.log.failed.hasSameBytes(as: "transport"))
  }

  @Test("TRI-12 texts of the blob stand in no other member than claimed")
  func noLeak() throws {
    let receipt = Receipt().setting("bid", "leak.bid").setting("product-id", "leak.product")
      .setting("leak.key", "leak.value").bare("leak.bare", "1")
    let json = Fixture.look(receipt.blob64).document(configuration: []).json
    let tree = try require(try? JSONReader.readObject(json).root)
    for member in tree.children where member.name != "unverified" {
      check(!String(decoding: member.source, as: UTF8.self).contains("leak"))
    }
  }

  // MARK: §1.5

  static let tolerated: [(String, [UInt8])] = {
    let receipt = Receipt()
    return [
      ("unknown keys", receipt.with { $0.outer.append(("hello", "world")) }.blob64),
      (
        "no ms, no pst, no app-item-id, no device id",
        [
          "purchase-date-ms", "purchase-date-pst", "original-purchase-date-ms",
          "original-purchase-date-pst", "app-item-id", "unique-vendor-identifier",
          "original-purchase-date", "web-order-line-item-id", "item-id", "bvrs",
        ].reduce(receipt) { $0.setting($1, nil) }.blob64
      ),
      (
        "purchase date ahead",
        receipt.setting("purchase-date", "2099-03-05 09:02:03 Etc/GMT")
          .setting("purchase-date-ms", nil).setting("purchase-date-pst", nil).blob64
      ),
    ]
  }()

  @Test("§1.5 what triage must not suspect", arguments: tolerated)
  func mustPass(_ name: String, _ blob: [UInt8]) {
    let result = Fixture.look(blob)
    checkEqual(result.category, .candidate, "\(name): \(result.traitNames)")
    checkEqual(result.status, "pending.triage.verify-next", "\(name)")
  }
}
