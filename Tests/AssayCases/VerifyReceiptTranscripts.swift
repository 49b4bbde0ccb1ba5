import AssayAuthority

extension CaseFixture {
  /// Adds whole exchanges with Apple's verifyReceipt endpoint (EXC-1 … EXC-22, VRR-1 … VRR-23).
  func addVerifyReceiptTranscripts() throws {
    let transcript = try VerifyReceiptTranscript(self)
    configure(
      "verify-receipt",
      standardConfig.setting(
        "receipts.sharedSecrets", ["com.example.app": .string(VerifyReceiptTranscript.secret)]))
    transcript.addVerdicts()
    try transcript.addHops()
    transcript.addStatuses()
    transcript.addRepetitions()
    transcript.addHTTP()
    try transcript.addIdentity()
    try transcript.addRequests()
    transcript.addAnswers()
    transcript.addBounds()
  }
}

/// Makes the transcripts: receipts of one purchase per environment, and Apple's responses about
/// them.
private final class VerifyReceiptTranscript: Transcript {
  static let secret = "0123456789abcdef0123456789abcdef"
  private static let misuse = "misuse.exchange.request"
  private static let noAnswer = "unavailable.verify-receipt.no-response"

  private let receipt: String
  private let appReceipt: String
  private let sandboxReceipt: String
  private let good: JSONText

  init(_ fixture: CaseFixture) throws {
    let production = fixture.production
    receipt = String(decoding: try fixture.receipts.transactionReceipt(production), as: UTF8.self)
    sandboxReceipt = String(
      decoding: try fixture.receipts.transactionReceipt(fixture.purchase), as: UTF8.self)
    appReceipt = String(
      decoding: try fixture.receipts.appReceipt(AppReceiptFacts([production], like: production)),
      as: UTF8.self)
    good = fixture.response(.ios6, [production]).json
    super.init(
      fixture, with: "call-verify-receipt", verifier: "verify-receipt",
      asks: ["operation": "call-verify-receipt", "receipt": .string(receipt)],
      whileWaiting: [
        ("retry.request.operation", "call-verify-receipt"), ("retry.attempt", 2),
        ("retry.omitted.0", "receipt"), ("retry.request.receipt", .null),
      ])
  }

  // MARK: parts

  private static func url(_ environment: String) -> EvidenceCase.Fact {
    environment == "Sandbox"
      ? "https://sandbox.itunes.apple.com/verifyReceipt"
      : "https://buy.itunes.apple.com/verifyReceipt"
  }

  /// Returns the response to the request number `id`, sent to production by default.
  private func store(
    _ id: Int64, _ status: Int64, body: JSONText? = nil, to environment: String = "Production",
    after: Int64 = 0, more: [(String, JSONText)] = [], facts: Facts = []
  ) -> Said {
    answer(
      id, status, body: body, after: after, more: more,
      facts: [("http.url", Self.url(environment))] + facts)
  }

  /// Returns Apple's response with HTTP status 200.
  private func apple(
    _ id: Int64, _ body: JSONText, to environment: String = "Production", after: Int64 = 0,
    facts: Facts = []
  ) -> Said {
    store(
      id, 200, body: ["text": .string(utf8: body.bytes)], to: environment, after: after,
      facts: facts)
  }

  private func status(
    _ id: Int64, _ status: Int64, to environment: String = "Production", after: Int64 = 0
  ) -> Said { apple(id, ["status": .integer(status)], to: environment, after: after) }

  // MARK: results

