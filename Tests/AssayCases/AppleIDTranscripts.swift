import AssayAuthority

extension CaseFixture {
  /// Adds whole exchanges with Sign in with Apple's endpoints (AID-20 … AID-25). The client secrets
  /// in their steps are random; the Swift tests verify them.
  func addAppleIDTranscripts() throws {
    let transcript = try AppleIDTranscript(self)
    try transcript.addCodes()
    try transcript.addIdentities()
    transcript.addRevocations()
    transcript.addRefusals()
    transcript.addParameters()
  }
}

private final class AppleIDTranscript: Transcript {
  private static let noAnswer = "unavailable.apple-id.no-response"
  private static let unknown = "unavailable.apple-id.response"
  private static let misuse = "misuse.apple-id.parameter"
  private static let nonce = "dGhlIG5vbmNlIG9mIGEgc2lnbi1pbg"

  private let identity: String

  init(_ fixture: CaseFixture) throws {
    let claims = fixture.tokens.appleClaims().setting("nonce", .string(Self.nonce))
    identity = String(decoding: try fixture.tokens.rs256(claims).signed(), as: UTF8.self)
    super.init(fixture, with: "Apple", verifier: "apple-id-tokens", asks: [:])
  }

  // MARK: parts

  private let code: JSONText = [
    "operation": "exchange-authorization-code", "code": "c0de.0.x", "clientId": "com.example.app",
  ]
  private let revoke: JSONText = [
    "operation": "revoke-apple-token", "token": "t0ken.0.x", "hint": "refresh_token",
    "clientId": "com.example.app",
  ]

  private var tokens: JSONText {
    [
      "access_token": "a-token", "token_type": "Bearer", "expires_in": 3600,
      "refresh_token": "r-token", "id_token": .string(identity),
    ]
  }

  private func step(_ path: String) -> Facts {
    [
      ("http.url", .text("https://appleid.apple.com/auth/" + path)), ("http.method", "POST"),
      ("http.headers.0.0", "Content-Type"),
      ("http.headers.0.1", "application/x-www-form-urlencoded"),
      ("http.headers.1.0", "Accept"), ("http.headers.1.1", "application/json"),
      ("http.headers.2.0", .null), ("http.sensitivePaths.0", "body"),
      ("http.sensitivePaths.1", .null),
      ("http.timeoutMs", 30_000), ("http.maxResponseBytes", 65_536),
      ("http.responseHeaders.0", .null),
    ]
  }

  private func keys(_ issuer: String = TokenAuthority.apple) throws -> [EvidenceCase.Evidence] {
    [.init(.keyset(try fixture.tokens.keyset(issuer: issuer).bytes))]
  }

  // MARK: codes

  func addCodes() throws {
    transcript(
      "AID-22", "a code", asks: code, [http(1, 200, tokens, after: 250, facts: step("token"))],
      facts: [
        ("step", "done"), ("tokens.accessToken", "a-token"), ("tokens.refreshToken", "r-token"),
        ("tokens.expiresAtMs", .integer(now + 3_600_000)), ("token", .null),
        ("sensitivePaths.0", "tokens.accessToken"), ("sensitivePaths.1", "tokens.refreshToken"),
        ("sensitivePaths.2", .null), ("retry", .null), ("/checks.3.ok", true),
      ])
    transcript(
      "AID-22", "a code of the web",
      asks: code.appending("redirectUri", "https://www.example.com/signed-in"),
      [http(1, 200, tokens)])
    transcript(
      "AID-22", "no identity token, which nobody verifies", asks: code,
      [http(1, 200, tokens.removing("id_token"))], facts: [("token", .null)])
    for name in ["access_token", "refresh_token", "expires_in", "token_type"] {
      transcript(
        "AID-24", "an answer without \(name)", asks: code, [http(1, 200, tokens.removing(name))],
        Self.unknown, check: "reply", at: name,
        facts: [("tokens", .null), ("sensitivePaths", .null), ("retry", .null)])
    }
    for (name, value) in [
      ("access_token", 7), ("access_token", ""), ("refresh_token", .null), ("expires_in", "3600"),
      ("expires_in", 0), ("token_type", 1), ("id_token", 1),
    ] as [(String, JSONText)] {
      transcript(
        "AID-24", "an answer with \(name) \(value)", asks: code,
        [http(1, 200, tokens.setting(name, value))], Self.unknown, at: name)
    }
    for (name, body) in [("no body", nil), ("a list", []), ("a web page", .text("<html>"))]
      as [(String, JSONText?)]
    {
      transcript("AID-24", "an answer with \(name)", asks: code, [http(1, 200, body)], Self.unknown)
    }
    for status: Int64 in [0, 429, 500, 503] {
      transcript(
        "AID-22", "never asked again after \(status)", asks: code, [http(1, status)], Self.noAnswer,
        check: "reply", at: "status",
        facts: [("retry", .null), ("tokens", .null), ("sensitivePaths", .null)])
    }
  }

