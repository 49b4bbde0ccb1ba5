import AssayAuthority

extension CaseFixture {
  /// Adds responses of Apple's endpoint, and device tokens (docs/spec/device-check.md §2).
  func addDeviceCheckCases() throws {
    addDeviceBits()
    addDeviceRefusals()
    addDeviceOffers()
    addDeviceReadingForms()
    addDeviceTokens()
    addKeyIdentifiers()
  }

  private func answer(
    _ rule: String, _ name: String, call: String = "query", http: Int64 = 200, _ body: JSONText,
    offer: Bool? = nil, verifier: String = "device-check", _ status: String = "ok",
    facts: Facts = []
  ) {
    var request: JSONText = [
      "operation": "read-device-check-response", "call": .string(call), "status": .integer(http),
      "body": body,
    ]
    if let offer { request = request.appending("offer", .boolean(offer)) }
    self.request(
      rule, "\(name) (\(call), \(http))", request, verifier: verifier, status, facts: facts)
  }

  private func bits(_ bit0: Bool, _ bit1: Bool, months: Int64) -> JSONText {
    let text =
      "{\"bit0\":\(bit0),\"bit1\":\(bit1),\"last_update_time\":\""
      + CaseFixture.month(now, before: months) + "\"}"
    return ["text": .string(text)]
  }

  /// Adds responses with bits and their months (DVC-7, DVC-10, DVC-11).
  private func addDeviceBits() {
    for (bit0, bit1) in [(false, false), (true, false), (false, true), (true, true)] {
      answer(
        "DVC-7", "bits \(bit0) and \(bit1)", bits(bit0, bit1, months: 2),
        facts: [
          ("/kind", "exchange"), ("operation", "read-device-check-response"), ("step", "done"),
          ("deviceCheck.outcome", "bits"),
          ("deviceCheck.month", .text(CaseFixture.month(now, before: 2))),
          ("deviceCheck.ageMonths", 2), ("deviceCheck.bits.bit0.name", "promo-used"),
          ("deviceCheck.bits.bit0.value", .flag(bit0)), ("deviceCheck.bits.bit0.set", .flag(bit0)),
          ("deviceCheck.bits.bit1.name", "abuse"), ("deviceCheck.bits.bit1.value", .flag(bit1)),
          ("deviceCheck.bits.bit1.set", .flag(bit1)),
        ])
    }
    for (months, first, second) in [
      (0, true, true), (12, true, true), (13, false, true), (24, false, true), (25, false, false),
    ] as [(Int64, Bool, Bool)] {
      answer(
        "DVC-11", "bits of \(months) months ago", bits(true, true, months: months),
        facts: [
          ("deviceCheck.ageMonths", .integer(months)), ("deviceCheck.bits.bit0.value", true),
          ("deviceCheck.bits.bit0.set", .flag(first)),
          ("deviceCheck.bits.bit0.aged", .flag(!first)),
          ("deviceCheck.bits.bit1.set", .flag(second)),
          ("deviceCheck.bits.bit1.aged", .flag(!second)),
        ])
    }
    for text in [
      "Failed to find bit state", "failed to find bit state", "Bit State Not Found",
      "  Failed to find bit state\n", "Bit state not found.",
    ] {
      for http: Int64 in [200, 400] {
        answer(
          "DVC-7", "\"\(text)\"", http: http, ["text": .string(text)],
          facts: [("deviceCheck.outcome", "no-bits")])
      }
    }
    for call in ["update", "validate"] {
      for (name, body) in [("null", .null), ("no text", ["text": ""])] as [(String, JSONText)] {
        answer(
          "DVC-7", name, call: call, body,
          facts: [("deviceCheck.outcome", .text(call == "update" ? "updated" : "valid"))])
      }
    }
    answer(
      "DVC-7", "bits in base64",
      [
        "base64": .string(
          utf8: Base64Text.encode(
            Array("{\"bit0\":true,\"bit1\":false,\"last_update_time\":\"2026-05\"}".utf8)))
      ], facts: [("deviceCheck.month", "2026-05")])
  }

