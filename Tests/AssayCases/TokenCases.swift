import AssayAuthority

extension CaseFixture {
  /// Adds tokens and key sets (docs/spec/access-tokens.md).
  func addTokenCases() throws {
    try addGoodTokens()
    try addTokenForms()
    try addTokenHeaders()
    try addTokenSignatures()
    try addTokenClaims()
    try addTokenPolicies()
    try addTokenKeysets()
    try addAppleTokens()
    try addKeysetCases()
    addTokenConfigurations()
  }

  func addTokenVerifiers(_ add: (String, [(String, JSONText)]) -> Void) {
    func one(_ name: String, _ changes: [(String, JSONText)]) {
      add(name, [("tokens", .array([pool.setting(changes)])), ("clockSkewMs", 0)])
    }
    add("tokens", [("tokens", TokenAuthority.configuration)])
    add("tokens-exact", [("tokens", TokenAuthority.configuration), ("clockSkewMs", 0)])
    one("tokens-one", [])
    let regions: JSONText = [.string(TokenAuthority.pool), .string(TokenAuthority.otherRegion)]
    one("tokens-regions", [("issuers", regions)])
    one(
      "tokens-shared",
      [
        ("issuers", regions),
        (
          "issuerAliases",
          .object([.init(TokenAuthority.otherRegion, .string(TokenAuthority.pool))])
        ),
      ])
    one("tokens-audiences", [("audiences", ["https://api.example.com"])])
    one("tokens-scopes", [("scopes", ["shop/read", "shop/write"])])
    one("tokens-groups", [("groups", ["admins", "testers"])])
    one("tokens-age", [("maxAgeMs", 60_000)])
    one("tokens-types", [("types", ["application/AT+JWT"])])
    one("tokens-small", [("caps", ["tokenBytes": 1024])])
    one("tokens-short-keys", [("keysetMaxAgeMs", 300_000), ("keysetHardMaxAgeMs", 600_000)])
    one("tokens-endless-keys", [("keysetHardMaxAgeMs", 9_007_199_254_740_991)])
    let jwt: JSONText = [
      "profile": "jwt", "issuers": [.string(TokenAuthority.jwtIssuer)], "algorithm": "RS256",
      "audiences": ["games"], "maxAgeMs": 60_000,
    ]
    add("tokens-jwt-age", [("tokens", [jwt]), ("clockSkewMs", 0)])
    add("tokens-apple", [("tokens", [["profile": "apple-id", "audiences": ["com.example.app"]]])])
    addAppleIDVerifiers(add)
    addKeysetVerifiers(add)
  }

  /// The profile of one user pool.
  var pool: JSONText {
    [
      "profile": "cognito-access", "issuers": [.string(TokenAuthority.pool)],
      "clients": [.string(TokenAuthority.client)],
    ]
  }

  // MARK: adding cases

  /// Adds a token, by default a good one of the user pool.
  func token(
    _ rule: String, _ name: String, _ text: [UInt8], verifier: String = "tokens-exact",
    keyset: JSONText? = nil, earlier: [EvidenceCase.EarlierToken] = [], now: Int64? = nil,
    _ status: String = "ok", check: String? = nil, at: String? = nil, hint: String? = nil,
    facts: Facts = []
  ) throws {
    token(
      rule, name, text: .bytes(text), verifier: verifier, keyset: keyset, earlier: earlier,
      now: now, .init(status, check: check, at: at, hint: hint, facts: facts))
  }

  func token(
    _ rule: String, _ name: String, text: EvidenceText, verifier: String = "tokens-exact",
    keyset: JSONText? = nil, earlier: [EvidenceCase.EarlierToken] = [], now: Int64? = nil,
    _ expect: EvidenceCase.Expectation
  ) {
    let jwks = keyset ?? poolKeys
    add(
      rule, "token: \(name)",
      .verifyToken(
        verifier: verifier, jwks: .bytes(jwks.bytes), earlier: earlier, token: text,
        now: now ?? self.now), expect)
  }

  /// Adds a token of the user pool with changed claims.
  func claims(
    _ rule: String, _ name: String, _ changes: [(String, JSONText)], removing: [String] = [],
    verifier: String = "tokens-exact", _ status: String = "ok", check: String? = nil,
    at: String? = nil, facts: Facts = []
  ) throws {
    let changed = tokens.cognitoClaims.setting(changes).removing(removing)
    try token(
      rule, name, try tokens.rs256(changed).signed(), verifier: verifier, status, check: check,
      at: at, facts: facts)
  }

