import AssayAuthority
import Testing

@testable import Assay

private typealias Write = AssayAuthority.DER
private typealias Made = AttributeTemplate

/// Tests payloads that differ from a good one in one thing (APR-2, APR-9, APR-11 … APR-14).
@Suite("Attributes of an app receipt")
struct ReceiptAttributesTests {
  private static let date = "2026-11-20T10:20:30Z"
  private static let dateMs: Int64 = 1_795_170_030_000

  private static let purchase: [Made] = [
    .integer(1701, 1), .text(1702, "com.example.app.gold"), .text(1703, "2000000900000001"),
    .ascii(1704, date), .text(1705, "2000000900000000"), .ascii(1706, "2026-11-21T00:00:00Z"),
    .integer(1707, 3), .ascii(1708, "2026-12-20T10:20:30Z"), .integer(1710, 0),
    .integer(1711, 2_000_000_090_000_001), .ascii(1712, ""), .integer(1713, 1),
    .integer(1719, 0), .text(1721, "spring"), .text(1709, ""), .integer(1722, 0),
  ]

  private static let receipt: [Made] = [
    .text(0, "ProductionSandbox"), .integer(1, 0), .text(2, "com.example.app"), .text(3, "7"),
    Made(4, version: 2, [UInt8](repeating: 4, count: 16)),
    Made(5, [UInt8](repeating: 5, count: 20)), Made(6, [9, 9]), .ascii(8, ""),
    .ascii(10, "4+"), .integer(11, 0), .ascii(12, date), .integer(13, 150_000),
    .integer(15, 500_000_000_000_000_123), .integer(16, 0), .ascii(18, "2013-08-01T07:00:00Z"),
    .text(19, "1.0"), .ascii(21, ""), Made(17, Made.set(purchase)),
  ]

  private func read(
    payload: [UInt8], _ limits: ReceiptAttributes.Limits = .init(elements: 10_000, purchases: 100)
  ) throws(Refusal) -> ReceiptAttributes {
    // The payload is inside other bytes, as in a container.
    let bytes = [0x04, 0x7f] + payload + [0x30, 0x00]
    return try ReceiptAttributes(BER.Octets(bytes, 2..<2 + payload.count), limits)
  }

  private func refusal(
    payload: [UInt8], _ limits: ReceiptAttributes.Limits = .init(elements: 10_000, purchases: 100)
  ) -> Refusal? {
    do throws(Refusal) {
      _ = try read(payload: payload, limits)
      return nil
    } catch {
      return error
    }
  }

  private func refusal(_ attributes: [Made]) -> Refusal? {
    refusal(payload: Made.set(attributes))
  }

  private func refusal(with attribute: Made) -> Refusal? {
    refusal(Self.receipt.setting(attribute))
  }

  private func refusal(purchaseWith attribute: Made) -> Refusal? {
    refusal(Self.receipt.setting(Made(17, Made.set(Self.purchase.setting(attribute)))))
  }

  // MARK: members

