import AssayAuthority

extension CaseFixture {
  /// Adds identity tokens and sign-in notifications (docs/spec/apple-id.md §2, §3).
  func addAppleIDCases() throws {
    let sign = AppleIDFixture(self)
    try sign.addIdentities()
    try sign.addNonces()
    try sign.addIdentityRequests()
    try sign.addNotifications()
    try sign.addNotificationClaims()
    cases += sign.cases
  }

  func addAppleIDVerifiers(_ add: (String, [(String, JSONText)]) -> Void) {
    func one(_ name: String, _ more: [(String, JSONText)]) {
      let profile: JSONText = ["profile": "apple-id", "audiences": ["com.example.app"]]
      add(name, [("tokens", [profile.setting(more)]), ("clockSkewMs", 0)])
    }
    one("apple-id", [])
    one("apple-id-if-supported", [("nonce", "if-supported")])
    one("apple-id-none", [("nonce", "none")])
    one("apple-id-plain", [("nonceForm", "plain")])
    one("apple-id-sha256", [("nonceForm", "sha256")])
    one("apple-id-short", [("notificationMaxAgeMs", 60_000), ("keysetHardMaxAgeMs", 86_400_000)])
    let clients: JSONText = ["com.example.app", "com.example.web"]
    let profile: JSONText = ["profile": "apple-id", "audiences": clients]
    add(
      "apple-id-tokens",
      [("tokens", [profile]), ("appleId", appleIdBlock.removing("clientIds"))])
  }
}

private final class AppleIDFixture {
  typealias Facts = CaseFixture.Facts

  private static let nonce = "dGhlIG5vbmNlIG9mIGEgc2lnbi1pbg"
  private static let claim = "malformed.token.claim"

  var cases: [EvidenceCase] = []
  private let fixture: CaseFixture
  private let digest: String

  init(_ fixture: CaseFixture) {
    self.fixture = fixture
    digest = AttestDigest.hex(AttestDigest.sha256(Array(Self.nonce.utf8)))
  }

  private var second: Int64 { fixture.now / 1000 }

  private func keys(_ issuer: String? = TokenAuthority.apple) throws -> EvidenceCase.Evidence {
    .init(.keyset(try fixture.tokens.keyset(issuer: issuer).bytes))
  }

  private func add(
    _ rule: String, _ name: String, _ request: JSONText, verifier: String,
    keys: [EvidenceCase.Evidence]?, now: Int64?, _ status: String, at: String?, facts: Facts
  ) throws {
    let failed: Facts =
      status == "ok" ? [("step", "done"), ("/checks.3.ok", true)] : [("token", .null)]
    fixture.add(
      rule, "Apple: \(name)",
      .exchange(
        verifier: verifier, request: .bytes(request.bytes), evidence: try keys ?? [self.keys()],
        now: now ?? fixture.now), .init(status, at: at, facts: failed + facts))
  }

  // MARK: identity tokens

  private var claims: JSONText {
    fixture.tokens.appleClaims().setting("nonce", .string(Self.nonce))
  }

  private func identity(
    _ rule: String, _ name: String, _ changes: [(String, JSONText)] = [],
    removing: [String] = [], asks more: [(String, JSONText)] = [], without: [String] = [],
    verifier: String = "apple-id", keys: [EvidenceCase.Evidence]? = nil, now: Int64? = nil,
    _ status: String = "ok", at: String? = nil, facts: Facts = []
  ) throws {
    let token = try fixture.tokens.rs256(claims.setting(changes).removing(removing)).signed()
    let request: JSONText = [
      "operation": "verify-apple-identity-token", "token": .string(utf8: token),
      "nonce": .string(Self.nonce),
    ]
    try add(
      rule, name, request.setting(more).removing(without), verifier: verifier, keys: keys,
      now: now, status, at: at, facts: facts)
  }