  func addVerdicts() {
    let data = "{\"receipt-data\":\"\(receipt)\",\"password\":\"\(Self.secret)\"}"
    transcript(
      "VRR-23", "a good answer",
      [
        apple(
          1, good,
          facts: [
            ("/kind", "exchange"), ("/ok", false), ("operation", "call-verify-receipt"),
            ("http.method", "POST"), ("http.body.text", .text(data)),
            ("http.headers.0.0", "Content-Type"), ("http.headers.0.1", "application/json"),
            ("http.headers.1.0", "Accept"), ("http.timeoutMs", 20_000),
            ("http.maxResponseBytes", 8_388_608), ("http.responseHeaders.0", "retry-after"),
            ("http.sensitivePaths.0", "body"), ("/checks.2.id", "exchange.reply"),
            ("/checks.2.reason", "no input for it"),
          ])
      ],
      facts: [
        ("/error", .null), ("step", "done"), ("hops", 0), ("attempts", 1),
        ("verifyReceipt.appleStatus", 0), ("verifyReceipt.style", "ios6"),
        ("verifyReceipt.environment", "Production"),
        ("verifyReceipt.environmentSource", "endpoint"), ("verifyReceipt.evidence", "apple-answer"),
        ("verifyReceipt.transactions.0.transactionId", .text(fixture.production.transactionId)),
        ("/checks.2.ok", true), ("/checks.3.ok", true),
      ])
    transcript(
      "VRR-22", "an app receipt, without a password and with old transactions left out",
      asks: [
        "operation": "call-verify-receipt", "receipt": .string(appReceipt),
        "excludeOldTransactions": true,
      ], verifier: "standard",
      [
        apple(
          1, fixture.response(.ios7, [fixture.production]).json,
          facts: [
            (
              "http.body.text",
              .text("{\"receipt-data\":\"\(appReceipt)\",\"exclude-old-transactions\":true}")
            )
          ])
      ], facts: [("verifyReceipt.environmentSource", "answer")])
    transcript(
      "EXC-20", "a good answer as base64",
      [
        store(
          1, 200, body: ["base64": .string(utf8: Base64Text.encode(good.bytes))],
          more: [("headers", [["Content-Type", "application/json"]]), ("truncated", false)])
      ])
    transcript(
      "VRR-6", "an ended subscription", [apple(1, good.setting("status", 21006))],
      facts: [("verifyReceipt.appleStatus", 21006)])
  }

  func addHops() throws {
    let sandbox = fixture.response(.ios6).json
    let ofSandbox: JSONText = [
      "operation": "call-verify-receipt", "receipt": .string(sandboxReceipt),
    ]
    transcript(
      "VRR-3", "a Sandbox receipt at production", asks: ofSandbox,
      [status(1, 21007), apple(2, sandbox, to: "Sandbox")],
      facts: [("hops", 1), ("attempts", 2), ("verifyReceipt.environment", "Sandbox")])
    transcript(
      "VRR-3", "a production receipt at Sandbox", asks: usual.appending("start", "Sandbox"),
      [status(1, 21008, to: "Sandbox"), apple(2, good)], facts: [("hops", 1)])
    let verified = EvidenceCase.Evidence(.receipt(.transactionReceipt, Array(sandboxReceipt.utf8)))
    transcript(
      "VRR-22", "a verified Sandbox receipt begins there",
      asks: ["operation": "call-verify-receipt"],
      evidence: [verified], [apple(1, sandbox, to: "Sandbox")], facts: [("hops", 0)])
    transcript(
      "VRR-22", "a verifier of Sandbox begins there", asks: ofSandbox, verifier: "sandbox-only",
      [apple(1, sandbox, to: "Sandbox")])
    let loop = "unavailable.verify-receipt.environment-loop"
    for (name, said) in [
      ("21007 twice", [status(1, 21007), status(2, 21007, to: "Sandbox")]),
      ("21007, then 21008", [status(1, 21007), status(2, 21008, to: "Sandbox")]),
      ("21008 of production", [status(1, 21008)]),
    ] {
      transcript("VRR-3", name, said, loop, at: "status", facts: [("/error.retryClass", "later")])
    }
    transcript(
      "VRR-3", "21007 of Sandbox itself", asks: usual.appending("start", "Sandbox"),
      [status(1, 21007, to: "Sandbox")], loop)
    transcript(
      "VRR-3", "21007 where Sandbox is not accepted", verifier: "production-only",
      [status(1, 21007)], "rejected.environment.not-accepted", check: "result",
      facts: [
        ("/error.retryClass", "after-config"), ("retry", .null),
        ("verifyReceipt.appleStatus", 21007),
      ])
    transcript(
      "VRR-3", "21008 where Production is not accepted", verifier: "sandbox-only",
      [status(1, 21008, to: "Sandbox")], "rejected.environment.not-accepted")
  }