  @Test("APR-12 APR-13 every member of a receipt and of a purchase")
  func members() throws {
    let read = try read(payload: Made.set(Self.receipt))
    checkEqual(read.text(read.type), "ProductionSandbox")
    checkEqual(read.text(read.bundleId), "com.example.app")
    checkEqual(Array(read.slice(read.bundleIdElement)), Write.utf8("com.example.app"))
    checkEqual(read.appAppleId, 0)
    checkEqual(read.text(read.applicationVersion), "7")
    checkEqual(read.text(read.originalApplicationVersion), "1.0")
    checkEqual(read.opaqueValue.map { Array(read.slice($0)) }, [UInt8](repeating: 4, count: 16))
    checkEqual(read.deviceHash.map { Array(read.slice($0)) }, [UInt8](repeating: 5, count: 20))
    checkEqual(read.downloadId, 500_000_000_000_000_123)
    checkEqual(read.versionExternalIdentifier, 0)
    checkEqual(read.originalPurchaseDate, 1_375_340_400_000)
    check(read.expiration == nil)
    try checkEqual(read.creationDate(), Self.dateMs)
    check(read.unknown == 0 && read.kept.isEmpty)
    let purchase = try require(read.purchases.first)
    checkEqual(read.purchases.count, 1)
    checkEqual(purchase.quantity, 1)
    checkEqual(read.text(purchase.productId), "com.example.app.gold")
    checkEqual(read.text(purchase.transactionId), "2000000900000001")
    checkEqual(read.text(purchase.originalTransactionId), "2000000900000000")
    checkEqual(read.text(purchase.promotionalOfferId), "spring")
    checkEqual(purchase.purchaseDate, Self.dateMs)
    checkEqual(purchase.originalPurchaseDate, 1_795_219_200_000)
    checkEqual(purchase.expiresDate, 1_797_762_030_000)
    checkEqual(purchase.type, 3)
    checkEqual(purchase.webOrderLineItemId, 2_000_000_090_000_001)
    check(purchase.cancellationDate == nil && purchase.cancellationReason == nil)
    check(purchase.isTrialPeriod == true && purchase.isInIntroOfferPeriod == false)
  }

  @Test("APR-14 no purchases, and \"\" for what is optional")
  func absent() throws {
    let least: [Made] = [
      .ascii(12, Self.date), .text(2, "com.example.app"), .text(0, "Production"),
      .text(3, ""), .text(19, ""), .ascii(18, ""),
      Made(
        17,
        Made.set([
          .text(1702, "p"), .text(1703, "0"), .ascii(1704, Self.date), .text(1705, ""),
          .ascii(1706, ""), .ascii(1708, ""), .integer(1711, 0), .text(1721, ""),
        ])),
    ]
    let read = try read(payload: Made.set(least))
    check(read.applicationVersion == nil && read.originalApplicationVersion == nil)
    check(read.originalPurchaseDate == nil && read.appAppleId == nil)
    let purchase = try require(read.purchases.first)
    check(purchase.originalTransactionId == nil && purchase.promotionalOfferId == nil)
    check(purchase.originalPurchaseDate == nil && purchase.expiresDate == nil)
    check(purchase.webOrderLineItemId == nil && purchase.quantity == nil)
    try check(self.read(payload: Made.set(Array(least.prefix(3)))).purchases.isEmpty)
  }

  @Test("APR-11 unknown types are counted and skipped, described ones kept")
  func unknown() throws {
    let inner = Self.purchase + [Made(1800, [1]), Made(4_000_000_000, [])]
    let all =
      Self.receipt.setting(Made(17, Made.set(inner)))
      + [Made(26, [0xff]), Made(70_000, [0xff]), Made(22, [0xca, 0xfe]), Made(32, [])]
    let read = try read(payload: Made.set(all))
    checkEqual(read.unknown, 4)
    checkEqual(read.kept.map { $0.type }, [22, 32])
    checkEqual(read.kept.map { Array(read.slice($0.value)) }, [[0xca, 0xfe], []])
  }

  // MARK: payload and attributes

  @Test("APR-1 APR-2 the payload is one definite SET that fills the octets")
  func payload() {
    let good = Made.set(Self.receipt)
    let content = Array(Self.receipt.flatMap(\.der))
    check(refusal(payload: good) == nil)
    for wrong in [
      Write.octetString(good), Write.value(0x30, content), good + [0], Array(good.dropLast()),
      good + good, [], [0x31],
    ] {
      checkEqual(refusal(payload: wrong)?.status, .malformedAppReceiptStructure)
    }
    for wrong in [
      [0x31, 0x80] + content + [0, 0],
      Write.value(0x31, content + [0x30, 0x80, 0x00, 0x00]),
      Write.value(0x31, content + [0x30]), Write.value(0x31, content + [0x30, 0x05, 0x02]),
      Write.value(0x31, content + [0x30, 0x81, 0x00]),
      Write.value(0x31, content + [0x30, 0x04, 0x02, 0x01, 0x63, 0x02]),
      Write.value(0x31, content + Write.sequence(Write.unsigned([99]))),
      Write.value(0x31, content + Write.sequence(Write.unsigned([99]), Write.unsigned([1]))),
      Write.value(
        0x31,
        content
          + Write.sequence(
            Write.unsigned([99]), Write.unsigned([1]), [0x24, 0x80, 0x04, 0x00, 0x00, 0x00])),
    ] {
      checkEqual(refusal(payload: wrong)?.status, .malformedAppReceiptBer, "\(wrong.suffix(12))")
    }
  }