  func addIdentities() throws {
    try identity(
      "AID-1", "an identity token",
      facts: [
        ("token.profile", "apple-id"),
        ("token.subject", "001234.0123456789abcdef0123456789abcdef.0123"),
        ("token.audience.0", "com.example.app"), ("token.nonce", "checked"),
        ("token.emailVerified", true), ("token.realUser", "likely-real"),
        ("token.transferSubject", .null), ("token.revocation", "not-checked"),
        ("token.keyset.issuer", .text(TokenAuthority.apple)),
        ("token.kid", .text(TokenAuthority.rsaKid)), ("sensitivePaths", .null),
      ])
    try identity(
      "AID-6", "of a team that gave the app away", [("transfer_sub", "000111.x.y")],
      facts: [("token.transferSubject", "000111.x.y")])
    try identity(
      "AID-7", "an unknown real_user_status", [("real_user_status", 9)],
      facts: [("token.realUser", .null), ("/warnings.0.id", "unknown-value")])
    let use = "rejected.token.use"
    try identity(
      "AID-3", "a notification in its place", [("events", "{\"type\":\"email-enabled\"}")], use,
      at: "events")
    try identity("AID-3", "with events that are null", [("events", .null)], use)
    try identity(
      "AID-1", "of another app", [("aud", "com.example.web")], "rejected.token.audience",
      at: "aud")
    try identity("AID-1", "two audiences", [("aud", ["com.example.app"])], Self.claim, at: "aud")
    try identity("AID-1", "no iat", removing: ["iat"], "rejected.token.no-issued-at")
    try identity("AID-1", "no exp", removing: ["exp"], "rejected.token.no-expiry")
    try identity(
      "AID-1", "expired", [("exp", .integer(second))], "rejected.token.expired", at: "exp")
    try identity(
      "AID-1", "of another issuer", [("iss", "https://appleid.apple.com/")],
      "rejected.token.issuer")
    try identity("AID-1", "no sub", removing: ["sub"], "rejected.token.subject", at: "sub")
    try identity(
      "AID-2", "booleans as texts", [("is_private_email", "false"), ("nonce_supported", "true")],
      facts: [("token.privateEmail", false)])
    try identity(
      "AID-2", "an email that is a number", [("email", 7)], Self.claim, at: "email",
      facts: [("/error.keyset", .null)])
  }

  /// Adds nonces (AID-4, AID-5).
  func addNonces() throws {
    let wrong = "rejected.token.nonce"
    let hashed: [(String, JSONText)] = [("nonce", .string(digest))]
    for (verifier, plain, hash) in [
      ("apple-id", true, true), ("apple-id-plain", true, false), ("apple-id-sha256", false, true),
      ("apple-id-if-supported", true, true), ("apple-id-none", true, true),
    ] {
      try identity(
        "AID-4", "the nonce itself, \(verifier)", verifier: verifier, plain ? "ok" : wrong,
        at: plain ? nil : "nonce")
      try identity(
        "AID-4", "its SHA-256, \(verifier)", hashed, verifier: verifier, hash ? "ok" : wrong)
      try identity(
        "AID-4", "another nonce, \(verifier)", [("nonce", .string(Self.nonce + "A"))],
        verifier: verifier, wrong, at: "nonce")
    }
    try identity(
      "AID-4", "its SHA-256 in capitals", [("nonce", .string(digest.uppercased()))], wrong)
    try identity("AID-4", "an empty nonce in the token", [("nonce", "")], wrong)
    let misuse = "misuse.token.nonce"
    for (name, more, without) in [
      ("no nonce", [], ["nonce"]), ("an empty nonce", [("nonce", "")], []),
      ("a nonce that is a number", [("nonce", 1)], []),
      ("a nonce that is null", [("nonce", .null)], []),
    ] as [(String, [(String, JSONText)], [String])] {
      try identity("AID-4", "asked with \(name)", asks: more, without: without, misuse, at: "nonce")
    }
    try identity(
      "AID-4", "asked without a nonce, if supported", without: ["nonce"],
      verifier: "apple-id-if-supported", misuse)
    try identity(
      "AID-4", "asked without a nonce, where none is demanded", without: ["nonce"],
      verifier: "apple-id-none", facts: [("token.nonce", "not-demanded")])
    try identity(
      "AID-4", "asked with an empty one, where none is demanded", asks: [("nonce", "")],
      verifier: "apple-id-none", misuse)
    try identity(
      "AID-5", "none in the token, where none is demanded", removing: ["nonce"],
      verifier: "apple-id-none", facts: [("token.nonce", "not-demanded")])
    for (name, supported, verifier, status) in [
      ("none in the token", false, "apple-id", wrong),
      ("none in the token, of a platform that has none", false, "apple-id-if-supported", "ok"),
      ("none in the token, of a platform that has it", true, "apple-id-if-supported", wrong),
    ] as [(String, JSONText, String, String)] {
      try identity(
        "AID-5", name, [("nonce_supported", supported)], removing: ["nonce"], verifier: verifier,
        status, at: status == "ok" ? nil : "nonce",
        facts: [("token.nonce", status == "ok" ? "unsupported" : .null)])
    }
    try identity(
      "AID-5", "no word about nonces", removing: ["nonce", "nonce_supported"],
      verifier: "apple-id-if-supported", wrong)
    try identity(
      "AID-5", "another nonce, of a platform that has none",
      [("nonce", "x"), ("nonce_supported", false)], verifier: "apple-id-if-supported", wrong)
  }

