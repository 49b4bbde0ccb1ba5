import AssayAuthority
import Testing

@testable import Assay

/// Tests that each cap of the configuration admits its value and refuses one more; raised, it
/// admits more (CNF-3, APR-26).
@Suite("CNF-3 APR-26 caps of the configuration")
struct ReceiptCapsTests {
  private static let now = Minted.now

  private static func verify(
    _ bytes: [UInt8], _ kind: ReceiptKind, _ caps: [(String, Int)]
  ) throws -> Document {
    let config: JSONText = [
      "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]],
      "environments": ["Production", "Sandbox"],
      "plans": ["free", "premium"],
      "products": [
        "com.example.app.premium.monthly": ["plan": "premium", "type": "auto-renewable"]
      ],
      "receipts": try AppReceiptFixture.authority().configuration,
    ]
    let changes = caps.map { ("receipts.caps." + $0.0, JSONText.integer(Int64($0.1))) }
    let (verifier, document) = Verifier.alone(config.setting(changes).bytes)
    return try require(verifier, "\(document.refusal)").verifyReceipt(
      bytes, kind: kind, nowMs: now)
  }

  /// Expects that an input `excess` over its cap is refused by that name, and admitted with the cap
  /// raised by as much.
  private func expect(
    _ bytes: [UInt8], _ kind: ReceiptKind, _ cap: String, _ value: Int, _ status: Status,
    with others: [(String, Int)] = [], _ location: SourceLocation = #_sourceLocation
  ) throws {
    let under = try Self.verify(bytes, kind, others + [(cap, value - 1)])
    checkEqual(under.status, status, "\(under.refusal)", sourceLocation: location)
    let at = try Self.verify(bytes, kind, others + [(cap, value)])
    checkEqual(at.status, .ok, "\(at.refusal)", sourceLocation: location)
  }

  // MARK: transaction receipts

  /// Fills a list with entries of so many bytes in Apple's format; 17 bytes of each are not its
  /// value.
  private static func filled(
    _ list: PropertyListText, _ octets: Int, longest: Int
  ) -> PropertyListText {
    var list = list
    var rest = octets
    var number = 100
    while rest > 0 {
      // The rest never becomes smaller than one entry.
      let length = rest <= longest ? rest : min(longest, rest - 17)
      list = list.appending("note\(number)", String(repeating: "x", count: max(0, length - 17)))
      rest -= length
      number += 1
    }
    return list
  }

  /// Returns a receipt whose signed list is `count` bytes long.
  private static func receipt(info count: Int) throws -> TransactionReceiptTemplate {
    var template = try AppReceiptFixture.authority().transactionTemplate(Minted.purchase)
    template.info = filled(template.info, count - template.info.bytes.count, longest: 4000)
    checkEqual(template.info.bytes.count, count)
    return template
  }

  @Test(
    "RCP-1 purchaseInfoBytes",
    arguments: [1100, 8192, 8193, 9216, 9217, 10_000, 12_288, 20_000, 32_768])
  func purchaseInfo(_ count: Int) throws {
    let bytes = try Self.receipt(info: count).signed()
    try expect(
      bytes, ReceiptKind.transaction, "purchaseInfoBytes", count, .tooLargeTransactionReceiptInfo,
      with: [("transactionReceiptBytes", max(16_384, bytes.count))])
  }

  @Test("RCP-6 the list that holds a purchase-info as long as allowed has room for it")
  func outerValue() throws {
    // The text fits into the default receipt; its base64 exceeds the default length of a value.
    let bytes = try Self.receipt(info: 10_000).signed()
    check(bytes.count <= 16_384)
    try checkEqual(
      Self.verify(bytes, ReceiptKind.transaction, [("purchaseInfoBytes", 10_000)]).status, .ok)
    try checkEqual(
      Self.verify(bytes, ReceiptKind.transaction, [("purchaseInfoBytes", 9999)]).status,
      .tooLargeTransactionReceiptInfo)
  }

