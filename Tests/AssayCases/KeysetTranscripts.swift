import AssayAuthority

extension CaseFixture {
  /// Adds whole exchanges with the issuer of tokens (KST-1 … KST-13).
  func addKeysetTranscripts() throws {
    let transcript = try KeysetTranscript(self)
    transcript.addFetches()
    try transcript.addConditional()
    transcript.addCooldowns()
    try transcript.addRefusals()
    transcript.addRequests()
    try transcript.addOldSets()
  }

  func addKeysetVerifiers(_ add: (String, [(String, JSONText)]) -> Void) {
    let jwt: JSONText = [
      "profile": "jwt", "issuers": [.string(TokenAuthority.jwtIssuer)], "algorithm": "RS256",
      "audiences": ["games"], "jwksUri": "https://keys.example.com/set?tenant=1",
    ]
    add("tokens-uri", [("tokens", [jwt])])
  }
}

private final class KeysetTranscript: Transcript {
  private static let noAnswer = "unavailable.jwks.no-response"
  private static let misuse = "misuse.exchange.request"
  private static let tag = "W/\"1\""

  /// The key set as the issuer publishes it.
  private let published: JSONText
  private static let request: JSONText = [
    "operation": "fetch-keyset", "issuer": .string(TokenAuthority.pool),
  ]

  init(_ fixture: CaseFixture) throws {
    published = try fixture.tokens.keyset(issuer: nil)
    super.init(fixture, with: "keys", verifier: "tokens", asks: Self.request)
  }

  // MARK: parts

  private func issuer(
    _ id: Int64, _ status: Int64, _ body: JSONText? = nil, after: Int64 = 0,
    more: [(String, JSONText)] = [], tag: String? = nil, facts: Facts = []
  ) -> Said {
    http(
      id, status, body,
      headers: .array(
        [["Content-Type", "text/plain"]] + (tag.map { [["ETag", .string($0)]] } ?? [])),
      after: after, more: more, facts: facts)
  }

  private func cooldown(_ end: Int64, facts: Facts = []) -> Said {
    wait(end, reason: "cooldown", facts: facts)
  }

  private func state(_ fetched: Int64?, _ tried: Int64?, failures: Int64 = 0, tag: String? = nil)
    -> JSONText
  {
    func moment(_ offset: Int64?) -> JSONText { offset.map { .integer(now + $0) } ?? .null }
    return [
      "fetchedAtMs": moment(fetched), "triedAtMs": moment(tried), "failures": .integer(failures),
      "etag": tag.map { .string($0) } ?? .null,
    ]
  }

  /// Returns the facts of `keysetState` in a document.
  private func kept(_ fetched: Int64?, _ tried: Int64?, failures: Int64 = 0, tag: String? = nil)
    -> Facts
  {
    func moment(_ offset: Int64?) -> EvidenceCase.Fact {
      offset.map { .integer(now + $0) } ?? .null
    }
    return [
      ("step", "done"), ("keysetState.fetchedAtMs", moment(fetched)),
      ("keysetState.triedAtMs", moment(tried)), ("keysetState.failures", .integer(failures)),
      ("keysetState.etag", tag.map { .text($0) } ?? .null),
    ]
  }

  /// Returns the text that the host stores, with these keys.
  private func text(
    _ fetched: Int64, tag: String? = nil, keys: JSONText? = nil,
    issuer: String = TokenAuthority.pool
  ) -> String {
    let whole: JSONText = [
      "issuer": .string(issuer), "fetchedAtMs": .integer(now + fetched),
      "triedAtMs": .integer(now + fetched), "failures": 0, "etag": tag.map { .string($0) } ?? .null,
      "keys": keys ?? published["keys"] ?? .null,
    ]
    return whole.description
  }

  // MARK: answers

