import AssayAuthority

extension CaseFixture {
  /// Adds the block `tokens` (docs/spec/access-tokens.md §1, docs/spec/apple-id.md §1).
  func addTokenConfigurations() {
    addGoodProfiles()
    addIssuers()
    addDemands()
    addProfileMembers()
  }

  private func tokens(
    _ rule: String, _ name: String, _ profiles: [JSONText], _ status: String = "ok",
    at: String? = nil
  ) {
    let config: JSONText = [
      "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]],
      "tokens": .array(profiles),
    ]
    add(rule, "tokens: \(name)", .verifierNew(config: .bytes(config.bytes)), .init(status, at: at))
  }

  private var jwt: JSONText {
    [
      "profile": "jwt", "issuers": ["https://issuer.example.com"], "algorithm": "ES256",
      "audiences": ["shop"],
    ]
  }

  private var apple: JSONText { ["profile": "apple-id", "audiences": ["com.example.app"]] }

  private func addGoodProfiles() {
    tokens("TOK-1", "no profile", [])
    tokens("TOK-1", "one of each", [pool, jwt, apple])
    tokens(
      "TOK-1", "every member of cognito-access",
      [
        pool.setting([
          ("algorithm", "RS256"), ("audiences", ["x"]), ("tokenUse", "access"),
          ("scopes", ["a"]), ("groups", ["g"]), ("types", ["JWT"]), ("maxAgeMs", 1),
          ("jwksUri", "https://keys.example.com/a?b=c"), ("keysetMaxAgeMs", 300_000),
          ("keysetHardMaxAgeMs", 300_000), ("caps", ["tokenBytes": 65_536]),
          ("issuerAliases", [:]),
        ])
      ])
    tokens(
      "AID-4", "every member of apple-id",
      [
        apple.setting([
          ("nonce", "if-supported"), ("nonceForm", "sha256"), ("notificationMaxAgeMs", 60_000),
          ("jwksUri", "https://keys.example.com"), ("maxAgeMs", 1),
        ])
      ])
  }

  /// Adds issuers and their aliases (TOK-1, TOK-2, TOK-32).
  private func addIssuers() {
    let status = "config.token.issuer"
    tokens("TOK-1", "no issuers", [pool.removing("issuers")], status, at: "tokens[0].issuers")
    for (name, value) in [
      ("empty", []), ("a text", "https://a.example"), ("of numbers", [7]), ("null", .null),
      ("17", .array((0..<17).map { .string("https://a.example/\($0)") })),
      ("twice the same", ["https://a.example", "https://a.example"]),
    ] as [(String, JSONText)] {
      tokens("TOK-1", "issuers \(name)", [pool.setting("issuers", value)], status)
    }
    for issuer in [
      "http://a.example", "https://", "https:///a", "a.example", "HTTPS://a.example",
      "https://a.example?x", "https://a.example#x", "https://me@a.example", "https://a b",
      "https://a.example/\u{e9}", "",
    ] {
      tokens(
        "TOK-2", "the issuer \"\(issuer)\"", [pool.setting("issuers", [.string(issuer)])], status)
    }
    for issuer in [
      "https://a.example", "https://a.example/", "https://a.example/x@y", "https://a:8443/t",
      "https://cognito-idp.eusc-de-east-1.amazonaws.eu/eusc-de-east-1_X",
    ] {
      tokens("TOK-2", "the issuer \(issuer)", [pool.setting("issuers", [.string(issuer)])])
    }
    tokens(
      "TOK-2", "one issuer in two profiles", [pool, jwt.setting("issuers", pool["issuers"] ?? [])],
      status, at: "tokens[1]")
    tokens("TOK-2", "apple-id twice", [apple, apple], status, at: "tokens[1]")
    let two = pool.setting(
      "issuers", ["https://a.example", "https://b.example", "https://c.example"])
    for (name, pairs, status) in [
      ("a to b", [("https://a.example", "https://b.example")], "ok"),
      (
        "two to one",
        [("https://a.example", "https://b.example"), ("https://c.example", "https://b.example")],
        "ok"
      ),
      (
        "a chain",
        [("https://a.example", "https://b.example"), ("https://b.example", "https://c.example")],
        status
      ),
      ("to itself", [("https://a.example", "https://a.example")], status),
      ("from nobody", [("https://x.example", "https://a.example")], status),
      ("to nobody", [("https://a.example", "https://x.example")], status),
    ] {
      let object = JSONText.object(pairs.map { .init($0.0, .string($0.1)) })
      tokens("TOK-32", "issuerAliases \(name)", [two.setting("issuerAliases", object)], status)
    }
    tokens("TOK-32", "issuerAliases a list", [two.setting("issuerAliases", [])], status)
    tokens(
      "TOK-32", "issuerAliases a number",
      [two.appending("issuerAliases", .object([.init("https://a.example", 7)]))],
      status)
    func url(_ count: Int) -> JSONText {
      .string("https://k.example/" + String(repeating: "k", count: count - 18))
    }
    for (name, value, status) in [
      ("by issuer", .object([.init(TokenAuthority.pool, "https://k.example")]), "ok"),
      ("of another issuer", .object([.init("https://x", "https://k.example")]), status),
      ("of http", "http://k.example", status), ("a number", 7, status),
      ("of http by issuer", .object([.init(TokenAuthority.pool, "http://k.example")]), status),
      ("of 1,024 bytes by issuer", .object([.init(TokenAuthority.pool, url(1024))]), "ok"),
      ("of 1,025 bytes by issuer", .object([.init(TokenAuthority.pool, url(1025))]), status),
    ] as [(String, JSONText, String)] {
      tokens("TOK-2", "jwksUri \(name)", [pool.appending("jwksUri", value)], status)
    }
  }