  func addIdentityRequests() throws {
    try identity(
      "EXC-8", "no profile for it", verifier: "tokens-one", "config.exchange.block-missing",
      at: "tokens")
    let evidence = "misuse.exchange.evidence"
    try identity("EXC-2", "no key set", keys: [], evidence, at: "evidence")
    try identity("EXC-2", "two key sets", keys: [try keys(), try keys()], evidence, at: "evidence")
    try identity(
      "EXC-2", "a purchase for a key set", keys: [try fixture.transaction(fixture.purchase)],
      evidence, at: "evidence[0]")
    try identity(
      "EXC-2", "a key set that was refused", keys: [.init(.keyset(Array("{}".utf8)))], evidence,
      at: "evidence[0]")
    let misuse = "misuse.token.keyset"
    try identity(
      "AID-3", "the key set of another issuer", verifier: "tokens-exact",
      keys: [try keys(TokenAuthority.jwtIssuer)], misuse, at: "evidence[0]/keys")
    try identity(
      "JWK-9", "the key set of nobody", keys: [try keys("https://x.example.com")], misuse)
    try identity("JWK-9", "a key set without a name", keys: [try keys(nil)])
    let old = try fixture.tokens.keyset(issuer: TokenAuthority.apple)
      .setting("fetchedAtMs", .integer(fixture.now - 86_400_001))
    try identity(
      "KST-5", "a key set that is too old", verifier: "apple-id-short",
      keys: [.init(.keyset(old.bytes))], "unavailable.token.keyset-too-old")
    let fetched = try fixture.tokens.keyset(issuer: TokenAuthority.apple)
      .setting("fetchedAtMs", .integer(fixture.now))
    for (name, set, advice) in [
      ("that never changes", try fixture.tokens.keyset(issuer: TokenAuthority.apple), "refresh"),
      ("that was fetched now", fetched, "cooldown"),
    ] {
      let token = try fixture.tokens.rs256(claims)
        .with { $0.header = $0.header.setting("kid", "new") }.signed()
      try identity(
        "KST-8", "an unknown key, of a set \(name)", asks: [("token", .string(utf8: token))],
        keys: [.init(.keyset(set.bytes))], "rejected.token.unknown-key",
        facts: [("/error.keyset", .text(advice))])
    }
    for (name, more, without, at) in [
      ("no token", [], ["token"], "token"),
      ("a token that is a number", [("token", 1)], [], "token"),
      ("another member", [("audience", "x")], [], "audience"),
      ("a deadline", [("deadlineMs", .integer(fixture.now + 5000))], [], "deadlineMs"),
    ] as [(String, [(String, JSONText)], [String], String)] {
      try identity(
        "EXC-1", name, asks: more, without: without, "misuse.exchange.request", at: at)
    }
    try identity("TOK-6", "a word", asks: [("token", "x")], "malformed.token.form")
    try identity("TOK-5", "nothing", asks: [("token", "")], "malformed.token.form")
  }

  // MARK: notifications

  private func event(_ changes: [(String, JSONText)] = [], removing: [String] = []) -> JSONText {
    fixture.tokens.appleEvent.setting(changes).removing(removing)
  }

  private func notification(
    _ rule: String, _ name: String, _ event: JSONText? = nil, text: JSONText? = nil,
    claims changes: [(String, JSONText)] = [], removing: [String] = [],
    verifier: String = "apple-id", keys: [EvidenceCase.Evidence]? = nil,
    _ status: String = "ok", at: String? = nil, facts: Facts = []
  ) throws {
    let claims = fixture.tokens.appleNotificationClaims(event ?? self.event())
      .setting(text.map { [("events", $0)] } ?? []).setting(changes).removing(removing)
    let request: JSONText = [
      "operation": "verify-sign-in-notification",
      "payload": .string(utf8: try fixture.tokens.rs256(claims).signed()),
    ]
    try add(
      rule, "notification: \(name)", request, verifier: verifier, keys: keys, now: nil, status,
      at: at, facts: facts)
  }