  @Test("APR-12 an attribute is SEQUENCE { INTEGER, INTEGER, OCTET STRING }")
  func attributeForm() {
    let (type, version) = (Write.unsigned([99]), Write.unsigned([1]))
    let value = Write.octetString([1])
    func refusal(_ whole: [UInt8]) -> Refusal? {
      self.refusal(payload: Write.value(0x31, Self.receipt.flatMap(\.der) + whole))
    }
    check(refusal(Write.sequence(type, version, value)) == nil)
    for wrong in [
      Write.set(type, version, value), Write.sequence(value, version, type),
      Write.sequence(type, value, version), Write.sequence(type, version, Write.utf8("x")),
      Write.sequence(type, version, value, Write.null),
      Write.sequence(Write.utf8("x"), version, value),
      Write.sequence(type, Write.utf8("x"), value),
      Write.sequence(Write.integer(octets: []), version, value),
      Write.sequence(Write.integer(octets: [0xff]), version, value),
      Write.sequence(Write.integer(octets: [0, 0x63]), version, value),
      Write.sequence(Write.integer(octets: [1, 0, 0, 0, 0, 0, 0, 0, 0]), version, value),
      Write.sequence(type, Write.integer(octets: []), value),
      Write.sequence(type, Write.integer(octets: [0, 1]), value),
    ] {
      checkEqual(refusal(wrong)?.status, .malformedAppReceiptAttribute)
    }
  }

  @Test("APR-11 no type but 17 occurs twice in one SET")
  func duplicates() {
    for attribute in Self.receipt where !attribute.isType(17) {
      checkEqual(
        refusal(Self.receipt + [attribute])?.status, .malformedAppReceiptDuplicateAttribute)
    }
    check(refusal(Self.receipt + [Self.receipt[17]]) == nil)
    for type in [26, 63, 64, 70_000, 1702, 1764] {
      let twice = [Made(type, [1]), Made(99, []), Made(type, [2])]
      check(refusal(Self.receipt + [twice[0]]) == nil)
      checkEqual(
        refusal(Self.receipt + twice)?.status, .malformedAppReceiptDuplicateAttribute)
    }
    for attribute in Self.purchase {
      let set = Made.set(Self.purchase + [attribute])
      let found = refusal(Self.receipt.setting(Made(17, set)))
      checkEqual(found?.status, .malformedAppReceiptDuplicateAttribute)
      checkEqual(found?.place.hasPrefix("purchases[0]/attribute "), true)
    }
    let set = Made.set(Self.purchase + [Made(1800, []), Made(1800, [])])
    checkEqual(
      refusal(Self.receipt.setting(Made(17, set)))?.status, .malformedAppReceiptDuplicateAttribute)
  }