  func addStatuses() {
    for (code, name) in [
      (21000, "request"), (21001, "request"), (21003, "not-authentic"), (21004, "secret"),
      (21010, "account"), (21100, "internal"), (21199, "internal"),
    ] as [(Int64, String)] {
      transcript(
        "VRR-23", "Apple's status \(code)", [status(1, code)], "rejected.verify-receipt." + name,
        check: "result", at: "status",
        facts: [
          ("verifyReceipt.appleStatus", .integer(code)),
          ("verifyReceipt.environment", "Production"), ("verifyReceipt.transactions", .null),
          ("attempts", 1), ("retry", .null),
        ])
    }
    transcript(
      "VRR-6", "an unknown status, with facts that are not read",
      [apple(1, good.setting("status", 21099))], "unsupported.verify-receipt.status",
      check: "reply",
      facts: [
        ("/error.retryClass", "later"), ("retry.reason", "retry"),
        ("retry.notBeforeMs", .integer(now + 16_000)),
      ])
    transcript(
      "VRR-4", "an answer without a status", [apple(1, [:])], "malformed.verify-receipt.body",
      check: "reply", at: "status")
    transcript(
      "VRR-9", "a field of another form", [apple(1, good.setting("receipt.quantity", "one"))],
      "malformed.verify-receipt.field", check: "reply", at: "receipt.quantity",
      facts: [("verifyReceipt", .null)])
    transcript(
      "VRR-14", "a version 1 notification",
      [apple(1, good.setting("notification_type", "DID_RENEW"))],
      "unsupported.verify-receipt.notification-v1")
  }

  func addRepetitions() {
    transcript(
      "VRR-7", "21002 once", [status(1, 21002), wait(1000), apple(3, good, after: 1000)],
      facts: [("attempts", 2)])
    transcript(
      "VRR-7", "21002 twice", [status(1, 21002), wait(1000), status(3, 21002, after: 1000)],
      "rejected.verify-receipt.malformed", check: "result",
      facts: [("/error.retryClass", "never"), ("retry", .null)])
    transcript(
      "VRR-21", "21002, a hop, 21002",
      [
        status(1, 21002), wait(1000), status(3, 21007, after: 1000),
        status(4, 21002, to: "Sandbox", after: 1000),
      ], "rejected.verify-receipt.malformed", facts: [("hops", 1)])
    for (code, more, name) in [
      (21005, [], Self.noAnswer), (21009, [], Self.noAnswer),
      (21150, [("is-retryable", true)], "unavailable.verify-receipt.internal"),
    ] as [(Int64, [(String, JSONText)], String)] {
      let body: JSONText = ["status": .integer(code)]
      transcript(
        "VRR-4", "Apple's status \(code) three times",
        [
          apple(1, body.setting(more)), wait(1000), apple(3, body.setting(more), after: 1000),
          wait(5000), apple(5, body.setting(more), after: 5000),
        ], name, check: "reply",
        facts: [
          ("attempts", 3), ("verifyReceipt.appleStatus", .integer(code)),
          ("retry.notBeforeMs", .integer(now + 5000 + 16_000)),
          ("retry.request.operation", "call-verify-receipt"), ("retry.request.attempt", 2),
          ("retry.attempt", 2),
        ])
    }
    transcript(
      "VRR-21", "everything that is allowed, each once",
      [
        store(1, 0), wait(1000), status(3, 21002, after: 1000), wait(2000),
        status(5, 21007, after: 2000), store(6, 500, to: "Sandbox", after: 2000), wait(6000),
        apple(8, fixture.response(.ios6).json, to: "Sandbox", after: 6000),
      ], "rejected.verify-receipt.mismatch", facts: [("attempts", 5)])
  }

