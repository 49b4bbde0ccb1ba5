import AssayAuthority

/// Makes transcripts of one service: requests, responses and results. The path of a fact starts in
/// the document's member `exchange`, or, with `/`, at the root; a check is one of the exchange's.
class Transcript {
  typealias Facts = CaseFixture.Facts

  /// A reply, the time after `now` at which it is handed in, and the expectation of the step
  /// before.
  struct Said {
    var answer: JSONText
    var after: Int64 = 0
    var at: Facts = []
    var status = "pending.exchange.http"
  }

  let fixture: CaseFixture
  var now: Int64 { fixture.now }
  /// The name of the service in the names of the cases.
  private let service: String
  /// The verifier, the request and the evidence of most cases.
  private let verifier: String
  let usual: JSONText
  private let evidence: [EvidenceCase.Evidence]
  /// The facts of every wait besides its end.
  private let whileWaiting: Facts

  init(
    _ fixture: CaseFixture, with service: String, verifier: String, asks usual: JSONText,
    evidence: [EvidenceCase.Evidence] = [], whileWaiting: Facts = []
  ) {
    self.fixture = fixture
    self.service = service
    self.verifier = verifier
    self.usual = usual
    self.evidence = evidence
    self.whileWaiting = whileWaiting
  }

  // MARK: answers

  /// Returns the reply to the request number `id`; `body` is the JSON of its member.
  func answer(
    _ id: Int64, _ status: Int64, body: JSONText?, headers: JSONText? = nil, after: Int64 = 0,
    more: [(String, JSONText)] = [], facts: Facts = []
  ) -> Said {
    var answer: JSONText = ["id": .integer(id), "status": .integer(status)]
    if let headers { answer = answer.appending("headers", headers) }
    return Said(
      answer: answer.appending("body", body ?? .null).setting(more), after: after,
      at: [("step", "http"), ("http.id", .integer(id))] + facts)
  }

  /// Returns a reply whose HTTP body is JSON, or absent.
  func http(
    _ id: Int64, _ status: Int64, _ body: JSONText? = nil, headers: JSONText? = nil,
    after: Int64 = 0, more: [(String, JSONText)] = [], facts: Facts = []
  ) -> Said {
    answer(
      id, status, body: body.map { ["text": .string(utf8: $0.bytes)] }, headers: headers,
      after: after, more: more, facts: facts)
  }

  /// Returns a reply whose HTTP body is a text.
  func http(
    _ id: Int64, _ status: Int64, _ text: String, after: Int64 = 0, more: [(String, JSONText)] = [],
    facts: Facts = []
  ) -> Said {
    answer(id, status, body: ["text": .string(text)], after: after, more: more, facts: facts)
  }

  /// Lets a wait pass that ends `end` ms after `now`; `after` hands the reply in later.
  func wait(_ end: Int64, reason: String = "retry", after: Int64? = nil, facts: Facts = []) -> Said
  {
    Said(
      answer: [:], after: after ?? end,
      at: [("step", "wait"), ("reason", .text(reason)), ("notBeforeMs", .integer(now + end))]
        + whileWaiting + facts, status: "pending.exchange.wait")
  }

  // MARK: cases

  func transcript(
    _ rule: String, _ name: String, asks request: JSONText? = nil,
    evidence: [EvidenceCase.Evidence]? = nil, verifier: String? = nil, now: Int64? = nil,
    _ said: [Said], _ status: String = "ok", check: String? = nil, at: String? = nil,
    hint: String? = nil, facts: Facts = []
  ) {
    let now = now ?? self.now
    transcript(
      rule, name, asks: request, evidence: evidence, verifier: verifier, now: now,
      steps: said.map {
        EvidenceCase.Step(
          expect: .init($0.status, facts: $0.at).inside("exchange"),
          answer: .bytes($0.answer.bytes), now: now + $0.after)
      }, .init(status, check: check.map { "exchange." + $0 }, at: at, hint: hint, facts: facts))
  }

  /// Adds a case whose request is the usual one with other members.
  func transcript(
    _ rule: String, _ name: String, asks more: [(String, JSONText)],
    evidence: [EvidenceCase.Evidence]? = nil, verifier: String? = nil, _ said: [Said],
    _ status: String = "ok", check: String? = nil, at: String? = nil, facts: Facts = []
  ) {
    transcript(
      rule, name, asks: usual.setting(more), evidence: evidence, verifier: verifier, said, status,
      check: check, at: at, facts: facts)
  }

  func transcript(
    _ rule: String, _ name: String, asks request: JSONText? = nil,
    evidence: [EvidenceCase.Evidence]? = nil, verifier: String? = nil, now: Int64? = nil,
    steps: [EvidenceCase.Step], _ expect: EvidenceCase.Expectation
  ) {
    fixture.add(
      rule, "\(service): \(name)",
      .transcript(
        verifier: verifier ?? self.verifier, request: .bytes((request ?? usual).bytes),
        evidence: evidence ?? self.evidence, now: now ?? self.now, steps: steps), expect)
  }
}