  @Test("RCP-1 transactionReceiptBytes", arguments: [10_000, 16_384, 16_385, 40_000, 65_536])
  func transactionReceipt(_ count: Int) throws {
    let info = count > 16_384 ? 10_000 : 4000
    var template = try Self.receipt(info: info)
    let used = try template.signed().count
    template.outer = { Self.filled($0, count - used, longest: 9000) }
    let bytes = try template.signed()
    checkEqual(bytes.count, count)
    try expect(
      bytes, ReceiptKind.transaction, "transactionReceiptBytes", count,
      .tooLargeTransactionReceiptOuter,
      with: [("purchaseInfoBytes", 10_000)])
  }

  @Test("RCP-1 inputBytes", arguments: [5000, 3_145_728, 3_145_729, 12_582_912])
  func input(_ count: Int) throws {
    var text = Base64Text.encode(
      try AppReceiptFixture.authority().transactionTemplate(Minted.purchase).signed())
    text += [UInt8](repeating: 0x0a, count: count - text.count)
    try expect(text, ReceiptKind.transaction, "inputBytes", count, .tooLargeTransportInput)
  }

  // MARK: app receipts

  /// Returns one purchase with every attribute that Apple has been seen to write.
  private static func fullPurchase(_ number: Int) -> AttributeTemplate {
    let purchase = Minted.purchase.with {
      $0.transactionId = String(2_000_000_900_000_001 + number)
    }
    var list = purchase.receiptAttributes
    for type in [1714, 1715, 1716, 1717, 1718, 1721] { list = list.setting(.text(type, "")) }
    list = list.setting(.ascii(1720, "")).setting(.integer(1722, 0))
    checkEqual(list.count, 22)
    return AttributeTemplate(17, AttributeTemplate.set(list))
  }

  private static func appReceipt(
    purchases: [AttributeTemplate], filling: Int = 0
  ) throws -> [UInt8] {
    let facts = AppReceiptFacts([], like: Minted.purchase)
    var template = try AppReceiptFixture.authority().appTemplate(facts)
    template.attributes += purchases
    if filling > 0 {
      template.attributes.append(
        AttributeTemplate(99, [UInt8](repeating: 0, count: filling)))
    }
    return try template.signed()
  }

  @Test("APR-26 purchases as Apple writes them: each cap is reached, raised by itself")
  func fullPurchases() throws {
    let one = Self.fullPurchase(0).der.count
    // With the default caps, the number of bytes is reached first, at 1 MiB.
    let most = (1_048_576 - 6000) / one
    let many = (0..<9000).map { Self.fullPurchase($0) }
    func status(_ count: Int, _ caps: [(String, Int)]) throws -> String {
      let answer = try Self.verify(
        Self.appReceipt(purchases: Array(many.prefix(count))), .app, caps)
      return answer.status == .ok
        ? "\(answer.tree?.at("appReceipt.purchases")?.count ?? 0)" : answer.name
    }
    check(most > 2000)
    try checkEqual(status(most, []), "\(most)")
    try checkEqual(status(3000, []), "too-large.app-receipt.size")
    // The cap of the input is raised together with the receipt's.
    let octets = [("appReceiptBytes", 4 * 1_048_576), ("inputBytes", 4 * 1_048_576)]
    try checkEqual(status(3000, octets), "3000")
    try checkEqual(status(8192, octets), "8192")
    try checkEqual(status(8193, octets), "too-large.app-receipt.purchases")
    try checkEqual(status(8193, octets + [("purchases", 8193)]), "8193")
    try checkEqual(
      status(3000, [("purchases", 32_768)]), "too-large.app-receipt.size")
  }