  func addHTTP() {
    for status in [0, 429, 500, 503, 599] as [Int64] {
      let reason = status == 429 ? "rate-limited" : "retry"
      transcript(
        "VRR-4", "HTTP status \(status) once",
        [store(1, status), wait(1000, reason: reason), apple(3, good, after: 1000)])
    }
    for status in [100, 201, 204, 301, 302, 400, 404, 499, 600] as [Int64] {
      transcript(
        "VRR-4", "HTTP status \(status)", [store(1, status)], "rejected.verify-receipt.http",
        check: "reply", at: "status", facts: [("verifyReceipt", .null)])
    }
    for (name, body) in [
      ("a page", "<html>"), ("half an answer", "{\"status\":0"), ("nothing", ""),
    ] {
      transcript(
        "VRR-4", "\(name) with HTTP status 200",
        [store(1, 200, body: ["text": .string(body)]), wait(1000), apple(3, good, after: 1000)],
        "ok")
    }
    let seven: JSONText = [["Retry-After", "7"]]
    for (status, reason) in [(429, "rate-limited"), (503, "retry")] as [(Int64, String)] {
      transcript(
        "VRR-4", "Retry-After with HTTP status \(status)",
        [
          store(1, status, more: [("headers", seven)]), wait(7000, reason: reason),
          apple(3, good, after: 7000),
        ])
    }
    transcript(
      "VRR-4", "Retry-After with HTTP status 500",
      [store(1, 500, more: [("headers", seven)]), wait(1000), apple(3, good, after: 1000)])
    transcript(
      "VRR-20", "an answer that was cut", [store(1, 200, more: [("truncated", true)])],
      "too-large.verify-receipt.body", check: "reply", at: "truncated",
      facts: [("/error.retryClass", "later")])
  }

  func addIdentity() throws {
    for (member, value) in [
      ("product_id", "com.example.app.standard.monthly"), ("transaction_id", "180000900000002"),
      ("original_transaction_id", "180000900000003"),
    ] {
      transcript(
        "VRR-16", "an answer with another \(member)",
        [apple(1, good.setting("receipt." + member, .string(value)))],
        "rejected.verify-receipt.mismatch", check: "result", at: "receipt." + member,
        facts: [("verifyReceipt", .null)])
    }
    let second = fixture.production.with {
      $0.bundleId = "com.example.second"
      $0.appAppleId = 1_234_567_891
    }
    transcript(
      "VRR-16", "an answer about another app of ours",
      [apple(1, fixture.response(.ios6, [second]).json)], "rejected.verify-receipt.mismatch",
      at: "receipt.bid")
    transcript(
      "VRR-16", "an answer about a foreign app",
      [apple(1, good.setting("receipt.bid", "com.example.foreign"))], "rejected.app.bundle-id",
      check: "result")
    transcript(
      "VRR-17", "a Sandbox purchase from production",
      asks: ["operation": "call-verify-receipt", "receipt": .string(sandboxReceipt)],
      [apple(1, fixture.response(.ios6).json)], "rejected.environment.signer-mismatch",
      at: "latest_receipt_info.transaction_id")
  }