  /// Adds a token of the user pool with a changed header.
  func header(
    _ rule: String, _ name: String, _ header: JSONText, verifier: String = "tokens-exact",
    _ status: String = "ok", at: String? = nil
  ) throws {
    let template = good.with { $0.header = header }
    try token(
      rule, name, try template.signed(), verifier: verifier, status,
      check: status == "ok" ? nil : "token.header", at: at)
  }

  /// A good access token of the user pool.
  var good: TokenTemplate { tokens.rs256(tokens.cognitoClaims) }

  var poolKeys: JSONText { (try? tokens.keyset()) ?? .null }

  func keys(of issuer: String?) throws -> JSONText { try tokens.keyset(issuer: issuer) }

  // MARK: good ones

  private func addGoodTokens() throws {
    let seconds = now / 1000
    try token(
      "TOK-26", "a Cognito access token", try good.signed(),
      facts: [
        ("/kind", "token"), ("/ok", true), ("profile", "cognito-access"),
        ("issuer", .text(TokenAuthority.pool)), ("subject", "a1b2c3d4-0000-4000-8000-00000000c0de"),
        ("client", .text(TokenAuthority.client)), ("audience.0", .null), ("scopes.0", "openid"),
        ("scopes.2", "shop/write"), ("groups.1", "testers"), ("username", "player-one"),
        ("tokenId", "f00dfeed-0000-4000-8000-000000000003"),
        ("originTokenId", "6a4f0f4e-0000-4000-8000-000000000001"),
        ("issuedAtMs", .integer((seconds - 60) * 1000)),
        ("authenticatedAtMs", .integer((seconds - 600) * 1000)),
        ("expiresAtMs", .integer((seconds + 3600) * 1000)), ("kid", .text(TokenAuthority.rsaKid)),
        ("payload.token_use", "access"), ("revocation", "not-checked"),
        ("keyset.issuer", .text(TokenAuthority.pool)), ("keyset.ageMs", .null),
        ("keyset.stale", .null),
      ])
    try token("TOK-23", "with the default skew", try good.signed(), verifier: "tokens")
    let jwt = tokens.rs256(tokens.jwtClaims())
    try token(
      "TOK-27", "a token with RS256 of any issuer", try jwt.signed(),
      keyset: try keys(of: TokenAuthority.jwtIssuer),
      facts: [
        ("profile", "jwt"), ("audience.1", "games"), ("client", .null),
        ("authenticatedAtMs", .null),
        ("username", .null),
      ])
    let elliptic = tokens.es256(tokens.jwtClaims(issuer: TokenAuthority.ellipticIssuer))
    try token(
      "TOK-21", "a token with ES256", try elliptic.signed(),
      keyset: try keys(of: TokenAuthority.ellipticIssuer),
      facts: [("kid", .text(TokenAuthority.ellipticKid))])
    try token(
      "TOK-27", "one audience as text",
      try tokens.rs256(tokens.jwtClaims().setting("aud", "games")).signed(),
      keyset: try keys(of: TokenAuthority.jwtIssuer), facts: [("audience.0", "games")])
    try claims(
      "TOK-31", "an audience that nobody asks for", [("aud", "https://api.example.com")],
      facts: [("audience.0", "https://api.example.com")])
    try header(
      "TOK-16", "a header member that nobody knows",
      [
        "kid": .string(TokenAuthority.rsaKid), "alg": "RS256", "x5t": "abc", "cty": "JWT",
      ])
  }

  // MARK: form (§2)