  /// Adds the members that require claims and header values (TOK-1, TOK-12, TOK-15, TOK-31).
  private func addDemands() {
    func list(_ rule: String, _ profile: JSONText, _ name: String, _ status: String, most: Int) {
      for (what, value) in [
        ("empty", []), ("a text", "x"), ("with an empty text", [""]), ("of numbers", [7]),
        ("twice the same", ["x", "x"]),
        ("of \(most + 1)", .array((0...most).map { .string("x\($0)") })),
      ] as [(String, JSONText)] {
        tokens(
          rule, "\(name) \(what)", [profile.setting(name, value)], status)
      }
      tokens(
        rule, "\(name) of \(most)",
        [profile.setting(name, .array((0..<most).map { .string("x\($0)") }))])
    }
    list("TOK-1", pool, "clients", "config.token.clients", most: 64)
    tokens(
      "TOK-1", "no clients", [pool.removing("clients")], "config.token.clients",
      at: "tokens[0].clients")
    list("TOK-1", jwt, "audiences", "config.token.audiences", most: 16)
    for (name, profile) in [("jwt", jwt), ("apple-id", apple)] {
      tokens(
        "TOK-1", "no audiences of \(name)", [profile.removing("audiences")],
        "config.token.audiences", at: "tokens[0].audiences")
    }
    tokens(
      "TOK-31", "no audience named for a resource", [pool.setting("audiences", [])],
      "config.token.audiences")
    list("TOK-15", pool, "types", "config.token.types", most: 16)
    tokens(
      "TOK-12", "no algorithm of jwt", [jwt.removing("algorithm")], "config.token.algorithm",
      at: "tokens[0].algorithm")
    for (name, value) in [
      ("HS256", "HS256"), ("none", "none"), ("a list", ["RS256"]), ("null", .null),
    ]
      as [(String, JSONText)]
    {
      tokens(
        "TOK-12", "the algorithm \(name)", [pool.appending("algorithm", value)],
        "config.token.algorithm")
    }
  }

  private func addProfileMembers() {
    tokens("CNF-1", "no profile's name", [pool.removing("profile")], "config.document.missing")
    tokens(
      "CNF-1", "an unknown profile", [pool.setting("profile", "oidc")], "config.document.range")
    tokens("CNF-1", "an object in the place of the list", [.string("x")], "config.document.type")
    let unknown = "config.document.unknown-member"
    for (profile, names) in [
      (pool, ["nonce", "nonceForm", "notificationMaxAgeMs", "x"]),
      (jwt, ["nonce", "nonceForm", "notificationMaxAgeMs", "clients", "tokenUse"]),
      (
        apple,
        [
          "issuers", "issuerAliases", "algorithm", "clients", "tokenUse", "scopes", "groups",
          "types",
        ]
      ),
    ] {
      for name in names {
        tokens(
          "CNF-1", "\(name) in the profile of \(names.count)",
          [profile.setting(name, "x")], unknown, at: "tokens[0].\(name)")
      }
    }
    let nonce = "config.token.nonce"
    tokens("AID-4", "an unknown nonce policy", [apple.setting("nonce", "optional")], nonce)
    tokens("AID-4", "an unknown form of the nonce", [apple.setting("nonceForm", "hex")], nonce)
    tokens(
      "KST-5", "a hard age below the soft one",
      [pool.setting([("keysetMaxAgeMs", 300_001), ("keysetHardMaxAgeMs", 300_000)])],
      "config.token.keyset-age", at: "tokens[0].keysetHardMaxAgeMs")
    tokens(
      "KST-5", "a soft age beyond the usual hard one",
      [pool.setting("keysetMaxAgeMs", 9_007_199_254_740_991)])
    for name in ["scopes", "groups"] {
      tokens("TOK-29", "\(name) a text", [pool.appending(name, "x")], "config.document.type")
      tokens("TOK-29", "\(name) empty", [pool.appending(name, [])])
    }
    tokens("TOK-26", "tokenUse id", [pool.appending("tokenUse", "id")], "config.document.range")
  }
}
