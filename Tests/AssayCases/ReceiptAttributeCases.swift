import AssayAuthority

extension CaseFixture {
  /// Adds attributes in the payload of an app receipt (APR-9, APR-11 … APR-14).
  func addReceiptAttributeCases() throws {
    try addAttributeShapes()
    try addAttributeValues()
    try addAttributeDates()
    try addMissingAttributes()
    try addIds()
  }

  private var broken: String { "malformed.app-receipt.attribute" }

  /// Ids that a database would mistake for another key, or could not store.
  static let oddIds: [(name: String, id: String)] = [
    ("with a slash", "2000000900000001/2"), ("with a line feed", "20000009\n00000001"),
    ("with a blank", "2000000900000001 "), ("with a letter", "2000000900000001a"),
    ("with a sign", "-2000000900000001"), ("of Arabic digits", "٢٠٠٠٠٠٠٩٠٠٠٠٠٠٠١"),
    ("of 21 digits", "200000090000000123456"),
    ("of 5,000 digits", String(repeating: "2", count: 5000)),
  ]

  /// Adds ids, which are 1 to 20 digits if they become part of a key (APR-25).
  private func addIds() throws {
    for type in [1703, 1705] {
      for (name, id) in CaseFixture.oddIds {
        try purchaseAttributes(
          "APR-25", "attribute \(type) \(name)", broken, check: "receipt.attributes",
          at: "purchases[0]/attribute \(type)"
        ) { $0.setting(.text(type, id)) }
      }
      try purchaseAttributes("APR-25", "attribute \(type) of 20 digits") {
        $0.setting(.text(type, "20000009000000012345"))
      }
    }
  }

  /// Adds faults in the structure of attributes (APR-11).
  private func addAttributeShapes() throws {
    let twice = "malformed.app-receipt.duplicate-attribute"
    for type in [0, 2, 3, 12, 25] {
      try attributes("APR-11", "attribute \(type) twice", twice, check: "receipt.attributes") {
        $0 + $0.filter { $0.isType(type) }
      }
    }
    try attributes("APR-11", "attribute 2 twice, the second another", twice) {
      $0 + [.text(2, "com.example.second")]
    }
    try attributes("APR-11", "an unknown attribute twice", twice) {
      $0 + [.text(99, "a"), .text(99, "b")]
    }
    for type in [1702, 1703, 1704, 1712] {
      try purchaseAttributes(
        "APR-11", "attribute \(type) of a purchase twice", twice, check: "receipt.attributes"
      ) { $0 + $0.filter { $0.isType(type) } }
    }
    try attributes("APR-11", "unknown attributes") {
      $0 + [.text(99, "a"), .integer(100_000, 1), AttributeTemplate(98, [0xff, 0xff])]
    }
    try purchaseAttributes("APR-11", "unknown attributes of a purchase") {
      $0 + [.text(1799, "a"), AttributeTemplate(1798, [0xff])]
    }
    let unclean: [(String, [UInt8])] = [
      ("an attribute without a value", DER.sequence(DER.unsigned([99]), DER.unsigned([1]))),
      (
        "an attribute without a version",
        DER.sequence(DER.unsigned([99]), DER.octetString([1]))
      ),
      ("an attribute cut short", [0x30, 0x20, 0x02]),
      (
        "an attribute of indefinite length",
        [0x30, 0x80] + DER.unsigned([99]) + DER.unsigned([1]) + DER.octetString([1]) + [0, 0]
      ),
    ]
    let shapes: [(String, [UInt8])] = [
      ("a text in the place of an attribute", DER.utf8("x")),
      (
        "an attribute with a fourth member",
        DER.sequence(DER.unsigned([99]), DER.unsigned([1]), DER.octetString([1]), DER.null)
      ),
      (
        "an attribute whose value is a text",
        DER.sequence(DER.unsigned([99]), DER.unsigned([1]), DER.utf8("x"))
      ),
      (
        "an attribute of a negative type",
        DER.sequence(DER.integer(octets: [0xff]), DER.unsigned([1]), DER.octetString([1]))
      ),
      (
        "an attribute of a type of nine octets",
        DER.sequence(
          DER.integer(octets: Array(repeating: 0x11, count: 9)), DER.unsigned([1]),
          DER.octetString([1]))
      ),
    ]
    for (rule, status, list) in [
      ("APR-1", "malformed.app-receipt.ber", unclean), ("APR-12", broken, shapes),
    ] {
      for (name, whole) in list {
        var attribute = AttributeTemplate(99, [])
        attribute.whole = whole
        try attributes(rule, name, status, check: "receipt.attributes") { $0 + [attribute] }
      }
    }
  }