  @Test("APR-14 what is required")
  func required() {
    for type in [0, 2, 12] {
      let found = refusal(Self.receipt.removing(type))
      checkEqual(found?.status, .malformedAppReceiptMissingAttribute)
      checkEqual(found?.place, "attribute \(type)")
    }
    for type in [1702, 1703, 1704] {
      let set = Made.set(Self.purchase.removing(type))
      let found = refusal(Self.receipt + [Made(17, set)])
      checkEqual(found?.status, .malformedAppReceiptMissingAttribute)
      checkEqual(found?.place, "purchases[1]/attribute \(type)")
    }
    for empty in [.text(1702, ""), .text(1703, ""), .ascii(1704, "")] as [Made] {
      checkEqual(refusal(purchaseWith: empty)?.status, .malformedAppReceiptMissingAttribute)
    }
    for type in [1, 3, 4, 5, 6, 8, 10, 11, 13, 15, 16, 17, 18, 19, 21] {
      check(refusal(Self.receipt.removing(type)) == nil)
    }
    for type in [1701, 1705, 1706, 1707, 1708, 1709, 1710, 1711, 1712, 1713, 1719, 1721, 1722] {
      let set = Made.set(Self.purchase.removing(type))
      check(refusal(Self.receipt.setting(Made(17, set))) == nil)
    }
  }

  // MARK: values

  @Test("APR-12 INTEGERs are minimal, not negative, and of at most eight octets and a sign")
  func integers() throws {
    for (octets, value) in [
      ([0], 0), ([0x7f], 127), ([0, 0x80], 128), ([0x20, 0, 0, 0, 0, 0, 1], 9_007_199_254_740_993),
      ([0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], UInt64(Int64.max)),
      ([0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], UInt64.max),
    ] as [([UInt8], UInt64)] {
      let attribute = Made(15, Write.integer(octets: octets))
      let read = try read(payload: Made.set(Self.receipt.setting(attribute)))
      checkEqual(read.downloadId, value)
    }
    for wrong in [
      Write.integer(octets: []), Write.integer(octets: [0x80]), Write.integer(octets: [0xff]),
      Write.integer(octets: [0, 0]), Write.integer(octets: [0, 0x7f]),
      Write.integer(octets: [0x80, 0]), Write.integer(octets: [0xff, 0x7f]),
      Write.integer(octets: [1, 0, 0, 0, 0, 0, 0, 0, 0]),
      Write.integer(octets: [0, 0xff, 0, 0, 0, 0, 0, 0, 0, 0]), Write.utf8("1"),
      [0x02, 0x02, 0x01],
      Write.unsigned([1]) + [0], [], [0x22, 0x80, 0x02, 0x01, 0x01, 0x00, 0x00],
    ] {
      for type in [1, 11, 15, 16] {
        let found = refusal(with: Made(type, wrong))
        checkEqual(found?.status, .malformedAppReceiptAttribute, "\(type) \(wrong)")
        checkEqual(found?.place, "attribute \(type)")
      }
      for type in [1701, 1707, 1710, 1711, 1713, 1719] {
        let found = refusal(purchaseWith: Made(type, wrong))
        checkEqual(found?.status, .malformedAppReceiptAttribute, "\(type) \(wrong)")
        checkEqual(found?.place, "purchases[0]/attribute \(type)")
      }
    }
    for type in [1713, 1719] {
      checkEqual(refusal(purchaseWith: .integer(type, 2))?.status, .malformedAppReceiptAttribute)
    }
  }

  @Test("APR-12 texts are UTF8String of UTF-8, dates and ratings IA5String of ASCII")
  func texts() throws {
    for type in [0, 2, 3, 19] {
      check(refusal(with: .text(type, "Größe 日本")) == nil)
      for wrong in [
        Write.ia5("x"), Write.value(0x0c, [0xff]), Write.value(0x0c, [0xed, 0xa0, 0x80]),
        Write.value(0x0c, [0xc3]), Write.utf8("x\0y"), Write.utf8("x") + [0], [0x0c, 0x02, 0x41],
        [],
        [0x2c, 0x80, 0x00, 0x00],
      ] {
        checkEqual(refusal(with: Made(type, wrong))?.status, .malformedAppReceiptAttribute)
      }
    }
    for type in [1702, 1703, 1705, 1721] {
      for wrong in [Write.ia5("x"), Write.value(0x0c, [0xff]), Write.utf8("x\0y")] {
        checkEqual(
          refusal(purchaseWith: Made(type, wrong))?.status, .malformedAppReceiptAttribute)
      }
    }
    for type in [8, 10, 12, 18, 21] {
      for wrong in [Write.utf8(Self.date), Write.value(0x16, [0x80]), []] {
        checkEqual(refusal(with: Made(type, wrong))?.status, .malformedAppReceiptAttribute)
      }
    }
    for type in [1704, 1706, 1708, 1712] {
      checkEqual(
        refusal(purchaseWith: .text(type, Self.date))?.status, .malformedAppReceiptAttribute)
    }
  }

