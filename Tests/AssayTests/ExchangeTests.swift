import AssayAuthority
import Testing

@testable import Assay

/// Tests the common behaviour of all exchanges, with a kind that exists only here (EXC-1 … EXC-21).
@Suite("Exchanges")
struct ExchangeTests {
  /// Sends requests; the HTTP status of each reply selects the next action.
  private struct Rehearsal: ExchangeStateMachine {
    enum Orders: Int64 {
      case ask = 200
      case waitASecond = 503
      case refuse = 403
      case doubt = 500
      case accept = 204
    }
    var told: [Int64] = []
    var elapsed = 0

    private func ask() -> ExchangeAction {
      .request(
        HTTPRequest(
          method: "POST", url: "https://example.com/", headers: [("Accept", "text/plain")],
          body: SecretBytes(utf8("secret")), timeoutMs: 5, maxResponseBytes: 7,
          responseHeaders: ["etag"], sensitivePaths: ["body"]))
    }

    mutating func start(nowMs: Int64) -> ExchangeAction { ask() }

    mutating func receive(_ reply: ExchangeReply, nowMs: Int64) -> ExchangeAction {
      guard case .http(let answer) = reply else {
        elapsed += 1
        return ask()
      }
      told.append(answer.status)
      switch Orders(rawValue: answer.status) {
      case .ask: return ask()
      case .waitASecond:
        return .wait(
          ExchangeWait(
            notBeforeMs: nowMs + 1000, reason: .rateLimited,
            otherwise: Refusal(.unavailableDeviceCheckNoResponse, "EXC-16")))
      case .accept: return .accepted(.several([]), capacity: 0)
      case .doubt:
        return .refused(
          ExchangeRefusal(Refusal(.unavailableDeviceCheckNoResponse, "EXC-7"), .answer))
      case .refuse, nil:
        return .refused(ExchangeRefusal(Refusal(.rejectedDeviceCheckRequest, "EXC-7"), .result))
      }
    }

    func repeatsAt(nowMs: Int64) -> Int64 { nowMs + 77 }
    func write(_ writer: inout JSONWriter) { writer.member("told", integer: Int64(told.count)) }
    func writeWarnings(_ writer: inout JSONWriter) {}
  }

  private typealias Driver = ExchangeDriver<Rehearsal>

  private static let now = Exchanges.now

  /// Returns a kernel whose first step is open. The request's kind is verifyReceipt: eight steps,
  /// and repeatable.
  private func begin(seconds: Int64 = 600) -> (Driver, Document) {
    let request: JSONText = [
      "operation": "call-verify-receipt", "deadlineMs": .integer(Self.now + seconds * 1000),
    ]
    guard let given = try? ExchangeRequest(request.bytes),
      let terms = try? ExchangeOptions(given, configuration: [1, 2], nowMs: Self.now)
    else { preconditionFailure("the request is good") }
    var driver = Driver(Rehearsal(), terms, nowMs: Self.now)
    let document = driver.begin()
    return (driver, document)
  }

