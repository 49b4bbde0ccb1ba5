import AssayAuthority

extension CaseFixture {
  /// Adds damaged receipts of which the ids of a purchase are left (TRI-13).
  func addTriageRemains() throws {
    try addDamagedContainers()
    try addIncompleteContainers()
    try addDamagedLists()
  }

  private func triage(
    _ name: String, _ blob: [UInt8], _ status: String, id: String?, more: Facts = []
  ) {
    let left: Facts =
      id.map { [("/unverified.transactionId", .text($0)), ("/unverified.keys.0", .null)] }
      ?? [("/unverified", .null)]
    add(
      "TRI-13", name, .triage(verifier: "standard", blob: .bytes(blob), now: now),
      .init(status, facts: left + more))
  }

  private var id: String { purchase.transactionId }

  private func addDamagedContainers() throws {
    let ber = "malformed.app-receipt.ber"
    let good = try receipts.appTemplate(appFacts).signed()
    let original: Facts = [
      ("/unverified.originalTransactionId", .text(purchase.originalTransactionId)),
      ("/unverified.bundleId", "com.example.app"), ("/unverified.environment", "Sandbox"),
      ("/unverified.productId", .text(purchase.productId)), ("category", "malformed"),
      ("disposition", "resend"), ("nextStep", "none"),
    ]
    triage(
      "an app receipt cut in its signature", Array(good.dropLast(100)), ber, id: id, more: original)
    let text = Base64Text.encode(good)
    let uneven = text.count - (text.count - 401) % 4
    triage(
      "the text of an app receipt, cut between two digits", Array(text.prefix(uneven - 400)),
      "malformed.transport.base64", id: id, more: original)
    triage(
      "a text of nothing, cut between two digits", Array(text.prefix(5)),
      "malformed.transport.base64", id: nil)
    for (name, extra) in [("in the id", 5), ("before the id", 0)] {
      let cut = Self.offset(of: Array(purchase.transactionId.utf8), in: good) + extra
      triage("an app receipt cut \(name) of its purchase", Array(good.prefix(cut)), ber, id: nil)
    }
    for (name, change, left) in [
      ("an original id of letters", { $0.originalTransactionId = "12x" }, id),
      ("an id of letters", { $0.transactionId = "200000090000000x" }, nil),
      ("an id of 13 digits", { $0.transactionId = "2000000900000" }, nil),
    ] as [(String, (inout Purchase) -> Void, String?)] {
      let receipt = try receipts.appTemplate(
        appFacts.with { $0.purchases = [purchase.with(change)] }
      ).signed()
      triage(
        "a cut app receipt with \(name)", Array(receipt.dropLast(100)), ber, id: left,
        more: [("/unverified.originalTransactionId", .null)])
    }
    var two = appFacts
    let other = "2000000900000777"
    two.purchases = [purchase, purchase.with { $0.transactionId = other }]
    var template = try receipts.appTemplate(two)
    // The chunks of one size do not divide the id.
    for form in [ASN1Tree.Form.definite] + (100...120).map({ .indefinite(chunk: $0) }) {
      template.form = form
      let whole = try template.signed()
      let second = Self.offset(of: Array(other.utf8), in: whole)
      guard second < whole.count else { continue }
      triage(
        "an app receipt cut in its second purchase, \(form)", Array(whole.prefix(second + 5)), ber,
        id: id)
    }
  }

  private func addIncompleteContainers() throws {
    func receipt(_ change: (inout AppReceiptTemplate) -> Void) throws -> [UInt8] {
      var template = try receipts.appTemplate(appFacts)
      change(&template)
      return Base64Text.encode(try template.signed())
    }
    triage(
      "an app receipt without its type", try receipt { $0.attributes.removeAll { $0.isType(0) } },
      "malformed.app-receipt.structure", id: id, more: [("/unverified.environment", .null)])
    triage(
      "an app receipt without its type and purchases",
      try receipt { $0.attributes.removeAll { $0.isType(0) || $0.isType(17) } },
      "malformed.app-receipt.structure", id: nil)
    triage(
      "an app receipt whose attributes are no set",
      try receipt {
        $0.payload = [0x30] + AttributeTemplate.set($0.attributes).dropFirst()
      }, "malformed.app-receipt.structure", id: nil)
    let version: [UInt8] = [0x02, 0x01, 0x01, 0x31]
    triage(
      "an app receipt whose version is no number",
      try receipt {
        $0.finish = { bytes in
          let place = Self.offset(of: version, in: bytes)
          return Array(bytes[..<place]) + [0x04] + bytes[(place + 1)...]
        }
      }, "malformed.app-receipt.structure", id: nil)
    triage(
      "an app receipt of an unknown type",
      try receipt {
        $0.attributes.removeAll { $0.isType(0) }
        $0.attributes.append(.text(0, "ProductionNew"))
      }, "pending.triage.verify-next", id: id, more: [("category", "unconfirmed")])
    var test = appFacts
    test.purchases = [purchase.with { $0.transactionId = "0" }]
    add(
      "TRI-13", "an app receipt with the id of a test",
      .triage(verifier: "standard", blob: .bytes(try receipts.appReceipt(test)), now: now),
      .init(
        "pending.triage.verify-next",
        facts: [("/unverified.transactionId", .null), ("/unverified.purchases", 1)]))
  }

