import AssayAuthority

extension CaseFixture {
  /// Adds session tokens that are good, and ones that differ in one thing (docs/spec/session.md).
  /// The Swift tests check issued tokens and the facts of their evidence.
  func addSessionCases() throws {
    try addGoodSessions()
    try addSessionForms()
    try addSessionPayloads()
    try addSessionOwners()
    addSessionRequests()
  }

  private func session(_ secret: Int = 0) -> SessionTokenTemplate {
    let (id, bytes) = CaseFixture.sessionSecrets[secret]
    return SessionTokenTemplate(secretId: id, secret: bytes, now: now)
  }

  private func check(
    _ rule: String, _ name: String, _ text: String, for purpose: JSONText = "read",
    more: [(String, JSONText)] = [], verifier: String = "signing", now: Int64? = nil,
    _ status: String = "ok", at: String? = nil, facts: Facts = []
  ) {
    let request: JSONText = [
      "operation": "verify-session", "session": .string(text), "purpose": purpose,
    ]
    self.request(
      rule, "session: \(name)", request.setting(more), verifier: verifier, now: now, status,
      at: at, facts: facts)
  }

  /// Adds good session tokens (SES-14, SES-15).
  private func addGoodSessions() throws {
    check(
      "SES-15", "a good one", try session().text(),
      facts: [
        ("step", "done"), ("session.account", "account-1"),
        ("session.appId", "ABCDE12345.com.example.app"), ("session.environment", "production"),
        ("session.verdict", "allow"), ("session.limited", false), ("session.risk", 3),
        ("session.issuedAtMs", .integer(now)), ("session.expiresAtMs", .integer(now + 900_000)),
        ("session.text", .null), ("sensitivePaths", .null),
      ])
    check(
      "SES-11", "of the older secret, without environment and risk",
      try session(1).setting([("env", .null), ("risk", .null)]).text(),
      facts: [("session.environment", .null), ("session.risk", .null)])
    let limited = try session().setting([("verdict", "limited")]).text()
    for (purpose, allowed, restricted) in [
      ("read", true, true), ("free", true, true), ("metered", true, true),
      ("restore", true, false), ("promo", false, false), ("paid", false, false),
    ] {
      let required = "rejected.session.assertion-required"
      check(
        "SES-14", "for \(purpose)", try session().text(), for: .string(purpose),
        allowed ? "ok" : required, at: allowed ? nil : "purpose",
        facts: [("session.limited", allowed ? false : .null)])
      check(
        "SES-14", "limited, for \(purpose)", limited, for: .string(purpose),
        restricted ? "ok" : required,
        facts: [("session.limited", restricted ? .flag(purpose == "metered") : .null)])
    }
  }

  /// Adds faults of the token's form and code (SES-10, SES-11).
  private func addSessionForms() throws {
    let good = try session().text()
    let parts = good.split(separator: "~").map(String.init)
    let malformed = "malformed.session.form"
    for (name, text) in [
      ("nothing", ""), ("a word", "as1"), ("two parts", parts[0] + "~" + parts[1]),
      ("four parts", good + "~"), ("another scheme", "as2" + good.dropFirst(3)),
      ("a blank before it", " " + good), ("a line end", good + "\n"),
      ("dots", parts.joined(separator: ".")), ("padding", good + "="),
      ("a code of 31 bytes", String(good.dropLast())),
      ("a code of 33 bytes", good + "A"), ("no code", parts[0] + "~" + parts[1] + "~"),
      ("a payload that is no base64url", "as1~a+b~" + parts[2]),
    ] {
      check("SES-10", name, text, malformed, at: "session")
    }
    check(
      "SES-10", "2,049 bytes", good + String(repeating: "A", count: 2049 - good.utf8.count),
      "too-large.session.size", at: "session")
    check(
      "SES-10", "2,048 bytes", good + String(repeating: "A", count: 2048 - good.utf8.count),
      malformed, at: "session")
    let forged = "rejected.session.signature"
    var other = session()
    other.secret[31] ^= 1
    check("SES-11", "of another secret", try other.text(), forged, at: "session")
    var bare = session()
    bare.purpose = []
    check("SES-11", "signed as a token would be", try bare.text(), forged)
    let turned = parts[1].dropLast() + (parts[1].hasSuffix("Q") ? "A" : "Q")
    check("SES-11", "with another payload", "as1~\(turned)~" + parts[2], forged)
    check(
      "SES-11", "of a secret that was dropped", try session(1).text(),
      verifier: "session-rotated", forged)
    check(
      "SES-11", "of the other secret's name", try session().setting([("kid", "s1")]).text(),
      malformed, at: "session/kid")
  }

