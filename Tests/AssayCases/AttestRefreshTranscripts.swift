import AssayAuthority

extension CaseFixture {
  /// Adds whole exchanges with Apple's App Attest server (RFR-1 … RFR-7). The tokens in their steps
  /// are random; the Swift tests verify them.
  func addAttestRefreshTranscripts() throws {
    let refresh = standardConfig.setting("deviceCheck", deviceCheckBlock)
    configure("refresh", refresh)
    configure("refresh-stored", refresh.setting("attest.time", "stored"))
    configure(
      "refresh-monthly", refresh.setting("attest.refreshEveryMs", .integer(31 * Purchase.day)))
    let transcript = try AttestRefreshTranscript(self)
    try transcript.addVerdicts()
    try transcript.addReceipts()
    transcript.addRefusals()
    transcript.addRepetitions()
    try transcript.addTimes()
    try transcript.addRequests()
  }
}

private final class AttestRefreshTranscript: Transcript {
  private static let minute: Int64 = 60_000
  private static let noAnswer = "unavailable.attest-refresh.no-response"
  private static let early = "unavailable.attest-refresh.too-early"
  private static let unknown = "unavailable.attest-refresh.response"
  private static let url = "https://data.appattest.apple.com/v1/attestationData"
  private static let development = "https://data-development.appattest.apple.com/v1/attestationData"

  /// The receipt to refresh, of an attestation a minute ago.
  private let old: AttestReceiptFacts
  private let receipt: [UInt8]
  /// The receipt that Apple sends for it.
  private let new: AttestReceiptFacts
  private let good: String

  init(_ fixture: CaseFixture) throws {
    old = try fixture.receiptFacts()
    receipt = try fixture.attest.receipt(old)
    new = try fixture.receiptFacts(.receipt, created: fixture.now - 1000)
    good = try fixture.attest.receipt(new).base64Text
    super.init(
      fixture, with: "refresh", verifier: "refresh", asks: Self.request,
      evidence: [Self.evidence(receipt)],
      whileWaiting: [("retry.request.operation", "refresh-attest-receipt")])
  }

  // MARK: parts

  private static let request: JSONText = ["operation": "refresh-attest-receipt"]

  private static func evidence(_ receipt: [UInt8]) -> EvidenceCase.Evidence {
    .init(.receipt(.attestReceipt, receipt))
  }

  private var day: (String, JSONText) { ("deadlineMs", .integer(now + Purchase.day)) }

  // MARK: results

  func addVerdicts() throws {
    transcript(
      "RFR-7", "a new receipt",
      [
        http(
          1, 200, good,
          facts: [
            ("http.method", "POST"), ("http.url", .text(Self.url)),
            ("http.headers.0.0", "Authorization"), ("http.headers.1.0", "Content-Type"),
            ("http.headers.1.1", "text/plain"), ("http.headers.2.0", .null),
            ("http.body.text", .text(receipt.base64Text)), ("http.timeoutMs", 30_000),
            ("http.maxResponseBytes", 65_536), ("http.responseHeaders.0", "retry-after"),
            ("http.sensitivePaths.0", "headers.authorization"), ("http.sensitivePaths.1", "body"),
            ("http.sensitivePaths.2", .null),
          ])
      ],
      facts: [
        ("operation", "refresh-attest-receipt"), ("step", "done"),
        ("attestReceipt.type", "RECEIPT"),
        ("attestReceipt.risk", 2), ("attestReceipt.bound", true),
        ("attestReceipt.appId", .text(old.appId)),
        ("attestReceipt.createdAtMs", .integer(new.created)), ("attestReceipt.bytes", .text(good)),
        ("replaces", .text(Authority.fingerprint(receipt))),
        ("nextRefreshAtMs", .integer(new.notBefore)),
        ("retry", .null), ("/checks.2.ok", true), ("/checks.3.ok", true),
      ])
    transcript(
      "RFR-5", "a receipt with white space around it", [http(1, 200, " \n" + good + "\r\n")])
    transcript(
      "RFR-3", "a month between refreshes", verifier: "refresh-monthly", [http(1, 200, good)],
      facts: [("nextRefreshAtMs", .integer(new.created + 29 * Purchase.day))])
    let device = fixture.device(fixture.device.system, .development)
    let facts = try fixture.receiptFacts(of: device)
    let answer = try fixture.receiptFacts(.receipt, of: device, created: now - 1000)
    transcript(
      "RFR-4", "a development receipt",
      evidence: [Self.evidence(try fixture.attest.receipt(facts))],
      [
        http(
          1, 200, try fixture.attest.receipt(answer).base64Text,
          facts: [("http.url", .text(Self.development))])
      ], facts: [("attestReceipt.environment", "sandbox")])
  }

