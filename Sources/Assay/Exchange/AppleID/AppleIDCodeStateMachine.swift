/// Exchanges the authorization code of Sign in with Apple for tokens (AID-22), with one request
/// that is never repeated: a code can be used once.
///
///     ready ── asking ── done
struct AppleIDCodeStateMachine: ExchangeStateMachine {
  enum State: Equatable {
    case ready, asking, done
  }

  private(set) var state = State.ready
  private let request: AppleIDRequest
  /// Verifies the identity token of the response; `nil` if no key set was given, and the token is
  /// not reported.
  private var signIn: AppleIDSignIn?
  private let nonce: IssuedNonce?
  /// The time at which the exchange began, in milliseconds since 1970 UTC, against which tokens
  /// are verified (EXC-6).
  private let startMs: Int64
  private var tokens: AppleIDTokens? = nil
  private var token: Token? = nil

  /// Checks everything that the host can get wrong before the code is used up.
  ///
  /// - Throws: what `AppleIDParameters` and `AppleIDSignIn` throw, `misuse.token.nonce`.
  init(_ context: OperationContext) throws(Refusal) {
    try self.init(
      context.request, context.evidence, context.configuration, nowMs: context.nowMs)
  }

  init(
    _ request: ExchangeRequest, _ evidence: [VerifiedEvidence], _ configuration: Configuration,
    nowMs: Int64
  ) throws(Refusal) {
    let parameters = try AppleIDParameters(request, configuration)
    var fields: [(name: StaticString, value: SecretBytes)] = [
      ("code", try parameters.secret("code")),
      ("grant_type", SecretBytes(Array("authorization_code".utf8))),
    ]
    if let url = try parameters.redirectURI() {
      fields.append(("redirect_uri", SecretBytes(url.utf8)))
    }
    self.request = AppleIDRequest(
      url: "https://appleid.apple.com/auth/token", policy: parameters.policy,
      clientId: parameters.clientId, fields: fields)
    let keyset = evidence.first
    signIn = nil
    if keyset != nil { signIn = try AppleIDSignIn(keyset, configuration, nowMs: nowMs) }
    nonce = keyset == nil ? nil : try AppleIDSignIn.nonce(request, configuration)
    startMs = nowMs
  }

  mutating func start(nowMs: Int64) -> ExchangeAction {
    do throws(Refusal) {
      let made = try request.made(nowMs: nowMs)
      state = .asking
      return .request(made)
    } catch {
      return end(error, .request)
    }
  }

  mutating func receive(_ reply: ExchangeReply, nowMs: Int64) -> ExchangeAction {
    guard case .http(let answer) = reply, state == .asking else {
      return end(Refusal(.internalAssayBug, "EXC-5", at: "step"), .result)
    }
    do throws(Refusal) {
      try AppleIDRequest.check(answer)
      let tokens = try AppleIDTokens(answer, nowMs: startMs)
      try verify(tokens)
      self.tokens = tokens
    } catch {
      return end(error, error.status.family == .unavailable ? .answer : .result)
    }
    state = .done
    let room = (tokens?.room ?? 0) &+ (token?.payloadBytes ?? 0) &+ 3072
    return .accepted(nil, capacity: room)
  }

  /// Verifies the identity token. Its refusal refuses the whole response.
  private mutating func verify(_ tokens: AppleIDTokens) throws(Refusal) {
    guard let nonce, signIn != nil else { return }
    guard let text = tokens.identity else {
      throw Refusal(.unavailableAppleIdResponse, "AID-22", at: "id_token")
    }
    do throws(Refusal) {
      token = try signIn?.identity(text, nonce)
    } catch {
      throw error.inside("id_token", as: .token)
    }
  }

  private mutating func end(_ refusal: Refusal, _ check: ExchangeCheck) -> ExchangeAction {
    state = .done
    return .refused(ExchangeRefusal(refusal, check))
  }

  /// An exchange that failed is not repeated: the customer signs in again.
  func repeatsAt(nowMs: Int64) -> Int64 { nowMs }

  // MARK: document

  /// Writes `tokens` and `token`, and the paths of their secrets.
  func write(_ writer: inout JSONWriter) {
    writer.name("tokens")
    if let tokens { tokens.write(&writer) } else { writer.null() }
    writer.name("token")
    if let token, tokens != nil { token.write(&writer) } else { writer.null() }
    guard tokens != nil else { return }
    writer.name("sensitivePaths")
    writer.beginArray()
    writer.string("tokens.accessToken")
    writer.string("tokens.refreshToken")
    writer.endArray()
  }

  func writeWarnings(_ writer: inout JSONWriter) { token?.writeWarnings(&writer) }
}