  @Test("APR-12 the raw values have their lengths")
  func raw() {
    for (type, lengths) in [(4, [8, 16]), (5, [20])] {
      for count in 0...24 {
        let found = refusal(with: Made(type, [UInt8](repeating: 1, count: count)))
        checkEqual(found == nil, lengths.contains(count))
        if let found { checkEqual(found.status, .malformedAppReceiptAttribute) }
      }
    }
  }

  @Test("APR-12 a purchase is one definite SET")
  func purchaseForm() {
    let set = Made.set(Self.purchase)
    for wrong in [
      Write.octetString(set), set + [0], Array(set.dropLast()), [], [0x30, 0x00],
      [0x31, 0x80, 0x00, 0x00],
    ] {
      checkEqual(refusal(with: Made(17, wrong))?.status, .malformedAppReceiptAttribute)
    }
    check(refusal(with: Made(17, set)) == nil)
    let inner = Write.value(0x31, Self.purchase.flatMap(\.der) + [0x30, 0x80, 0x00, 0x00])
    checkEqual(refusal(with: Made(17, inner))?.status, .malformedAppReceiptBer)
  }

  @Test("APR-12 attribute 1720 has no form that is known")
  func reason() throws {
    for (value, expected) in [
      (Write.unsigned([1]), 1), (Write.utf8("0"), 0), (Write.utf8("x"), nil), (Write.ia5("1"), nil),
      (Write.utf8("-1"), nil), (Write.utf8("1234567890"), nil), ([], nil),
    ] as [([UInt8], UInt64?)] {
      let set = Made.set(Self.purchase + [Made(1720, value)])
      let read = try read(payload: Made.set(Self.receipt.setting(Made(17, set))))
      checkEqual(read.purchases.first?.cancellationReason, expected)
    }
  }

  // MARK: dates

  @Test(
    "APR-13 the forms of a date",
    arguments: [
      ("2026-11-20T10:20:30Z", 1_795_170_030_000), ("2026-11-20T10:20:30.1Z", 1_795_170_030_100),
      ("2026-11-20T10:20:30.12Z", 1_795_170_030_120),
      ("2026-11-20T10:20:30.123Z", 1_795_170_030_123),
      ("2026-11-20T10:20:30+0100", 1_795_166_430_000),
      ("2026-11-20T10:20:30-0130", 1_795_175_430_000),
      ("2026-11-20T10:20:30+01:00", 1_795_166_430_000),
      ("2026-11-20T10:20:30.5-01:30", 1_795_175_430_500),
      ("2024-02-29T00:00:00Z", 1_709_164_800_000), ("2000-02-29T23:59:59Z", 951_868_799_000),
      ("1970-01-01T00:00:00Z", 0), ("0000-01-01T00:00:00Z", -62_167_219_200_000),
      ("9999-12-31T23:59:59.999-2359", 253_402_387_139_999),
    ])
  func date(text: String, milliseconds: Int64) {
    checkEqual(AppReceiptDate.milliseconds(utf8(text)[...]), milliseconds)
    check(AppReceiptDate.milliseconds((utf8(text) + [0x20])[...]) == nil)
    check(AppReceiptDate.milliseconds(([0x20] + utf8(text))[...]) == nil)
    for end in 0..<text.utf8.count {
      check(AppReceiptDate.milliseconds(utf8(text)[..<end]) == nil)
    }
  }

