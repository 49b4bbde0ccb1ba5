import AssayAuthority

extension CaseFixture {
  /// Adds whole exchanges with Apple's DeviceCheck endpoint (DVC-4 … DVC-15). The tokens in their
  /// steps are random; the Swift tests verify them.
  func addDeviceCheckTranscripts() {
    let transcript = DeviceCheckTranscript(self)
    transcript.addVerdicts()
    transcript.addUpdates()
    transcript.addRefusals()
    transcript.addRepetitions()
    transcript.addRequests()
    transcript.addBounds()
  }
}

private final class DeviceCheckTranscript: Transcript {
  private static let base = "https://api.devicecheck.apple.com/v1/"
  private static let noAnswer = "unavailable.device-check.no-response"
  private static let unknown = "unavailable.device-check.response"

  private static let token = Array(1...90).base64Text

  private static let operations = [
    "query": "query-device-bits", "update": "update-device-bits",
    "validate": "validate-device-token",
  ]

  init(_ fixture: CaseFixture) {
    super.init(
      fixture, with: "DeviceCheck", verifier: "device-check", asks: Self.request("query"),
      whileWaiting: [("retry", .null)])
  }

  // MARK: parts

  private static func request(_ call: String, _ more: [(String, JSONText)] = []) -> JSONText {
    let request: JSONText = [
      "operation": .string(operations[call] ?? call), "deviceToken": .string(token),
      "transactionId": "t-1",
    ]
    return request.setting(more)
  }

  private func bits(_ bit0: Bool, _ bit1: Bool) -> String {
    "{\"bit0\":\(bit0),\"bit1\":\(bit1),\"last_update_time\":\"" + CaseFixture.month(now, before: 2)
      + "\"}"
  }

  /// Returns the body of a request at `now`, and its sensitive paths.
  private func body(_ more: String = "") -> Facts {
    [
      (
        "http.body.text",
        .text(
          "{\"device_token\":\"\(Self.token)\",\"transaction_id\":\"t-1\",\"timestamp\":\(now)"
            + more + "}")
      ), ("http.sensitivePaths.0", "headers.authorization"),
      ("http.sensitivePaths.1", "body.device_token"),
      ("http.sensitivePaths.2", .null), ("http.method", "POST"),
      ("http.headers.0.0", "Authorization"), ("http.headers.1.0", "Content-Type"),
      ("http.headers.1.1", "application/json"), ("http.headers.2.0", .null),
      ("http.timeoutMs", 10_000), ("http.maxResponseBytes", 4096),
      ("http.responseHeaders.0", .null),
    ]
  }

  // MARK: results

  func addVerdicts() {
    transcript(
      "DVC-13", "two bits",
      [
        http(
          1, 200, bits(true, false),
          facts: body() + [("http.url", .text(Self.base + "query_two_bits"))])
      ],
      facts: [
        ("step", "done"), ("deviceCheck.outcome", "bits"), ("deviceCheck.fault", .null),
        ("deviceCheck.ageMonths", 2), ("deviceCheck.bits.bit0.set", true),
        ("deviceCheck.offer", .null), ("/checks.2.ok", true), ("/checks.3.ok", true),
        ("retry", .null),
      ])
    transcript(
      "DVC-13", "a development build", verifier: "device-check-development",
      [
        http(
          1, 200, "Bit State Not Found",
          facts: [
            ("http.url", "https://api.development.devicecheck.apple.com/v1/query_two_bits")
          ])
      ], facts: [("deviceCheck.outcome", "no-bits")])
    transcript(
      "DVC-12", "an offer to a used device", asks: Self.request("query", [("offer", true)]),
      [http(1, 200, bits(true, false))], "rejected.promo.device-used", check: "result",
      facts: [("deviceCheck.offer", "device-used")])
    transcript(
      "DVC-12", "an offer to a clean device", asks: Self.request("query", [("offer", true)]),
      [http(1, 200, bits(false, true))], facts: [("deviceCheck.offer", "free")])
  }

  func addUpdates() {
    for (more, written) in [
      ([("bit0", true)], ",\"bit0\":true"), ([("bit1", false)], ",\"bit1\":false"),
      ([("bit0", false), ("bit1", true)], ",\"bit0\":false,\"bit1\":true"),
    ] as [([(String, JSONText)], String)] {
      transcript(
        "DVC-5", "an update\(written)", asks: Self.request("update", more),
        [
          http(
            1, 200, "",
            facts: body(written) + [("http.url", .text(Self.base + "update_two_bits"))])
        ], facts: [("deviceCheck.outcome", "updated")])
    }
    transcript(
      "DVC-13", "a token that is looked at", asks: Self.request("validate"),
      [
        http(
          1, 200, "", facts: body() + [("http.url", .text(Self.base + "validate_device_token"))])
      ], facts: [("deviceCheck.outcome", "valid")])
  }

  func addRefusals() {
    for (http, text, status, fault) in [
      (400, "Bad Device Token", "rejected.device-check.token", "client"),
      (400, "Bad Timestamp", "rejected.device-check.timestamp", "ours"),
      (403, "x", "rejected.device-check.request", "ours"),
    ] as [(Int64, String, String, String)] {
      transcript(
        "DVC-15", "\"\(text)\"", [self.http(1, http, text)], status, check: "result",
        facts: [
          ("step", "done"), ("deviceCheck.fault", .text(fault)),
          ("deviceCheck.outcome", .text(fault == "client" ? "token-refused" : "unavailable")),
          ("retry", .null),
        ])
    }
    transcript(
      "DVC-8", "a text that is not known", [http(1, 200, "OK")], Self.unknown, check: "reply",
      facts: [("deviceCheck.fault", "unknown"), ("retry", .null)])
    transcript(
      "DVC-13", "an answer that was cut", asks: Self.request("validate"),
      [http(1, 200, more: [("truncated", true)])], Self.unknown, at: "truncated")
    transcript(
      "DVC-13", "an answer that is too long",
      [http(1, 200, "Bit State Not Found" + String(repeating: " ", count: 4096))], Self.unknown)
  }

