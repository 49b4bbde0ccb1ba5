import AssayAuthority
import Testing

@testable import Assay

/// Tests the exchange with Apple's endpoint, state by state (VRR-1 … VRR-4, VRR-20 … VRR-23).
@Suite("Exchange verifyReceipt")
struct VerifyReceiptExchangeTests {
  private static let now = AnswerSample.now
  private typealias Endpoint = VerifyReceiptTask.Endpoint

  /// An unsigned transaction receipt of `AnswerSample.first`.
  private static let receipt: [UInt8] = {
    let info = """
      {
      \t"bid" = "\(AnswerSample.bundle)";
      \t"product-id" = "\(AnswerSample.product)";
      \t"transaction-id" = "\(AnswerSample.first)";
      \t"original-transaction-id" = "\(AnswerSample.first)";
      }
      """
    let list = """
      {
      \t"signature" = "AAAA";
      \t"purchase-info" = "\(String(decoding: Base64.encodeStandard(utf8(info)), as: UTF8.self))";
      }
      """
    return Base64.encodeStandard(utf8(list))
  }()

  private func machine(
    _ members: [(String, JSONText)] = [], attempt: Int64 = 1,
    _ change: (inout Configuration) -> Void = { _ in }
  ) throws -> VerifyReceiptStateMachine {
    let trust = try ReceiptTrust.make(AnswerSample.configuration(change))
    let request: JSONText = [
      "operation": "call-verify-receipt", "receipt": .string(utf8: Self.receipt),
    ]
    let task = try VerifyReceiptTask(
      try ExchangeRequest(request.setting(members).bytes), [], trust,
      Triage(trust.configuration), attempt: attempt)
    return VerifyReceiptStateMachine(task, trust)
  }

  private func http(_ status: Int64, retryAfter: String? = nil) -> ExchangeReply {
    .http(
      HTTPResponse(
        status: status, headers: retryAfter.map { [(Text("Retry-After"), Text($0))] } ?? []))
  }

  private func apple(_ status: Int64) -> ExchangeReply {
    let body: JSONText = ["status": .integer(status)]
    return .http(HTTPResponse(status: 200, body: body.bytes))
  }

  /// Returns an action in a few words.
  private func words(_ action: ExchangeAction, now: Int64 = now) -> String {
    switch action {
    case .request(let request):
      return request.url == Endpoint.production.url ? "production" : "sandbox"
    case .database, .grant: return "store"
    case .wait(let wait):
      return "wait \(wait.notBeforeMs - now) \(Text(stringLiteral: wait.reason.name).string)"
    case .accepted: return "accepted"
    case .refused(let ending):
      return Text(stringLiteral: ending.refusal.status.name).string
    }
  }

  /// Passes replies, each at `now`; a wait is followed by its end.
  private func play(
    _ answers: [ExchangeReply], _ machine: VerifyReceiptStateMachine
  ) -> [String] {
    var machine = machine
    var said = [words(machine.start(nowMs: Self.now))]
    for answer in answers { said.append(words(machine.receive(answer, nowMs: Self.now))) }
    return said
  }

  // MARK: transitions

  @Test(
    "VRR-3 VRR-4 VRR-7 a hop and other answers before the last one",
    arguments: [
      ([21007, 21002, -1, 21002], "rejected.verify-receipt.malformed"),
      ([0, -1, 500, -1, 21005], "unavailable.verify-receipt.no-response"),
      ([0, -1, 21007, 500, -1, 0], "unavailable.verify-receipt.no-response"),
      // All allowed steps, each once (VRR-21).
      ([0, -1, 0, -1, 21007, 21002, -1, 0], "unavailable.verify-receipt.no-response"),
    ])
  func transitions(answers: [Int64], last: String) throws {
    let played = answers.map { answer in
      answer == -1
        ? ExchangeReply.elapsed
        : answer >= 1000 ? apple(answer) : http(answer)
    }
    let said = play(played, try machine())
    checkEqual(said.first, "production")
    checkEqual(said.last, last, "\(said)")
  }

  @Test("VRR-3 from Sandbox the other way, once")
  func fromSandbox() throws {
    let sandbox: [(String, JSONText)] = [("start", "Sandbox")]
    checkEqual(play([apple(21008)], try machine(sandbox)), ["sandbox", "production"])
    // Apple's servers have been seen to respond so.
    checkEqual(
      play([apple(21007)], try machine(sandbox)).last,
      "unavailable.verify-receipt.environment-loop")
    checkEqual(
      play([apple(21008), apple(21007)], try machine(sandbox)).last,
      "unavailable.verify-receipt.environment-loop")
  }

  @Test("VRR-4 a 200 with anything but a JSON object is no answer")
  func bodies() throws {
    for body in ["", "<html>", "[]", "{", "null"] {
      let answer = ExchangeReply.http(HTTPResponse(status: 200, body: utf8(body)))
      checkEqual(play([answer], try machine()).last, "wait 1000 retry")
    }
    checkEqual(
      play([.http(HTTPResponse(status: 200, isTruncated: true))], try machine()).last,
      "too-large.verify-receipt.body")
    // The body is ignored, cut or not.
    checkEqual(
      play([.http(HTTPResponse(status: 500, isTruncated: true))], try machine()).last,
      "wait 1000 retry")
    checkEqual(
      play([apple(0).body("{}")], try machine()).last, "malformed.verify-receipt.body")
  }