  /// Adds responses whose receipt is refused; the old receipt is kept (RFR-2).
  func addReceipts() throws {
    func refused(
      _ name: String, _ status: String, at: String? = nil, rule: String = "RFR-2",
      verifier: String = "refresh", _ change: (inout AttestReceiptFacts) throws -> Void
    ) throws {
      var facts = new
      try change(&facts)
      transcript(
        rule, name, verifier: verifier,
        [http(1, 200, try fixture.attest.receipt(facts).base64Text)],
        status, check: "result", at: at,
        facts: [
          ("attestReceipt", .null), ("replaces", .null),
          ("nextRefreshAtMs", .integer(now + Purchase.day)),
          ("retry", .null),
        ])
    }
    let other = try AttestedDevice(key: fixture.authority.leafKey, appId: fixture.device.appId)
    let stranger = try fixture.receiptFacts(.receipt, of: other, created: now - 1000)
    try refused("another key", "rejected.attest-receipt.key", at: "field 3") {
      $0.certificate = stranger.certificate
    }
    try refused("another app of ours", "rejected.attest-receipt.app-id", at: "field 2") {
      $0.appId = "ABCDE12345.com.example.second"
    }
    try refused("the other environment", "rejected.attest-receipt.environment", at: "field 7") {
      $0.environment = .development
    }
    try refused("a receipt of an attestation", "rejected.attest-receipt.kind", at: "field 6") {
      $0 = self.old
    }
    try refused("an older one", "rejected.freshness.stale", at: "field 12") {
      $0.created = self.old.created - 1000
    }
    transcript(
      "RFR-2", "one of the same instant",
      [
        http(
          1, 200,
          try fixture.attest.receipt(try fixture.receiptFacts(.receipt, created: old.created))
            .base64Text)
      ])
    try refused(
      "one of six minutes ago", "rejected.freshness.stale", at: "field 12", rule: "FRC-11",
      verifier: "refresh-stored"
    ) { $0.created = self.now - 360_000 }
    for (name, text, status) in [
      ("nothing", "", "malformed.attest-receipt.empty"),
      ("a page", "<html>", "malformed.transport.base64"),
    ] {
      transcript(
        "RFR-2", name, [http(1, 200, text)], status, check: "result",
        facts: [("nextRefreshAtMs", .integer(now + Purchase.day))])
    }
    var damaged = fixture.attest.receiptTemplate(new)
    damaged.signature = .by(fixture.authority.leafKey)
    transcript(
      "RFR-2", "a receipt that is damaged", [http(1, 200, try damaged.signed().base64Text)],
      "rejected.attest-receipt.signature", check: "result")
  }

