import AssayAuthority

extension CaseFixture {
  /// Adds transport encodings of receipts (RCP-1 … RCP-5).
  func addTransportCases() throws {
    let bytes = try receipts.transactionTemplate(purchase).signed()
    let app = try receipts.appTemplate(appFacts).signed()
    let forms: [(TransportForm, String, Int64)] = [
      (.raw, "raw", 0), (.base64, "base64", 1), (.wrapped, "base64", 1),
      (.wrappedLF, "base64", 1), (.urlSafe, "base64", 1), (.unpadded, "base64", 1),
      (.doubled, "base64-twice", 2),
    ]
    for (form, name, levels) in forms {
      receipt(
        "RCP-1", "a transaction receipt, \(form.rawValue)", form.encode(bytes),
        facts: transport(name, levels))
      receipt(
        "RCP-1", "an app receipt, \(form.rawValue)", form.encode(app), kind: .appReceipt,
        facts: transport(name, levels))
    }
    for (name, text) in [("nothing", []), ("a blank", [0x20]), ("blanks", [0x0d, 0x0a, 0x09])]
      as [(String, [UInt8])]
    {
      for kind in ReceiptEvidenceKind.allCases {
        receipt(
          "RCP-1", "\(name) as \(kind.rawValue)", text, kind: kind,
          kind == .attestReceipt
            ? "malformed.attest-receipt.empty" : "malformed.transport.empty",
          check: "transport")
      }
    }
    receipt(
      "RCP-1", "a text past the limit", text: .text("AAAA", times: 786_433), kind: .appReceipt,
      "too-large.transport.input", check: "transport")
    receipt(
      "RCP-1", "a text past a lower limit", TransportForm.base64.encode(bytes),
      verifier: "small-input", "too-large.transport.input", check: "transport")
    try addBase64Cases(bytes)
    try addSpaceCases()
    addLevelCases(bytes)
    try addKindCases(bytes, app)
  }

  private func transport(_ form: String, _ levels: Int64) -> Facts {
    [
      ("transport.form", .text(form)), ("transport.levels", .integer(levels)),
      ("transport.spaceAsPlus", false),
    ]
  }

  /// Adds base64 texts (RCP-2).
  private func addBase64Cases(_ bytes: [UInt8]) throws {
    func refuse(_ name: String, _ text: [UInt8]) {
      receipt("RCP-2", name, text, "malformed.transport.base64", check: "transport")
    }
    let text = Base64Text.encode(bytes)
    let bare = Array(text.prefix { $0 != 0x3d })
    let half = text.count / 2 / 4 * 4
    refuse("padding in the middle", Array(text[..<half]) + [0x3d] + text[half...])
    refuse("a padding character too many", text + [0x3d])
    refuse("three padding characters", bare + [0x3d, 0x3d, 0x3d])
    refuse("one character too many", Array(bare.prefix(bare.count / 4 * 4 - 3)))
    refuse("a character of no alphabet", Array(text[..<half]) + [0x2a] + text[(half + 1)...])
    refuse("a NUL", Array(text[..<half]) + [0x00] + text[(half + 1)...])
    refuse("a byte past 127", Array(text[..<half]) + [0xc3, 0xa9] + text[(half + 2)...])
    refuse("both alphabets", Array(text[..<half]) + [0x2b, 0x5f] + text[(half + 2)...])
    refuse(
      "a form field that nobody decoded",
      TransportForm.percentEscaped.encode(Array(bytes.dropLast(bytes.count % 3 == 0 ? 1 : 0))))
    // One more white space at the end leaves unused bits in the last character.
    var ending = bytes
    while ending.count % 3 == 0 { ending.append(0x0a) }
    if let loose = Base64Text.withLooseBits(Base64Text.encode(ending)) {
      refuse("unused bits that are set", loose)
    }
    receipt("RCP-2", "the same unused bits, clear", Base64Text.encode(ending))
    let spaced = text.enumerated().flatMap { place, character -> [UInt8] in
      place > 0 && place % 4 == 0 ? [0x09, character] : [character]
    }
    receipt("RCP-2", "a tab after every fourth character", spaced)
  }