  func addFetches() {
    let plain: Facts = [
      ("http.method", "GET"),
      ("http.url", .text(TokenAuthority.pool + "/.well-known/jwks.json")),
      ("http.headers.0.0", "Accept"), ("http.headers.0.1", "application/json"),
      ("http.headers.1.0", .null), ("http.body", .null), ("http.timeoutMs", 3000),
      ("http.maxResponseBytes", 262_144), ("http.responseHeaders.0", "content-type"),
      ("http.responseHeaders.1", "etag"), ("http.responseHeaders.2", .null),
      ("http.sensitivePaths.0", .null),
    ]
    transcript(
      "KST-12", "for the first time",
      [issuer(1, 200, published, after: 40, tag: Self.tag, facts: plain)],
      facts: kept(40, 40, tag: Self.tag) + [
        ("keyset", .text(text(40, tag: Self.tag))), ("changed", true), ("retry", .null),
        ("/checks.3.ok", true),
      ])
    transcript(
      "KST-13", "what else the issuer says is not kept",
      [
        issuer(
          1, 200,
          published.appending("issuer", 7).appending("fetchedAtMs", "x").appending("x", [:]))
      ], facts: kept(0, 0) + [("keyset", .text(text(0)))])
    transcript(
      "KST-12", "of Apple", asks: [("issuer", .string(TokenAuthority.apple))],
      [issuer(1, 200, published, facts: [("http.url", "https://appleid.apple.com/auth/keys")])],
      facts: [("keyset", .text(text(0, issuer: TokenAuthority.apple)))])
    transcript(
      "KST-12", "from another address", asks: [("issuer", .string(TokenAuthority.jwtIssuer))],
      verifier: "tokens-uri",
      [issuer(1, 200, published, facts: [("http.url", "https://keys.example.com/set?tenant=1")])]
    )
    transcript(
      "TOK-32", "of a region that another one serves",
      asks: [("issuer", .string(TokenAuthority.otherRegion))], verifier: "tokens-shared",
      [
        issuer(
          1, 200, published,
          facts: [("http.url", .text(TokenAuthority.pool + "/.well-known/jwks.json"))])
      ], facts: [("keyset", .text(text(0)))])
    for (name, tag) in [
      ("an empty one", ""), ("with a blank", "\"a b\""), ("of another tongue", "\"é\""),
      ("of 257 bytes", String(repeating: "t", count: 257)),
    ] {
      transcript(
        "KST-9", "an ETag that is dropped: \(name)", [issuer(1, 200, published, tag: tag)],
        facts: kept(0, 0))
    }
    let longest = String(repeating: "t", count: 256)
    transcript(
      "KST-9", "an ETag of 256 bytes", [issuer(1, 200, published, tag: longest)],
      facts: kept(0, 0, tag: longest))
    transcript(
      "KST-8", "without the key that was asked for", asks: [("wantKid", "new")],
      [issuer(1, 200, published)], facts: kept(0, 0) + [("changed", true)])
  }

  /// Adds conditional requests (KST-4, KST-9).
  func addConditional() throws {
    let hour: Int64 = -3_600_000
    let old = text(hour, tag: Self.tag)
    func asks(_ state: JSONText, _ keyset: String? = nil) -> [(String, JSONText)] {
      [("state", state), ("keyset", .string(keyset ?? old))]
    }
    let conditional: Facts = [
      ("http.headers.1.0", "If-None-Match"), ("http.headers.1.1", .text(Self.tag)),
      ("http.headers.2.0", .null),
    ]
    let known = state(hour, hour, tag: Self.tag)
    transcript(
      "KST-9", "not modified", asks: asks(known), [issuer(1, 304, facts: conditional)],
      facts: kept(0, 0, tag: Self.tag) + [
        ("keyset", .text(text(0, tag: Self.tag))), ("changed", false),
      ])
    transcript(
      "KST-9", "not modified, under another tag", asks: asks(known),
      [issuer(1, 304, tag: "\"2\"", facts: conditional)], facts: kept(0, 0, tag: "\"2\""))
    transcript(
      "KST-9", "sent again", asks: asks(known), [issuer(1, 200, published, facts: conditional)],
      facts: kept(0, 0) + [("changed", false)])
    let keys = published["keys"]?.bytes ?? []
    let rsa = try TokenAuthority.jwk(rsa: fixture.tokens.rsaKey, kid: TokenAuthority.rsaKid)
    let elliptic = try TokenAuthority.jwk(
      elliptic: fixture.tokens.ellipticKey, kid: TokenAuthority.ellipticKid)
    transcript(
      "KST-4", "in another order", asks: asks(known), [issuer(1, 200, ["keys": [elliptic, rsa]])],
      facts: [("changed", false)])
    for (name, set) in [
      ("a key that vanished", [rsa]),
      ("a key that came", [rsa, elliptic, rsa.setting("kid", "n")]),
      ("another key id", [rsa, elliptic.setting("kid", "n")]),
    ] as [(String, JSONText)] {
      transcript(
        "KST-4", name, asks: asks(known), [issuer(1, 200, ["keys": set])],
        facts: [("changed", true), ("keyset", .text(text(0, keys: set)))])
    }
    let plain: Facts = [("http.headers.1.0", .null)]
    let failed = kept(hour, 0, failures: 1) + [("keyset", .null)]
    for (name, more, state) in [
      ("no tag", asks(state(hour, hour)), failed),
      ("a tag that cannot be sent", asks(state(hour, hour, tag: "a b")), failed),
      (
        "no set", [("state", known)],
        kept(hour, 0, failures: 1, tag: Self.tag) + [("keyset", .null)]
      ),
    ] as [(String, [(String, JSONText)], Facts)] {
      transcript(
        "KST-9", "not modified, to a request with \(name)", asks: more,
        [issuer(1, 304, facts: plain)], Self.noAnswer, at: "status", facts: state)
    }
    let spaced = "{ \"keys\": \(String(decoding: keys, as: UTF8.self)) }"
    transcript(
      "KST-9", "a set without a name", asks: [("state", known), ("keyset", .string(spaced))],
      verifier: "tokens-one", [issuer(1, 304, facts: conditional)],
      facts: [("keyset", .text(text(0, tag: Self.tag)))])
  }

