import AssayAuthority

extension CaseFixture {
  private var second: Int64 { now / 1000 }

  // MARK: claims (§4)

  func addTokenClaims() throws {
    try addClaimTypes()
    try addClaimTimes()
    try addClaimValues()
  }

  /// Adds claims of wrong types (TOK-22).
  private func addClaimTypes() throws {
    for claim in ["exp", "iat", "nbf", "auth_time"] {
      for (name, value) in [
        ("null", .null), ("a text", "1700000000"), ("a fraction", .text("1700000000.5")),
        ("1e400", .text("1e400")), ("10^60", .text("1" + String(repeating: "0", count: 60))),
        ("true", true), ("negative", -1), ("zero", 0), ("2^53", 9_007_199_254_740_992),
      ] as [(String, JSONText)] {
        try claims(
          "TOK-22", "\(claim) \(name)", [(claim, value)], "malformed.token.time",
          check: "token.claims", at: claim)
      }
    }
    for claim in [
      "iss", "sub", "client_id", "token_use", "scope", "username", "jti", "origin_jti",
    ] {
      try claims(
        "TOK-22", "\(claim) a number", [(claim, 7)], "malformed.token.claim",
        check: "token.claims", at: claim)
    }
    try claims("TOK-22", "sub null", [("sub", .null)], "malformed.token.claim", at: "sub")
    for (name, value) in [("a number", 7), ("of numbers", [7]), ("null", .null)]
      as [(String, JSONText)]
    {
      try claims("TOK-22", "aud \(name)", [("aud", value)], "malformed.token.claim", at: "aud")
    }
    for (name, value) in [("a text", "testers"), ("of numbers", [7])] as [(String, JSONText)] {
      let groups = tokens.cognitoClaims.removing("cognito:groups")
        .appending("cognito:groups", value)
      try token(
        "TOK-22", "cognito:groups \(name)", try tokens.rs256(groups).signed(),
        "malformed.token.claim", at: "cognito:groups")
    }
  }

  /// Adds times in whole seconds, with and without clock skew (TOK-23, TOK-24).
  private func addClaimTimes() throws {
    try claims("TOK-23", "no exp", [], removing: ["exp"], "rejected.token.no-expiry", at: "exp")
    func end(_ name: String, _ offset: Int64, _ verifier: String, _ status: String) throws {
      try claims(
        "TOK-23", name, [("exp", .integer(second + offset))], verifier: verifier, status,
        check: status == "ok" ? nil : "token.times")
    }
    try end("exp is now", 0, "tokens-exact", "rejected.token.expired")
    try end("exp in a second", 1, "tokens-exact", "ok")
    try end("exp is now, with skew", 0, "tokens", "ok")
    try end("exp 59 s ago, with skew", -59, "tokens", "ok")
    try end("exp 60 s ago, with skew", -60, "tokens", "rejected.token.expired")
    for (claim, status) in [
      ("nbf", "rejected.token.not-yet-valid"), ("iat", "rejected.token.issued-in-future"),
    ] {
      func start(_ name: String, _ offset: Int64, _ verifier: String, _ status: String) throws {
        try claims(
          "TOK-24", "\(claim) \(name)", [(claim, .integer(second + offset))],
          verifier: verifier, status, at: status == "ok" ? nil : claim)
      }
      try start("is now", 0, "tokens-exact", "ok")
      try start("in a second", 1, "tokens-exact", status)
      try start("in 60 s, with skew", 60, "tokens", "ok")
      try start("in 61 s, with skew", 61, "tokens", status)
    }
    try claims(
      "TOK-24", "no iat", [], removing: ["iat"], "rejected.token.no-issued-at", at: "iat")
    try token(
      "TOK-24", "no iat, of another issuer",
      try tokens.rs256(tokens.jwtClaims().removing("iat")).signed(),
      keyset: try keys(of: TokenAuthority.jwtIssuer), facts: [("issuedAtMs", .null)])
    try token(
      "TOK-29", "no iat, of another issuer with a limit of age",
      try tokens.rs256(tokens.jwtClaims().removing("iat")).signed(), verifier: "tokens-jwt-age",
      keyset: try keys(of: TokenAuthority.jwtIssuer), "rejected.token.no-issued-at", at: "iat")
    try token(
      "JWS-41", "a present before 2008", try good.signed(), now: 1, "misuse.call.now")
  }

