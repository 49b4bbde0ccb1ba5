import AssayAuthority
import Testing

@testable import Assay

/// EXC-1 … EXC-8: the frame of conversations, with a kind that exists only here.
@Suite("Exchanges")
struct ExchangeTests {
  /// Asks twice, waits once, and reports what it was told.
  private final class Rehearsal: Conversation {
    private var told: [Int64] = []
    let failsAtBegin: Bool

    init(failsAtBegin: Bool = false) {
      self.failsAtBegin = failsAtBegin
      super.init(kind: "rehearsal")
    }

    private func ask(_ id: Int64) -> ExchangeMove {
      .step(
        ExchangeStep(
          id: id, state: "request", status: Status(.pending, 2), answerMembers: ["value"]
        ) { $0.member("question", integer: id) })
    }

    override func begin(nowMs: Int64) throws(Refusal) -> ExchangeMove {
      try require(!failsAtBegin, .rejectedDevicecheckToken, "EXC-7")
      return ask(1)
    }

    override func take(_ answer: ExchangeAnswer, nowMs: Int64) throws(Refusal) -> ExchangeMove {
      if told.count == 2 {
        let documents = ExchangeDocument(kind: kind, configuration: [1, 2])
        let sum = told.reduce(0, +)
        return .done(documents.done { $0.member("sum", integer: sum) })
      }
      guard let value = answer["value"]?.value.integer else {
        throw Refusal(.misuseExchangeAnswer, "EXC-5", at: "value")
      }
      try require(value != 13, .rejectedDevicecheckRequest, "EXC-7", at: "value")
      told.append(value)
      guard told.count == 2 else { return ask(2) }
      return .step(
        ExchangeStep(
          id: nil, state: "wait", status: Status(.pending, 4), answerMembers: [],
          notBeforeMs: Exchanges.now + 1000
        ) { $0.member("notBeforeMs", integer: Exchanges.now + 1000) })
    }
  }