  private func addDamagedLists() throws {
    let incomplete = "rejected.triage.incomplete"
    var template = try receipts.transactionTemplate(purchase)
    let good = try template.signed()
    template.outer = { $0.removing("signature") }
    triage(
      "a transaction receipt without its signature", Base64Text.encode(try template.signed()),
      incomplete, id: id,
      more: [
        ("/unverified.originalTransactionId", .text(purchase.originalTransactionId)),
        ("/unverified.bundleId", "com.example.app"), ("/unverified.environment", "Sandbox"),
      ])
    template.outer = { $0.removing("purchase-info") }
    triage(
      "a transaction receipt without its signed list", Base64Text.encode(try template.signed()),
      incomplete, id: nil)
    let name = Array("\"purchase-info\"".utf8)
    let from = Self.offset(of: name, in: good) + name.count
    let start = from + Self.offset(of: [0x22], in: Array(good[from...])) + 1
    let end = start + Self.offset(of: [0x22], in: Array(good[start...]))
    triage(
      "a transaction receipt cut after its signed list", Array(good.prefix(end + 1)),
      "malformed.plist.syntax", id: id, more: [("/unverified.bundleId", "com.example.app")])
    triage(
      "a transaction receipt cut at the end of its signed list", Array(good.prefix(end - 5)),
      "malformed.plist.syntax", id: id,
      more: [
        ("/unverified.originalTransactionId", .text(purchase.originalTransactionId)),
        ("/unverified.environment", "Sandbox"),
      ])
    triage(
      "a transaction receipt cut before its signed list", Array(good.prefix(from)),
      "malformed.plist.syntax", id: nil)
    let syntax = "malformed.plist.syntax"
    for (name, text, status) in [
      ("before its equals sign", "{\"purchase-info\" ", syntax),
      ("before its value", "{\"purchase-info\" = ", syntax),
      (
        "of JSON",
        "{\"purchase-info\" : \"\(Self.base64("{\"transaction-id\" = \"\(id)\""))",
        "malformed.plist.construct"
      ),
    ] {
      triage("a list cut \(name)", Array(text.utf8), status, id: nil)
    }
    let long = "{\"x\" = \"" + String(repeating: "x", count: 16_384) + "\"; \"purchase-info\" = \""
    let whole = Base64Text.encode(
      Array((long + Self.base64("{\"transaction-id\" = \"\(id)\"; \"pod\" = \"20000000")).utf8))
    triage(
      "the text of a list past the limit, cut between two digits",
      Array(whole.prefix(whole.count - (whole.count - 1) % 4)), "malformed.transport.base64",
      id: nil)
    for (name, quoted, id) in [
      ("whole", "\"transaction-id\" = \"\(id)\"", id), ("cut", "\"transaction-id\" = \"\(id)", nil),
      ("no number", "\"transaction-id\" = \"12x\"", nil),
      ("of 21 digits", "\"transaction-id\" = \"100000090000000100000\"", nil),
      ("bare", "\"transaction-id\" = \(id);", nil),
      ("another name's", "\"original-transaction-id\" = \"\(id)\"", nil),
    ] as [(String, String, String?)] {
      let text = "{\"purchase-info\"=\"" + Self.base64("{" + quoted)
      triage(
        "a list cut in its signed list, id \(name)", Array(text.utf8), "malformed.plist.syntax",
        id: id)
    }
  }

  private static func base64(_ text: String) -> String {
    // Whole groups of four digits, as the text is cut anyway.
    let padded = text + String(repeating: " ", count: (3 - text.utf8.count % 3) % 3)
    return String(decoding: Base64Text.encode(Array(padded.utf8)), as: UTF8.self)
  }

  /// Returns the offset of the first occurrence of `part`; the length of `whole` if there is none.
  private static func offset(of part: [UInt8], in whole: [UInt8]) -> Int {
    guard whole.count >= part.count else { return whole.count }
    return (0...(whole.count - part.count)).first { whole[$0...].starts(with: part) } ?? whole.count
  }
}