  private func addClaimValues() throws {
    for (name, issuer) in [
      ("of another region", TokenAuthority.otherRegion),
      ("of another pool", TokenAuthority.pool + "2"),
      ("with a slash", TokenAuthority.pool + "/"), ("of another profile", TokenAuthority.jwtIssuer),
    ] {
      try claims(
        "TOK-25", "iss \(name)", [("iss", .string(issuer))], "rejected.token.issuer",
        check: "token.issuer", at: "iss")
    }
    try claims("TOK-25", "no iss", [], removing: ["iss"], "rejected.token.issuer")
    let use = "rejected.token.use"
    try claims(
      "TOK-26", "an ID token", [("token_use", "id"), ("aud", .string(TokenAuthority.client))],
      removing: ["client_id", "scope"], use, check: "token.use", at: "token_use")
    try claims("TOK-26", "no token_use", [], removing: ["token_use"], use)
    let client = "rejected.token.client"
    try claims(
      "TOK-26", "of another app client", [("client_id", "other")], client, check: "token.client",
      at: "client_id")
    try claims("TOK-26", "no client_id", [], removing: ["client_id"], client)
    try claims(
      "TOK-26", "aud in the place of client_id", [("aud", .string(TokenAuthority.client))],
      removing: ["client_id"], client)
    for (name, value) in [("another", "shop"), ("of others", ["shop", "music"]), ("empty", [])]
      as [(String, JSONText)]
    {
      try token(
        "TOK-27", "aud \(name)",
        try tokens.rs256(tokens.jwtClaims().setting("aud", value)).signed(),
        keyset: try keys(of: TokenAuthority.jwtIssuer), "rejected.token.audience",
        check: "token.audience", at: "aud")
    }
    try token(
      "TOK-27", "no aud", try tokens.rs256(tokens.jwtClaims().removing("aud")).signed(),
      keyset: try keys(of: TokenAuthority.jwtIssuer), "rejected.token.audience")
    let subject = "rejected.token.subject"
    try claims("TOK-28", "no sub", [], removing: ["sub"], subject, check: "token.subject")
    for (name, value, status) in [
      ("empty", "", subject), ("of 255 bytes", String(repeating: "s", count: 255), "ok"),
      ("of 256 bytes", String(repeating: "s", count: 256), subject),
      ("with a line end", "a\nb", subject), ("with DEL", "a\u{7f}b", subject),
    ] {
      try claims("TOK-28", "sub \(name)", [("sub", .string(value))], status)
    }
  }

  // MARK: policies (TOK-29, TOK-31, TOK-32)

  func addTokenPolicies() throws {
    try claims("TOK-29", "all scopes", [], verifier: "tokens-scopes")
    for (name, scope) in [("one scope", "shop/read"), ("a longer one", "shop/read shop/writer")] {
      try claims(
        "TOK-29", name, [("scope", .string(scope))], verifier: "tokens-scopes",
        "rejected.token.scope", check: "token.scopes", at: "scope")
    }
    try claims(
      "TOK-29", "no scope", [], removing: ["scope"], verifier: "tokens-scopes",
      "rejected.token.scope")
    try claims("TOK-29", "one of the groups", [], verifier: "tokens-groups")
    let others = tokens.cognitoClaims.setting("cognito:groups", ["players"])
    try token(
      "TOK-29", "other groups", try tokens.rs256(others).signed(), verifier: "tokens-groups",
      "rejected.token.group", check: "token.groups", at: "cognito:groups")
    try claims(
      "TOK-29", "no groups", [], removing: ["cognito:groups"], verifier: "tokens-groups",
      "rejected.token.group")
    try claims("TOK-29", "as old as allowed", [], verifier: "tokens-age")
    try claims(
      "TOK-29", "a second older", [("iat", .integer(second - 61))], verifier: "tokens-age",
      "rejected.token.too-old", check: "token.age", at: "iat")
    let resource: JSONText = "https://api.example.com"
    try claims("TOK-31", "of the resource", [("aud", resource)], verifier: "tokens-audiences")
    try claims(
      "TOK-31", "of another resource", [("aud", "https://other.example.com")],
      verifier: "tokens-audiences", "rejected.token.audience", check: "token.audience")
    try claims(
      "TOK-31", "of no resource", [], verifier: "tokens-audiences", "rejected.token.audience")
    try claims(
      "TOK-31", "of the resource, by another app client",
      [("aud", resource), ("client_id", "other")], verifier: "tokens-audiences",
      "rejected.token.client")
    let away: [(String, JSONText)] = [("iss", .string(TokenAuthority.otherRegion))]
    try claims(
      "TOK-32", "of a region that has the same keys", away, verifier: "tokens-shared",
      facts: [
        ("issuer", .text(TokenAuthority.otherRegion)),
        ("keyset.issuer", .text(TokenAuthority.pool)),
      ])
    try claims(
      "TOK-32", "of a region that nobody says has the same keys", away,
      verifier: "tokens-regions", "rejected.token.issuer")
    let signed = try tokens.rs256(tokens.cognitoClaims).signed()
    try token(
      "TOK-32", "of the region whose keys they are, with those of the other", signed,
      verifier: "tokens-shared", keyset: try keys(of: TokenAuthority.otherRegion),
      "rejected.token.issuer")
    try token(
      "KST-7", "of a region with its own keys",
      try tokens.rs256(tokens.cognitoClaims.setting(away)).signed(), verifier: "tokens-regions",
      keyset: try keys(of: TokenAuthority.otherRegion))
  }