  private func begin() throws -> (Exchange, Document) {
    let (exchange, document) = Exchange.begin(
      Rehearsal(), configuration: [1, 2], nowMs: Exchanges.now)
    return (try #require(exchange), document)
  }

  private func step(
    _ exchange: Exchange, _ answer: String, now: Int64 = Exchanges.now
  ) -> Document {
    exchange.step(utf8(answer), nowMs: now)
  }

  // MARK: frame

  @Test("EXC-3 a step is pending, the end is not, and both name kind and state")
  func wholeConversation() throws {
    let (exchange, first) = try begin()
    #expect(first.status.family == .pending)
    #expect(first.status.code == 9 | 2 << 8)
    #expect(first.text("kind") == "exchange")
    #expect(first.flag("ok") == false)
    #expect(first.text("exchange.kind") == "rehearsal")
    #expect(first.text("exchange.state") == "request")
    #expect(first.integer("exchange.question") == 1)
    #expect(first.evidence == nil)
    #expect(first.configuration == [1, 2])

    let second = step(exchange, #"{"id":1,"value":20}"#)
    #expect(second.integer("exchange.question") == 2)
    let wait = step(exchange, #"{"id":2,"value":22}"#)
    #expect(wait.text("exchange.state") == "wait")
    #expect(wait.status.code == 9 | 4 << 8)
    // Earlier than it says: the same step again.
    let again = step(exchange, "{}", now: Exchanges.now + 999)
    #expect(again.json == wait.json)
    let end = step(exchange, "{}", now: Exchanges.now + 1000)
    #expect(end.status == .ok)
    #expect(end.text("exchange.state") == "done")
    #expect(end.integer("exchange.sum") == 42)
    // EXC-5: nothing is open any more.
    Exchanges.expect(step(exchange, "{}"), "misuse.exchange.order", rule: "EXC-5")
  }

  @Test(
    "EXC-5 an answer of another form changes nothing",
    arguments: [
      (#"{"id":1,"value":"x"}"#, "misuse.exchange.answer", "value"),
      (#"{"id":1,"value":1,"more":0}"#, "misuse.exchange.answer", "more"),
      (#"{"value":1}"#, "misuse.exchange.answer", "id"),
      (#"{"id":"1","value":1}"#, "misuse.exchange.answer", "id"),
      (#"{"id":1.5,"value":1}"#, "misuse.exchange.answer", "id"),
      (#"{"id":2,"value":1}"#, "misuse.exchange.order", "id"),
      (#"{"id":1,"id":1,"value":1}"#, "misuse.exchange.answer", "byte 8"),
      (#"{"id":1,"value":1} "x""#, "misuse.exchange.answer", "byte 19"),
      ("[]", "misuse.exchange.answer", "byte 0"),
      ("", "misuse.exchange.answer", "byte 0"),
    ])
  func otherForms(answer: String, status: String, place: String) throws {
    let (exchange, _) = try begin()
    let refused = step(exchange, answer)
    Exchanges.expect(refused, status, at: place, rule: "EXC-5")
    #expect(refused.status.family == .misuse)
    #expect(refused.tree?.member("exchange")?.isNull == true)
    // The step is still open.
    #expect(step(exchange, #"{"id":1,"value":20}"#).integer("exchange.question") == 2)
  }

  @Test("EXC-5 an answer to a wait has no members")
  func waitTakesNothing() throws {
    let (exchange, _) = try begin()
    _ = step(exchange, #"{"id":1,"value":20}"#)
    _ = step(exchange, #"{"id":2,"value":22}"#)
    let refused = step(exchange, #"{"id":3}"#, now: Exchanges.now + 2000)
    Exchanges.expect(refused, "misuse.exchange.answer", at: "id")
    #expect(step(exchange, "{}", now: Exchanges.now + 2000).status == .ok)
  }

  @Test("EXC-7 a refusal that is no misuse ends the conversation")
  func refusalEnds() throws {
    let (exchange, _) = try begin()
    let refused = step(exchange, #"{"id":1,"value":13}"#)
    Exchanges.expect(refused, "rejected.devicecheck.request", at: "value", rule: "EXC-7")
    #expect(refused.text("exchange.kind") == "rehearsal")
    #expect(refused.text("exchange.state") == "done")
    Exchanges.expect(step(exchange, #"{"id":1,"value":1}"#), "misuse.exchange.order")
  }

  @Test("EXC-3 a conversation that is over at once leaves no exchange")
  func overAtOnce() {
    let (exchange, document) = Exchange.begin(
      Rehearsal(failsAtBegin: true), configuration: [], nowMs: Exchanges.now)
    #expect(exchange == nil)
    Exchanges.expect(document, "rejected.devicecheck.token")
    #expect(document.text("exchange.state") == "done")
  }

  @Test("JWS-41 the time of a step is held to its window")
  func stepTime() throws {
    let (exchange, _) = try begin()
    Exchanges.expect(step(exchange, "{}", now: 0), "misuse.call.now", at: "now_ms")
    #expect(step(exchange, #"{"id":1,"value":20}"#).status.family == .pending)
  }

  @Test("EXC-5 an answer is at most 8 MiB long")
  func longAnswer() throws {
    let (exchange, _) = try begin()
    let space = [UInt8](repeating: 0x20, count: Exchange.answerByteCap - 18)
    let fits = utf8(#"{"id":1,"value":9}"#) + space
    #expect(fits.count == 8 << 20)
    Exchanges.expect(exchange.step(fits + [0x20], nowMs: Exchanges.now), "misuse.exchange.answer")
    #expect(exchange.step(fits, nowMs: Exchanges.now).integer("exchange.question") == 2)
  }

  @Test("EXC-3 a kind that says nothing of its own is a bug, not a trap")
  func bareConversation() {
    let (_, document) = Exchange.begin(
      Conversation(kind: "bare"), configuration: [], nowMs: Exchanges.now)
    Exchanges.expect(document, "internal.assay.bug")
    #expect(throws: Refusal(.internalAssayBug, "EXC-3")) {
      let step = ExchangeStep(
        id: nil, state: "wait", status: Status(.pending, 4), answerMembers: []
      ) { _ in }
      let answer = try ExchangeAnswer(utf8("{}"), to: step)
      _ = try Conversation(kind: "bare").take(answer, nowMs: Exchanges.now)
    }
  }

  // MARK: requests

  @Test(
    "EXC-1 a request of another form is refused",
    arguments: [
      (#"{"kind":"risk.assess","observations":{},"x":1}"#, "misuse.exchange.request", "x"),
      (#"{"kind":"risk.assess"}"#, "misuse.exchange.request", "observations"),
      (#"{"observations":{}}"#, "misuse.exchange.request", "kind"),
      (#"{"kind":7}"#, "misuse.exchange.request", "kind"),
      (#"{"kind":"risk.assesss"}"#, "misuse.exchange.kind", "kind"),
      (#"{"kind":"deviceCheck.query"}"#, "misuse.exchange.kind", "kind"),
      (#"{"kind":"risk.assess",}"#, "misuse.exchange.request", "byte 22"),
      (#"{"kind":"risk.assess","kind":"risk.assess"}"#, "misuse.exchange.request", "byte 22"),
      ("7", "misuse.exchange.request", "byte 0"),
    ])
  func otherRequests(request: String, status: String, place: String) throws {
    let (exchange, document) = try Exchanges.verifier().startExchange(
      utf8(request), nowMs: Exchanges.now)
    #expect(exchange == nil)
    Exchanges.expect(document, status, at: place, rule: "EXC-1")
    #expect(document.tree?.member("exchange")?.isNull == true || document.text("kind") == "risk")
  }

  @Test("JWS-41 the time of a request is held to its window")
  func requestTime() throws {
    let request: JSONText = ["kind": "deviceCheck.token", "deviceToken": "AAAA"]
    Exchanges.expect(try Exchanges.run(request, now: 5), "misuse.call.now", at: "now_ms")
    Exchanges.expect(try Exchanges.run(request), "ok")
  }

  @Test("every check of a conversation is listed")
  func checks() throws {
    let document = try Exchanges.run(["kind": "deviceCheck.token", "deviceToken": "AAAA"])
    #expect(document.text("checks.0.id") == "exchange.request")
    #expect(document.text("checks.1.id") == "exchange.evidence")
    #expect(document.text("checks.2.id") == "exchange.result")
    for place in 0...2 { #expect(document.flag("checks.\(place).ok") == true) }
    let refused = try Exchanges.run(["kind": "deviceCheck.token", "deviceToken": "*"])
    #expect(refused.text("error.check") == "exchange.result")
    #expect(refused.flag("checks.2.ok") == false)
  }

  // MARK: evidence

  @Test("EXC-2 only verified documents of this configuration and of a kind that is taken")
  func evidence() throws {
    let verifier = try Exchanges.verifier()
    let payload = try Minted.authority().payload(.transaction, Minted.purchase)
    let jws = try Minted.authority().mint(payload)
    let good = verifier.verifyJWS(jws, kind: .transaction, nowMs: Minted.now)
    #expect(good.status == .ok)
    let refused = verifier.verifyJWS(utf8("a.b"), kind: .transaction, nowMs: Minted.now)
    let foreign = try Exchanges.verifier([("clockSkewMs", 1)]).verifyJWS(
      jws, kind: .transaction, nowMs: Minted.now)
    #expect(foreign.status == .ok)
    func read(_ documents: [Document], takes: Bool = true) throws -> Int {
      try ExchangeEvidence.read(
        documents, configuration: good.configuration, takes: { _ in takes }
      ).count
    }
    #expect(try read([]) == 0)
    #expect(try read([good, good]) == 2)
    let doubtful = Document(
      status: .rejectedDecideNotEntitled, json: good.json, evidence: good.evidence,
      configuration: good.configuration)
    for documents in [[refused], [foreign], [doubtful], [good, doubtful]] {
      #expect(throws: Refusal(.misuseExchangeEvidence, "EXC-2")) { try read(documents) }
    }
    #expect(throws: Refusal(.misuseExchangeEvidence, "EXC-2")) { try read([good], takes: false) }

    let (_, document) = verifier.startExchange(
      utf8(#"{"kind":"risk.assess","observations":{}}"#), evidence: [good], nowMs: Minted.now)
    Exchanges.expect(document, "misuse.exchange.evidence", at: "evidence[0]", rule: "EXC-2")
    #expect(document.text("error.check") == "exchange.evidence")
    let configuration = verifier.startExchange(
      utf8(#"{"kind":"deviceCheck.token","deviceToken":"AAAA"}"#),
      evidence: [Verifier.alone(try Minted.config().bytes).document], nowMs: Minted.now)
    Exchanges.expect(configuration.document, "misuse.exchange.evidence")
  }
}
