/// Revokes a token of Sign in with Apple, and the customer's sessions with it (AID-23), with at
/// most three requests.
///
///     ready ── asking ──┬── done
///                ▲      └── waiting
///                └─────────────┘
struct AppleIDRevocationStateMachine: ExchangeStateMachine {
  enum State: Equatable {
    case ready, asking, waiting, done
  }

  private(set) var state = State.ready
  /// The number of unusable responses; the third ends the exchange.
  private(set) var unusable = 0
  private let request: AppleIDRequest
  /// The number of this exchange among the exchanges for the same request, from 1 (EXC-18).
  private let attempt: Int64
  private var isRevoked: Bool? = nil

  /// The pauses before the second and the third request, in milliseconds.
  private static let pauses: [Int64] = [1000, 4000]

  /// - Throws: what `AppleIDParameters` throws.
  init(_ context: OperationContext) throws(Refusal) {
    try self.init(context.request, context.configuration, attempt: context.attempt)
  }

  init(
    _ request: ExchangeRequest, _ configuration: Configuration, attempt: Int64
  ) throws(Refusal) {
    let parameters = try AppleIDParameters(request, configuration)
    let token = try parameters.secret("token")
    let hint = try parameters.choice("hint", ["refresh_token", "access_token"])
    self.request = AppleIDRequest(
      url: "https://appleid.apple.com/auth/revoke", policy: parameters.policy,
      clientId: parameters.clientId,
      fields: [
        ("token", token), ("token_type_hint", SecretBytes(Text(stringLiteral: hint).utf8)),
      ])
    self.attempt = attempt
  }

  mutating func start(nowMs: Int64) -> ExchangeAction { ask(nowMs: nowMs) }

  mutating func receive(_ reply: ExchangeReply, nowMs: Int64) -> ExchangeAction {
    switch (state, reply) {
    case (.asking, .http(let answer)): return judge(answer, nowMs: nowMs)
    case (.waiting, .elapsed): return ask(nowMs: nowMs)
    default: return end(Refusal(.internalAssayBug, "EXC-5", at: "step"), .result)
    }
  }

  private mutating func ask(nowMs: Int64) -> ExchangeAction {
    do throws(Refusal) {
      let made = try request.made(nowMs: nowMs)
      state = .asking
      return .request(made)
    } catch {
      return end(error, .request)
    }
  }

  private mutating func judge(_ answer: HTTPResponse, nowMs: Int64) -> ExchangeAction {
    do throws(Refusal) {
      try AppleIDRequest.check(answer)
      try require(answer.body.isEmpty, .unavailableAppleIdResponse, "AID-24", at: "body")
    } catch {
      guard error.status == .unavailableAppleIdNoResponse else {
        return end(error, error.status.family == .rejected ? .result : .answer)
      }
      return tryAgain(error, isLimited: answer.status == 429, nowMs: nowMs)
    }
    state = .done
    isRevoked = true
    return .accepted(nil, capacity: 0)
  }

  private mutating func tryAgain(
    _ refusal: Refusal, isLimited: Bool, nowMs: Int64
  ) -> ExchangeAction {
    guard unusable < Self.pauses.count else { return end(refusal, .answer) }
    let pause = Self.pauses[unusable]
    unusable &+= 1
    state = .waiting
    return .wait(
      ExchangeWait(
        notBeforeMs: nowMs &+ pause, reason: isLimited ? .rateLimited : .retry,
        otherwise: refusal))
  }

  private mutating func end(_ refusal: Refusal, _ check: ExchangeCheck) -> ExchangeAction {
    state = .done
    return .refused(ExchangeRefusal(refusal, check))
  }

  func repeatsAt(nowMs: Int64) -> Int64 { nowMs &+ ExchangeOptions.pause(attempt: attempt) }

  func write(_ writer: inout JSONWriter) { writer.member("revoked", boolean: isRevoked) }

  func writeWarnings(_ writer: inout JSONWriter) {}
}