  // MARK: key sets in use

  func addTokenKeysets() throws {
    let signed = try good.signed()
    let misuse = "misuse.token.keyset"
    try token(
      "JWK-9", "a key set without a name, of one issuer", signed, verifier: "tokens-one",
      keyset: try keys(of: nil), facts: [("keyset.issuer", .text(TokenAuthority.pool))])
    try token(
      "JWK-9", "a key set without a name, of several", signed, keyset: try keys(of: nil), misuse,
      check: "token.keyset")
    try token(
      "JWK-9", "a key set without a name, of two regions", signed, verifier: "tokens-regions",
      keyset: try keys(of: nil), misuse)
    try token(
      "JWK-9", "a key set of an unknown issuer", signed,
      keyset: try keys(of: "https://x.example.com"), misuse)
    try token(
      "JWK-9", "no profile at all", signed, verifier: "standard", keyset: poolKeys, misuse)
    try addUnfitKeys()
    try addKeysetAges(signed)
  }

  /// Adds keys that do not fit the token's algorithm (JWK-7).
  private func addUnfitKeys() throws {
    func unfit(_ name: String, _ template: TokenTemplate, _ keys: JSONText) throws {
      try token(
        "JWK-7", name, try template.signed(),
        keyset: ["issuer": .string(TokenAuthority.pool), "keys": keys],
        "rejected.token.key-unfit", check: "token.key", at: "header.kid")
    }
    let rsa = try TokenAuthority.jwk(rsa: tokens.rsaKey, kid: "k")
    let elliptic = try TokenAuthority.jwk(elliptic: tokens.ellipticKey, kid: "k")
    let template = good.with { $0.header = ["kid": "k", "alg": "RS256"] }
    try unfit("an RSA key for ES256", template, [rsa.setting("alg", "ES256")])
    try unfit("an elliptic key", template, [elliptic])
    try unfit("an elliptic key that says RS256", template, [elliptic.setting("alg", "RS256")])
    try unfit("an elliptic key that says nothing", template, [elliptic.removing("alg")])
    try token(
      "JWK-7", "a key that says nothing", try template.signed(),
      keyset: [
        "issuer": .string(TokenAuthority.pool), "keys": [rsa.removing(["alg", "use"])],
      ])
    try token(
      "JWK-7", "x5c of a key is not looked at", try template.signed(),
      keyset: [
        "issuer": .string(TokenAuthority.pool),
        "keys": [rsa.appending("x5c", ["bm90IGEgY2VydGlmaWNhdGU="])],
      ])
  }