  /// Adds the refusals in the table of docs/spec/device-check.md §2.1.
  private func addDeviceRefusals() {
    let table: [(text: String, http: Int64, status: String)] = [
      ("Missing or incorrectly formatted device token payload", 400, "rejected.device-check.token"),
      ("Bad Device Token", 400, "rejected.device-check.token"),
      ("Missing or incorrectly formatted bits", 400, "rejected.device-check.bits"),
      ("Bad Bits", 400, "rejected.device-check.bits"),
      ("Missing or incorrectly formatted time stamp", 400, "rejected.device-check.timestamp"),
      ("Bad Timestamp", 400, "rejected.device-check.timestamp"),
      (
        "Missing or badly formatted authorization token", 400,
        "rejected.device-check.unauthorized"
      ),
      ("Bad Authorization Token", 400, "rejected.device-check.unauthorized"),
      ("Bad Payload", 400, "rejected.device-check.payload"),
      ("Unable to verify authorization token", 401, "rejected.device-check.unauthorized"),
      ("Invalid Authorization Token", 401, "rejected.device-check.unauthorized"),
      ("Authorization Token Expired", 401, "rejected.device-check.unauthorized"),
    ]
    for row in table {
      for text in [row.text, row.text.uppercased(), row.text.lowercased() + " (x)"] {
        answer("DVC-7", "\"\(text)\"", http: row.http, ["text": .string(text)], row.status)
      }
    }
    answer(
      "DVC-7", "a bad token at validation", call: "validate", http: 400,
      ["text": "Bad Device Token"], "rejected.device-check.token")
    for http: Int64 in [403, 405] {
      answer("DVC-7", "anything", http: http, ["text": "x"], "rejected.device-check.request")
    }
    for http: Int64 in [0, 429, 500, 503] {
      answer("DVC-7", "nothing", http: http, .null, "unavailable.device-check.no-response")
    }
    let unknown = "unavailable.device-check.response"
    answer("DVC-8", "an unknown text", http: 400, ["text": "Something new"], unknown)
    answer("DVC-8", "no text", http: 400, .null, unknown)
    answer("DVC-8", "no text", http: 401, .null, unknown)
    answer("DVC-8", "a redirect", http: 302, .null, unknown)
    for (name, text) in [
      ("HTML", "<html></html>"), ("bits of text", "{\"bit0\":\"true\",\"bit1\":\"false\"}"),
      ("bits of numbers", "{\"bit0\":1,\"bit1\":0,\"last_update_time\":\"2026-05\"}"),
      ("one bit", "{\"bit0\":true,\"last_update_time\":\"2026-05\"}"),
      ("bits with an underscore", "{\"bit_0\":true,\"bit_1\":false}"),
      ("a list", "[true,false]"), ("an empty object", "{}"), ("a null", "null"),
      ("a bit twice", "{\"bit0\":true,\"bit0\":false,\"bit1\":false}"),
      ("month 13", "{\"bit0\":true,\"bit1\":false,\"last_update_time\":\"2026-13\"}"),
      ("a whole date", "{\"bit0\":true,\"bit1\":false,\"last_update_time\":\"2026-05-01\"}"),
      ("no bits", ""), ("ok", "OK"),
    ] {
      answer("DVC-8", name, ["text": .string(text)], unknown)
    }
    for call in ["update", "validate"] {
      answer("DVC-8", "a text", call: call, ["text": "OK"], unknown)
    }
    answer(
      "DVC-8", "a long text",
      ["text": .string("Failed to find bit state" + String(repeating: " ", count: 5000))], unknown)
    answer(
      "EXC-8", "no block deviceCheck", bits(false, false, months: 1), verifier: "standard",
      "config.exchange.block-missing")
  }

  /// Adds offers to devices (docs/spec/device-check.md §2.3, DVC-12).
  private func addDeviceOffers() {
    answer(
      "DVC-12", "an offer to a clean device", bits(false, true, months: 1), offer: true,
      facts: [("deviceCheck.offer", "free")])
    answer("DVC-12", "an offer to an unknown device", ["text": "Bit State Not Found"], offer: true)
    answer(
      "DVC-12", "an offer to a used device", bits(true, false, months: 12), offer: true,
      "rejected.promo.device-used")
    answer(
      "DVC-12", "an offer to a device used 13 months ago", bits(true, false, months: 13),
      offer: true)
    answer(
      "DVC-12", "an offer to a used device, bits crossed", bits(false, true, months: 1),
      offer: true, verifier: "device-check-crossed", "rejected.promo.device-used")
    answer(
      "DVC-12", "an offer to an abused device, bits crossed", bits(true, false, months: 1),
      offer: true, verifier: "device-check-crossed")
    answer(
      "DVC-12", "an offer while Apple is silent", http: 0, .null, offer: true,
      "unavailable.device-check.no-response")
    answer(
      "DVC-12", "no offer, a used device", bits(true, false, months: 1), offer: false,
      facts: [("deviceCheck.bits.bit0.set", true)])
  }

