/// Asks Apple's responder whether the intermediate and the leaf of a verified JWS are
/// revoked (docs/spec/storekit-ocsp.md): one request for each that no kept response
/// answers, and nothing twice (OCSP-21).
///
///     ready ── asking(intermediate) ── asking(leaf) ── done
struct OCSPConversation: Conversing {
  enum State: Equatable {
    case ready
    /// The place of the certificate that is asked about.
    case asking(Int)
    case done
  }

  private(set) var state = State.ready
  private let task: OCSPTask
  /// By the places of the task's subjects; nil: not known yet.
  private var answers: [CertificateRevocation?]
  /// Where those without an answer are asked about; nil: nowhere.
  private var addresses: [Text?]
  private var isAccepted = false

  private static let intermediate = 0
  private static let leaf = 1

  init(_ context: KindContext) throws(Refusal) {
    task = try OCSPTask(
      context.request, context.evidence, context.configuration, attempt: context.attempt)
    answers = task.subjects.map { _ in nil }
    addresses = task.subjects.map { _ in nil }
  }

  /// No address is asked before all of them are known to be allowed.
  mutating func begin(nowMs: Int64) -> ExchangeAction {
    do throws(Refusal) {
      for (place, subject) in task.subjects.enumerated() {
        if let kept = task.keptAnswer(subject, nowMs: nowMs) {
          try note(kept, at: place)
          continue
        }
        addresses[place] = try task.address(subject)
        if addresses[place] == nil {
          answers[place] = task.judgement(subject, nowMs: nowMs).undetermined
        }
      }
    } catch {
      return end(error, .result)
    }
    return next()
  }

  mutating func take(_ answer: ExchangeAnswer, nowMs: Int64) -> ExchangeAction {
    guard case .asking(let place) = state, case .http(let answer) = answer,
      place < task.subjects.count
    else { return end(Refusal(.internalAssayBug, "EXC-5", at: "state"), .result) }
    let subject = task.subjects[place]
    do throws(Refusal) {
      try note(try judge(answer, subject, nowMs: nowMs), at: place)
    } catch {
      return end(error, .result)
    }
    return next()
  }

  // MARK: transitions

  /// OCSP-10.
  private func judge(
    _ answer: HTTPAnswer, _ subject: OCSPTask.Subject, nowMs: Int64
  ) throws(Refusal) -> CertificateRevocation {
    let judgement = task.judgement(subject, nowMs: nowMs)
    guard answer.status == 200 else { return judgement.undetermined }
    do throws(Refusal) {
      try require(
        !answer.isCut && answer.body.count <= RevocationJudgement.byteCap,
        .tooLargeRevocationResponse, "OCSP-2", at: "response")
      guard !answer.body.isEmpty else { return judgement.undetermined }
      return try judgement.judge(answer.body)
    } catch {
      throw error.inside(subject.name)
    }
  }

  /// OCSP-18: revoked and unknown refuse in either mode.
  private mutating func note(
    _ answer: CertificateRevocation, at place: Int
  ) throws(Refusal) {
    answers[place] = answer
    switch answer.state {
    case .good, .undetermined: return
    case .revoked:
      throw Refusal(.rejectedRevocationRevoked, "OCSP-18", at: task.subjects[place].name)
    case .unknown:
      throw Refusal(.rejectedRevocationUnknown, "OCSP-18", at: task.subjects[place].name)
    }
  }

  private mutating func next() -> ExchangeAction {
    for (place, subject) in task.subjects.enumerated() where answers[place] == nil {
      guard let address = addresses[place] else { continue }
      state = .asking(place)
      return .request(task.request(subject, to: address))
    }
    state = .done
    if task.isRequired, let open = task.subjects.indices.first(where: { !isGood(at: $0) }) {
      return end(
        Refusal(
          .unavailableRevocationUndetermined, "OCSP-19", at: task.subjects[open].name), .answer)
    }
    isAccepted = true
    return .accepted(.storeKit(payload), capacity: 4096 &+ payload.json.bytes.count)
  }

  private func isGood(at place: Int) -> Bool { answers[place]?.isGood == true }

  private mutating func end(_ refusal: Refusal, _ check: ExchangeCheck) -> ExchangeAction {
    state = .done
    return .refused(ExchangeRefusal(refusal, check))
  }

  /// OCSP-22: 60 s × 4^(attempt − 1), at most an hour.
  func repeatsAt(nowMs: Int64) -> Int64 {
    var pause: Int64 = 60_000
    for _ in 1..<max(1, min(task.attempt, 8)) { pause = pause &* 4 }
    return nowMs &+ min(pause, 3_600_000)
  }

  // MARK: document

  /// OCSP-22: the evidence with what was found.
  private var payload: SignedPayload {
    var added = task.payload.added
    if let leaf = answers[Self.leaf], let intermediate = answers[Self.intermediate] {
      added.revocation = (leaf, intermediate)
    }
    return task.payload.with(added)
  }

  /// The facts of the evidence, null where it was refused, and `revocation` as far as it is
  /// known.
  func write(_ writer: inout JSONWriter) {
    writer.name(task.payload.kind.factsMember)
    guard !isAccepted else {
      let payload = payload
      payload.write(&writer)
      payload.added.write(&writer)
      return
    }
    writer.null()
    writer.name("revocation")
    writer.beginObject()
    for (name, place) in [("leaf", Self.leaf), ("intermediate", Self.intermediate)]
      as [(StaticString, Int)]
    {
      writer.name(name)
      if let answer = answers[place] { answer.write(&writer) } else { writer.null() }
    }
    writer.endObject()
  }

  func writeWarnings(_ writer: inout JSONWriter) {
    if isAccepted { task.payload.writeWarnings(&writer) }
  }
}