  /// Adds values of wrong types (APR-12).
  private func addAttributeValues() throws {
    let texts: [(String, [UInt8])] = [
      ("an IA5 string", DER.ia5("com.example.app")), ("an integer", DER.unsigned([1])),
      ("octets", DER.octetString(Array("com.example.app".utf8))),
      ("text without a tag", Array("com.example.app".utf8)), ("nothing", []),
      ("bytes that are no UTF-8", DER.value(0x0c, [0x63, 0xff])),
      ("an octet after it", DER.utf8("com.example.app") + [0]),
      ("a length too long", [0x0c, 0x20, 0x63]),
      ("a length that is not the shortest", [0x0c, 0x81, 0x0f] + Array("com.example.app".utf8)),
    ]
    for (name, value) in texts {
      try attributes(
        "APR-12", "bundle id: \(name)", broken, check: "receipt.attributes"
      ) { $0.setting(AttributeTemplate(2, value)) }
      try purchaseAttributes(
        "APR-12", "product id: \(name)", broken, check: "receipt.attributes"
      ) { $0.setting(AttributeTemplate(1702, value)) }
    }
    let integers: [(String, [UInt8])] = [
      ("a text", DER.utf8("1")), ("negative", DER.integer(octets: [0xff])),
      ("not minimal", DER.integer(octets: [0, 1])), ("no octets", DER.integer(octets: [])),
      ("nine octets", DER.integer(octets: Array(repeating: 0x11, count: 9))),
      ("an octet after it", DER.unsigned([1]) + [0]),
    ]
    for (name, value) in integers {
      for type in [1, 15] {
        try attributes(
          "APR-12", "attribute \(type): \(name)", broken, check: "receipt.attributes"
        ) { $0.setting(AttributeTemplate(type, value)) }
      }
      for type in [1701, 1711] {
        try purchaseAttributes(
          "APR-12", "attribute \(type): \(name)", broken, check: "receipt.attributes"
        ) { $0.setting(AttributeTemplate(type, value)) }
      }
    }
    let ones = [UInt8](repeating: 0xff, count: 8)
    for (name, octets, fact) in [
      ("2^53", [0x20, 0, 0, 0, 0, 0, 0], "9007199254740992"),
      ("2^63 - 1", [0x7f] + ones.dropFirst(), "9223372036854775807"),
      ("2^64 - 1", [0] + ones, "18446744073709551615"),
    ] as [(String, [UInt8], EvidenceCase.Fact)] {
      try attributes("APR-12", "a download id of \(name)", facts: [("downloadId", fact)]) {
        $0.setting(AttributeTemplate(15, DER.integer(octets: octets)))
      }
    }
    try attributes("APR-12", "a creation date that is not ASCII", broken) {
      $0.setting(AttributeTemplate(12, DER.value(0x16, [0x32, 0xc3, 0xa9])))
    }
    try attributes("APR-12", "purchases that are no set", broken) {
      $0.setting(AttributeTemplate(17, DER.sequence()))
    }
    try attributes("APR-12", "an octet after a purchase", broken) { list in
      list.changing(17) { $0.value.append(0) }
    }
  }