  @Test(
    "APR-13 what is no date",
    arguments: [
      "2026-13-20T10:20:30Z", "2026-00-20T10:20:30Z", "2026-11-31T10:20:30Z",
      "2026-11-00T10:20:30Z", "2026-02-29T10:20:30Z", "1900-02-29T10:20:30Z",
      "2026-11-20T24:20:30Z", "2026-11-20T10:60:30Z", "2026-11-20T10:20:60Z",
      "2026-11-20 10:20:30Z", "2026/11/20T10:20:30Z", "2026-11-20T10:20:30z",
      "2026-11-20T10:20:30.Z", "2026-11-20T10:20:30.1234Z", "2026-11-20T10:20:30,1Z",
      "2026-11-20T10:20:30+1", "2026-11-20T10:20:30+2400", "2026-11-20T10:20:30+0060",
      "2026-11-20T10:20:30 +0100", "2026-11-20T10:20:30+01-00", "2026-11-20T10:20:30ZZ",
      "2026-11-20T10-20:30Z", "2026-11-20T10:20-30Z", "2026-1a-20T10:20:30Z", "26-11-20T10:20:30Z",
      "2026-11/20T10:20:30Z",
      "-026-11-20T10:20:30Z", "2026-11-20T10:20:30", "2026-11-20T10:20:30Etc/GMT", "\u{0}",
    ])
  func noDate(text: String) {
    check(AppReceiptDate.milliseconds(utf8(text)[...]) == nil)
    for type in [8, 18, 21] {
      let found = refusal(with: .ascii(type, text))
      checkEqual(found?.status, .malformedAppReceiptDate)
      checkEqual(found?.place, "attribute \(type)")
    }
    for type in [1704, 1706, 1708, 1712] {
      checkEqual(refusal(purchaseWith: .ascii(type, text))?.status, .malformedAppReceiptDate)
    }
  }

  @Test("APR-13 dates lie in 2008 … 2100, the expiration date may lie beyond")
  func range() throws {
    for text in ["2007-12-31T23:59:59Z", "2100-01-01T00:00:00Z", "4001-01-01T00:00:00Z"] {
      for type in [8, 18] {
        checkEqual(refusal(with: .ascii(type, text))?.status, .rejectedDateRange)
      }
      for type in [1704, 1706, 1708, 1712] {
        checkEqual(refusal(purchaseWith: .ascii(type, text))?.status, .rejectedDateRange)
      }
    }
    for text in ["2008-01-01T00:00:00Z", "2099-12-31T23:59:59Z"] {
      for type in [8, 18, 21] { check(refusal(with: .ascii(type, text)) == nil) }
      for type in [1704, 1706, 1708, 1712] {
        check(refusal(purchaseWith: .ascii(type, text)) == nil)
      }
    }
    checkEqual(refusal(with: .ascii(21, "2007-12-31T23:59:59Z"))?.status, .rejectedDateRange)
    for text in ["2100-01-01T00:00:00Z", "4001-01-01T00:00:00Z"] {
      let read = try read(payload: Made.set(Self.receipt.setting(.ascii(21, text))))
      guard case .text(let found) = read.expiration else {
        Issue.record("\(text) is not kept as text")
        continue
      }
      checkEqual(read.text(found).string, text)
    }
    let dated = Made.set(Self.receipt.setting(.ascii(21, Self.date)))
    try checkEqual(read(payload: dated).expiration, .date(Self.dateMs))
  }

  // MARK: limits and hostile input

  @Test("APR-1 elements and purchases are limited")
  func limits() {
    let payload = Made.set(Self.receipt)
    let elements = 1 + 4 * Self.receipt.count + 1 + 4 * Self.purchase.count
    check(refusal(payload: payload, .init(elements: elements, purchases: 1)) == nil)
    checkEqual(
      refusal(payload: payload, .init(elements: elements - 1, purchases: 1))?.status,
      .tooLargeAppReceiptElements)
    for budget in 0..<elements {
      checkEqual(
        refusal(payload: payload, .init(elements: budget, purchases: 1))?.status,
        .tooLargeAppReceiptElements)
    }
    checkEqual(
      refusal(payload: payload, .init(elements: elements, purchases: 0))?.status,
      .tooLargeAppReceiptPurchases)
    let two = Made.set(Self.receipt + [Self.receipt[17]])
    checkEqual(
      refusal(payload: two, .init(elements: 10_000, purchases: 1))?.status,
      .tooLargeAppReceiptPurchases)
    check(refusal(payload: two, .init(elements: 10_000, purchases: 2)) == nil)
  }

