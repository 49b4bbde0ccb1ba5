/// Fetches the keys of a token issuer (docs/spec/access-tokens.md §5.1): one request, and
/// before it a wait where the issuer was asked a moment ago.
///
///     ready ──┬── asking ── done
///             └── waiting ──┘
struct KeysetConversation: Conversing {
  enum State: Equatable {
    case ready
    /// The cooldown of the issuer (KST-2).
    case waiting
    case asking
    case done
  }

  private(set) var state = State.ready
  private let task: KeysetTask
  /// What the host keeps, after the attempt.
  private var kept: KeysetState
  /// The new text of the set; empty: there is none.
  private var text: [UInt8] = []
  /// Whether it has other keys than the old one.
  private var isChanged: Bool? = nil

  init(_ context: KindContext) throws(Refusal) {
    self.init(try KeysetTask(context.request, context.configuration, nowMs: context.nowMs))
  }

  init(_ task: KeysetTask) {
    self.task = task
    kept = task.state
  }

  mutating func begin(nowMs: Int64) -> ExchangeAction {
    guard let end = kept.cooldownEndMs, nowMs < end else { return ask() }
    state = .waiting
    return .wait(
      ExchangeWait(
        notBeforeMs: end, reason: .cooldown,
        otherwise: Refusal(.unavailableJwksNoAnswer, "KST-12", at: "state.triedMs")))
  }

  mutating func take(_ answer: ExchangeAnswer, nowMs: Int64) -> ExchangeAction {
    switch (state, answer) {
    case (.waiting, .elapsed): return ask()
    case (.asking, .http(let answer)): return judge(answer, nowMs: nowMs)
    default: return end(Refusal(.internalAssayBug, "EXC-5", at: "state"), .result)
    }
  }

  // MARK: transitions

  private mutating func ask() -> ExchangeAction {
    state = .asking
    return .request(task.request)
  }

  private mutating func judge(_ answer: HTTPAnswer, nowMs: Int64) -> ExchangeAction {
    do throws(Refusal) {
      let keys = try KeysetConversation.keys(of: answer, task)
      let tag = answer.header("etag")?.usableTag
      var next = kept
      next.succeed(nowMs: nowMs, etag: answer.status == 304 ? tag ?? kept.etag : tag)
      let text = KeysetConversation.text(task.issuer, next, keys)
      // What stands before the keys must not make it a set that is too long to be read.
      try require(text.count <= KeysetReader.byteCap, .tooLargeJwksSize, "KST-12", at: "body")
      kept = next
      self.text = text
      isChanged = task.old.map { !KeysetConversation.areSame($0, keys) } ?? true
      state = .done
      return .accepted(nil, capacity: 1024 &+ text.count &* 2)
    } catch {
      kept.fail(nowMs: nowMs)
      return end(error, error.status.family == .rejected ? .result : .answer)
    }
  }

  /// KST-6, KST-9: the list of keys that holds from now on.
  private static func keys(
    of answer: HTTPAnswer, _ task: KeysetTask
  ) throws(Refusal) -> JSONValue {
    if answer.status == 304, task.isConditional, let old = task.old { return old }
    try require(
      answer.status == 200, .unavailableJwksNoAnswer, "KST-6", at: "status",
      detail: answer.status == 0 ? "" : "HTTP status " + String(answer.status))
    try require(!answer.isCut, .tooLargeJwksSize, "KST-12", at: "cut")
    var reader = KeysetReader(published: true)
    _ = try reader.run(answer.body)
    guard let keys = reader.list else { throw Refusal(.internalAssayBug, "EXC-5", at: "keys") }
    return keys
  }

  /// Whether both have the same entries, in any order; no key id comes twice (JWK-3).
  private static func areSame(_ old: JSONValue, _ new: JSONValue) -> Bool {
    let known = old.children.map { $0.source }
    let found = new.children.map { $0.source }
    return known.count == found.count && found.allSatisfy { known.contains($0) }
  }

  /// KST-13: with the state in it, so that the set knows its age.
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

  /// KST-2.
  func repeatsAt(nowMs: Int64) -> Int64 { max(nowMs, kept.cooldownEndMs ?? nowMs) }

  // MARK: document

  /// `keyset`, `keysetState`, `changed`; the state of refusals too (KST-13).
  func write(_ writer: inout JSONWriter) {
    writer.name("keyset")
    if text.isEmpty { writer.null() } else { writer.string(utf8: text) }
    kept.write(&writer)
    writer.member("changed", boolean: isChanged)
  }

  func writeWarnings(_ writer: inout JSONWriter) {}
}