  /// Adds refused members of the request (EXC-1).
  private func addDeviceReadingForms() {
    let good: JSONText = [
      "operation": "read-device-check-response", "call": "query", "status": 200,
      "body": ["text": "Bit State Not Found"],
    ]
    for (name, request) in [
      ("no call", good.removing("call")), ("another call", good.setting("call", "delete")),
      ("no status", good.removing("status")), ("status 600", good.setting("status", 600)),
      ("status -1", good.setting("status", -1)),
      ("a status of text", good.setting("status", "200")),
      ("a body of text", good.setting("body", "x")),
      ("a body of both forms", good.setting("body", ["text": "x", "base64": "eA=="])),
      ("a body of no base64", good.setting("body", ["base64": "!"])),
      ("a body of numbers", good.setting("body", ["text": 1])),
      ("an unknown member", good.setting("token", "x")),
      ("an offer of text", good.setting("offer", "yes")),
    ] {
      self.request(
        "EXC-1", "read-device-check-response with \(name)", request, verifier: "device-check",
        "misuse.exchange.request")
    }
  }

  /// Adds encodings of a key id, which have one normal form (ATT-2).
  func addKeyIdentifiers() {
    // The base64 of these bytes has characters that base64url writes differently.
    let octets = (0..<32).map { UInt8(truncatingIfNeeded: 0xfb &+ $0 &* 5) }
    let standard = octets.base64Text
    let url = String(standard.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    let hex = octets.map { String(UInt16($0) + 256, radix: 16).dropFirst() }.joined()
    func form(_ name: String, _ text: String, _ status: String = "ok") {
      request(
        "ATT-2", "a key id \(name)", ["operation": "normalize-key-id", "keyId": .string(text)],
        status,
        at: status == "ok" ? nil : "keyId",
        facts: status == "ok" ? [("keyId", .text(standard))] : [])
    }
    form("in base64", standard)
    form("in base64url", String(url.dropLast()))
    form("in hex", hex)
    form("in upper-case hex", hex.uppercased())
    let malformed = "malformed.attest.key-id"
    form("of nothing", "", malformed)
    form("without padding", String(standard.dropLast()), malformed)
    form("in base64url with padding", url, malformed)
    form("with a line end", standard + "\n", malformed)
    form("of 31 bytes", octets.dropLast().base64Text, malformed)
    form("of 33 bytes", (octets + [1]).base64Text, malformed)
    form("of 32 characters", String(hex.prefix(32)), malformed)
    form("with other digits", "g" + hex.dropFirst(), malformed)
    form("with bits left over", String(standard.dropLast(2)) + "B=", malformed)
    for (name, value) in [("of a number", 7), ("of null", .null)] as [(String, JSONText)] {
      request(
        "EXC-1", "a key id \(name)", ["operation": "normalize-key-id", "keyId": value],
        "misuse.exchange.request", at: "keyId")
    }
    request(
      "EXC-1", "no key id", ["operation": "normalize-key-id"], "misuse.exchange.request",
      at: "keyId")
  }

  /// Adds encodings and lengths of device tokens (DVC-4).
  private func addDeviceTokens() {
    let octets = Array(UInt8(1)...200)
    let base64 = octets.base64Text
    func token(_ name: String, _ value: JSONText, _ status: String = "ok") {
      request(
        "DVC-4", "a token \(name)", ["operation": "normalize-device-token", "deviceToken": value],
        verifier: "device-check", status,
        facts: status == "ok" ? [("deviceToken", .text(base64))] : [])
    }
    token("in base64", .string(base64))
    token("in base64, as a body", ["base64": .string(base64)])
    let malformed = "malformed.device-check.token"
    token("of nothing", "", malformed)
    token("that is no base64", "!!!!", malformed)
    let large = "too-large.device-check.token"
    func long(_ count: Int) -> JSONText {
      .string(utf8: Base64Text.encode([UInt8](repeating: 9, count: count)))
    }
    token("of 8,193 bytes", long(8193), large)
    token("of 50,000 bytes", long(50_000), large)
    request(
      "DVC-4", "a token of 8,192 bytes",
      ["operation": "normalize-device-token", "deviceToken": long(8192)], verifier: "device-check")
    request(
      "EXC-1", "no token", ["operation": "normalize-device-token"], verifier: "device-check",
      "misuse.exchange.request")
  }
}