  func addNotifications() throws {
    try notification(
      "AID-10", "forwarding stopped",
      facts: [
        ("appleIdEvent.type", "email-disabled"),
        ("appleIdEvent.subject", "001234.0123456789abcdef0123456789abcdef.0123"),
        ("appleIdEvent.eventAtMs", .integer(fixture.now - 61_000)),
        ("appleIdEvent.email", "abc@privaterelay.example.com"), ("appleIdEvent.privateEmail", true),
        ("appleIdEvent.audience.0", "com.example.app"), ("appleIdEvent.tokenId", "event-1"),
        ("appleIdEvent.issuedAtMs", .integer((second - 60) * 1000)),
        ("appleIdEvent.payload.jti", "event-1"), ("/warnings.0.id", .null),
      ])
    for (type, shown) in [
      ("email-enabled", "email-enabled"), ("consent-revoked", "consent-revoked"),
      ("account-deleted", "account-deleted"), ("account-delete", "account-deleted"),
    ] {
      try notification(
        "AID-11", "\(type)",
        event([("type", .string(type))], removing: ["email", "is_private_email"]),
        facts: [
          ("appleIdEvent.type", .text(shown)), ("appleIdEvent.email", .null),
          ("appleIdEvent.privateEmail", .null), ("/warnings.0.id", .null),
        ])
    }
    try notification(
      "AID-11", "a type that is not known", event([("type", "consent-given")]),
      facts: [
        ("appleIdEvent.type", "consent-given"), ("/warnings.0.id", "unknown-value"),
        ("/warnings.0.at", "events.type"),
      ])
    for (name, time, shown) in [
      ("in seconds", second, second * 1000),
      ("at the last second", 999_999_999_999, 999_999_999_999_000),
      ("at the first millisecond", 1_000_000_000_000, 1_000_000_000_000),
    ] {
      try notification(
        "AID-11", "a time \(name)", event([("event_time", .integer(time))]),
        facts: [("appleIdEvent.eventAtMs", .integer(shown))])
    }
    try notification(
      "AID-11", "no time", event(removing: ["event_time"]),
      facts: [("appleIdEvent.eventAtMs", .null)]
    )
    try notification("AID-10", "without an end", removing: ["exp"])
    try notification(
      "AID-10", "past its end", claims: [("exp", .integer(second))], "rejected.token.expired",
      at: "exp")
    try notification("AID-10", "as old as allowed", verifier: "apple-id-short")
    try notification(
      "AID-10", "a second older", claims: [("iat", .integer(second - 61))],
      verifier: "apple-id-short", "rejected.token.too-old", at: "iat")
    try notification(
      "AID-10", "of the future", claims: [("iat", .integer(second + 1))],
      "rejected.token.issued-in-future")
    try notification("AID-10", "no iat", removing: ["iat"], "rejected.token.no-issued-at")
  }

  func addNotificationClaims() throws {
    for (name, value) in [
      ("no", nil), ("an empty", ""), ("a long", .string(String(repeating: "j", count: 256))),
    ] as [(String, JSONText?)] {
      try notification(
        "AID-10", "\(name) jti", claims: value.map { [("jti", $0)] } ?? [],
        removing: value == nil ? ["jti"] : [], Self.claim, at: "jti")
    }
    try notification(
      "AID-10", "a jti of 255 bytes",
      claims: [("jti", .string(String(repeating: "j", count: 255)))])
    try notification(
      "AID-10", "of another app", claims: [("aud", "com.example.web")],
      "rejected.token.audience")
    try notification(
      "AID-10", "of two apps", claims: [("aud", ["com.example.app"])], Self.claim, at: "aud")
    try notification(
      "AID-10", "of another issuer", claims: [("iss", "https://example.com")],
      "rejected.token.issuer")
    try notification(
      "AID-11", "an identity token in its place", removing: ["events"], "rejected.token.use",
      at: "events")
    for (name, text) in [
      ("an object", self.event()), ("a list in a text", "[{}]"), ("null", .null),
      ("a text in a text", "\"x\""), ("no JSON", "{"), ("nothing", ""),
      ("a type twice", "{\"type\":\"a\",\"type\":\"a\",\"sub\":\"s\"}"),
      ("text behind it", "{\"type\":\"a\",\"sub\":\"s\"}x"),
    ] as [(String, JSONText)] {
      try notification("AID-11", "events: \(name)", text: text, Self.claim, at: "events")
    }
    for name in ["type", "sub"] {
      try notification(
        "AID-11", "events without \(name)", event(removing: [name]), Self.claim,
        at: "events.\(name)")
      for value: JSONText in [7, .null, ""] {
        try notification(
          "AID-11", "events with \(name) \(value)", event([(name, value)]), Self.claim,
          at: "events.\(name)")
      }
    }
    for (name, value) in [
      ("event_time", "1"), ("event_time", -1), ("event_time", .null), ("event_time", .text("1.5")),
      ("event_time", .text("9007199254740992")), ("email", 7), ("email", .null),
      ("is_private_email", "yes"), ("is_private_email", 1),
    ] as [(String, JSONText)] {
      try notification(
        "AID-11", "events with \(name) \(value)", event([(name, value)]), Self.claim,
        at: "events.\(name)")
    }
    try notification(
      "TOK-28", "a subject with a line end", event([("sub", "a\nb")]), "rejected.token.subject",
      at: "events.sub")
    try notification(
      "AID-3", "the key set of another issuer", verifier: "tokens-exact",
      keys: [try keys(TokenAuthority.jwtIssuer)], "misuse.token.keyset")
    try notification(
      "EXC-8", "no profile for it", verifier: "tokens-one", "config.exchange.block-missing")
  }
}