  @Test("APR-1 purchases", arguments: [1, 100, 8192, 8193, 32_768])
  func purchases(_ count: Int) throws {
    let list = (0..<count).map { number in
      AttributeTemplate(
        17,
        AttributeTemplate.set([
          .text(1702, "p"), .text(1703, String(2_000_000_900_000_000 + number)),
          .ascii(1704, "2026-11-20T10:20:30Z"),
        ]))
    }
    let bytes = try Self.appReceipt(purchases: list)
    // The default number of purchases fits into the default number of bytes.
    let size = count <= 8192 ? 1_048_576 : 4 * 1_048_576
    if count > 1 {
      try expect(
        bytes, .app, "purchases", count, .tooLargeAppReceiptPurchases,
        with: [("appReceiptBytes", size), ("inputBytes", max(size, 3_145_728))])
    } else {
      try checkEqual(Self.verify(bytes, .app, [("purchases", 1)]).status, .ok)
    }
  }

  @Test("APR-1 appReceiptBytes", arguments: [10_000, 1_048_576, 1_048_577, 4_194_304])
  func appReceipt(_ count: Int) throws {
    let short = try Self.appReceipt(purchases: [Self.fullPurchase(0)], filling: 3000).count
    var filling = 3000 + count - short
    var bytes = try Self.appReceipt(purchases: [Self.fullPurchase(0)], filling: filling)
    // Growing lengths take one more byte.
    filling -= bytes.count - count
    bytes = try Self.appReceipt(purchases: [Self.fullPurchase(0)], filling: filling)
    checkEqual(bytes.count, count)
    try expect(
      bytes, .app, "appReceiptBytes", count, .tooLargeAppReceiptSize,
      with: [("inputBytes", max(count, 3_145_728))])
  }

  @Test("APR-26 elements follow the caps that may be raised")
  func elements() {
    var policy = Configuration.ReceiptsPolicy()
    checkEqual(policy.appReceiptElements, 32 * 8192 + 4096)
    policy.purchases = 32_768
    checkEqual(policy.appReceiptElements, 32 * 32_768 + 4096)
    checkEqual(policy.appReceiptElements, AppReceiptVerification.elementCap)
    policy.purchases = 1
    checkEqual(policy.appReceiptElements, 262_144)
    policy.appReceiptBytes = 4096
    checkEqual(policy.appReceiptElements, 4128)
    policy.appReceiptBytes = 4 * 1_048_576
    checkEqual(policy.appReceiptElements, 1_048_576)
  }

  @Test("APR-1 APR-26 too many elements are refused at the cap, in container and payload")
  func tooManyElements() throws {
    // Lower caps need less minting: 4,128 elements.
    let caps = [("purchases", 1), ("appReceiptBytes", 16_512)]
    func status(_ elements: Int) throws -> String {
      let facts = AppReceiptFacts([], like: Minted.purchase)
      var template = try AppReceiptFixture.authority().appTemplate(facts)
      let nulls = (0..<elements).flatMap { _ in [0x05, 0x00] as [UInt8] }
      template.revocationLists = .raw(
        AssayAuthority.DER.value(0xa1, AssayAuthority.DER.value(0x30, nulls)))
      return try Self.verify(template.signed(), .app, caps).name
    }
    try checkEqual(status(3500), "ok")
    try checkEqual(status(4200), "too-large.app-receipt.elements")
  }

  // MARK: JWS

  @Test("JWS-1 storekit.caps.jwsBytes", arguments: [9000, 65_536, 65_537, 262_144])
  func jws(_ count: Int) throws {
    let authority = try Minted.authority()
    func minted(_ filling: Int) throws -> [UInt8] {
      try authority.mint(
        Minted.purchase.transactionPayload.appending(
          "note", .string(String(repeating: "x", count: filling))))
    }
    // Base64 has only some lengths: this is the longest that fits.
    var filling = (count - (try minted(0).count)) / 4 * 3
    while try minted(filling).count > count { filling -= 1 }
    let jws = try minted(filling)
    check(count - jws.count < 4)
    for (cap, status) in [(jws.count, Status.ok), (jws.count - 1, .tooLargeJwsInput)]
    where (8192...262_144).contains(cap) {
      let verifier = try Minted.verifier([
        ("storekit.caps", ["jwsBytes": .integer(Int64(cap))])
      ])
      checkEqual(
        verifier.verifyJWS(jws, kind: .transaction, nowMs: Self.now).status, status, "\(cap)")
    }
  }
}