  /// Adds waits and repetitions (DVC-14).
  func addRepetitions() {
    for status: Int64 in [0, 429, 500, 503] {
      let reason = status == 429 ? "rate-limited" : "retry"
      transcript(
        "DVC-14", "nothing usable but \(status)",
        [
          http(1, status), wait(1000, reason: reason), http(3, status, after: 1000),
          wait(3000, reason: reason), http(5, status, after: 3000),
        ], Self.noAnswer, check: "reply",
        facts: [
          ("deviceCheck.fault", "transient"), ("deviceCheck.outcome", "unavailable"),
          ("retry", .null),
        ])
    }
    let later =
      "{\"device_token\":\"\(Self.token)\",\"transaction_id\":\"t-1\",\"timestamp\":\(now + 1500)}"
    transcript(
      "DVC-13", "a repetition has its own time",
      [
        http(1, 500, after: 100),
        Said(
          answer: [:], after: 1500, at: [("notBeforeMs", .integer(now + 1100))],
          status: "pending.exchange.wait"),
        http(3, 200, bits(false, false), after: 1500, facts: [("http.body.text", .text(later))]),
      ])
    let unauthorized = "rejected.device-check.unauthorized"
    transcript(
      "DVC-14", "our token is taken the second time",
      [http(1, 401, "Invalid Authorization Token"), http(2, 200, bits(false, false))])
    transcript(
      "DVC-14", "our token is refused twice",
      [http(1, 401, "Invalid Authorization Token"), http(2, 401, "Authorization Token Expired")],
      unauthorized, check: "result", facts: [("deviceCheck.fault", "ours")])
    transcript(
      "DVC-14", "everything that may go wrong",
      [
        http(1, 503), wait(1000), http(3, 401, "x", after: 1000), http(4, 0, after: 1000),
        wait(3000), http(6, 200, bits(true, true), after: 3000),
      ], facts: [("deviceCheck.bits.bit1.set", true)])
    transcript(
      "DVC-14", "everything, and in vain",
      [
        http(1, 503), wait(1000), http(3, 401, "x", after: 1000), http(4, 0, after: 1000),
        wait(3000), http(6, 401, "x", after: 3000),
      ], Self.unknown)
  }

  func addRequests() {
    let id = "misuse.device-check.transaction-id"
    let query = Self.request("query")
    transcript("DVC-4", "no transaction id", asks: query.removing("transactionId"), [], id)
    for (name, value) in [
      ("empty", ""), ("a number", 1),
      ("of 65 characters", .string(String(repeating: "ü", count: 65))),
    ] as [(String, JSONText)] {
      transcript(
        "DVC-4", "a transaction id: \(name)", asks: query.setting("transactionId", value), [], id,
        at: "transactionId")
    }
    transcript(
      "DVC-4", "a transaction id of 64 characters",
      asks: query.setting("transactionId", .string(String(repeating: "ü", count: 64))),
      [http(1, 200, bits(false, false))])
    transcript(
      "DVC-4", "a device token that is no base64", asks: query.setting("deviceToken", "!"), [],
      "malformed.device-check.token", at: "deviceToken")
    transcript(
      "DVC-5", "an update of nothing", asks: Self.request("update"), [], "misuse.device-check.bits")
    transcript(
      "DVC-15", "an offer without a bit for it", asks: Self.request("query", [("offer", true)]),
      verifier: "device-check-unnamed", [], "config.device-check.bits", at: "deviceCheck.bits")
    let missing = "config.exchange.block-missing"
    transcript("EXC-8", "no block", verifier: "standard", [], missing, at: "deviceCheck")
    transcript(
      "EXC-8", "no key", verifier: "device-check-without-key", [], missing,
      at: "deviceCheck.privateKey")
    let misuse = "misuse.exchange.request"
    for (name, request, at) in [
      ("a bit in a query", Self.request("query", [("bit0", true)]), "bit0"),
      (
        "an offer in an update", Self.request("update", [("bit0", true), ("offer", true)]), "offer"
      ), ("a bit that is a number", Self.request("update", [("bit1", 1)]), "bit1"),
      ("an offer that is a text", Self.request("query", [("offer", "yes")]), "offer"),
      ("no device token", query.removing("deviceToken"), "deviceToken"),
    ] as [(String, JSONText, String)] {
      transcript("EXC-1", name, asks: request, [], misuse, at: at)
    }
  }

  func addBounds() {
    let short = Self.request("query", [("deadlineMs", .integer(now + 1500))])
    transcript(
      "EXC-16", "a wait that does not fit", asks: short,
      [http(1, 500), wait(1000), http(3, 500, after: 1000)], Self.noAnswer,
      facts: [("retry", .null)])
    transcript(
      "EXC-16", "the deadline passes before our other token", asks: short,
      [http(1, 401, "x", after: 1500)], "unavailable.exchange.deadline",
      facts: [("reached.step", "http"), ("reached.steps", 1)])
  }
}