  /// Adds the HTTP statuses in the table of RFR-1.
  func addRefusals() {
    let next: (String, EvidenceCase.Fact) = ("nextRefreshAtMs", .integer(now + Purchase.day))
    for (status, body, name, after) in [
      (400, "Incorrect Environment", "environment", next),
      (400, "incorrect environment.", "environment", next), (400, "Bad Payload", "payload", next),
      (400, "", "payload", next), (400, "x Incorrect Environment", "payload", next),
      (404, "No Data Found", "no-data", ("nextRefreshAtMs", .null)),
    ] as [(Int64, String, String, (String, EvidenceCase.Fact))] {
      transcript(
        "RFR-1", "\"\(body)\" with HTTP status \(status)", [http(1, status, body)],
        "rejected.attest-refresh." + name, check: "result", at: "status",
        facts: [("retry", .null), ("attestReceipt", .null), (path: after.0, value: after.1)])
    }
    transcript(
      "RFR-1", "HTTP status 304", [http(1, 304)], Self.early, check: "reply", at: "status",
      facts: [
        ("retry.notBeforeMs", .integer(now + 60 * Self.minute)), ("retry.reason", "too-early"),
        ("retry.attempt", 2), ("nextRefreshAtMs", .integer(now + 60 * Self.minute)),
      ])
    for status in [100, 201, 204, 301, 403, 418, 502, 504] as [Int64] {
      transcript(
        "RFR-1", "HTTP status \(status)", [http(1, status, good)], Self.unknown, check: "reply",
        at: "status",
        facts: [
          ("retry.notBeforeMs", .integer(now + Purchase.day)), ("retry.reason", "retry"),
          ("nextRefreshAtMs", .integer(now + Purchase.day)),
        ])
    }
    transcript(
      "RFR-5", "an answer that was cut", [http(1, 200, more: [("truncated", true)])], Self.unknown,
      at: "body")
    transcript(
      "RFR-5", "an answer that is too long",
      [http(1, 200, good + String(repeating: " ", count: 65_536))], Self.unknown, at: "body")
    transcript("RFR-6", "our token is taken the second time", [http(1, 401), http(2, 200, good)])
    transcript(
      "RFR-6", "our token is refused twice", [http(1, 401), http(2, 401)],
      "rejected.attest-refresh.unauthorized", check: "result", at: "status",
      facts: [("retry", .null), ("nextRefreshAtMs", .integer(now + Purchase.day))])
  }

  /// Adds waits and repetitions (RFR-6).
  func addRepetitions() {
    for status in [0, 429, 500, 503] as [Int64] {
      transcript(
        "RFR-6", "HTTP status \(status) once",
        [
          http(1, status), wait(Self.minute, reason: status == 429 ? "rate-limited" : "retry"),
          http(3, 200, good, after: Self.minute),
        ])
    }
    let header: [(String, JSONText)] = [("headers", [["Retry-After", "90"]])]
    transcript(
      "RFR-6", "a longer Retry-After",
      [http(1, 503, more: header), wait(90_000), http(3, 200, good, after: 90_000)])
    transcript(
      "RFR-6", "a shorter Retry-After",
      [
        http(1, 503, more: [("headers", [["Retry-After", "9"]])]), wait(Self.minute),
        http(3, 200, good, after: Self.minute),
      ])
    var said: [Said] = []
    var at: Int64 = 0
    for (place, minutes) in [1, 2, 4, 8, 16].enumerated() {
      said.append(http(Int64(2 * place + 1), 500, after: at))
      at += Int64(minutes) * Self.minute
      said.append(wait(at))
    }
    said.append(http(11, 500, after: at))
    transcript(
      "RFR-6", "six times nothing", asks: [day], said, Self.noAnswer, check: "reply",
      facts: [
        ("retry.notBeforeMs", .integer(now + at + Purchase.day)),
        ("nextRefreshAtMs", .integer(now + at + Purchase.day)), ("retry.omitted.0", "deadlineMs"),
      ])
    transcript(
      "RFR-6", "nothing until there is no time",
      [
        http(1, 500), wait(Self.minute), http(3, 500, after: Self.minute), wait(3 * Self.minute),
        http(5, 500, after: 3 * Self.minute), wait(7 * Self.minute),
        http(7, 500, after: 7 * Self.minute),
      ], Self.noAnswer,
      facts: [
        ("retry.notBeforeMs", .integer(now + 15 * Self.minute)),
        ("nextRefreshAtMs", .integer(now + 15 * Self.minute)),
      ])
    transcript(
      "RFR-6", "the fifth exchange, one answer left", asks: [day, ("attempt", 5)],
      [http(1, 0), wait(16 * Self.minute), http(3, 0, after: 16 * Self.minute)], Self.noAnswer,
      facts: [("retry.notBeforeMs", .integer(now + 16 * Self.minute + Purchase.day))])
    transcript(
      "RFR-6", "the tenth exchange", asks: [("attempt", 10)], [http(1, 0)], Self.noAnswer,
      facts: [("retry.notBeforeMs", .integer(now + Purchase.day)), ("retry.attempt", 11)])
    transcript(
      "EXC-16", "the deadline passes before our other token",
      asks: [("deadlineMs", .integer(now + 2000))], [http(1, 401, after: 2000)],
      "unavailable.exchange.deadline",
      facts: [("reached.steps", 1), ("retry.notBeforeMs", .integer(now + 2000 + Self.minute))])
  }

