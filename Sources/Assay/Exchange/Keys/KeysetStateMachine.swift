/// Fetches the key set of a token issuer (docs/spec/access-tokens.md §5.1) with one request,
/// after a wait if the issuer was asked recently.
///
///     ready ──┬── asking ── done
///             └── waiting ──┘
struct KeysetStateMachine: ExchangeStateMachine {
  enum State: Equatable {
    case ready
    /// The issuer's cooldown has not ended (KST-2).
    case waiting
    case asking
    case done
  }

  private(set) var state = State.ready
  private let task: KeysetTask
  /// The state that the host stores after this attempt.
  private var kept: KeysetState
  /// The new key set as JSON; empty if there is none.
  private var text: [UInt8] = []
  /// Whether the new key set has other keys than the old one.
  private var isChanged: Bool? = nil

  init(_ context: OperationContext) throws(Refusal) {
    self.init(try KeysetTask(context.request, context.configuration, nowMs: context.nowMs))
  }

  init(_ task: KeysetTask) {
    self.task = task
    kept = task.state
  }

  mutating func start(nowMs: Int64) -> ExchangeAction {
    guard let end = kept.cooldownEndMs, nowMs < end else { return ask() }
    state = .waiting
    return .wait(
      ExchangeWait(
        notBeforeMs: end, reason: .cooldown,
        otherwise: Refusal(.unavailableJwksNoResponse, "KST-12", at: "state.triedAtMs")))
  }

  mutating func receive(_ reply: ExchangeReply, nowMs: Int64) -> ExchangeAction {
    switch (state, reply) {
    case (.waiting, .elapsed): return ask()
    case (.asking, .http(let answer)): return judge(answer, nowMs: nowMs)
    default: return end(Refusal(.internalAssayBug, "EXC-5", at: "step"), .result)
    }
  }

  // MARK: transitions

  private mutating func ask() -> ExchangeAction {
    state = .asking
    return .request(task.request)
  }

  private mutating func judge(_ answer: HTTPResponse, nowMs: Int64) -> ExchangeAction {
    do throws(Refusal) {
      let keys = try KeysetStateMachine.keys(of: answer, task)
      let tag = answer.header("etag")?.usableTag
      var next = kept
      next.succeed(nowMs: nowMs, etag: answer.status == 304 ? tag ?? kept.etag : tag)
      let text = KeysetStateMachine.text(task.issuer, next, keys)
      // The issuer and state that are written before the keys must not make the text too long to
      // be read again (KST-12).
      try require(text.count <= KeysetReader.byteCap, .tooLargeJwksSize, "KST-12", at: "body")
      kept = next
      self.text = text
      isChanged = task.old.map { !KeysetStateMachine.areSame($0, keys) } ?? true
      state = .done
      return .accepted(nil, capacity: 1024 &+ text.count &* 2)
    } catch {
      kept.fail(nowMs: nowMs)
      return end(error, error.status.family == .rejected ? .result : .answer)
    }
  }

  /// Returns the list of keys that is valid from now on: the old one after a 304 (KST-9), else
  /// that of a 200 (KST-6).
  private static func keys(
    of answer: HTTPResponse, _ task: KeysetTask
  ) throws(Refusal) -> JSONValue {
    if answer.status == 304, task.isConditional, let old = task.old { return old }
    try require(
      answer.status == 200, .unavailableJwksNoResponse, "KST-6", at: "status",
      detail: answer.status == 0 ? "" : "HTTP status " + String(answer.status))
    try require(!answer.isTruncated, .tooLargeJwksSize, "KST-12", at: "truncated")
    var reader = KeysetReader(published: true)
    _ = try reader.run(answer.body)
    guard let keys = reader.list else { throw Refusal(.internalAssayBug, "EXC-5", at: "keys") }
    return keys
  }

  /// Whether both lists have the same entries in any order. No key id occurs twice (JWK-3).
  private static func areSame(_ old: JSONValue, _ new: JSONValue) -> Bool {
    let known = old.children.map { $0.source }
    let found = new.children.map { $0.source }
    return known.count == found.count && found.allSatisfy { known.contains($0) }
  }

  /// Returns the key set as JSON with its state, so that its age is known without another row
  /// (KST-13).
  private static func text(
    _ issuer: Text, _ state: KeysetState, _ keys: JSONValue
  ) -> [UInt8] {
    var writer = JSONWriter(capacity: keys.source.count &+ 1024)
    writer.beginObject()
    writer.member("issuer", issuer)
    state.writeMembers(&writer)
    writer.name("keys")
    writer.raw(keys.source)
    writer.endObject()
    return writer.bytes
  }

  private mutating func end(_ refusal: Refusal, _ check: ExchangeCheck) -> ExchangeAction {
    state = .done
    return .refused(ExchangeRefusal(refusal, check))
  }

  /// Returns the end of the issuer's cooldown (KST-2).
  func repeatsAt(nowMs: Int64) -> Int64 { max(nowMs, kept.cooldownEndMs ?? nowMs) }

  // MARK: document

  /// Writes `keyset`, `keysetState` and `changed`; a refusal has the state as well, for the
  /// cooldown to be stored (KST-13).
  func write(_ writer: inout JSONWriter) {
    writer.name("keyset")
    if text.isEmpty { writer.null() } else { writer.string(utf8: text) }
    kept.write(&writer)
    writer.member("changed", boolean: isChanged)
  }

  func writeWarnings(_ writer: inout JSONWriter) {}
}