  func addIdentities() throws {
    let asked = code.appending("nonce", .string(Self.nonce))
    transcript(
      "AID-22", "a code with its identity token", asks: asked, evidence: try keys(),
      [http(1, 200, tokens)],
      facts: [
        ("token.subject", "001234.0123456789abcdef0123456789abcdef.0123"),
        ("token.nonce", "checked"), ("tokens.refreshToken", "r-token"),
      ])
    let refused: Facts = [("tokens", .null), ("token", .null), ("sensitivePaths", .null)]
    transcript(
      "AID-22", "a code with the identity token of another sign-in",
      asks: asked.setting("nonce", "bm9uY2Ugb2YgYW5vdGhlciBzaWduLWlu"), evidence: try keys(),
      [http(1, 200, tokens)], "rejected.token.nonce", check: "result", at: "id_token/nonce",
      facts: refused)
    transcript(
      "AID-22", "a code without its identity token", asks: asked, evidence: try keys(),
      [http(1, 200, tokens.removing("id_token"))], Self.unknown, at: "id_token", facts: refused)
    transcript(
      "AID-22", "a code with a word for an identity token", asks: asked, evidence: try keys(),
      [http(1, 200, tokens.setting("id_token", "x"))], "malformed.token.form", facts: refused)
    transcript(
      "AID-4", "a code and no nonce", asks: code, evidence: try keys(), [], "misuse.token.nonce",
      at: "nonce")
    transcript(
      "AID-3", "a code and the key set of another issuer", asks: asked,
      evidence: try keys("https://x.example.com"), [], "misuse.token.keyset", at: "evidence[0]/keys"
    )
    transcript(
      "EXC-8", "a code and a key set, and no profile", asks: asked.removing("clientId"),
      evidence: try keys(), verifier: "signing-one-app", [], "config.exchange.block-missing",
      at: "tokens")
    transcript(
      "EXC-2", "a code and two key sets", asks: asked, evidence: try keys() + keys(), [],
      "misuse.exchange.evidence", at: "evidence")
  }

  // MARK: revocation

  /// Adds revocations of tokens (AID-23).
  func addRevocations() {
    let done: Facts = [("revoked", true), ("step", "done")]
    transcript(
      "AID-23", "a token", asks: revoke, [http(1, 200, facts: step("revoke"))], facts: done)
    transcript(
      "AID-23", "an access token", asks: revoke.setting("hint", "access_token"),
      [http(1, 200, .text(""))], facts: done)
    transcript(
      "AID-23", "the third time", asks: revoke,
      [
        http(1, 500), wait(1000), http(3, 0, after: 1000), wait(5000),
        http(5, 200, after: 5000, facts: step("revoke")),
      ], facts: done)
    let retry: Facts = [
      ("retry.request.operation", "revoke-apple-token"), ("retry.request.token", .null),
      ("retry.omitted.0", "token"), ("retry.attempt", 2),
    ]
    for status: Int64 in [0, 429, 503] {
      let reason = status == 429 ? "rate-limited" : "retry"
      transcript(
        "AID-23", "three times \(status)", asks: revoke,
        [
          http(1, status), wait(1000, reason: reason, facts: retry), http(3, status, after: 1000),
          wait(5000, reason: reason), http(5, status, after: 5000),
        ], Self.noAnswer, check: "reply",
        facts: retry + [("revoked", .null), ("retry.notBeforeMs", .integer(now + 21_000))])
    }
    transcript(
      "AID-23", "later attempts wait longer", asks: revoke.appending("attempt", 3),
      [http(1, 0), wait(1000), http(3, 0, after: 1000), wait(5000), http(5, 0, after: 5000)],
      Self.noAnswer, facts: [("retry.notBeforeMs", .integer(now + 5000 + 256_000))])
    transcript(
      "AID-24", "a body where there is none", asks: revoke, [http(1, 200, [:])], Self.unknown,
      check: "reply", at: "body")
    transcript(
      "EXC-16", "a wait that does not fit",
      asks: revoke.appending("deadlineMs", .integer(now + 1500)),
      [http(1, 500), wait(1000), http(3, 500, after: 1000)], Self.noAnswer)
  }