  /// Adds receipts that can or cannot be refreshed yet (RFR-1).
  func addTimes() throws {
    let kept = try fixture.receiptFacts(.receipt, created: now - Purchase.day + Self.minute)
    let evidence = [Self.evidence(try fixture.attest.receipt(kept))]
    let stored = "refresh-stored"
    // A minute before the date in field 19.
    var later = new
    later.created = now + Self.minute
    let fresh = try fixture.attest.receipt(later).base64Text
    transcript(
      "RFR-6", "a minute too early", evidence: evidence, verifier: stored,
      [wait(Self.minute, reason: "too-early"), http(2, 200, fresh, after: Self.minute)])
    transcript(
      "RFR-6", "not early any more", evidence: evidence, verifier: stored, now: now + Self.minute,
      [http(1, 200, fresh)])
    let early = Self.evidence(
      try fixture.attest.receipt(try fixture.receiptFacts(.receipt, created: now)))
    transcript(
      "RFR-6", "a day too early", evidence: [early], verifier: stored, [], Self.early,
      check: "reply", at: "field 19",
      facts: [
        ("retry.notBeforeMs", .integer(now + Purchase.day)), ("retry.reason", "too-early"),
        ("nextRefreshAtMs", .integer(now + Purchase.day)),
      ])
    transcript(
      "RFR-1", "304 a day before field 19", evidence: evidence, verifier: stored,
      now: now + Self.minute, [http(1, 304)], Self.early,
      facts: [("retry.notBeforeMs", .integer(now + 61 * Self.minute))])
    for (days, next) in [(28, Purchase.day), (30, nil), (31, nil)] as [(Int64, Int64?)] {
      let facts = try fixture.receiptFacts(created: now - days * Purchase.day)
      transcript(
        "RFR-3", "bad payload after \(days) days",
        evidence: [Self.evidence(try fixture.attest.receipt(facts))], verifier: stored,
        [http(1, 400, "Bad Payload")], "rejected.attest-refresh.payload",
        facts: [("nextRefreshAtMs", next.map { .integer(self.now + $0) } ?? .null)])
    }
    let expired = "rejected.attest-refresh.expired"
    for (name, milliseconds, status) in [
      ("the last millisecond", 1, "ok"), ("field 21", 0, expired), ("after field 21", -1, expired),
    ] as [(String, Int64, String)] {
      var facts = old
      facts.expires = now + milliseconds
      let evidence = [Self.evidence(try fixture.attest.receipt(facts))]
      let isGood = status == "ok"
      transcript(
        "RFR-1", name, evidence: evidence, verifier: stored, isGood ? [http(1, 200, good)] : [],
        status, check: isGood ? nil : "result", at: isGood ? nil : "field 21",
        facts: isGood ? [] : [("nextRefreshAtMs", .null), ("retry", .null)])
    }
  }

  /// Adds requests with refused members, evidence or configuration (EXC-1, EXC-2, EXC-8).
  func addRequests() throws {
    let missing = "config.exchange.block-missing"
    transcript("EXC-8", "no block", verifier: "standard", [], missing, at: "deviceCheck")
    transcript(
      "EXC-8", "no key", verifier: "device-check-without-key", [], missing,
      at: "deviceCheck.privateKey")
    transcript(
      "EXC-1", "an unknown member", asks: [("environment", "production")], [],
      "misuse.exchange.request", at: "environment")
    let wrong = "misuse.exchange.evidence"
    transcript("EXC-2", "no evidence", evidence: [], [], wrong, at: "evidence")
    let one = Self.evidence(receipt)
    transcript("EXC-2", "two receipts", evidence: [one, one], [], wrong, at: "evidence")
    transcript(
      "EXC-2", "a transaction", evidence: [try fixture.transaction(fixture.purchase)], [], wrong,
      at: "evidence[0]")
  }
}