  private func addTokenForms() throws {
    let text = try good.signed()
    func form(
      _ rule: String, _ name: String, _ text: [UInt8], _ status: String = "malformed.token.form",
      at: String? = nil, hint: String? = nil
    ) throws {
      try token(rule, name, text, status, check: "token.form", at: at, hint: hint)
    }
    try form("TOK-5", "nothing", [])
    try form("TOK-5", "with Bearer", Array("Bearer ".utf8) + text, hint: "remove the word Bearer")
    try form("TOK-5", "with bearer", Array("bearer ".utf8) + text, hint: "remove the word Bearer")
    token(
      "TOK-5", "one byte too many", text: .text("a", times: 16_385),
      .init("too-large.token.size", check: "token.size"))
    token(
      "TOK-5", "as many bytes as are allowed", text: .text("a", times: 16_384),
      .init("malformed.token.form"))
    token(
      "TOK-5", "a million bytes", text: .text("a", times: 1_000_000), .init("too-large.token.size"))
    let padding = tokens.cognitoClaims.appending("x", .string(String(repeating: "x", count: 600)))
    try token(
      "TOK-5", "longer than a lower limit", try tokens.rs256(padding).signed(),
      verifier: "tokens-small", "too-large.token.size")
    try form("TOK-6", "a leading space", [0x20] + text)
    try form("TOK-6", "a line end after it", text + [0x0a])
    try form(
      "TOK-6", "a line end inside the signature", Array(text.dropLast(9)) + [0x0a] + text.suffix(9))
    try form("TOK-6", "two segments", Array(text[..<(text.lastIndex(of: 0x2e) ?? 0)]))
    try form("TOK-6", "four segments", text + Array(".YQ".utf8))
    try form("TOK-6", "no header", Array(text[(text.firstIndex(of: 0x2e) ?? 0)...]))
    try form(
      "TOK-6", "no payload", Array(text[..<(text.firstIndex(of: 0x2e) ?? 0)]) + Array("..YQ".utf8))
    try form(
      "TOK-6", "no signature under the profile's algorithm", good.input + [0x2e], at: "signature")
    try form(
      "TOK-6", "the JSON serialization",
      Array("{\"payload\":\"e30\",\"signatures\":[{\"header\":{\"alg\":\"RS256\"}}]}".utf8))
    try form(
      "TOK-6", "five segments", text + Array(".YQ.YQ".utf8), "unsupported.token.encrypted")
    let base64 = "malformed.token.base64"
    try form("TOK-7", "a padded signature", text + Array("==".utf8), base64)
    try form("TOK-7", "an asterisk after it", text + Array("*".utf8), base64)
    try form(
      "TOK-7", "an exclamation mark inside", Array(text.dropLast(9)) + [0x21] + text.suffix(9),
      base64)
    let octets = try good.octets()
    let loose = Base64Text.withLooseBits(Base64Text.encodeURL(octets))
    try form(
      "TOK-7", "unused bits that are not zero",
      try good.with { $0.signatureSegment = loose }.signed(), base64, at: "signature")
    try form(
      "TOK-7", "one character left over",
      try good.with { $0.signatureSegment = Base64Text.encodeURL(octets) + Array("AAA".utf8) }
        .signed(), base64, at: "signature")
    try form(
      "TOK-7", "the standard alphabet",
      Array("eyJhIjoi+/8ifQ.e30.YQ".utf8), base64)
    let padded = good.with { $0.headerSegment = Base64Text.encodeURL($0.header.bytes) + [0x3d] }
    try form("TOK-7", "a header that is padded, and signed so", try padded.signed(), base64)
    try form("TOK-7", "a header of one character", Array("a.e30.YQ".utf8), base64, at: "header")
    try form("TOK-7", "a payload of one character", Array("e30.a.YQ".utf8), base64, at: "payload")
    try form("TOK-35", "a session token", Array("as1.eyJ2IjoxfQ.c2lnbmF0dXJl".utf8))
    try addTokenJSON()
  }

