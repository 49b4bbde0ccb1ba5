import AssayAuthority
import Testing

@testable import Assay

/// DVC-1 … DVC-12 as far as nothing is sent: answers, bits, tokens, the block.
@Suite("DeviceCheck")
struct DeviceCheckTests {
  private func read(
    _ status: Int64, _ body: String, call: String = "query", offer: Bool? = nil,
    changes: [(String, JSONText)] = [], now: Int64 = Exchanges.now
  ) throws -> Document {
    var request: JSONText = [
      "kind": "deviceCheck.read", "call": .string(call), "status": .integer(status),
      "body": ["text": .string(body)],
    ]
    if let offer { request = request.setting("offer", .boolean(offer)) }
    return try Exchanges.run(request, changes, now: now)
  }

  private func bits(_ bit0: Bool, _ bit1: Bool, _ month: String? = "2026-05") -> String {
    let time = month.map { #","last_update_time":"\#($0)""# } ?? ""
    return #"{"bit0":\#(bit0),"bit1":\#(bit1)\#(time)}"#
  }

  // MARK: answers

  @Test("DVC-10 without names the bits mean nothing, and are shown all the same")
  func unnamedBits() throws {
    let document = try read(
      200, bits(false, true, nil), changes: [("deviceCheck.bits", .object([]))])
    Exchanges.expect(document, "ok")
    let tree = try #require(document.tree?.at("exchange.deviceCheck"))
    #expect(tree.at("month")?.isNull == true)
    #expect(tree.at("ageMonths")?.isNull == true)
    #expect(tree.at("bits.bit0.name")?.isNull == true)
    #expect(tree.at("bits.bit0.value")?.boolean == false)
    #expect(tree.at("bits.bit1.value")?.boolean == true)
    #expect(tree.at("bits.bit1.set")?.boolean == true)
  }

  @Test("DVC-7 a body of more than 4 KiB is not Apple's")
  func longBody() throws {
    func padded(_ text: String, to length: Int) -> String {
      text + String(repeating: " ", count: length - text.utf8.count)
    }
    let good = bits(true, false)
    Exchanges.expect(try read(200, padded(good, to: 4096)), "ok")
    Exchanges.expect(
      try read(200, padded(good, to: 4097)), "unavailable.devicecheck.response", at: "body")
    Exchanges.expect(
      try read(200, String(repeating: " ", count: 4097), call: "update"),
      "unavailable.devicecheck.response", at: "body")
    Exchanges.expect(
      try read(400, padded("bad device token", to: 4097)), "unavailable.devicecheck.response")
    Exchanges.expect(
      try read(400, padded("bad device token", to: 4096)), "rejected.devicecheck.token")
  }

  @Test("EXC-5 a body is text, base64 or null")
  func bodyForms() throws {
    let base: JSONText = ["kind": "deviceCheck.read", "call": "update", "status": 200]
    for body: JSONText in [.null, ["text": ""], ["base64": ""]] {
      Exchanges.expect(try Exchanges.run(base.setting("body", body)), "ok")
    }
    Exchanges.expect(try Exchanges.run(base), "ok")
    let encoded = base.setting([
      ("call", "query"), ("body", ["base64": .string("Yml0IHN0YXRlIG5vdCBmb3VuZA==")]),
    ])
    #expect(try Exchanges.run(encoded).text("exchange.deviceCheck.outcome") == "no-bits")
    for (body, place) in [
      ("text" as JSONText, "body"), (["text": "", "base64": ""], "body"), (.object([]), "body"),
      (["text": 1], "body.text"), (["base64": "*"], "body.base64"), (["hex": ""], "body.hex"),
      (["base64": 1], "body.base64"),
    ] {
      Exchanges.expect(
        try Exchanges.run(base.setting("body", body)), "misuse.exchange.request", at: place)
    }
  }

  // MARK: offers

  @Test("DVC-12 the verdict needs a query, and a bit that stands for offers")
  func offerNeeds() throws {
    Exchanges.expect(
      try read(200, "", call: "update", offer: true), "misuse.exchange.request", at: "offer")
    Exchanges.expect(
      try read(
        200, bits(true, true), offer: true,
        changes: [("deviceCheck.bits", ["bit0": ["name": "trial"], "bit1": ["name": "abuse"]])]),
      "config.devicecheck.bits", at: "deviceCheck.bits", rule: "DVC-10")
    // Which of the two it is does not matter.
    let other: [(String, JSONText)] = [("deviceCheck.bits", ["bit1": ["name": "promo"]])]
    Exchanges.expect(
      try read(200, bits(false, true), offer: true, changes: other),
      "rejected.promo.device-used")
    Exchanges.expect(try read(200, bits(true, false), offer: true, changes: other), "ok")
  }

  // MARK: tokens

  private func token(_ value: JSONText) throws -> Document {
    try Exchanges.run(["kind": "deviceCheck.token", "deviceToken": value])
  }

  @Test("DVC-4 a device token has 1 to 8,192 bytes")
  func tokenLengths() throws {
    func encoded(_ count: Int) -> JSONText {
      .string(utf8: Base64.encodeStandard([UInt8](repeating: 7, count: count)))
    }
    Exchanges.expect(try token(encoded(1)), "ok")
    Exchanges.expect(try token(encoded(8192)), "ok")
    for count in [8193, 8194, 8195, 20_000] {
      Exchanges.expect(
        try token(encoded(count)), "too-large.devicecheck.token", at: "deviceToken",
        rule: "DVC-4")
    }
    Exchanges.expect(try token(["base64": encoded(8193)]), "too-large.devicecheck.token")
    // Too long before anything is decoded.
    Exchanges.expect(
      try token(.string(String(repeating: "*", count: 10_925))), "too-large.devicecheck.token")
    Exchanges.expect(
      try token(.string(String(repeating: "*", count: 10_924))), "malformed.devicecheck.token")
  }

  // MARK: configuration

  private func expect(
    _ changes: [(String, JSONText)], removing: [String] = [], _ status: String, at place: String,
    rule: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let config = try Minted.config(
      [("deviceCheck", try Exchanges.deviceCheck())] + changes
    ).removing(removing)
    let (verifier, document) = Verifier.alone(config.bytes)
    #expect((verifier == nil) == (status != "ok"), sourceLocation: sourceLocation)
    Exchanges.expect(document, status, at: place, rule: rule, sourceLocation: sourceLocation)
  }

  @Test("DVC-10 the effective configuration has the block, and never the key")
  func effective() throws {
    let (_, document) = Verifier.alone(
      try Minted.config([("deviceCheck", try Exchanges.deviceCheck())]).bytes)
    #expect(
      Text(Array(document.tree?.at("configuration.deviceCheck")?.source ?? [])) == """
        {"teamId":"ABCDE12345","keyId":"KEYID12345","privateKey":true,\
        "environment":"production","bits":{"bit0":{"name":"promo-used","resetAfterMonths":12},\
        "bit1":{"name":"abuse","resetAfterMonths":24}}}
        """)
    let (_, development) = Verifier.alone(
      try Minted.config([
        (
          "deviceCheck",
          try Exchanges.deviceCheck().setting("environment", "development").setting(
            "bits", ["bit1": ["name": "x"]])
        )
      ]).bytes)
    #expect(development.text("configuration.deviceCheck.environment") == "development")
    #expect(development.tree?.at("configuration.deviceCheck.bits.bit0") == nil)
    #expect(
      development.tree?.at("configuration.deviceCheck.bits.bit1.resetAfterMonths")?.isNull == true)
    let (_, without) = Verifier.alone(try Minted.config().bytes)
    #expect(without.tree?.at("configuration.deviceCheck")?.isNull == true)
  }

  @Test("DVC-10 DVC-11 names and ages of the bits")
  func bitBlocks() throws {
    let place = "deviceCheck.bits"
    for (value, at) in [
      (1 as JSONText, place), (["bit0": 1], place + ".bit0"),
      (["bit0": ["resetAfterMonths": 1]], place + ".bit0.name"),
      (["bit1": ["name": ""]], place + ".bit1.name"),
      (["bit1": ["name": .string(String(repeating: "n", count: 65))]], place + ".bit1.name"),
      (["bit1": ["name": 1]], place + ".bit1.name"),
      (["bit0": ["name": "n", "resetAfterMonths": 0]], place + ".bit0.resetAfterMonths"),
      (["bit0": ["name": "n", "resetAfterMonths": 1201]], place + ".bit0.resetAfterMonths"),
      (["bit0": ["name": "n", "resetAfterMonths": "1"]], place + ".bit0.resetAfterMonths"),
      (["bit0": ["name": "n"], "bit1": ["name": "n"]], place + ".bit1.name"),
    ] {
      try expect([(place, value)], "config.devicecheck.bits", at: at)
    }
    try expect(
      [(place, ["bit2": ["name": "n"]])], "config.document.unknown-member", at: place + ".bit2")
    try expect(
      [(place, ["bit0": ["name": "n", "months": 1]])], "config.document.unknown-member",
      at: place + ".bit0.months")
    let longest: JSONText = [
      "bit0": ["name": .string(String(repeating: "n", count: 64)), "resetAfterMonths": 1200]
    ]
    let (verifier, _) = Verifier.alone(
      try Minted.config([("deviceCheck", try Exchanges.deviceCheck().setting("bits", longest))])
        .bytes)
    #expect(verifier != nil)
  }
}