  func addRequests() throws {
    func refused(
      _ rule: String, _ name: String, _ request: JSONText,
      _ status: String = VerifyReceiptTranscript.misuse, at: String? = nil,
      verifier: String = "verify-receipt", evidence: [EvidenceCase.Evidence] = []
    ) {
      transcript(
        rule, name, asks: request, evidence: evidence, verifier: verifier, [], status,
        check: status == "misuse.exchange.evidence" ? "evidence" : "request", at: at)
    }
    refused("EXC-1", "an unknown member", usual.appending("password", "x"), at: "password")
    refused(
      "VRR-22", "neither receipt nor evidence", ["operation": "call-verify-receipt"], at: "receipt")
    refused(
      "VRR-22", "a receipt that is a number", ["operation": "call-verify-receipt", "receipt": 1],
      at: "receipt"
    )
    refused("VRR-22", "an unknown start", usual.appending("start", "Xcode"), at: "start")
    refused(
      "VRR-22", "a start that is not accepted", usual.appending("start", "Sandbox"),
      "rejected.environment.not-accepted", at: "start", verifier: "production-only")
    refused(
      "VRR-22", "old transactions by a number", usual.appending("excludeOldTransactions", 1),
      at: "excludeOldTransactions")
    let attested = Base64Text.encode(try fixture.attest.receipt(fixture.receiptFacts()))
    refused(
      "RCP-5", "a receipt of App Attest",
      ["operation": "call-verify-receipt", "receipt": .string(utf8: attested)],
      "rejected.kind.mismatch",
      at: "receipt")
    for (name, text, status, place) in [
      ("an empty receipt", "", "malformed.transport.empty", "receipt"),
      ("a receipt that is no base64", "***", "malformed.transport.base64", "receipt/byte 0"),
      ("a JWS", "eyJhIjoxfQ.eyJhIjoxfQ.AAAA", "rejected.kind.mismatch", "receipt"),
      ("a text", "Y29tLmV4YW1wbGU", "rejected.kind.mismatch", "receipt"),
    ] {
      refused(
        "RCP-1", name, ["operation": "call-verify-receipt", "receipt": .string(text)], status,
        at: place)
    }
    refused(
      "RCP-1", "a long receipt",
      ["operation": "call-verify-receipt", "receipt": .string(appReceipt)],
      "too-large.transport.input", at: "receipt", verifier: "small-input")
    for (name, after) in [("soon", 999), ("late", 86_400_001)] as [(String, Int64)] {
      refused(
        "EXC-16", "a deadline too \(name)", usual.appending("deadlineMs", .integer(now + after)),
        at: "deadlineMs")
    }
    for attempt in [0, 65] as [Int64] {
      refused(
        "EXC-18", "attempt \(attempt)", usual.appending("attempt", .integer(attempt)), at: "attempt"
      )
    }
    let evidence = EvidenceCase.Evidence(.receipt(.transactionReceipt, Array(receipt.utf8)))
    let none: JSONText = ["operation": "call-verify-receipt"]
    let refusedEvidence = "misuse.exchange.evidence"
    refused("VRR-22", "both receipt and evidence", usual, at: "receipt", evidence: [evidence])
    refused(
      "EXC-2", "two receipts", none, refusedEvidence, at: "evidence",
      evidence: [evidence, evidence])
    refused(
      "EXC-2", "a JWS as evidence", none, refusedEvidence, at: "evidence[0]",
      evidence: [try fixture.transaction(fixture.purchase)])
    refused(
      "EXC-2", "a receipt of another verifier", none, refusedEvidence, at: "evidence[0]",
      evidence: [.init(evidence.proof, verifier: "root-entry-ignored")])
    refused(
      "EXC-2", "a refused receipt as evidence", none, refusedEvidence, at: "evidence[0]",
      evidence: [.init(.receipt(.transactionReceipt, Array("x".utf8)))])
  }