  /// Adds faults in the JSON of header and payload (TOK-8).
  private func addTokenJSON() throws {
    func header(_ name: String, _ bytes: [UInt8], _ status: String) throws {
      try token(
        "TOK-8", "a header \(name)", try good.with { $0.headerBytes = bytes }.signed(), status,
        check: "token.header", at: "header")
    }
    func payload(_ name: String, _ bytes: [UInt8], _ status: String) throws {
      try token(
        "TOK-8", "a payload \(name)", try good.with { $0.payload = bytes }.signed(), status,
        check: "token.claims", at: "payload")
    }
    let twice = "malformed.json.duplicate-name"
    let kid = "\"kid\":\"\(TokenAuthority.rsaKid)\""
    try header(
      "with alg twice, none first", Array("{\"alg\":\"none\",\"alg\":\"RS256\",\(kid)}".utf8), twice
    )
    try header(
      "with alg twice, none last", Array("{\"alg\":\"RS256\",\"alg\":\"none\",\(kid)}".utf8), twice)
    try header(
      "with alg twice, once escaped",
      Array("{\"alg\":\"RS256\",\"\\u0061lg\":\"none\",\(kid)}".utf8), twice)
    try header(
      "with NUL in alg", Array("{\"alg\":\"RS256\\u0000\",\(kid)}".utf8), "malformed.json.nul")
    try header("that is an array", Array("[1]".utf8), "malformed.json.not-object")
    try header(
      "nested 600 deep", Array(String(repeating: "[", count: 600).utf8), "too-large.json.depth")
    try token(
      "TOK-8", "an escaped name of alg",
      try good.with { $0.headerBytes = Array("{\"\\u0061lg\":\"RS256\",\(kid)}".utf8) }.signed())
    let claims = tokens.cognitoClaims.bytes
    let past: JSONText = .integer(now / 1000 - 3600)
    try payload(
      "with exp twice, past first",
      Array("{\"exp\":1,".utf8) + claims.dropFirst(), twice)
    try payload(
      "with exp twice, past last", tokens.cognitoClaims.appending("exp", past).bytes, twice)
    try payload("that is an array", Array("[]".utf8), "malformed.json.not-object")
    try payload("followed by text", claims + Array("x".utf8), "malformed.json.trailing")
    try payload("with a byte order mark", [0xef, 0xbb, 0xbf] + claims, "malformed.json.bom")
    try payload("in UTF-16", [0xff, 0xfe] + claims.flatMap { [$0, 0] }, "malformed.json.utf8")
    try payload(
      "with invalid UTF-8", Array("{\"sub\":\"".utf8) + [0xff, 0x22, 0x7d], "malformed.json.utf8")
    try payload("with NaN", Array("{\"exp\":NaN}".utf8), "malformed.json.syntax")
  }

  // MARK: header (§3)

  private func addTokenHeaders() throws {
    let base: JSONText = good.header
    for name in ["none", "None", "HS256", "HS512", "rs256", "ES256", "PS256", "RS512", ""] {
      try header(
        "TOK-12", "alg \"\(name)\"", base.setting("alg", .string(name)),
        "rejected.token.algorithm", at: "header.alg")
    }
    for (name, value) in [
      ("missing", nil), ("an array", ["RS256"]), ("null", .null), ("a number", 256),
    ] as [(String, JSONText?)] {
      try header(
        "TOK-12", "alg \(name)", value.map { base.setting("alg", $0) } ?? base.removing("alg"),
        "malformed.token.alg", at: "header.alg")
    }
    let unsecured = good.with { $0.header = ["alg": "none"] }
    try token(
      "TOK-6", "unsecured", unsecured.input + [0x2e], "rejected.token.algorithm",
      check: "token.header")
    try token(
      "TOK-12", "RS256 under a profile of ES256",
      try tokens.rs256(tokens.jwtClaims(issuer: TokenAuthority.ellipticIssuer)).signed(),
      keyset: try keys(of: TokenAuthority.ellipticIssuer), "rejected.token.algorithm")
    for (name, value) in [
      ("missing", nil), ("null", .null), ("a number", 7), ("empty", ""),
      ("of 257 bytes", .string(String(repeating: "k", count: 257))),
    ] as [(String, JSONText?)] {
      try header(
        "TOK-13", "kid \(name)", value.map { base.setting("kid", $0) } ?? base.removing("kid"),
        "malformed.token.kid", at: "header.kid")
    }
    for name in ["unknown", "RSA-2048-A", TokenAuthority.rsaKid + " "] {
      try token(
        "TOK-13", "kid \"\(name)\"",
        try good.with { $0.header = base.setting("kid", .string(name)) }.signed(),
        "rejected.token.unknown-key", check: "token.key", at: "header.kid",
        facts: [("/error.keyset", "refresh"), ("/error.retryClass", "same-once")])
    }
    for name in ["crit", "b64", "zip", "enc", "jwk", "jku", "x5u", "x5c"] {
      try header(
        "TOK-14", "with \(name)", base.appending(name, .null), "rejected.token.header-member",
        at: "header.\(name)")
    }
    for (name, value) in [
      ("an unknown name", ["exp"]), ("nothing", []), ("a text", "alg"), ("b64", ["b64"]),
    ] as [(String, JSONText)] {
      try header(
        "TOK-14", "crit with \(name)", base.appending("crit", value),
        "rejected.token.header-member", at: "header.crit")
    }
    for name in ["JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt", "Application/JWT"] {
      try header("TOK-15", "typ \(name)", base.appending("typ", .string(name)))
    }
    for (name, value) in [
      ("JWE", "JWE"), ("empty", ""), ("null", .null), ("secevent", "secevent+jwt"),
    ] as [(String, JSONText)] {
      try header(
        "TOK-15", "typ \(name)", base.appending("typ", value), "rejected.token.type",
        at: "header.typ")
    }
    try header(
      "TOK-15", "typ JWT where at+jwt alone is accepted", base.appending("typ", "JWT"),
      verifier: "tokens-types", "rejected.token.type")
    try header(
      "TOK-15", "typ at+jwt where it alone is accepted", base.appending("typ", "at+jwt"),
      verifier: "tokens-types")
    try header("TOK-15", "no typ where at+jwt alone is accepted", base, verifier: "tokens-types")
  }