  /// Adds ages of key sets (KST-1, KST-2, KST-5, TOK-33).
  private func addKeysetAges(_ signed: [UInt8]) throws {
    func aged(_ age: Int64, _ more: [(String, JSONText)] = []) -> JSONText {
      poolKeys.setting("fetchedAtMs", .integer(now - age)).setting(more)
    }
    func age(
      _ rule: String, _ name: String, _ age: Int64, verifier: String = "tokens-short-keys",
      _ status: String = "ok", stale: Bool = false
    ) throws {
      let shown = max(0, age)
      try token(
        rule, name, signed, verifier: verifier, keyset: aged(age), status,
        check: status == "ok" ? nil : "token.keyset",
        facts: status == "ok"
          ? [
            ("keyset.fetchedAtMs", .integer(now - age)), ("keyset.ageMs", .integer(shown)),
            ("keyset.stale", .flag(stale)),
          ] : [])
    }
    try age("TOK-33", "keys fetched now", 0)
    try age("TOK-33", "keys from the future", -5000)
    try age("TOK-33", "keys as old as allowed", 300_000)
    try age("TOK-33", "keys a millisecond older", 300_001, stale: true)
    try age("KST-5", "keys as old as they may be", 600_000, stale: true)
    try age("KST-5", "keys too old", 600_001, "unavailable.token.keyset-too-old")
    try age(
      "KST-5", "keys that never grow too old", 1_000_000_000_000, verifier: "tokens-endless-keys",
      stale: true)
    let stranger = try good.with { $0.header = $0.header.setting("kid", "new") }.signed()
    func advice(_ name: String, _ keyset: JSONText, _ advice: String) throws {
      try token(
        "KST-2", name, stranger, verifier: "tokens-one", keyset: keyset,
        "rejected.token.unknown-key",
        facts: [
          ("/error.keyset", .text(advice)),
          ("/error.retryClass", advice == "refresh" ? "same-once" : "never"),
        ])
    }
    try advice("an unknown key, the set fetched 29.999 s ago", aged(29_999), "cooldown")
    try advice("an unknown key, the set fetched 30 s ago", aged(30_000), "refresh")
    try advice(
      "an unknown key, tried after it was fetched",
      aged(90_000, [("triedAtMs", .integer(now - 1000))]), "cooldown")
    try advice(
      "an unknown key, 3 failures, tried 239 s ago",
      aged(900_000, [("triedAtMs", .integer(now - 239_000)), ("failures", 3)]), "cooldown")
    try advice(
      "an unknown key, 3 failures, tried 240 s ago",
      aged(900_000, [("triedAtMs", .integer(now - 240_000)), ("failures", 3)]), "refresh")
    try advice(
      "an unknown key, many failures, tried 600 s ago",
      aged(900_000, [("triedAtMs", .integer(now - 600_000)), ("failures", 9_007_199_254_740_991)]),
      "refresh")
  }

  // MARK: Sign in with Apple

  func addAppleTokens() throws {
    func apple(
      _ rule: String, _ name: String, _ changes: [(String, JSONText)] = [], removing: [String] = [],
      verifier: String = "tokens-exact", _ status: String = "ok", at: String? = nil,
      facts: Facts = []
    ) throws {
      let claims = tokens.appleClaims().setting(changes).removing(removing)
      try token(
        rule, name, try tokens.rs256(claims).signed(), verifier: verifier,
        keyset: try keys(of: TokenAuthority.apple), status, at: at, facts: facts)
    }
    try apple(
      "AID-2", "an identity token of Apple's",
      facts: [
        ("profile", "apple-id"), ("audience.0", "com.example.app"),
        ("email", "abc@privaterelay.example.com"), ("emailVerified", true), ("privateEmail", true),
        ("realUser", "likely-real"), ("nonce", "not-demanded"), ("transferSubject", .null),
        ("client", .null), ("/warnings.0.id", .null),
      ])
    try apple(
      "AID-2", "booleans as texts", [("email_verified", "false"), ("is_private_email", "true")],
      facts: [("emailVerified", false), ("privateEmail", true)])
    let claim = "malformed.token.claim"
    for name in ["email_verified", "is_private_email", "nonce_supported"] {
      for (what, value) in [("yes", "yes"), ("1", 1), ("null", .null)] as [(String, JSONText)] {
        try apple("AID-2", "\(name) \(what)", [(name, value)], claim, at: name)
      }
    }
    for name in ["email", "nonce", "c_hash", "at_hash", "transfer_sub", "org_id"] {
      try apple("AID-2", "\(name) a number", [(name, 7)], claim, at: name)
      try apple(
        "AID-2", "\(name) of 1,025 bytes", [(name, .string(String(repeating: "x", count: 1025)))],
        claim, at: name)
    }
    try apple("AID-2", "real_user_status a text", [("real_user_status", "2")], claim)
    try apple(
      "AID-7", "an unknown real_user_status", [("real_user_status", 9)],
      facts: [("realUser", .null), ("/warnings.0.id", "unknown-value")])
    try apple("AID-7", "no real_user_status", [], removing: ["real_user_status"])
    try apple("AID-1", "two audiences", [("aud", ["com.example.app", "x"])], claim, at: "aud")
    try apple("AID-1", "no iat", [], removing: ["iat"], "rejected.token.no-issued-at")
    try apple("AID-1", "of another app", [("aud", "com.example.other")], "rejected.token.audience")
    try apple(
      "TOK-34", "a notification", [("events", "{\"type\":\"email-disabled\"}")],
      "rejected.token.use", at: "events")
    try apple(
      "TOK-34", "where a nonce is demanded", verifier: "tokens-apple", "misuse.token.nonce")
  }
}