  /// Adds payloads with a valid code, and their times (SES-11, SES-12).
  private func addSessionPayloads() throws {
    let malformed = "malformed.session.form"
    func payload(_ name: String, _ payload: JSONText) throws {
      var changed = session()
      changed.payload = payload
      check("SES-11", "signed, with \(name)", try changed.text(), malformed)
    }
    let good = session().payload
    for member in good.members {
      try payload("no \(member.name)", good.removing(member.name))
      try payload("\(member.name) as a list", good.setting(member.name, []))
    }
    try payload("one member more", good.appending("x", 1))
    try payload("a member twice", .object(good.members + [.init("sub", "account-2")]))
    try payload("a list", [])
    try payload("another verdict", good.setting("verdict", "deny"))
    try payload("another environment", good.setting("env", "Production"))
    try payload("a risk below 0", good.setting("risk", -1))
    try payload("a short digest", good.setting("bind", "00"))
    let expired = "rejected.session.expired"
    let text = try session().text()
    check("SES-12", "in its last millisecond", text, now: now + 899_999)
    check("SES-12", "at its end", text, now: now + 900_000, expired, at: "session/exp")
    check("SES-12", "a minute early", text, now: now - 60_000)
    check("SES-12", "more than a minute early", text, now: now - 60_001, expired, at: "session/iat")
    let hour = session().setting([("exp", .integer(now + 3_600_000))])
    check("SES-12", "of an hour", try hour.text())
    check(
      "SES-12", "of more than an hour",
      try hour.setting([("exp", .integer(now + 3_600_001))]).text(), expired, at: "session/exp")
  }

  /// Adds session tokens of other accounts, purposes and apps (SES-13).
  private func addSessionOwners() throws {
    let mismatch = "rejected.session.mismatch"
    let text = try session().text()
    check("SES-13", "of the account", text, more: [("account", "account-1")])
    check(
      "SES-13", "of another account", text, more: [("account", "account-2")], mismatch,
      at: "account")
    check(
      "SES-13", "of another app", try session().setting([("app", "ABCDE12345.com.other")]).text(),
      mismatch, at: "session/app")
    let digest = AttestDigest.hex(AttestDigest.sha256(Array("sign-in 1".utf8)))
    let bound = try session().setting([("bind", .string(digest))]).text()
    check("SES-13", "bound", bound, more: [("binding", "sign-in 1")])
    check(
      "SES-13", "bound to another sign-in", bound, more: [("binding", "sign-in 2")], mismatch,
      at: "binding")
    check("SES-13", "bound, and nothing shown", bound, mismatch, at: "binding")
    check(
      "SES-13", "not bound, and something shown", text, more: [("binding", "sign-in 1")],
      mismatch, at: "binding")
  }

  private func addSessionRequests() {
    let misuse = "misuse.exchange.request"
    check("EXC-1", "for something else", "as1", for: "pay", misuse, at: "purpose")
    check(
      "EXC-1", "an account that is a number", "as1", more: [("account", 1)], misuse,
      at: "account")
    check(
      "EXC-8", "no block", "as1", verifier: "standard", "config.exchange.block-missing",
      at: "session")
    let issue: JSONText = ["operation": "issue-session", "account": "account-1"]
    request(
      "EXC-2", "a session from nothing", issue, verifier: "signing", "misuse.exchange.evidence",
      at: "evidence")
    request(
      "EXC-1", "a session check without a purpose",
      ["operation": "verify-session", "session": "as1"],
      verifier: "signing", misuse, at: "purpose")
  }
}