  // MARK: signature

  private func addTokenSignatures() throws {
    func rsa(_ name: String, _ octets: [UInt8], verifier: String = "tokens-exact") throws {
      try token(
        "TOK-20", name, try good.with { $0.signature = octets }.signed(), verifier: verifier,
        "rejected.token.signature", check: "token.signature", at: "signature")
    }
    let octets = try good.octets()
    try rsa("one bit changed", octets.dropLast() + [octets[octets.count - 1] ^ 1])
    try rsa("one octet short", Array(octets.dropLast()))
    try rsa("one octet long", octets + [0])
    try rsa("a zero before it", [0] + octets)
    try rsa("of another text", try tokens.rs256(["sub": "x"]).octets())
    try rsa("of another key", try SigningKey.generate(.rsa(bits: 2048)).sign(good.input, .sha256))
    try rsa("SHA-1", try tokens.rsaKey.sign(good.input, .sha1))
    try rsa("SHA-512", try tokens.rsaKey.sign(good.input, .sha512))
    try rsa("of zeros", [UInt8](repeating: 0, count: 256))
    let other = tokens.rs256(tokens.cognitoClaims.setting("sub", "somebody-else")).input
    try token(
      "TOK-9", "the signature of another payload",
      other + [0x2e] + Base64Text.encodeURL(octets), "rejected.token.signature")
    try token(
      "KST-11", "seen before, one byte of the signature changed",
      try good.with { $0.signature = octets.dropLast() + [octets[octets.count - 1] ^ 1] }.signed(),
      earlier: [.init(token: .bytes(try good.signed()), now: now)], "rejected.token.signature")
    try token(
      "KST-11", "seen before", try good.signed(),
      earlier: [.init(token: .bytes(try good.signed()), now: now)])
    try token(
      "KST-11", "seen before it expired", try good.signed(),
      earlier: [.init(token: .bytes(try good.signed()), now: now)], now: now + 3_600_000,
      "rejected.token.expired")
    try addEllipticSignatures()
  }

  /// Adds ES256 signatures (TOK-21).
  private func addEllipticSignatures() throws {
    let template = tokens.es256(tokens.jwtClaims(issuer: TokenAuthority.ellipticIssuer))
    let keyset = try keys(of: TokenAuthority.ellipticIssuer)
    func elliptic(_ name: String, _ octets: [UInt8], _ status: String = "ok") throws {
      try token(
        "TOK-21", name, try template.with { $0.signature = octets }.signed(), keyset: keyset,
        status, check: status == "ok" ? nil : "token.signature")
    }
    let octets = try template.octets()
    let pair = ECDSASignature(r: Array(octets[..<32]), s: Array(octets[32...]))
    let (length, wrong) = ("malformed.token.signature-length", "rejected.token.signature")
    try elliptic("s replaced by n − s", pair.mirroredP256().raw(width: 32))
    try elliptic("DER", pair.der, length)
    try elliptic("63 bytes", Array(octets.dropLast()), length)
    try elliptic("65 bytes", octets + [0], length)
    try elliptic("two halves of 33 bytes", pair.raw(width: 33), length)
    let zero = [UInt8](repeating: 0, count: 32)
    try elliptic("r = 0", zero + octets[32...], wrong)
    try elliptic("s = 0", octets[..<32] + zero, wrong)
    try elliptic("r = s = n", P256.order + P256.order, wrong)
    try elliptic("one bit changed", octets.dropLast() + [octets[63] ^ 1], wrong)
    try elliptic("of another key", try SigningKey.generate(.p256).signES256(template.input), wrong)
  }
}