  // MARK: the cooldown

  /// Adds cooldowns after failures (KST-2, KST-13).
  func addCooldowns() {
    for (failures, seconds) in [
      (0, 30), (1, 60), (2, 120), (3, 240), (4, 480), (5, 600), (63, 600),
      (9_007_199_254_740_991, 600),
    ] as [(Int64, Int64)] {
      let tried = 1 - seconds * 1000
      transcript(
        "KST-2", "after \(failures) failures, a millisecond early",
        asks: [("state", state(nil, tried, failures: failures))],
        [cooldown(1), issuer(2, 200, published, after: 1)], facts: kept(1, 1))
      transcript(
        "KST-2", "after \(failures) failures",
        asks: [("state", state(nil, tried - 1, failures: failures))], [issuer(1, 200, published)])
    }
    transcript(
      "KST-2", "fetched a second ago, for a key",
      asks: [("state", state(-1000, -1000)), ("wantKid", "new")],
      [
        cooldown(
          29_000,
          facts: [
            ("retry.request.issuer", .text(TokenAuthority.pool)), ("retry.request.wantKid", "new"),
            ("retry.omitted.0", .null), ("retry.reason", "cooldown"), ("retry.attempt", 2),
          ]), issuer(2, 200, published, after: 29_000),
      ], facts: kept(29_000, 29_000))
    transcript(
      "KST-12", "times later than now", asks: [("state", state(5000, 5000))],
      [cooldown(30_000), issuer(2, 500, after: 30_000)], Self.noAnswer,
      facts: kept(0, 30_000, failures: 1))
    transcript(
      "KST-12", "a state of the moment of the fetch alone",
      asks: [("state", ["fetchedAtMs": .integer(now - 1000)])],
      [cooldown(29_000), issuer(2, 200, published, after: 29_000)])
    transcript(
      "KST-12", "a cooldown beyond the deadline",
      asks: [
        ("state", state(-1000, -1000)), ("deadlineMs", .integer(now + 28_999)),
        ("keyset", .string(text(-1000))),
      ], [], Self.noAnswer, at: "state.triedAtMs",
      facts: kept(-1000, -1000) + [
        ("retry.notBeforeMs", .integer(now + 29_000)), ("retry.reason", "cooldown"),
        ("retry.omitted.0", "keyset"), ("retry.request.keyset", .null),
      ])
    for status: Int64 in [0, 204, 301, 403, 404, 429, 500] {
      transcript(
        "KST-6", "HTTP status \(status)", asks: [("state", state(-90_000, -90_000, failures: 1))],
        [issuer(1, status, published)], Self.noAnswer, check: "reply", at: "status",
        facts: kept(-90_000, 0, failures: 2) + [
          ("keyset", .null), ("changed", .null), ("retry.notBeforeMs", .integer(now + 120_000)),
        ])
    }
    transcript(
      "KST-13", "the first failure", [issuer(1, 0)], Self.noAnswer, facts: kept(nil, 0, failures: 1)
    )
    let most: Int64 = 9_007_199_254_740_991
    transcript(
      "KST-13", "as many failures as can be counted",
      asks: [("state", state(nil, -600_000, failures: most))], [issuer(1, 0)], Self.noAnswer,
      facts: kept(nil, 0, failures: most))
  }

  // MARK: refusals