  @Test(
    "VRR-4 Retry-After of 429 and 503 lengthens a wait and never shortens it",
    arguments: [
      (429, "7", "wait 7000 rate-limited"), (503, "7", "wait 7000 retry"),
      (500, "7", "wait 1000 retry"), (429, "0", "wait 1000 rate-limited"),
      (429, "-7", "wait 1000 rate-limited"), (429, "7.5", "wait 1000 rate-limited"),
      (429, "Wed, 21 Oct 2026 07:28:00 GMT", "wait 1000 rate-limited"),
      (429, "99999999999999999999999", "wait 86400000 rate-limited"),
    ] as [(Int64, String, String)])
  func retryAfter(status: Int64, header: String, said: String) throws {
    checkEqual(play([http(status, retryAfter: header)], try machine()).last, said)
  }

  @Test(
    "VRR-4 the queue's back-off grows by four, to an hour",
    arguments: [(1, 16), (2, 64), (3, 256), (4, 1024), (5, 3600), (64, 3600)] as [(Int64, Int64)])
  func backOff(attempt: Int64, seconds: Int64) throws {
    let machine = try machine(attempt: attempt)
    checkEqual(machine.repeatsAt(nowMs: 5), 5 + seconds * 1000)
    let answers = [http(0), .elapsed, http(0), .elapsed, http(429, retryAfter: "9000")]
    var played = machine
    _ = played.start(nowMs: Self.now)
    var last = ExchangeAction.refused(ExchangeRefusal(Refusal(.internalAssayBug, ""), .result))
    for answer in answers { last = played.receive(answer, nowMs: Self.now) }
    guard case .refused(let ending) = last else {
      Issue.record("it goes on")
      return
    }
    checkEqual(ending.notBeforeMs, Self.now + 9_000_000)
    checkEqual(played.state, .done)
  }

  @Test("an answer where none is due is a bug, not a trap")
  func outOfTurn() throws {
    checkEqual(play([.elapsed], try machine()).last, "internal.assay.bug")
    checkEqual(play([http(0), http(0)], try machine()).last, "internal.assay.bug")
  }

  // MARK: request

  private func firstRequest(
    _ members: [(String, JSONText)] = [], _ change: (inout Configuration) -> Void = { _ in }
  ) throws -> HTTPRequest? {
    var machine = try machine(members, change)
    guard case .request(let request) = machine.start(nowMs: Self.now) else { return nil }
    return request
  }

  private func body(_ request: HTTPRequest?) -> String {
    String(decoding: request?.body?.bytes ?? [], as: UTF8.self)
  }

  @Test("VRR-22 the password of the claimed app, else that of *, else none")
  func password() throws {
    func secrets(_ names: [Text]) -> SharedSecrets {
      var secrets = SharedSecrets()
      for name in names {
        // The secrets have bytes of their own, because they are wiped.
        secrets.all.append((name, SecretBytes(utf8(name == "*" ? "any" : name.string))))
      }
      return secrets
    }
    let own = Text(AnswerSample.bundle)
    for (names, password) in [
      ([own, "*"], #","password":"com.example.app"}"#),
      (["*", own], #","password":"com.example.app"}"#),
      (["*", "com.example.other"], #","password":"any"}"#),
    ] as [([Text], String)] {
      let request = try firstRequest { $0.receipts.sharedSecrets = secrets(names) }
      check(body(request).hasSuffix(password))
    }
    let none = try firstRequest { $0.receipts.sharedSecrets = secrets(["com.example.other"]) }
    check(!body(none).contains("password"))
  }

  @Test("VRR-1 exclude-old-transactions goes with app receipts only")
  func exclude() throws {
    let container: (String, JSONText) = ("receipt", "MIAGCSqGSIb3DQEHAqCAMIAAAAAA")
    let exclude: (String, JSONText) = ("excludeOldTransactions", true)
    check(!body(try firstRequest([exclude])).contains("exclude"))
    check(
      body(try firstRequest([container, exclude])).hasSuffix(#","exclude-old-transactions":true}"#))
    check(body(try firstRequest([container])).hasSuffix(#","exclude-old-transactions":false}"#))
  }

  @Test("VRR-3 VRR-22 where it starts")
  func start() throws {
    func start(
      _ named: Endpoint?, _ shown: Assay.Environment?, _ accepted: [Assay.Environment]
    ) throws -> Endpoint {
      try VerifyReceiptTask.start(named: named, shown: shown, accepted: accepted)
    }
    let both: [Assay.Environment] = [.sandbox, .production]
    try checkEqual(start(nil, nil, both), .production)
    try checkEqual(start(nil, .production, both), .production)
    try checkEqual(start(nil, .sandbox, both), .sandbox)
    try checkEqual(start(.production, .sandbox, both), .production)
    try checkEqual(start(nil, nil, [.sandbox]), .sandbox)
    for (named, shown, accepted) in [
      (.sandbox, nil, [.production]), (.production, nil, [.sandbox]), (nil, nil, [.xcode]),
      (nil, .xcode, [.xcode, .sandbox]),
    ] as [(Endpoint?, Assay.Environment?, [Assay.Environment])] {
      #expect(throws: Refusal(.rejectedEnvironmentNotAccepted, "VRR-22")) {
        try start(named, shown, accepted)
      }
    }
  }
}

extension ExchangeReply {
  /// Returns the response with another body.
  fileprivate func body(_ text: String) -> ExchangeReply {
    guard case .http(let answer) = self else { return self }
    return .http(HTTPResponse(status: answer.status, body: utf8(text)))
  }
}