  private func http(_ id: Int64, _ order: Rehearsal.Orders) -> [UInt8] {
    utf8(#"{"id":\#(id),"status":\#(order.rawValue),"body":null}"#)
  }

  // MARK: steps

  @Test("EXC-3 a step is pending, the end is not, and both name kind and state")
  func wholeExchange() throws {
    var (driver, first) = begin()
    checkEqual(first.status.code, 9 | 2 << 8)
    checkEqual(first.name, "pending.exchange.http")
    checkEqual(first.text("kind"), "exchange")
    checkEqual(first.flag("ok"), false)
    checkEqual(first.text("exchange.operation"), "call-verify-receipt")
    checkEqual(first.text("exchange.step"), "http")
    check(first.evidence == nil)
    checkEqual(first.configuration, [1, 2])
    checkEqual(
      first.tree?.at("exchange.http").map { String(decoding: $0.source, as: UTF8.self) },
      #"{"id":1,"method":"POST","url":"https://example.com/","headers":[["Accept","#
        + #""text/plain"]],"body":{"text":"secret"},"timeoutMs":5,"maxResponseBytes":7,"#
        + #""responseHeaders":["etag"],"sensitivePaths":["body"]}"#)

    let second = driver.step(http(1, .ask), nowMs: Self.now)
    checkEqual(second.integer("exchange.http.id"), 2)
    let wait = driver.step(http(2, .waitASecond), nowMs: Self.now)
    checkEqual(wait.name, "pending.exchange.wait")
    checkEqual(wait.status.code, 9 | 4 << 8)
    checkEqual(wait.text("exchange.step"), "wait")
    checkEqual(wait.integer("exchange.notBeforeMs"), Self.now + 1000)
    checkEqual(wait.text("exchange.reason"), "rate-limited")
    checkEqual(wait.integer("exchange.retry.notBeforeMs"), Self.now + 1000)
    // A reply before the time of the wait returns the same step again.
    let again = driver.step(utf8("{}"), nowMs: Self.now + 999)
    withExtendedLifetime((again, wait)) { checkEqual(again.json, wait.json) }
    let third = driver.step(utf8("{}"), nowMs: Self.now + 1000)
    checkEqual(third.integer("exchange.http.id"), 4)
    let end = driver.step(http(4, .accept), nowMs: Self.now + 1000)
    checkEqual(end.status, .ok)
    checkEqual(end.text("exchange.step"), "done")
    checkEqual(end.integer("exchange.told"), 3)
    check(end.evidence != nil)
    check(!driver.isOpen)
    // No step is open any more (EXC-5).
    Exchanges.expect(
      driver.step(utf8("{}"), nowMs: Self.now), "misuse.exchange.order", rule: "EXC-5")
  }

  @Test("DOC-5 every document of an exchange lists the four checks, with what holds")
  func checksOfSteps() {
    func outcomes(_ document: Document) -> String {
      (0...3).map { place in
        switch document.flag("checks.\(place).ok") {
        case true: return "1"
        case false: return "0"
        case nil: return "-"
        }
      }.joined()
    }
    var (driver, first) = begin()
    checkEqual(outcomes(first), "11--")
    checkEqual(first.text("checks.2.reason"), "no input for it")
    checkEqual(outcomes(driver.step(utf8("[]"), nowMs: Self.now)), "110-")
    checkEqual(outcomes(driver.step(http(1, .waitASecond), nowMs: Self.now)), "11--")
    _ = driver.step(utf8("{}"), nowMs: Self.now + 1000)
    let refused = driver.step(http(3, .refuse), nowMs: Self.now + 1000)
    checkEqual(outcomes(refused), "1110")
    checkEqual(refused.text("error.check"), "exchange.result")
    var (other, _) = begin()
    let doubtful = other.step(http(1, .doubt), nowMs: Self.now)
    checkEqual(outcomes(doubtful), "110-")
    checkEqual(doubtful.text("error.check"), "exchange.reply")
    var (good, _) = begin()
    checkEqual(outcomes(good.step(http(1, .accept), nowMs: Self.now)), "1111")
  }

  // MARK: forms

  @Test(
    "EXC-5 an answer of another form changes nothing",
    arguments: [
      (#"{"id":1,"status":200}"#, "misuse.exchange.reply", "body"),
      (#"{"id":1,"body":null}"#, "misuse.exchange.reply", "status"),
      (#"{"status":200,"body":null}"#, "misuse.exchange.reply", "id"),
      (#"{"id":1,"status":"200","body":null}"#, "misuse.exchange.reply", "status"),
      (#"{"id":1,"status":-1,"body":null}"#, "misuse.exchange.reply", "status"),
      (#"{"id":1,"status":1000,"body":null}"#, "misuse.exchange.reply", "status"),
      (#"{"id":1,"status":200,"body":null,"more":0}"#, "misuse.exchange.reply", "more"),
      (#"{"id":"1","status":200,"body":null}"#, "misuse.exchange.reply", "id"),
      (#"{"id":1.5,"status":200,"body":null}"#, "misuse.exchange.reply", "id"),
      (#"{"id":2,"status":200,"body":null}"#, "misuse.exchange.order", "id"),
      (#"{"id":0,"status":200,"body":null}"#, "misuse.exchange.order", "id"),
      (#"{"id":1,"status":200,"body":"x"}"#, "misuse.exchange.reply", "body"),
      (#"{"id":1,"status":200,"body":{}}"#, "misuse.exchange.reply", "body"),
      (#"{"id":1,"status":200,"body":{"base64":"*"}}"#, "misuse.exchange.reply", "body.base64"),
      (
        #"{"id":1,"status":200,"body":{"text":"","base64":""}}"#, "misuse.exchange.reply",
        "body"
      ),
      (#"{"id":1,"status":200,"body":null,"truncated":1}"#, "misuse.exchange.reply", "truncated"),
      (#"{"id":1,"status":200,"body":null,"headers":{}}"#, "misuse.exchange.reply", "headers"),
      (
        #"{"id":1,"status":200,"body":null,"headers":[["a"]]}"#, "misuse.exchange.reply",
        "headers[0]"
      ),
      (
        #"{"id":1,"status":200,"body":null,"headers":[["a","b"],["a",1]]}"#,
        "misuse.exchange.reply", "headers[1][1]"
      ),
      (#"{"id":1,"id":1,"status":200,"body":null}"#, "misuse.exchange.reply", "byte 8"),
      ("[]", "misuse.exchange.reply", "byte 0"),
      ("", "misuse.exchange.reply", "byte 0"),
    ])
  func otherForms(answer: String, status: String, place: String) {
    var (driver, _) = begin()
    let refused = driver.step(utf8(answer), nowMs: Self.now)
    Exchanges.expect(refused, status, at: place, rule: "EXC-5")
    checkEqual(refused.tree?.member("exchange")?.isNull, true)
    // The step is still open.
    checkEqual(
      driver.step(http(1, .ask), nowMs: Self.now).integer("exchange.http.id"), 2)
  }

  @Test("EXC-5 an answer to a wait has no members, and its form is looked at first")
  func waitTakesNothing() {
    var (driver, _) = begin()
    _ = driver.step(http(1, .waitASecond), nowMs: Self.now)
    for now in [Self.now, Self.now + 2000] {
      Exchanges.expect(
        driver.step(utf8(#"{"id":2}"#), nowMs: now), "misuse.exchange.reply", at: "id")
    }
    checkEqual(driver.step(utf8("{}"), nowMs: Self.now + 2000).status.family, .pending)
  }

  @Test("EXC-5 an answer is at most 8 MiB long")
  func longAnswer() {
    var (driver, _) = begin()
    let answer = http(1, .ask)
    let fits = answer + [UInt8](repeating: 0x20, count: Exchange.answerByteCap - answer.count)
    checkEqual(fits.count, 8 << 20)
    Exchanges.expect(driver.step(fits + [0x20], nowMs: Self.now), "misuse.exchange.reply")
    checkEqual(driver.step(fits, nowMs: Self.now).integer("exchange.http.id"), 2)
  }

  @Test("EXC-19 EXC-20 bodies: text, base64, none, and one that was cut")
  func bodies() throws {
    func answer(_ rest: String) throws -> HTTPResponse {
      try HTTPResponse(utf8(#"{"id":1,"status":200,\#(rest)}"#), to: 1)
    }
    try checkEqual(answer(#""body":{"text":"a\u0001b"}"#).body, [0x61, 1, 0x62])
    // The reader accepts no NUL in a text.
    #expect(throws: Refusal(.misuseExchangeReply, "EXC-5")) {
      try answer(#""body":{"text":"a\u0000b"}"#)
    }
    try checkEqual(answer(#""body":{"base64":"YQBi"}"#).body, [0x61, 0, 0x62])
    try check(answer(#""body":null"#).body.isEmpty)
    let cut = try answer(#""body":{"text":"half"},"truncated":true"#)
    check(cut.isTruncated && cut.body.isEmpty)
    let headers = try answer(#""body":null,"headers":[["ETag","x"],["etag","y"]]"#)
    checkEqual(headers.header("etag"), "x")
    check(headers.header("age") == nil)
  }

  // MARK: bounds

  @Test("EXC-7 a refusal that is no misuse ends the exchange")
  func refusalEnds() {
    var (driver, _) = begin()
    let refused = driver.step(http(1, .refuse), nowMs: Self.now)
    Exchanges.expect(refused, "rejected.device-check.request", rule: "EXC-7")
    checkEqual(refused.text("exchange.step"), "done")
    checkEqual(refused.integer("exchange.told"), 1)
    check(refused.tree?.at("exchange.retry") == nil)
    Exchanges.expect(driver.step(http(1, .ask), nowMs: Self.now), "misuse.exchange.order")
  }

  @Test("EXC-15 one step more than the kind has is a bug, and ends it")
  func steps() {
    var (driver, document) = begin()
    for id in 1...8 as ClosedRange<Int64> {
      checkEqual(document.integer("exchange.http.id"), id)
      document = driver.step(http(id, .ask), nowMs: Self.now)
    }
    Exchanges.expect(document, "internal.assay.bug", at: "steps", rule: "EXC-15")
    check(!driver.isOpen)
  }

  @Test("EXC-16 no step is given out at the deadline; an answer in hand is judged first")
  func deadline() {
    var (driver, _) = begin(seconds: 10)
    _ = driver.step(http(1, .ask), nowMs: Self.now + 9999)
    let late = driver.step(http(2, .ask), nowMs: Self.now + 10_000)
    Exchanges.expect(late, "unavailable.exchange.deadline", at: "deadlineMs", rule: "EXC-16")
    checkEqual(late.text("exchange.reached.step"), "http")
    checkEqual(late.integer("exchange.reached.steps"), 2)
    checkEqual(late.integer("exchange.retry.notBeforeMs"), Self.now + 10_077)
    checkEqual(late.text("exchange.retry.reason"), "retry")
    check(!driver.isOpen)
    var (other, _) = begin(seconds: 10)
    checkEqual(other.step(http(1, .accept), nowMs: Self.now + 86_400_000).status, .ok)
  }

  @Test("EXC-16 a wait that does not fit ends with what it waits for, and says when")
  func longWait() {
    var (fits, _) = begin(seconds: 10)
    checkEqual(fits.step(http(1, .waitASecond), nowMs: Self.now + 9000).status.family, .pending)
    // The wait ends at the deadline, at which no further step starts.
    Exchanges.expect(
      fits.step(utf8("{}"), nowMs: Self.now + 10_000), "unavailable.exchange.deadline")
    var (driver, _) = begin(seconds: 10)
    let ended = driver.step(http(1, .waitASecond), nowMs: Self.now + 9001)
    Exchanges.expect(ended, "unavailable.device-check.no-response", rule: "EXC-16")
    checkEqual(ended.integer("exchange.retry.notBeforeMs"), Self.now + 10_001)
    checkEqual(ended.text("exchange.retry.reason"), "rate-limited")
    check(ended.tree?.at("exchange.reached") == nil)
  }

  @Test("EXC-17 the clock never runs backwards, and is held to its window")
  func clock() {
    var (driver, _) = begin(seconds: 10)
    for now in [0, 1_199_145_599_999, 4_102_444_800_000] as [Int64] {
      Exchanges.expect(
        driver.step(http(1, .ask), nowMs: now), "misuse.call.now", at: "now_ms", rule: "EXC-17")
    }
    _ = driver.step(http(1, .ask), nowMs: Self.now + 5000)
    let wait = driver.step(http(2, .waitASecond), nowMs: Self.now)
    checkEqual(wait.integer("exchange.notBeforeMs"), Self.now + 6000)
  }

  @Test("EXC-18 a refusal that is worth repeating says what to put into a queue")
  func retry() {
    var (driver, _) = begin()
    let ended = driver.step(http(1, .doubt), nowMs: Self.now)
    checkEqual(
      ended.tree?.at("exchange.retry").map { String(decoding: $0.source, as: UTF8.self) },
      #"{"request":{"operation":"call-verify-receipt","attempt":2},"omitted":["deadlineMs"],"#
        + #""notBeforeMs":\#(Self.now + 77),"attempt":2,"reason":"retry"}"#)
  }

  @Test("EXC-21 a second thread in a step is told so at once")
  func busy() throws {
    let (exchange, _) = try Exchanges.verifyReceipt()
    let held = try require(exchange)
    checkEqual(held.stepping.take(), .taken)
    Exchanges.expect(
      held.step(utf8("{}"), nowMs: Self.now), "misuse.exchange.order", at: "busy", rule: "EXC-21")
    held.stepping.release()
    // The state is unchanged.
    Exchanges.expect(
      held.step(utf8(#"{"id":2,"status":0,"body":null}"#), nowMs: Self.now),
      "misuse.exchange.order", at: "id")
  }

  // MARK: requests

  @Test(
    "EXC-1 a request of another form is refused",
    arguments: [
      (#"{"operation":"assess-risk","observations":{},"x":1}"#, "misuse.exchange.request", "x"),
      (#"{"operation":"assess-risk"}"#, "misuse.exchange.request", "observations"),
      (#"{"observations":{}}"#, "misuse.exchange.request", "operation"),
      (#"{"operation":7}"#, "misuse.exchange.request", "operation"),
      (#"{"operation":"assess-risks"}"#, "misuse.exchange.operation", "operation"),
      (#"{"operation":"erase-device-bits"}"#, "misuse.exchange.operation", "operation"),
      (#"{"operation":"assess-risk",}"#, "misuse.exchange.request", "byte 27"),
      (
        #"{"operation":"assess-risk","operation":"assess-risk"}"#, "misuse.exchange.request",
        "byte 27"
      ),
      ("7", "misuse.exchange.request", "byte 0"),
    ])
  func otherRequests(request: String, status: String, place: String) throws {
    let (exchange, document) = try Exchanges.verifier().startExchange(
      utf8(request), nowMs: Exchanges.now)
    check(exchange == nil)
    Exchanges.expect(document, status, at: place, rule: "EXC-1")
    check(document.tree?.member("exchange")?.isNull == true || document.text("kind") == "risk")
  }

  @Test("DOC-5 every check of an exchange is listed")
  func checks() throws {
    let document = try Exchanges.run(["operation": "normalize-device-token", "deviceToken": "AAAA"])
    checkEqual(document.text("checks.0.id"), "exchange.request")
    checkEqual(document.text("checks.1.id"), "exchange.evidence")
    checkEqual(document.text("checks.2.id"), "exchange.reply")
    checkEqual(document.text("checks.2.reason"), "does not apply to this evidence")
    checkEqual(document.text("checks.3.id"), "exchange.result")
    for place in [0, 1, 3] { checkEqual(document.flag("checks.\(place).ok"), true) }
    let refused = try Exchanges.run(["operation": "normalize-device-token", "deviceToken": "*"])
    checkEqual(refused.text("error.check"), "exchange.result")
    checkEqual(refused.flag("checks.3.ok"), false)
  }

  // MARK: evidence

  @Test("EXC-2 only verified documents of this configuration and of a kind that is taken")
  func evidence() throws {
    let verifier = try Exchanges.verifier()
    let payload = try Minted.authority().payload(.transaction, Minted.purchase)
    let jws = try Minted.authority().mint(payload)
    let good = verifier.verifyJWS(jws, kind: .transaction, nowMs: Minted.now)
    checkEqual(good.status, .ok)
    let refused = verifier.verifyJWS(utf8("a.b"), kind: .transaction, nowMs: Minted.now)
    let foreign = try Exchanges.verifier([("clockSkewMs", 1)]).verifyJWS(
      jws, kind: .transaction, nowMs: Minted.now)
    checkEqual(foreign.status, .ok)
    func read(
      _ documents: [Document], _ counts: ClosedRange<Int> = 0...2, takes: Bool = true
    ) throws -> Int {
      let row = OperationRow("x", [], evidence: counts, of: takes ? .transaction : .keyset)
      return try ExchangeEvidence.read(
        documents, configuration: good.configuration, of: row
      ).count
    }
    try checkEqual(read([]), 0)
    #expect(throws: Refusal(.misuseExchangeEvidence, "EXC-2")) { try read([], 1...1) }
    try checkEqual(read([good, good]), 2)
    let doubtful = Document(
      status: .rejectedDecisionNotEntitled, json: good.json, evidence: good.evidence,
      configuration: good.configuration)
    for documents in [[refused], [foreign], [doubtful], [good, doubtful]] {
      #expect(throws: Refusal(.misuseExchangeEvidence, "EXC-2")) { try read(documents) }
    }
    #expect(throws: Refusal(.misuseExchangeEvidence, "EXC-2")) { try read([good], takes: false) }
    #expect(throws: Refusal(.misuseExchangeEvidence, "EXC-2")) { try read([good, good, good]) }

    let (_, document) = verifier.startExchange(
      utf8(#"{"operation":"assess-risk","observations":{}}"#), evidence: [good], nowMs: Minted.now)
    Exchanges.expect(document, "misuse.exchange.evidence", at: "evidence[0]", rule: "EXC-2")
    checkEqual(document.text("error.check"), "exchange.evidence")
    let configuration = verifier.startExchange(
      utf8(#"{"operation":"normalize-device-token","deviceToken":"AAAA"}"#),
      evidence: [Verifier.alone(try Minted.config().bytes).document], nowMs: Minted.now)
    Exchanges.expect(configuration.document, "misuse.exchange.evidence")
  }
}