  /// Adds responses that are refused (KST-6, KST-12).
  func addRefusals() throws {
    let rsa = try TokenAuthority.jwk(rsa: fixture.tokens.rsaKey, kid: "a")
    func refused(_ name: String, _ body: JSONText, _ status: String, at: String?, check: String) {
      transcript(
        "KST-6", name, asks: [("state", state(-90_000, -90_000, tag: Self.tag))],
        [issuer(1, 200, body, tag: "\"new\"")], status, check: check, at: at,
        facts: kept(-90_000, 0, failures: 1, tag: Self.tag) + [
          ("keyset", .null), ("changed", .null), ("retry", .null),
        ])
    }
    let (answer, result) = ("reply", "result")
    refused("a web page", .text("<html>"), "malformed.json.syntax", at: nil, check: answer)
    refused("no keys", [:], "malformed.jwks.form", at: "keys", check: answer)
    refused(
      "a private key", ["keys": [rsa.appending("d", "YQ")]], "rejected.jwks.private-key",
      at: "keys[0]", check: result)
    refused(
      "no key of use", ["keys": [rsa.setting("use", "enc")]], "rejected.jwks.empty", at: "keys",
      check: result)
    let large = "too-large.jwks.size"
    transcript(
      "KST-12", "cut", [issuer(1, 200, more: [("truncated", true)])], large, check: answer,
      at: "truncated")
    let blanks = String(repeating: " ", count: 262_144 - published.bytes.count)
    let text = published.description + blanks
    transcript("KST-12", "a quarter of a megabyte", [issuer(1, 200, .text(text))])
    transcript("KST-12", "a byte more", [issuer(1, 200, .text(text + " "))], large, check: answer)
    let stranger: JSONText = [
      "kty": "OKP",
      "x": .string(String(repeating: "x", count: 262_144 - published.bytes.count - 50)),
    ]
    let keys = (published["keys"]?.bytes ?? []).dropFirst().dropLast()
    let list = JSONText.raw([0x5b] + keys + [0x2c] + stranger.bytes + [0x5d])
    transcript(
      "KST-12", "keys that leave no room for the state", [issuer(1, 200, ["keys": list])], large,
      at: "body", facts: kept(nil, 0, failures: 1))
  }

  func addRequests() {
    for (name, value, at) in [
      ("no issuer", nil, "issuer"),
      ("an issuer that is not configured", "https://x.example.com", "issuer"),
      ("an issuer that is a number", 1, "issuer"),
    ] as [(String, JSONText?, String)] {
      transcript(
        "KST-12", name, asks: value.map { usual.setting("issuer", $0) } ?? usual.removing("issuer"),
        [], Self.misuse, at: at)
    }
    for (name, value) in [
      ("a text", "x"), ("empty", ""), ("a fraction", .text("1.5")), ("negative", -1),
      ("2^53", .text("9007199254740992")),
    ] as [(String, JSONText)] {
      for member in ["fetchedAtMs", "triedAtMs", "failures"] {
        transcript(
          "KST-12", "\(member) \(name)", asks: [("state", state(0, 0).setting(member, value))], [],
          Self.misuse, at: "state.\(member)")
      }
    }
    transcript(
      "KST-12", "a tag that is a number", asks: [("state", state(0, 0).setting("etag", 1))], [],
      Self.misuse, at: "state.etag")
    transcript(
      "KST-12", "a state with another member", asks: [("state", ["issuer": "x"])], [], Self.misuse,
      at: "state.issuer")
    transcript(
      "KST-12", "a state that is a list", asks: [("state", [])], [], Self.misuse, at: "state")
    for value: JSONText in [1, "", .null, .string(String(repeating: "k", count: 257))] {
      transcript(
        "KST-12", "the key id \(String(decoding: value.bytes.prefix(9), as: UTF8.self))",
        asks: [("wantKid", value)], [], Self.misuse, at: "wantKid")
    }
    transcript(
      "KST-12", "a set that is an object", asks: [("keyset", published)], [], Self.misuse,
      at: "keyset")
    transcript("EXC-1", "another member", asks: [("kid", "x")], [], Self.misuse, at: "kid")
    transcript(
      "EXC-8", "no profile", verifier: "standard", [], "config.exchange.block-missing", at: "tokens"
    )
    transcript(
      "EXC-8", "no address", asks: [("issuer", .string(TokenAuthority.jwtIssuer))], [],
      "config.exchange.block-missing", at: "tokens.jwksUri")
    transcript(
      "KST-12", "nothing known, in so many words", asks: [("state", .null), ("keyset", .null)],
      [issuer(1, 200, published)], facts: [("changed", true)])
  }

  /// Adds stored key sets that are refused (KST-7, KST-9).
  func addOldSets() throws {
    func old(_ rule: String, _ name: String, _ text: String, _ status: String, at: String) {
      transcript(
        rule, "an old set: \(name)", asks: [("keyset", .string(text))], [], status,
        check: "request", at: at)
    }
    old("KST-9", "no JSON", "x", "malformed.json.syntax", at: "keyset/byte 0")
    old("KST-9", "no keys", "{}", "malformed.jwks.form", at: "keyset/keys")
    let rsa = try TokenAuthority.jwk(rsa: fixture.tokens.rsaKey, kid: "a")
    let leaked: JSONText = ["keys": [rsa.appending("d", "YQ")]]
    old(
      "KST-9", "a private key", leaked.description, "rejected.jwks.private-key",
      at: "keyset/keys[0]")
    let misuse = "misuse.token.keyset"
    old(
      "KST-7", "of another issuer", text(0, issuer: TokenAuthority.apple), misuse,
      at: "keyset/issuer")
    old("KST-7", "without a name, of several", published.description, misuse, at: "keyset/issuer")
  }
}
