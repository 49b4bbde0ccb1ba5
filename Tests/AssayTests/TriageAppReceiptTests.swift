import Testing

@testable import Assay

private typealias Fixture = TriageFixture
private typealias Purchase = TriageFixture.AppPurchase

@Suite("Triage: app receipts and App Attest receipts")
struct TriageAppReceiptTests {
  private func look(
    _ receipt: [UInt8], _ configuration: Configuration = Fixture.configuration
  ) -> TriageResult {
    Fixture.look(Fixture.base64(receipt), configuration)
  }

  @Test("TRI-3 the claims of an app receipt")
  func claims() throws {
    let result = look(
      Fixture.appReceipt([
        Purchase(),
        Purchase(
          product: Fixture.subscription, id: "2000000000000043", type: 3,
          webOrderLineItemId: 2_000_000_000_000_099),
        Purchase(id: "2000000000000044"),
      ]))
    checkEqual(result.category, .candidate)
    checkEqual(result.form, .appReceipt)
    checkEqual(result.status, "pending.triage.verify-next")
    checkEqual(result.next, .lookup)
    checkEqual(result.traitNames, [])
    checkEqual(
      result.keys,
      [
        "Sandbox/2000000000000042", "Sandbox/2000000000000043",
        "Sandbox/2000000000000017/2000000000000099", "Sandbox/2000000000000044",
      ])
    let document = result.document(configuration: [])
    checkEqual(document.text("unverified.bundleId"), "com.example.app")
    checkEqual(document.text("unverified.environment"), "Sandbox")
    checkEqual(document.text("unverified.type"), "ProductionSandbox")
    checkEqual(document.integer("unverified.creationDate"), 1_577_934_245_000)
    checkEqual(document.integer("unverified.purchases"), 3)
    checkEqual(document.text("unverified.productIds.0"), Fixture.product)
    checkEqual(document.text("unverified.productIds.1"), Fixture.subscription)
    checkEqual(document.tree?.at("unverified.productIds")?.count, 2)
    checkEqual(document.tree?.at("unverified.complete")?.boolean, true)
    checkEqual(document.tree?.at("unverified.productId")?.isNull, true)
  }

  @Test("TRI-10 the type of a purchase is the receipt's word, else the catalogue's")
  func types() {
    var purchase = Purchase(product: "com.example.app.full", type: 4)
    checkEqual(
      look(Fixture.appReceipt([purchase])).keys,
      ["Sandbox/2000000000000042", "Sandbox/2000000000000017"])
    purchase.type = 1
    checkEqual(look(Fixture.appReceipt([purchase])).keys, ["Sandbox/2000000000000042"])
  }

  @Test(
    "TRI-8 TRI-9 traits of app receipts",
    arguments: [
      (Fixture.appReceipt(type: "Xcode"), ["environment"]),
      (Fixture.appReceipt(type: "Moon"), ["format:receipt-type"]),
      (Fixture.appReceipt(bundle: nil), ["missing:bundle-id"]),
      (Fixture.appReceipt(creation: nil), ["missing:creation-date"]),
      (Fixture.appReceipt(creation: ""), ["missing:creation-date"]),
    ])
  func traits(_ receipt: [UInt8], _ traits: [String]) {
    let result = look(receipt)
    checkEqual(result.traitNames, traits)
    checkEqual(result.category, .unconfirmed)
    checkEqual(result.disposition, .keep)
  }

  @Test("TRI-3 a text with a NUL is not shown, and is no bundle id of ours")
  func nul() {
    let result = look(Fixture.appReceipt(bundle: "com.example.app\0", [Purchase(product: "a\0b")]))
    checkEqual(result.traitNames, ["missing:bundle-id"])
    check(result.claim?.bundleId == nil)
    checkEqual(result.claim?.appReceipt?.productIds.isEmpty, true)
  }

  @Test("APR-23 purchases of Xcode make no keys")
  func xcodeKeys() {
    let result = look(Fixture.appReceipt(type: "Xcode", [Purchase(id: "0", originalId: "0")]))
    checkEqual(result.claim?.environment, .xcode)
    checkEqual(result.keys, [])
  }

