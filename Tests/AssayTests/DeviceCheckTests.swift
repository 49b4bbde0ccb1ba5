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

  @Test("DVC-8 bits come with their names, their month and their age")
  func bitsAnswer() throws {
    let document = try read(200, " \n" + bits(true, false) + "\r\n")
    Exchanges.expect(document, "ok")
    let result = try #require(document.tree?.at("exchange.deviceCheck"))
    #expect(
      Text(Array(result.source)) == """
        {"outcome":"bits","fault":null,"month":"2026-05","ageMonths":6,"bits":{"bit0":\
        {"name":"promo-used","value":true,"aged":false,"set":true},"bit1":{"name":"abuse",\
        "value":false,"aged":false,"set":false}},"offer":null}
        """)
    #expect(document.text("exchange.kind") == "deviceCheck.read")
    #expect(document.text("exchange.state") == "done")
    #expect(document.text("kind") == "exchange")
    #expect(document.evidence == nil)
  }

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

  @Test(
    "DVC-11 a bit that is older than its limit counts as clear",
    arguments: [("2025-11", 12, false), ("2025-10", 13, true), ("2026-12", -1, false)])
  func aged(month: String, age: Int64, isAged: Bool) throws {
    let document = try read(200, bits(true, true, month))
    #expect(document.integer("exchange.deviceCheck.ageMonths") == age)
    #expect(document.flag("exchange.deviceCheck.bits.bit0.aged") == isAged)
    #expect(document.flag("exchange.deviceCheck.bits.bit0.set") == !isAged)
    #expect(document.flag("exchange.deviceCheck.bits.bit0.value") == true)
    // 24 months for the other bit.
    #expect(document.flag("exchange.deviceCheck.bits.bit1.aged") == false)
    let endless = try read(
      200, bits(true, true, month),
      changes: [("deviceCheck.bits", ["bit0": ["name": "promo-used"]])])
    #expect(endless.flag("exchange.deviceCheck.bits.bit0.set") == true)
  }

  @Test(
    "DVC-7 success by call, body and status",
    arguments: [
      ("query", 200, "Failed to find bit state", "no-bits"),
      ("query", 200, "Bit State Not Found\n", "no-bits"),
      ("query", 400, "failed to find bit state.", "no-bits"),
      ("query", 400, "bit state not found", "no-bits"),
      ("update", 200, "", "updated"),
      ("update", 200, " \r\n", "updated"),
      ("validate", 200, "", "valid"),
    ] as [(String, Int64, String, String)])
  func successes(call: String, status: Int64, body: String, outcome: String) throws {
    let document = try read(status, body, call: call)
    Exchanges.expect(document, "ok")
    #expect(document.text("exchange.deviceCheck.outcome") == outcome)
    #expect(document.tree?.at("exchange.deviceCheck.bits")?.isNull == true)
  }

  /// Call, HTTP status, body, status of the document, outcome, whose fault.
  private static let refusals: [(String, Int64, String, String, String, String)] = [
    (
      "query", 400, "Missing or incorrectly formatted device token payload",
      "rejected.devicecheck.token", "token-refused", "client"
    ),
    ("validate", 400, "Bad Device Token", "rejected.devicecheck.token", "token-refused", "client"),
    (
      "update", 400, "Missing or incorrectly formatted bits", "rejected.devicecheck.bits",
      "unavailable", "ours"
    ),
    ("update", 400, "Bad Bits", "rejected.devicecheck.bits", "unavailable", "ours"),
    (
      "query", 400, "Missing or incorrectly formatted time stamp",
      "rejected.devicecheck.timestamp", "unavailable", "ours"
    ),
    ("query", 400, "Bad Timestamp", "rejected.devicecheck.timestamp", "unavailable", "ours"),
    (
      "query", 400, "Missing or badly formatted authorization token",
      "rejected.devicecheck.unauthorized", "unavailable", "ours"
    ),
    (
      "query", 400, "Bad Authorization Token", "rejected.devicecheck.unauthorized",
      "unavailable", "ours"
    ),
    ("query", 400, "  bad payload", "rejected.devicecheck.payload", "unavailable", "ours"),
    (
      "query", 401, "Unable to verify authorization token",
      "rejected.devicecheck.unauthorized", "unavailable", "ours"
    ),
    (
      "query", 401, "INVALID AUTHORIZATION TOKEN", "rejected.devicecheck.unauthorized",
      "unavailable", "ours"
    ),
    (
      "query", 401, "Authorization Token Expired", "rejected.devicecheck.unauthorized",
      "unavailable", "ours"
    ),
    ("query", 403, "Forbidden", "rejected.devicecheck.request", "unavailable", "ours"),
    ("query", 403, "bad device token", "rejected.devicecheck.request", "unavailable", "ours"),
    ("query", 405, "", "rejected.devicecheck.request", "unavailable", "ours"),
    ("query", 0, "", "unavailable.devicecheck.no-answer", "unavailable", "transient"),
    ("query", 429, "slow", "unavailable.devicecheck.no-answer", "unavailable", "transient"),
    (
      "query", 500, "bit state not found", "unavailable.devicecheck.no-answer", "unavailable",
      "transient"
    ),
    ("query", 503, "", "unavailable.devicecheck.no-answer", "unavailable", "transient"),
    ("query", 502, "", "unavailable.devicecheck.no-answer", "unavailable", "transient"),
    // DVC-8: neither clean nor used.
    ("query", 200, "", "unavailable.devicecheck.response", "unavailable", "unknown"),
    ("query", 200, "OK", "unavailable.devicecheck.response", "unavailable", "unknown"),
    ("query", 200, "{", "unavailable.devicecheck.response", "unavailable", "unknown"),
    (
      "query", 200, #"{"bit0":1,"bit1":0}"#, "unavailable.devicecheck.response",
      "unavailable", "unknown"
    ),
    (
      "query", 200, #"{"bit0":true}"#, "unavailable.devicecheck.response", "unavailable",
      "unknown"
    ),
    (
      "query", 200, #"{"bit1":true}"#, "unavailable.devicecheck.response", "unavailable",
      "unknown"
    ),
    (
      "query", 200, #"{"bit0":true,"bit1":true,"last_update_time":"2026-5"}"#,
      "unavailable.devicecheck.response", "unavailable", "unknown"
    ),
    (
      "query", 200, #"{"bit0":true,"bit1":true,"last_update_time":202605}"#,
      "unavailable.devicecheck.response", "unavailable", "unknown"
    ),
    (
      "query", 200, #"{"bit0":true,"bit0":false,"bit1":true}"#,
      "unavailable.devicecheck.response", "unavailable", "unknown"
    ),
    (
      "update", 200, "bit state not found", "unavailable.devicecheck.response", "unavailable",
      "unknown"
    ),
    (
      "validate", 400, "bit state not found", "unavailable.devicecheck.response", "unavailable",
      "unknown"
    ),
    (
      "validate", 200, #"{"bit0":true,"bit1":true}"#, "unavailable.devicecheck.response",
      "unavailable", "unknown"
    ),
    ("query", 400, "what", "unavailable.devicecheck.response", "unavailable", "unknown"),
    ("query", 400, "", "unavailable.devicecheck.response", "unavailable", "unknown"),
    (
      "query", 401, "bad device token", "unavailable.devicecheck.response", "unavailable",
      "unknown"
    ),
    (
      "query", 400, "authorization token expired", "unavailable.devicecheck.response",
      "unavailable", "unknown"
    ),
    ("query", 301, "", "unavailable.devicecheck.response", "unavailable", "unknown"),
    (
      "query", 404, "bad device token", "unavailable.devicecheck.response", "unavailable",
      "unknown"
    ),
  ]

  @Test("DVC-7 DVC-8 DVC-9 what is refused, and whose fault it is", arguments: refusals)
  func refused(
    call: String, http: Int64, body: String, status: String, outcome: String, fault: String
  ) throws {
    let document = try read(http, body, call: call)
    Exchanges.expect(document, status)
    #expect(document.text("exchange.deviceCheck.outcome") == outcome)
    #expect(document.text("exchange.deviceCheck.fault") == fault)
    #expect(document.tree?.at("exchange.deviceCheck.bits")?.isNull == true)
    if document.status.family == .unavailable {
      #expect(document.text("error.retryClass") == "later")
    }
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

  @Test(
    "EXC-1 members of deviceCheck.read",
    arguments: [
      ("call", "querry", "call"), ("call", 1, "call"), ("status", 600, "status"),
      ("status", -1, "status"), ("status", "200", "status"), ("offer", 1, "offer"),
      ("transactionId", "x", "transactionId"),
    ] as [(String, JSONText, String)])
  func readMembers(name: String, value: JSONText, place: String) throws {
    let base: JSONText = [
      "kind": "deviceCheck.read", "call": "query", "status": 200, "body": .null,
    ]
    let document = try Exchanges.run(base.setting(name, value))
    Exchanges.expect(document, "misuse.exchange.request", at: place, rule: "EXC-1")
    for missing in ["call", "status"] {
      Exchanges.expect(
        try Exchanges.run(base.removing(missing)), "misuse.exchange.request", at: missing)
    }
  }

  @Test("EXC-8 the block must be there")
  func blockMissing() throws {
    let (_, document) = try Minted.verifier().startExchange(
      utf8(#"{"kind":"deviceCheck.read","call":"update","status":200,"body":null}"#),
      nowMs: Exchanges.now)
    Exchanges.expect(document, "config.exchange.block-missing", at: "deviceCheck", rule: "EXC-8")
    #expect(document.tree?.at("exchange.deviceCheck")?.isNull == true)
  }

  // MARK: offers

  @Test("DVC-12 an offer is refused on a device that used it, and never granted on a guess")
  func offers() throws {
    let used = try read(200, bits(true, false), offer: true)
    Exchanges.expect(used, "rejected.promo.device-used", rule: "DVC-12")
    #expect(used.text("exchange.deviceCheck.offer") == "device-used")
    #expect(used.text("exchange.deviceCheck.outcome") == "bits")
    #expect(used.tree?.at("exchange.deviceCheck.fault")?.isNull == true)
    #expect(used.tree?.at("error.at")?.isNull == true)
    for body in [
      bits(false, true), bits(true, false, "2025-10"), "bit state not found",
    ] {
      let free = try read(200, body, offer: true)
      Exchanges.expect(free, "ok")
      #expect(free.text("exchange.deviceCheck.offer") == "free")
    }
    // The month is unknown: the bit counts.
    Exchanges.expect(
      try read(200, bits(true, false, nil), offer: true), "rejected.promo.device-used")
    let unknown = try read(503, "", offer: true)
    Exchanges.expect(unknown, "unavailable.devicecheck.no-answer")
    #expect(unknown.tree?.at("exchange.deviceCheck.offer")?.isNull == true)
    Exchanges.expect(try read(200, "", offer: true), "unavailable.devicecheck.response")
    let unasked = try read(200, bits(true, false), offer: false)
    Exchanges.expect(unasked, "ok")
    #expect(unasked.tree?.at("exchange.deviceCheck.offer")?.isNull == true)
  }

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
      #expect(document.text("exchange.deviceToken") == text)
      #expect(document.text("exchange.kind") == "deviceCheck.token")
    }
    // It needs no block.
    let (_, document) = try Minted.verifier().startExchange(
      utf8(#"{"kind":"deviceCheck.token","deviceToken":"AA=="}"#), nowMs: Exchanges.now)
    #expect(document.text("exchange.deviceToken") == "AA==")
  }

  @Test("DVC-4 other tokens are refused by name")
  func badTokens() throws {
    for bad in ["", "A", "AA", "AA=", "A-_=", "AAAA\nAAAA", "AAA=AAAA", "AB=="] {
      Exchanges.expect(
        try token(.string(bad)), "malformed.devicecheck.token", at: "deviceToken", rule: "DVC-4")
    }
    for bad in ["", "*garbage*", "AAAA\nAAAA"] {
      Exchanges.expect(try token(["text": .string(bad)]), "malformed.devicecheck.token")
    }
    Exchanges.expect(try token(["base64": ""]), "malformed.devicecheck.token")
    Exchanges.expect(try token(7), "misuse.exchange.request", at: "deviceToken")
    Exchanges.expect(try token(["base64": "A"]), "misuse.exchange.request")
    Exchanges.expect(
      try Exchanges.run(["kind": "deviceCheck.token"]), "misuse.exchange.request",
      at: "deviceToken")
    let document = try token("*secret*")
    #expect(!String(decoding: document.json, as: UTF8.self).contains("secret"))
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
        #expect(document.text("configuration.deviceCheck.teamId") == "TEAM000001")
      } else {
        Exchanges.expect(
          document, "config.devicecheck.team-id", at: "deviceCheck.teamId", rule: "DVC-1")
      }
    }
    for bad: JSONText in ["ABCDE1234", "ABCDE123456", "abcde12345", "ABCDE-2345", 1_234_567_890] {
      try expect(
        [("deviceCheck.teamId", bad)], "config.devicecheck.team-id", at: "deviceCheck.teamId")
    }
  }

  @Test("DVC-1 the key id has ten letters and digits")
  func keyIds() throws {
    for bad: JSONText in ["KEYID1234", "KEYID123456", "KEYID-2345", "", 1] {
      try expect(
        [("deviceCheck.keyId", bad)], "config.devicecheck.key-id", at: "deviceCheck.keyId",
        rule: "DVC-1")
    }
    let (verifier, _) = Verifier.alone(
      try Minted.config([
        ("deviceCheck", try Exchanges.deviceCheck().setting("keyId", "kEYid0z9aZ"))
      ]).bytes)
    #expect(verifier != nil)
  }

  @Test("CNF-1 members of the block")
  func blockMembers() throws {
    try expect(
      [], removing: ["deviceCheck.keyId"], "config.document.missing", at: "deviceCheck.keyId")
    try expect(
      [("deviceCheck.bit0", 1)], "config.document.unknown-member", at: "deviceCheck.bit0")
    try expect(
      [("deviceCheck.environment", "Production")], "config.document.range",
      at: "deviceCheck.environment")
    try expect([("deviceCheck", 1)], "config.document.type", at: "deviceCheck")
  }

  @Test("DVC-2 without a key the block serves what needs none")
  func withoutKey() throws {
    let block = try Exchanges.deviceCheck().removing("privateKey").removing("keyId")
    let (verifier, document) = Verifier.alone(try Minted.config([("deviceCheck", block)]).bytes)
    let shown = try #require(document.tree?.at("configuration.deviceCheck"))
    #expect(shown.at("privateKey")?.isNull == true)
    #expect(shown.at("keyId")?.isNull == true)
    #expect(verifier != nil)
    let keyed = Verifier.alone(
      try Minted.config([("deviceCheck", try Exchanges.deviceCheck())]).bytes
    ).document
    #expect(keyed.flag("configuration.deviceCheck.privateKey") == true)
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

  @Test("DVC-2 the key is a PKCS#8 file of P-256, and never comes back out")
  func keys() throws {
    let file = try SigningKey.generate(.p256).pem()
    let text = String(decoding: file, as: UTF8.self)
    let place = "deviceCheck.privateKey"
    for bad: JSONText in [
      "", "x", .string(utf8: try SigningKey.generate(.p384).pem()),
      .string(utf8: try SigningKey.generate(.rsa(bits: 2048)).pem()), 1,
      .string(text.replacing("PRIVATE KEY", with: "EC PRIVATE KEY")),
      .string(String(text.dropLast(40))),
    ] {
      try expect([(place, bad)], "config.devicecheck.key", at: place, rule: "DVC-2")
    }
    let (_, refused) = Verifier.alone(
      try Minted.config([
        ("deviceCheck", try Exchanges.deviceCheck().setting("privateKey", .string("k" + text)))
      ]).bytes)
    Exchanges.expect(refused, "config.devicecheck.key")
    let (verifier, document) = Verifier.alone(
      try Minted.config([
        ("deviceCheck", try Exchanges.deviceCheck().setting("privateKey", .string(text)))
      ]).bytes)
    #expect(verifier != nil)
    let secret = String(text.split(separator: "\n")[1])
    for document in [refused, document] {
      #expect(!String(decoding: document.json, as: UTF8.self).contains(secret))
    }
  }
}