  /// Adds forms of dates (APR-13).
  private func addAttributeDates() throws {
    let day = WrittenDate.iso(purchase.signedDate).prefix(19)
    let at = "creationDate"
    for (name, text, ms) in [
      ("Z", "\(day)Z", 0), ("+0100", "\(day)+0100", -3_600_000),
      ("-0800", "\(day)-0800", 8 * 3_600_000), ("+01:00", "\(day)+01:00", -3_600_000),
      ("-08:30", "\(day)-08:30", 8 * 3_600_000 + 1_800_000), ("+0000", "\(day)+0000", 0),
      ("a fraction", "\(day).5Z", 500), ("three digits", "\(day).123Z", 123),
      ("two digits and an offset", "\(day).25+0100", 250 - 3_600_000),
    ] as [(String, String, Int64)] {
      try appReceipt(
        "APR-13", "a creation date with \(name)", now: now + 9 * 3_600_000,
        facts: [(at, .integer(purchase.signedDate + ms))]
      ) { $0.attributes = $0.attributes.setting(.ascii(12, text)) }
    }
    let unreadable = [
      "\(day)", "\(day)z", "\(day)+01", "\(day)+01000", "\(day).Z", "\(day).1234Z",
      "2026-13-20T00:00:00Z", "2026-02-30T00:00:00Z", "2026-11-20T24:00:00Z",
      "2026-11-20T00:60:00Z", "2026-11-20T00:00:60Z", "2026-11-20 00:00:00Z", "26-11-20T00:00:00Z",
      "20261120T000000Z", "\(day)Z ", " \(day)Z", "\(day)+2500", "\(day)+0160", "now",
    ]
    for text in unreadable {
      try attributes("APR-13", "a creation date '\(text)'", "malformed.app-receipt.date") {
        $0.setting(.ascii(12, text))
      }
    }
    for type in [1704, 1706, 1708, 1712] {
      try purchaseAttributes(
        "APR-13", "attribute \(type) that is no date", "malformed.app-receipt.date"
      ) { $0.setting(.ascii(type, "yesterday")) }
    }
    try purchaseAttributes("APR-12", "a purchase date as UTF8String", broken) {
      $0.setting(.text(1704, WrittenDate.iso(purchase.purchaseDate)))
    }
    for (name, text) in [
      ("before 2008", "2007-12-31T23:59:59Z"), ("of 2100", "2100-01-01T00:00:00Z"),
      ("of the year 0", "0000-01-01T00:00:00Z"),
    ] {
      try attributes("APR-9", "a creation date \(name)", "rejected.date.range") {
        $0.setting(.ascii(12, text))
      }
      try purchaseAttributes("APR-13", "a purchase date \(name)", "rejected.date.range") {
        $0.setting(.ascii(1704, text))
      }
    }
    try attributes("APR-9", "an empty creation date", "rejected.date.missing") {
      $0.setting(.ascii(12, ""))
    }
    try attributes(
      "APR-13", "an expiration in the year 4001",
      facts: [("expirationDate", "4001-01-01T00:00:00Z")]
    ) { $0.setting(.ascii(21, "4001-01-01T00:00:00Z")) }
    try attributes(
      "APR-13", "an expiration next year", facts: [("expirationDate", 1_822_003_200_000)]
    ) { $0.setting(.ascii(21, "2027-09-27T00:00:00Z")) }
    try attributes(
      "APR-13", "an empty original purchase date", facts: [("originalPurchaseDate", .null)]
    ) { $0.setting(.ascii(18, "")) }
  }

  /// Adds missing attributes (APR-14).
  private func addMissingAttributes() throws {
    let missing = "malformed.app-receipt.missing-attribute"
    for type in [0, 2] {
      try attributes("APR-14", "no attribute \(type)", missing, check: "receipt.attributes") {
        $0.removing(type)
      }
    }
    for type in [1702, 1703, 1704] {
      try purchaseAttributes(
        "APR-14", "no attribute \(type) in a purchase", missing, check: "receipt.attributes"
      ) { $0.removing(type) }
    }
    try purchaseAttributes("APR-14", "an empty purchase", missing) { _ in [] }
    try purchaseAttributes(
      "APR-14", "the required attributes of a purchase alone",
      facts: [
        ("purchases.0.originalTransactionId", .null), ("purchases.0.expiresDate", .null),
        ("purchases.0.webOrderLineItemId", .null), ("purchases.0.type", .null),
      ]
    ) { list in list.filter { $0.isType(1702) || $0.isType(1703) || $0.isType(1704) } }
    try attributes("APR-14", "the required attributes alone") { list in
      list.filter { $0.isType(0) || $0.isType(2) || $0.isType(12) }
    }
    try purchaseAttributes(
      "RPL-3", "web order line item 0 counts as absent",
      facts: [
        ("purchases.0.keys.purchase", .text("Sandbox/2000000900000001/\(purchase.purchaseDate)"))
      ]
    ) { $0.setting(.integer(1711, 0)) }
    try purchaseAttributes(
      "APR-23", "transaction id 0 of the store never becomes a key",
      facts: [("purchases.0.transactionId", "0"), ("purchases.0.keys.transaction", .null)]
    ) { $0.setting(.text(1703, "0")) }
    try purchaseAttributes(
      "APR-12", "a promotional offer", facts: [("purchases.0.promotionalOfferId", "winter")]
    ) { $0 + [.text(1721, "winter")] }
    try purchaseAttributes(
      "APR-12", "a cancelled purchase",
      facts: [
        ("purchases.0.cancellationDate", .integer(purchase.signedDate - 60_000)),
        ("purchases.0.cancellationReason", 1),
      ],
      of: purchase.with {
        $0.revocationDate = $0.signedDate - 60_000
        $0.revocationReason = 1
      }
    ) { $0 }
  }
}