  @Test("§1.5 many purchases: the lists are bounded, and say so")
  func many() {
    func receipt(_ count: Int) -> [UInt8] {
      Fixture.appReceipt(
        (0..<count).map {
          Purchase(product: "p\($0)", id: "20000000000\(10_000 + $0)", type: 1)
        })
    }
    let full = look(receipt(256))
    checkEqual(full.keys.count, 256)
    checkEqual(full.claim?.appReceipt?.isComplete, true)
    checkEqual(full.claim?.appReceipt?.productIds.count, 64)
    let more = look(receipt(257))
    checkEqual(more.category, .candidate)
    checkEqual(more.keys.count, 256)
    checkEqual(more.claim?.appReceipt?.isComplete, false)
    checkEqual(more.claim?.appReceipt?.purchaseCount, 257)
  }

  @Test("TRI-4 an app receipt that was cut short is malformed, to be sent again")
  func broken() {
    let receipt = Fixture.appReceipt()
    let cut = look(receipt.dropLast(1))
    checkEqual(cut.status, "malformed.app-receipt.ber")
    checkEqual(cut.form, .appReceipt)
    checkEqual(cut.category, .malformed)
    checkEqual(cut.disposition, .resend)
    let empty = look(Fixture.container([Fixture.attribute(7, [1])]))
    checkEqual(empty.status, "malformed.app-receipt.structure")
    checkEqual(empty.category, .malformed)
  }

  @Test("TRI-3 other DER is no receipt")
  func otherDER() {
    let certificate = Fixture.element(
      0x30, Fixture.element(0x30, [UInt8](repeating: 5, count: 200)))
    checkEqual(look(certificate).form, .unknown)
    checkEqual(look(certificate).status, "unsupported.triage.format")
  }

  @Test("TRI-3 an app receipt over its limit is not read")
  func tooLarge() {
    let small = Fixture.read(
      environments: #"["Sandbox"]"#, more: #","receipts":{"caps":{"appReceiptBytes":200}}"#)
    let receipt = Fixture.appReceipt()
    check(receipt.count > 200)
    checkEqual(look(receipt, small).status, "too-large.app-receipt.size")
    checkEqual(look(receipt).category, .candidate)
  }

  @Test("TRI-3 TRI-6 an App Attest receipt names its App ID")
  func attest() {
    let result = look(Fixture.attestReceipt())
    checkEqual(result.form, .attestReceipt)
    checkEqual(result.category, .candidate)
    checkEqual(result.next, .verify)
    let document = result.document(configuration: [])
    checkEqual(document.text("unverified.appId"), "ABCDE12345.com.example.app")
    checkEqual(document.text("unverified.bundleId"), "com.example.app")
    checkEqual(document.text("unverified.type"), "RECEIPT")
    checkEqual(look(Fixture.attestReceipt(type: "ATTEST")).form, .attestReceipt)
    checkEqual(look(Fixture.attestReceipt(type: "OTHER")).category, .malformed)
  }

  @Test(
    "TRI-6 an App Attest receipt of another app or team is foreign",
    arguments: [
      ("ABCDE12345.com.foreign", true), ("ZZZZZ12345.com.example.app", true),
      ("com.example.app", true), ("nodot", true), ("ZZZZZ12345.com.example.second", false),
    ])
  func foreignAttest(_ appId: String, _ isForeign: Bool) {
    let result = look(Fixture.attestReceipt(appId: appId))
    checkEqual(
      result.status, (isForeign ? "rejected.triage.foreign-bundle" : "pending.triage.verify-next"))
  }

  @Test(
    "TRI-9 an App Attest receipt without App ID, or with a NUL in it, has a trait",
    arguments: [nil, "ABCDE12345.com.example.app\0", "ABCDE12345.com.foreign\0"])
  func noAppId(_ appId: String?) {
    let result = look(Fixture.attestReceipt(appId: appId))
    checkEqual(result.traitNames, ["missing:bundle-id"])
    checkEqual(result.category, .unconfirmed)
    check(result.claim?.appId == nil)
  }

  @Test("TRI-4 what begins as a container does: its object identifier comes first")
  func beginning() {
    let oid: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x02]
    func isOne(_ bytes: [UInt8]) -> Bool { Triage.beginsAsSignedData(bytes) }
    check(isOne([0x30, 0x0b] + oid))
    check(isOne([0x30, 0x80] + oid))
    check(isOne([0x30, 0x82, 0x01, 0x00] + oid))
    for head in [[], [0x30], [0x30, 0x82], [0x30, 0xff]] as [[UInt8]] { check(!isOne(head)) }
    check(!isOne([0x30, 0x0b] + oid.dropLast()))
    for (place, byte) in [(0, 0x04), (1, 0x08), (10, 0x01)] as [(Int, UInt8)] {
      var other = oid
      other[place] = byte
      check(!isOne([0x30, 0x0b] + other))
    }
  }
}
