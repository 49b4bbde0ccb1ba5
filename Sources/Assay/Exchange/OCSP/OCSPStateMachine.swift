/// Asks Apple's OCSP responder whether the intermediate and the leaf of a verified JWS are
/// revoked (docs/spec/storekit-ocsp.md), with one request for each certificate that no kept
/// response covers. No request is repeated (OCSP-21).
///
///     ready ── asking(intermediate) ── asking(leaf) ── done
struct OCSPStateMachine: ExchangeStateMachine {
  enum State: Equatable {
    case ready
    /// The index of the subject whose response is awaited.
    case asking(Int)
    case done
  }

  private(set) var state = State.ready
  private let task: OCSPTask
  /// The results by the subjects' indexes; `nil` if not known yet.
  private var answers: [CertificateRevocation?]
  /// The responder's address of each subject without a result; `nil` if there is none.
  private var addresses: [Text?]
  private var isAccepted = false

  private static let intermediate = 0
  private static let leaf = 1

  init(_ context: OperationContext) throws(Refusal) {
    task = try OCSPTask(
      context.request, context.evidence, context.configuration, attempt: context.attempt)
    answers = task.subjects.map { _ in nil }
    addresses = task.subjects.map { _ in nil }
  }

  /// Determines all addresses before the first request, so that no request is sent if one of them
  /// is not allowed.
  mutating func start(nowMs: Int64) -> ExchangeAction {
    do throws(Refusal) {
      for (place, subject) in task.subjects.enumerated() {
        if let kept = task.keptAnswer(subject, nowMs: nowMs) {
          try note(kept, at: place)
          continue
        }
        addresses[place] = try task.address(subject)
        if addresses[place] == nil {
          answers[place] = task.verifier(subject, nowMs: nowMs).undetermined
        }
      }
    } catch {
      return end(error, .result)
    }
    return next()
  }

  mutating func receive(_ reply: ExchangeReply, nowMs: Int64) -> ExchangeAction {
    guard case .asking(let place) = state, case .http(let answer) = reply,
      place < task.subjects.count
    else { return end(Refusal(.internalAssayBug, "EXC-5", at: "step"), .result) }
    let subject = task.subjects[place]
    do throws(Refusal) {
      try note(try judge(answer, subject, nowMs: nowMs), at: place)
    } catch {
      return end(error, .result)
    }
    return next()
  }

  // MARK: transitions

  /// Evaluates a response. Everything but a 200 leaves the state undetermined (OCSP-10).
  private func judge(
    _ answer: HTTPResponse, _ subject: OCSPTask.Subject, nowMs: Int64
  ) throws(Refusal) -> CertificateRevocation {
    let verifier = task.verifier(subject, nowMs: nowMs)
    guard answer.status == 200 else { return verifier.undetermined }
    do throws(Refusal) {
      try require(
        !answer.isTruncated && answer.body.count <= OCSPResponseVerifier.byteCap,
        .tooLargeOcspResponse, "OCSP-2", at: "response")
      guard !answer.body.isEmpty else { return verifier.undetermined }
      return try verifier.verify(answer.body)
    } catch {
      throw error.inside(subject.name)
    }
  }

  /// Stores a result; revoked and unknown certificates are refused in either mode (OCSP-18).
  private mutating func note(
    _ answer: CertificateRevocation, at place: Int
  ) throws(Refusal) {
    answers[place] = answer
    switch answer.state {
    case .good, .undetermined: return
    case .revoked:
      throw Refusal(.rejectedOcspCertificateRevoked, "OCSP-18", at: task.subjects[place].name)
    case .unknown:
      throw Refusal(.rejectedOcspUnknown, "OCSP-18", at: task.subjects[place].name)
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
          .unavailableOcspUndetermined, "OCSP-19", at: task.subjects[open].name), .answer)
    }
    isAccepted = true
    return .accepted(.storeKit(payload), capacity: 4096 &+ payload.json.bytes.count)
  }

  private func isGood(at place: Int) -> Bool { answers[place]?.isGood == true }

  private mutating func end(_ refusal: Refusal, _ check: ExchangeCheck) -> ExchangeAction {
    state = .done
    return .refused(ExchangeRefusal(refusal, check))
  }

  /// Returns the time of a new exchange: 60 s × 4^(attempt − 1) from now, at most an hour
  /// (OCSP-22).
  func repeatsAt(nowMs: Int64) -> Int64 {
    var pause: Int64 = 60_000
    for _ in 1..<max(1, min(task.attempt, 8)) { pause = pause &* 4 }
    return nowMs &+ min(pause, 3_600_000)
  }

  // MARK: document

  /// The evidence, with the results added (OCSP-22).
  private var payload: SignedPayload {
    var added = task.payload.added
    if let leaf = answers[Self.leaf], let intermediate = answers[Self.intermediate] {
      added.revocation = (leaf, intermediate)
    }
    return task.payload.with(added)
  }

  /// Writes the facts of the evidence, or null if the exchange was refused, and `revocation` with
  /// the results known so far.
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