  /// Adds texts in which a form post has replaced `+` (RCP-3). The base64 of a property list has no
  /// `+` (its bytes are ASCII), that of a container has many.
  private func addSpaceCases() throws {
    var seen: Set<Int> = []
    for number in 0..<400 where seen.count < 12 {
      let facts = appFacts.with { $0.applicationVersion = String(10_000 + number * 7919) }
      let bytes = try receipts.appTemplate(facts).signed()
      let text = Base64Text.encode(bytes)
      let lost = text.filter { $0 == 0x2b }.count % 4
      let padding = text.suffix(2).filter { $0 == 0x3d }.count
      guard text.contains(0x2b), seen.insert(lost * 4 + padding).inserted else { continue }
      receipt(
        "RCP-3", "plus turned into a space, \(lost) modulo 4 of them, padding \(padding)",
        TransportForm.spaceForPlus.encode(bytes), kind: .appReceipt,
        facts: [("transport.spaceAsPlus", true)])
    }
    var tilde = try receipts.transactionTemplate(purchase)
    tilde.outer = { $0.appending("note", "~~~~~~~~~") }
    receipt(
      "RCP-3", "a list with plus turned into a space",
      TransportForm.spaceForPlus.encode(try tilde.signed()),
      facts: [("transport.spaceAsPlus", true)])
    var both = try receipts.appTemplate(appFacts)
    both.signature = .damaged
    receipt(
      "RCP-3", "a forged receipt with plus turned into a space",
      TransportForm.spaceForPlus.encode(try both.signed()), kind: .appReceipt,
      "rejected.app-receipt.signature", check: "receipt.signature")
    let text = try receipts.transactionReceipt(purchase)
    let half = text.count / 2
    receipt(
      "RCP-3", "a space that stands for nothing", Array(text[..<half]) + [0x20] + text[half...],
      facts: [("transport.spaceAsPlus", false)])
    receipt(
      "RCP-3", "a space before each line's end",
      TransportForm.wrapped.encode(try receipts.transactionTemplate(purchase).signed())
        .flatMap { $0 == 0x0d ? [0x20, 0x0d] : [$0] })
  }

  /// Adds several levels of encoding (RCP-4).
  private func addLevelCases(_ bytes: [UInt8]) {
    receipt(
      "RCP-4", "base64 three times", TransportForm.tripled.encode(bytes),
      "malformed.transport.levels", check: "transport")
    receipt(
      "RCP-4", "base64 twice, wrapped both times",
      TransportForm.wrapped.encode(TransportForm.wrapped.encode(bytes)))
  }

  /// Adds input for another call (RCP-5).
  private func addKindCases(_ bytes: [UInt8], _ app: [UInt8]) throws {
    let jws = try authority.mint(purchase.transactionPayload)
    let attestation: [UInt8] = [0xa3, 0x63] + Array("fmt".utf8) + [0x61, 0x61]
    let others: [(String, ReceiptEvidenceKind, [UInt8])] = [
      ("a JWS as a transaction receipt", .transactionReceipt, jws),
      ("a JWS as an app receipt", .appReceipt, jws),
      ("a JWS in base64 as an app receipt", .appReceipt, Base64Text.encode(jws)),
      ("an app receipt as a transaction receipt", .transactionReceipt, Base64Text.encode(app)),
      ("a raw app receipt as a transaction receipt", .transactionReceipt, app),
      ("a transaction receipt as an app receipt", .appReceipt, Base64Text.encode(bytes)),
      ("a raw transaction receipt as an app receipt", .appReceipt, bytes),
      ("an attestation as an app receipt", .appReceipt, Base64Text.encode(attestation)),
      (
        "an attestation as a transaction receipt", .transactionReceipt,
        Base64Text.encode(attestation)
      ),
    ]
    for (name, kind, blob) in others {
      receipt("RCP-5", name, blob, kind: kind, "rejected.kind.mismatch", check: "transport")
    }
  }
}