  @Test("APR-1 no changed byte makes the reader trap")
  func flips() {
    let good = Made.set(Self.receipt)
    var refused = 0
    for place in good.indices {
      for mask in [0x01, 0x20, 0x7f, 0x80, 0xff] as [UInt8] {
        var bytes = good
        bytes[place] ^= mask
        if refusal(payload: bytes) != nil { refused += 1 }
      }
      check(refusal(payload: Array(good[..<place])) != nil)
    }
    check(refused > good.count)
  }

  // MARK: claims

  private func claims(_ attributes: [Made]) throws -> AppReceiptClaims? {
    let chain = try AppReceiptFixture.authority().chain(.current)
    var template = AppReceiptTemplate(attributes: attributes, chain: chain, digest: .sha256)
    template.signature = .octets([1])
    return AppReceiptClaims.claims(try template.signed())
  }

  @Test("TRI-3 a claim needs no signature, no required attribute and no good date")
  func claimed() throws {
    let claims = try require(try claims(Self.receipt))
    checkEqual(claims.form, .appReceipt)
    checkEqual(claims.text(claims.type), "ProductionSandbox")
    checkEqual(claims.text(claims.bundleId), "com.example.app")
    checkEqual(claims.creationDate, Self.dateMs)
    let purchase = try require(claims.purchases.first)
    checkEqual(claims.text(purchase.productId), "com.example.app.gold")
    checkEqual(claims.text(purchase.transactionId), "2000000900000001")
    checkEqual(claims.text(purchase.originalTransactionId), "2000000900000000")
    checkEqual(purchase.webOrderLineItemId, 2_000_000_090_000_001)
    check(purchase.purchaseDate == Self.dateMs && purchase.type == 3)
    let least = try require(
      try self.claims([.text(0, "x"), .ascii(12, "1999-01-01T00:00:00Z"), Made(17, [0x31, 0x00])]))
    check(least.bundleId == nil && least.creationDate == nil)
    check(least.purchases.count == 1 && least.purchases.first?.productId == nil)
    try check(self.claims(Self.receipt.removing(0)) == nil)
  }

  @Test("TRI-3 an App Attest receipt is recognised by its attributes 3 and 6")
  func attest() throws {
    let fields = [
      Made(2, utf8("TEAM.com.example.app")), Made(3, [0x30, 0x00]), Made(6, utf8("ATTEST")),
      Made(12, utf8("2026-11-20T10:20:30.5Z")), Made(17, utf8("2")),
    ]
    let claims = try require(try claims(fields))
    checkEqual(claims.form, .attestReceipt)
    checkEqual(claims.text(claims.type), "ATTEST")
    checkEqual(claims.text(claims.bundleId), "TEAM.com.example.app")
    check(claims.creationDate == Self.dateMs + 500 && claims.purchases.isEmpty)
    try checkEqual(self.claims(fields.setting(Made(6, utf8("RECEIPT"))))?.form, .attestReceipt)
    try check(self.claims(fields.setting(Made(6, utf8("OTHER")))) == nil)
    try check(self.claims(fields.removing(3)) == nil)
    try check(self.claims(fields.removing(6)) == nil)
    try checkEqual(self.claims(fields + [.text(0, "Production")])?.form, .appReceipt)
    let damaged = try self.claims(fields.setting(Made(2, [0xff])))
    check(damaged?.bundleId == nil && damaged?.form == .attestReceipt)
  }
}
