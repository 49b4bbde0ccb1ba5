import AssayAuthority
import Testing

@testable import Assay

/// Tests the exchanges with Sign in with Apple's endpoints, state by state (AID-20 … AID-25).
@Suite("Exchange Sign in with Apple")
struct AppleIDExchangeTests {
  private static let now = Signing.now
  private static let answer: JSONText = [
    "access_token": "a-token", "token_type": "Bearer", "expires_in": 3600,
    "refresh_token": "r-token",
  ]

  private func configuration() throws -> Configuration { try Signing.verifier().configuration }

  private func code(_ more: [(String, JSONText)] = []) throws -> AppleIDCodeStateMachine {
    let request: JSONText = [
      "operation": "exchange-authorization-code", "code": "c/0=d&e", "clientId": "com.example.app",
    ]
    return try AppleIDCodeStateMachine(
      try ExchangeRequest(request.setting(more).bytes), [], try configuration(), nowMs: Self.now)
  }

  private func revocation() throws -> AppleIDRevocationStateMachine {
    let request: JSONText = [
      "operation": "revoke-apple-token", "token": "t", "hint": "access_token",
      "clientId": "com.example.app",
    ]
    return try AppleIDRevocationStateMachine(
      try ExchangeRequest(request.bytes), try configuration(), attempt: 1)
  }

  private func http(_ status: Int64, _ body: String = "") -> ExchangeReply {
    .http(HTTPResponse(status: status, body: utf8(body)))
  }

  private func words(_ action: ExchangeAction) -> String {
    switch action {
    case .request: return "request"
    case .database, .grant: return "store"
    case .wait(let wait): return "wait \(wait.notBeforeMs - Self.now)"
    case .accepted(let evidence, _): return evidence == nil ? "accepted" : "evidence"
    case .refused(let ending): return Text(stringLiteral: ending.refusal.status.name).string
    }
  }

  /// Returns the decoded fields of a form, with the client secret opened.
  private func fields(_ action: ExchangeAction, at now: Int64) throws -> [String] {
    guard case .request(let request) = action else { return [] }
    let body = String(decoding: try require(request.body).bytes, as: UTF8.self)
    return try body.split(separator: "&").map { field in
      guard field.hasPrefix("client_secret=") else { return String(field) }
      let (header, payload) = try Signing.opened(String(field.dropFirst(14)))
      checkEqual(header, #"{"alg":"ES256","kid":"KEYID67890"}"#)
      let seconds = now / 1000
      checkEqual(
        payload,
        #"{"iss":"ABCDE12345","iat":\#(seconds - 60),"exp":\#(seconds + 300),"#
          + #""aud":"https://appleid.apple.com","sub":"com.example.app"}"#)
      return "client_secret"
    }
  }

  @Test("AID-20 AID-21 AID-22 the form of a code, percent-encoded, with a secret of its own")
  func codeForm() throws {
    var machine = try code([("redirectUri", "https://www.example.com/~a?b=c")])
    try checkEqual(
      fields(machine.start(nowMs: Self.now), at: Self.now),
      [
        "client_id=com.example.app", "client_secret", "code=c%2F0%3Dd%26e",
        "grant_type=authorization_code",
        "redirect_uri=https%3A%2F%2Fwww.example.com%2F~a%3Fb%3Dc",
      ])
  }

  @Test("AID-23 every try of a revocation has a secret of its own time")
  func revocationForms() throws {
    var machine = try revocation()
    let wanted = [
      "client_id=com.example.app", "client_secret", "token=t", "token_type_hint=access_token",
    ]
    try checkEqual(fields(machine.start(nowMs: Self.now), at: Self.now), wanted)
    checkEqual(words(machine.receive(http(0), nowMs: Self.now + 500)), "wait 1500")
    let later = Self.now + 7000
    try checkEqual(fields(machine.receive(.elapsed, nowMs: later), at: later), wanted)
    checkEqual(words(machine.receive(http(429), nowMs: later)), "wait 11000")
    checkEqual(words(machine.receive(.elapsed, nowMs: later)), "request")
    checkEqual(
      words(machine.receive(http(503), nowMs: later)), "unavailable.apple-id.no-response")
  }

  @Test("EXC-5 an answer of another form than the step's is a fault of ours")
  func wrongForm() throws {
    var machine = try code()
    checkEqual(words(machine.receive(http(200), nowMs: Self.now)), "internal.assay.bug")
    machine = try code()
    _ = machine.start(nowMs: Self.now)
    checkEqual(words(machine.receive(.elapsed, nowMs: Self.now)), "internal.assay.bug")
    var revocation = try revocation()
    _ = revocation.start(nowMs: Self.now)
    checkEqual(words(revocation.receive(.elapsed, nowMs: Self.now)), "internal.assay.bug")
  }

  @Test("AID-22 a code is sent once, whatever the answer")
  func once() throws {
    for status: Int64 in [0, 200, 302, 400, 401, 429, 500] {
      var machine = try code()
      _ = machine.start(nowMs: Self.now)
      let end = machine.receive(http(status), nowMs: Self.now)
      guard case .refused = end else {
        Issue.record("\(status): \(words(end))")
        continue
      }
      checkEqual(machine.state, .done)
    }
  }

  @Test("EXC-22 tokens stand in the result alone, and are named there")
  func secrets() throws {
    let verifier = try Signing.verifier()
    let request: JSONText = [
      "operation": "exchange-authorization-code", "code": "c0de-of-a-customer",
      "clientId": "com.example.app",
    ]
    let (exchange, first) = verifier.startExchange(request.bytes, nowMs: Self.now)
    check(String(decoding: first.json, as: UTF8.self).contains("c0de-of-a-customer"))
    let answer: JSONText = [
      "id": 1, "status": 200, "body": ["text": .string(utf8: Self.answer.bytes)],
    ]
    let last = try require(exchange).step(answer.bytes, nowMs: Self.now)
    checkEqual(last.status, .ok)
    let text = String(decoding: last.json, as: UTF8.self)
    check(!text.contains("c0de-of-a-customer") && !text.contains("client_secret"))
    checkEqual(last.text("exchange.sensitivePaths.0"), "tokens.accessToken")
  }
}
