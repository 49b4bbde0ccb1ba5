import AssayAuthority

/// Makes transcripts: what one service is asked, what it says, and what comes of it. The
/// path of a fact lies in the document's member `exchange`, or begins with `/` at its root;
/// a check is one of the exchange's.
class Talk {
  typealias Facts = CaseBench.Facts

  /// An answer, how long after `now` it is handed in, and what the step before it must be.
  struct Said {
    var answer: JSONText
    var after: Int64 = 0
    var at: Facts = []
    var status = "pending.exchange.request"
  }

  let bench: CaseBench
  var now: Int64 { bench.now }
  /// What the names of the cases call the service.
  private let service: String
  /// Whom most cases ask, and for what.
  private let verifier: String
  let usual: JSONText
  private let evidence: [EvidenceCase.Evidence]
  /// What every wait says beside its end.
  private let whileWaiting: Facts

  init(
    _ bench: CaseBench, with service: String, verifier: String, asks usual: JSONText,
    evidence: [EvidenceCase.Evidence] = [], whileWaiting: Facts = []
  ) {
    self.bench = bench
    self.service = service
    self.verifier = verifier
    self.usual = usual
    self.evidence = evidence
    self.whileWaiting = whileWaiting
  }

  // MARK: answers

  /// Answers the request of that number; the body is as JSON has it.
  func answer(
    _ id: Int64, _ status: Int64, body: JSONText?, headers: JSONText? = nil, after: Int64 = 0,
    more: [(String, JSONText)] = [], facts: Facts = []
  ) -> Said {
    var answer: JSONText = ["id": .integer(id), "status": .integer(status)]
    if let headers { answer = answer.appending("headers", headers) }
    return Said(
      answer: answer.appending("body", body ?? .null).setting(more), after: after,
      at: [("state", "request"), ("request.id", .integer(id))] + facts)
  }

  /// Answers with JSON, or with nothing.
  func http(
    _ id: Int64, _ status: Int64, _ body: JSONText? = nil, headers: JSONText? = nil,
    after: Int64 = 0, more: [(String, JSONText)] = [], facts: Facts = []
  ) -> Said {
    answer(
      id, status, body: body.map { ["text": .string(utf8: $0.bytes)] }, headers: headers,
      after: after, more: more, facts: facts)
  }

  /// Answers with a text.
  func http(
    _ id: Int64, _ status: Int64, _ text: String, after: Int64 = 0, more: [(String, JSONText)] = [],
    facts: Facts = []
  ) -> Said {
    answer(id, status, body: ["text": .string(text)], after: after, more: more, facts: facts)
  }

  /// Lets a wait pass that ends so long after `now`, or is answered later.
  func wait(_ end: Int64, reason: String = "retry", after: Int64? = nil, facts: Facts = []) -> Said
  {
    Said(
      answer: [:], after: after ?? end,
      at: [("state", "wait"), ("reason", .text(reason)), ("notBeforeMs", .integer(now + end))]
        + whileWaiting + facts, status: "pending.exchange.wait")
  }

  // MARK: cases

  func talk(
    _ rule: String, _ name: String, asks request: JSONText? = nil,
    evidence: [EvidenceCase.Evidence]? = nil, verifier: String? = nil, now: Int64? = nil,
    _ said: [Said], _ status: String = "ok", check: String? = nil, at: String? = nil,
    hint: String? = nil, facts: Facts = []
  ) {
    let now = now ?? self.now
    talk(
      rule, name, asks: request, evidence: evidence, verifier: verifier, now: now,
      steps: said.map {
        EvidenceCase.Step(
          expect: .init($0.status, facts: $0.at).inside("exchange"),
          answer: .bytes($0.answer.bytes), now: now + $0.after)
      }, .init(status, check: check.map { "exchange." + $0 }, at: at, hint: hint, facts: facts))
  }

  /// The same, with members of the usual request set.
  func talk(
    _ rule: String, _ name: String, asks more: [(String, JSONText)],
    evidence: [EvidenceCase.Evidence]? = nil, verifier: String? = nil, _ said: [Said],
    _ status: String = "ok", check: String? = nil, at: String? = nil, facts: Facts = []
  ) {
    talk(
      rule, name, asks: usual.setting(more), evidence: evidence, verifier: verifier, said, status,
      check: check, at: at, facts: facts)
  }

  func talk(
    _ rule: String, _ name: String, asks request: JSONText? = nil,
    evidence: [EvidenceCase.Evidence]? = nil, verifier: String? = nil, now: Int64? = nil,
    steps: [EvidenceCase.Step], _ expect: EvidenceCase.Expectation
  ) {
    bench.add(
      rule, "\(service): \(name)",
      .conversation(
        verifier: verifier ?? self.verifier, request: .bytes((request ?? usual).bytes),
        evidence: evidence ?? self.evidence, now: now ?? self.now, steps: steps), expect)
  }
}