  func addAnswers() {
    func wrong(_ name: String, _ answer: String, _ status: String, at place: String) {
      let asked = store(1, 200)
      transcript(
        "EXC-5", name,
        [
          Said(answer: .text(answer), at: asked.at, status: asked.status),
          // The document is unchanged: the step is still open.
          Said(
            answer: apple(1, good).answer, at: [("/error.at", .text(place)), ("/exchange", .null)],
            status: status),
        ])
    }
    let form = "misuse.exchange.reply"
    wrong(
      "an answer to another step", #"{"id":2,"status":200,"body":null}"#, "misuse.exchange.order",
      at: "id")
    wrong("an answer without a body", #"{"id":1,"status":200}"#, form, at: "body")
    wrong("a status that is none", #"{"id":1,"status":1000,"body":null}"#, form, at: "status")
    wrong("an unknown member", #"{"id":1,"status":200,"body":null,"url":""}"#, form, at: "url")
    wrong(
      "a header that is no pair", #"{"id":1,"status":200,"body":null,"headers":[["a"]]}"#, form,
      at: "headers[0]")
    wrong("no JSON", "x", form, at: "byte 0")
    wrong("the answer to a wait", "{}", form, at: "id")
    let pause = wait(1000)
    transcript(
      "EXC-5", "an answer to a wait too early",
      [
        status(1, 21002),
        Said(answer: pause.answer, after: 999, at: pause.at, status: pause.status), pause,
        apple(3, good, after: 1000),
      ])
    transcript(
      "EXC-5", "a wait answered like a request",
      [
        status(1, 21002), Said(answer: ["id": 2], after: 1000, at: pause.at, status: pause.status),
        Said(
          answer: pause.answer, after: 1000, at: [("/error.at", "id")],
          status: "misuse.exchange.reply"), apple(3, good, after: 1000),
      ])
    transcript(
      "EXC-5", "an answer after the end",
      [
        status(1, 21003),
        Said(
          answer: apple(1, good).answer, at: [("step", "done")],
          status: "rejected.verify-receipt.not-authentic"),
      ], "misuse.exchange.order", check: "reply")
    transcript(
      "EXC-19", "a cut answer whose body is ignored",
      [
        store(1, 503, body: ["text": "half"], more: [("truncated", true)]), wait(1000),
        apple(3, good, after: 1000),
      ])
  }

  func addBounds() {
    let soon = usual.appending("deadlineMs", .integer(now + 5000))
    func waitOfSoon(_ end: Int64, after: Int64? = nil) -> Said {
      wait(end, after: after, facts: [("retry.omitted.1", "deadlineMs")])
    }
    transcript(
      "EXC-16", "a hop at the deadline", asks: soon, [status(1, 21007, after: 5000)],
      "unavailable.exchange.deadline", check: "result", at: "deadlineMs",
      facts: [
        ("reached.step", "http"), ("reached.steps", 1),
        ("retry.notBeforeMs", .integer(now + 5000 + 16_000)), ("/error.retryClass", "later"),
      ])
    transcript(
      "EXC-16", "a hop before the deadline", asks: soon,
      [status(1, 21007, after: 4999), status(2, 21003, to: "Sandbox", after: 9000)],
      "rejected.verify-receipt.not-authentic")
    transcript(
      "EXC-16", "a good answer after the deadline", asks: soon, [apple(1, good, after: 9000)])
    transcript(
      "EXC-16", "a wait past the deadline", asks: soon, [store(1, 500, after: 4001)], Self.noAnswer,
      facts: [("retry.notBeforeMs", .integer(now + 5001)), ("reached", .null)])
    transcript(
      "EXC-16", "21002 when there is no time to repeat", asks: soon,
      [status(1, 21002, after: 4001)], Self.noAnswer, facts: [("verifyReceipt.appleStatus", 21002)])
    transcript(
      "EXC-16", "a wait that ends too late", asks: soon,
      [store(1, 500, after: 4000), waitOfSoon(5000)], "unavailable.exchange.deadline",
      facts: [("reached.step", "wait")])
    transcript(
      "EXC-17", "a clock that runs backwards",
      [
        store(1, 500, after: 3000), wait(4000, after: 9000), status(3, 21002, after: 0),
        wait(10000), apple(5, good, after: 10_000),
      ])
    transcript(
      "EXC-17", "a step in 2100", [store(1, 200, after: 4_102_444_800_000 - now)],
      "misuse.call.now", at: "now_ms")
    transcript(
      "EXC-18", "the third attempt", asks: usual.appending("attempt", 3), [apple(1, [:])],
      "malformed.verify-receipt.body",
      facts: [
        ("retry.attempt", 4), ("retry.request.attempt", 4),
        ("retry.notBeforeMs", .integer(now + 256_000)), ("retry.omitted.0", "receipt"),
        ("retry.omitted.1", .null),
      ])
  }
}
