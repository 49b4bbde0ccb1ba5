import AssayAuthority
import Testing

@testable import Assay

/// Tests responses, bits, tokens and the block, without a request (DVC-1 … DVC-12).
@Suite("DeviceCheck")
struct DeviceCheckTests {
  private func read(
    _ status: Int64, _ body: String, call: String = "query", offer: Bool? = nil,
    changes: [(String, JSONText)] = [], now: Int64 = Exchanges.now
  ) throws -> Document {
    var request: JSONText = [
      "operation": "read-device-check-response", "call": .string(call), "status": .integer(status),
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
    let tree = try require(document.tree?.at("exchange.deviceCheck"))
    checkEqual(tree.at("month")?.isNull, true)
    checkEqual(tree.at("ageMonths")?.isNull, true)
    checkEqual(tree.at("bits.bit0.name")?.isNull, true)
    checkEqual(tree.at("bits.bit0.value")?.boolean, false)
    checkEqual(tree.at("bits.bit1.value")?.boolean, true)
    checkEqual(tree.at("bits.bit1.set")?.boolean, true)
  }

  @Test(
    "DVC-11 a bit of the future is not aged, and one without a limit never is",
    arguments: ["2025-10", "2026-12"])
  func aged(month: String) throws {
    let document = try read(200, bits(true, true, month))
    checkEqual(document.flag("exchange.deviceCheck.bits.bit0.aged"), (month == "2025-10"))
    let endless = try read(
      200, bits(true, true, month),
      changes: [("deviceCheck.bits", ["bit0": ["name": "promo-used"]])])
    checkEqual(endless.flag("exchange.deviceCheck.bits.bit0.set"), true)
  }

  @Test(
    "DVC-7 DVC-8 a text means something with its own call and status alone",
    arguments: [
      ("query", 403, "bad device token", "rejected.device-check.request"),
      ("query", 500, "bit state not found", "unavailable.device-check.no-response"),
      ("query", 401, "bad device token", "unavailable.device-check.response"),
      ("query", 404, "bad device token", "unavailable.device-check.response"),
      ("query", 400, "authorization token expired", "unavailable.device-check.response"),
      ("update", 200, "bit state not found", "unavailable.device-check.response"),
      ("validate", 400, "bit state not found", "unavailable.device-check.response"),
      ("validate", 200, #"{"bit0":true,"bit1":true}"#, "unavailable.device-check.response"),
    ] as [(String, Int64, String, String)])
  func others(call: String, http: Int64, body: String, status: String) throws {
    let document = try read(http, body, call: call)
    Exchanges.expect(document, status)
    checkEqual(document.text("exchange.deviceCheck.outcome"), "unavailable")
    checkEqual(document.tree?.at("exchange.deviceCheck.bits")?.isNull, true)
    if document.status.family == .unavailable {
      checkEqual(document.text("error.retryClass"), "later")
    }
  }

  @Test("DVC-12 a bit whose month is unknown counts")
  func offerOfUnknownMonth() throws {
    Exchanges.expect(
      try read(200, bits(true, false, nil), offer: true), "rejected.promo.device-used")
  }

  @Test("DVC-7 a body of more than 4 KiB is not Apple's")
  func longBody() throws {
    func padded(_ text: String, to length: Int) -> String {
      text + String(repeating: " ", count: length - text.utf8.count)
    }
    let good = bits(true, false)
    Exchanges.expect(try read(200, padded(good, to: 4096)), "ok")
    Exchanges.expect(
      try read(200, padded(good, to: 4097)), "unavailable.device-check.response", at: "body")
    Exchanges.expect(
      try read(200, String(repeating: " ", count: 4097), call: "update"),
      "unavailable.device-check.response", at: "body")
    Exchanges.expect(
      try read(400, padded("bad device token", to: 4097)), "unavailable.device-check.response")
    Exchanges.expect(
      try read(400, padded("bad device token", to: 4096)), "rejected.device-check.token")
  }

  @Test("DVC-12 the verdict needs a query, and a bit that stands for offers")
  func offerNeeds() throws {
    Exchanges.expect(
      try read(200, "", call: "update", offer: true), "misuse.exchange.request", at: "offer")
    Exchanges.expect(
      try read(
        200, bits(true, true), offer: true,
        changes: [("deviceCheck.bits", ["bit0": ["name": "trial"], "bit1": ["name": "abuse"]])]),
      "config.device-check.bits", at: "deviceCheck.bits", rule: "DVC-10")
    // Either bit gives the same result.
    let other: [(String, JSONText)] = [("deviceCheck.bits", ["bit1": ["name": "promo"]])]
    Exchanges.expect(
      try read(200, bits(false, true), offer: true, changes: other),
      "rejected.promo.device-used")
    Exchanges.expect(try read(200, bits(true, false), offer: true, changes: other), "ok")
  }

  // MARK: tokens

  private func token(_ value: JSONText) throws -> Document {
    try Exchanges.run(["operation": "normalize-device-token", "deviceToken": value])
  }

  @Test("DVC-4 a device token becomes standard base64")
  func tokens() throws {
    let bytes = [UInt8](0...255)
    let text = String(decoding: Base64.encodeStandard(bytes), as: UTF8.self)
    let forms: [JSONText] = [
      .string(text), ["text": .string(text)], ["base64": .string(text)],
      ["base64": .string(String(decoding: Base64.encodeStandard(utf8(text)), as: UTF8.self))],
    ]
    for form in forms {
      let document = try token(form)
      Exchanges.expect(document, "ok")
      checkEqual(document.text("exchange.deviceToken"), text)
      checkEqual(document.text("exchange.operation"), "normalize-device-token")
    }
    // The request needs no block.
    let (_, document) = try Minted.verifier().startExchange(
      utf8(#"{"operation":"normalize-device-token","deviceToken":"AA=="}"#), nowMs: Exchanges.now)
    checkEqual(document.text("exchange.deviceToken"), "AA==")
  }

  @Test("DVC-4 other tokens are refused by name")
  func badTokens() throws {
    for bad in ["", "A", "AA", "AA=", "A-_=", "AAAA\nAAAA", "AAA=AAAA", "AB=="] {
      Exchanges.expect(
        try token(.string(bad)), "malformed.device-check.token", at: "deviceToken", rule: "DVC-4")
    }
    for bad in ["", "*garbage*", "AAAA\nAAAA"] {
      Exchanges.expect(try token(["text": .string(bad)]), "malformed.device-check.token")
    }
    Exchanges.expect(try token(["base64": ""]), "malformed.device-check.token")
    Exchanges.expect(try token(7), "misuse.exchange.request", at: "deviceToken")
    Exchanges.expect(try token(["base64": "A"]), "misuse.exchange.request")
    Exchanges.expect(
      try Exchanges.run(["operation": "normalize-device-token"]), "misuse.exchange.request",
      at: "deviceToken")
    let document = try token("*secret*")
    check(!String(decoding: document.json, as: UTF8.self).contains("secret"))
  }

  @Test("DVC-4 a device token has 1 to 8,192 bytes")
  func tokenLengths() throws {
    func encoded(_ count: Int) -> JSONText {
      .string(utf8: Base64.encodeStandard([UInt8](repeating: 7, count: count)))
    }
    Exchanges.expect(try token(["base64": encoded(8193)]), "too-large.device-check.token")
    // Texts that are too long are refused before anything is decoded.
    Exchanges.expect(
      try token(.string(String(repeating: "*", count: 10_925))), "too-large.device-check.token")
    Exchanges.expect(
      try token(.string(String(repeating: "*", count: 10_924))), "malformed.device-check.token")
  }

  // MARK: configuration

  private func expect(
    _ changes: [(String, JSONText)], _ status: String, at place: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let config = try Minted.config([("deviceCheck", try Exchanges.deviceCheck())] + changes)
    let (verifier, document) = Verifier.alone(config.bytes)
    checkEqual(verifier == nil, (status != "ok"), sourceLocation: sourceLocation)
    Exchanges.expect(document, status, at: place, sourceLocation: sourceLocation)
  }

  @Test("DVC-10 the effective configuration has the block, and never the key")
  func effective() throws {
    let (_, document) = Verifier.alone(
      try Minted.config([("deviceCheck", try Exchanges.deviceCheck())]).bytes)
    checkEqual(
      Text(Array(document.tree?.at("configuration.deviceCheck")?.source ?? [])),
      """
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
    checkEqual(development.text("configuration.deviceCheck.environment"), "development")
    check(development.tree?.at("configuration.deviceCheck.bits.bit0") == nil)
    checkEqual(
      development.tree?.at("configuration.deviceCheck.bits.bit1.resetAfterMonths")?.isNull, true)
    let (_, without) = Verifier.alone(try Minted.config().bytes)
    checkEqual(without.tree?.at("configuration.deviceCheck")?.isNull, true)
  }

  @Test("DVC-1 the team id is named, or the one of the apps")
  func teamIds() throws {
    let apps: (String?, String?) -> JSONText = { first, second in
      func app(_ name: String, _ team: String?) -> JSONText {
        let app: JSONText = ["bundleId": .string(name), "appAppleId": 1]
        return team.map { app.setting("teamId", .string($0)) } ?? app
      }
      return [app("a", first), app("b", second)]
    }
    for (first, second, isGood) in [
      ("TEAM000001", "TEAM000001", true), ("TEAM000001", nil, true), (nil, "TEAM000001", true),
      ("TEAM000001", "TEAM000002", false), (nil, nil, false),
    ] as [(String?, String?, Bool)] {
      let config = try Minted.config([
        ("apps", apps(first, second)),
        ("deviceCheck", try Exchanges.deviceCheck().removing("teamId")),
      ])
      let document = Verifier.alone(config.bytes).document
      if isGood {
        checkEqual(document.text("configuration.deviceCheck.teamId"), "TEAM000001")
      } else {
        Exchanges.expect(
          document, "config.device-check.team-id", at: "deviceCheck.teamId", rule: "DVC-1")
      }
    }
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
      try expect([(place, value)], "config.device-check.bits", at: at)
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
    check(verifier != nil)
  }

  @Test("DVC-2 the key never comes back out")
  func keys() throws {
    let file = try SigningKey.generate(.p256).pem()
    let text = String(decoding: file, as: UTF8.self)
    let (_, refused) = Verifier.alone(
      try Minted.config([
        ("deviceCheck", try Exchanges.deviceCheck().setting("privateKey", .string("k" + text)))
      ]).bytes)
    Exchanges.expect(refused, "config.device-check.key")
    let (verifier, document) = Verifier.alone(
      try Minted.config([
        ("deviceCheck", try Exchanges.deviceCheck().setting("privateKey", .string(text)))
      ]).bytes)
    check(verifier != nil)
    let secret = String(text.split(separator: "\n")[1])
    for document in [refused, document] {
      check(!String(decoding: document.json, as: UTF8.self).contains(secret))
    }
  }
}