  /// Adds Apple's error responses (AID-24).
  func addRefusals() {
    for (error, status) in [
      ("invalid_grant", "rejected.apple-id.grant"), ("invalid_client", "rejected.apple-id.client"),
      ("unauthorized_client", "rejected.apple-id.client"),
      ("invalid_request", "rejected.apple-id.request"),
      ("unsupported_grant_type", "rejected.apple-id.request"),
      ("invalid_scope", "rejected.apple-id.request"),
    ] {
      for (name, request) in [("a code", code), ("a token", revoke)] {
        transcript(
          "AID-24", "\(name): \(error)", asks: request, [http(1, 400, ["error": .string(error)])],
          status, check: "result", at: "error", facts: [("retry", .null)])
      }
      transcript(
        "AID-24", "\(error) with another status", asks: code,
        [http(1, 401, ["error": .string(error)])], Self.unknown, at: "error")
    }
    func not(_ name: String, _ status: Int64, _ body: JSONText?, at: String, hint: String? = nil) {
      let table =
        "look at what Apple says, which stands behind this hint if it gave a reason; "
        + "the customer must sign in again"
      transcript(
        "AID-24", name, asks: code, [http(1, status, body)], Self.unknown, check: "reply", at: at,
        hint: hint.map { table + ": " + $0 },
        facts: hint == nil ? [("/error.hint", .text(table))] : [])
    }
    not("another word", 400, ["error": "slow_down"], at: "error", hint: "slow_down")
    not(
      "a long word", 400, ["error": .string("é\n " + String(repeating: "x", count: 65))],
      at: "error", hint: String(repeating: "x", count: 64))
    not("no word", 400, [:], at: "status")
    not("a word that is a number", 400, ["error": 7], at: "status")
    not("a web page", 403, .text("<html>"), at: "status")
    not("nothing", 404, nil, at: "status")
    not("another place", 302, ["error": "invalid_grant"], at: "status")
    let large = "too-large.apple-id.response"
    transcript(
      "AID-21", "an answer that was cut", asks: code, [http(1, 200, more: [("truncated", true)])],
      large,
      at: "truncated")
    let room = 65_536 - tokens.bytes.count
    let longest = tokens.description + String(repeating: " ", count: room)
    transcript("AID-21", "65,536 bytes", asks: code, [http(1, 200, .text(longest))])
    transcript(
      "AID-21", "65,537 bytes", asks: code, [http(1, 200, .text(longest + " "))], large, at: "body")
  }

  /// Adds refused parameters (AID-25).
  func addParameters() {
    func bad(_ request: JSONText, _ name: String, _ value: JSONText?) {
      let shown = value.map { String(decoding: $0.bytes.prefix(40), as: UTF8.self) } ?? "nothing"
      let operation = request["operation"].map { $0.description } ?? ""
      transcript(
        "AID-25", "\(operation) with \(name) \(shown)",
        asks: value.map { request.setting(name, $0) } ?? request.removing(name), [], Self.misuse,
        at: name)
    }
    let long = JSONText.string(String(repeating: "x", count: 2049))
    for value: JSONText? in [nil, "", long, 7, .null, "a b", "é", "a\n"] {
      bad(code, "code", value)
      bad(revoke, "token", value)
    }
    for value: JSONText? in [nil, "", "id_token", 1] { bad(revoke, "hint", value) }
    for value: JSONText? in [nil, "com.example.second", 1] {
      bad(code, "clientId", value)
      bad(revoke, "clientId", value)
    }
    let url = "https://www.example.com/"
    for value: JSONText in [
      "", "http://www.example.com/", "https://", "https:///x", "https://a@b/", 7, .null,
      "https://www.example.com/#x", "https://www.example.com/a b",
      .string(url + String(repeating: "x", count: 1025 - url.count)),
    ] { bad(code, "redirectUri", value) }
    transcript(
      "AID-25", "parameters of the greatest length",
      asks: code.setting([
        ("code", .string(String(repeating: "x", count: 2048))),
        ("redirectUri", .string(url + String(repeating: "x", count: 1024 - url.count))),
      ]), [http(1, 200, tokens)])
    transcript(
      "AID-25", "the only client", asks: code.removing("clientId"), verifier: "signing-one-app",
      [http(1, 200, tokens)])
    transcript(
      "AID-25", "a client that is known as an audience",
      asks: code.setting("clientId", "com.example.web"), [http(1, 200, tokens)])
    for (name, request) in [("a code", code), ("a token", revoke)] {
      transcript(
        "EXC-8", "\(name) and no key", asks: request, verifier: "standard", [],
        "config.exchange.block-missing", at: "appleId")
      transcript(
        "EXC-1", "\(name) with another member", asks: request.appending("secret", "x"), [],
        "misuse.exchange.request", at: "secret")
    }
  }
}
