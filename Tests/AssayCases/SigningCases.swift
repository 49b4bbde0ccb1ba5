import AssayAuthority

extension CaseFixture {
  /// Adds tokens and offers (docs/spec/app-store-server-api.md §9). Signatures are random: the
  /// cases compare the other members, and the Swift tests verify the signatures.
  func addSigningCases() {
    addSigningVerifiers()
    addTokens()
    addOffers()
    addOfferParameters()
    addAppleIDSecrets()
    addSigningConfigurations()
  }

  private static let nonce = "9f2d4d1c-5a55-4b2e-8c3b-0d4f1a2b3c4d"
  private static let misuse = "misuse.sign.parameter"

  private var seconds: Int64 { now / 1000 }

  private func sign(
    _ rule: String, _ name: String, _ request: JSONText, verifier: String = "signing",
    _ status: String = "ok", at: String? = nil, facts: Facts = []
  ) {
    self.request(rule, name, request, verifier: verifier, status, at: at, facts: facts)
  }

  /// Adds tokens of the App Store Server API (API-11, SIG-7).
  private func addTokens() {
    let named: JSONText = ["operation": "sign-api-token", "bundleId": "com.example.second"]
    let done: Facts = [
      ("/kind", "exchange"), ("step", "done"), ("sensitivePaths.0", "token"),
      ("sensitivePaths.1", .null),
      ("/checks.2.reason", "does not apply to this evidence"), ("/checks.3.ok", true),
    ]
    sign(
      "API-11", "an API token", named,
      facts: done + [("expiresAtMs", .integer((seconds + 300) * 1000))])
    sign(
      "API-11", "an API token of the only app", ["operation": "sign-api-token"],
      verifier: "signing-one-app", facts: done)
    sign(
      "SIG-6", "an API token of no app", ["operation": "sign-api-token"], Self.misuse,
      at: "bundleId")
    for bundleId: JSONText in ["com.example.other", "", 7, .null] {
      sign(
        "SIG-6", "an API token of the app \(bundleId)", named.setting("bundleId", bundleId),
        Self.misuse, at: "bundleId")
    }
    sign(
      "SIG-7", "a DeviceCheck token", ["operation": "sign-device-check-token"],
      facts: done + [("expiresAtMs", .integer((seconds + 1200) * 1000))])
    let missing = "config.exchange.block-missing"
    sign(
      "EXC-8", "an API token without a key", named, verifier: "standard", missing,
      at: "appStoreServerApi")
    sign(
      "EXC-8", "a DeviceCheck token without the block", ["operation": "sign-device-check-token"],
      verifier: "standard", missing, at: "deviceCheck")
    sign(
      "EXC-8", "a DeviceCheck token without a key", ["operation": "sign-device-check-token"],
      verifier: "device-check-without-key", missing, at: "deviceCheck.privateKey")
    sign(
      "EXC-1", "a DeviceCheck token of an app",
      ["operation": "sign-device-check-token", "bundleId": "com.example.app"],
      "misuse.exchange.request", at: "bundleId")
    sign(
      "EXC-1", "an API token with a deadline", named.appending("deadlineMs", .integer(now + 5000)),
      "misuse.exchange.request", at: "deadlineMs")
  }

  private var offer: JSONText {
    [
      "operation": "sign-promotional-offer", "bundleId": "com.example.app", "productId": "p.1",
      "offerIdentifier": "o.1", "transactionId": "2000000000000001",
      "nonce": .string(Self.nonce),
    ]
  }

  private var introductory: JSONText {
    [
      "operation": "sign-introductory-offer-eligibility", "bundleId": "com.example.app",
      "productId": "p.1", "allowIntroductoryOffer": true, "transactionId": "2000000000000001",
      "nonce": .string(Self.nonce),
    ]
  }

  private var offerV1: JSONText {
    [
      "operation": "sign-promotional-offer-v1", "bundleId": "com.example.app", "productId": "p.1",
      "offerId": "o.1", "applicationUsername": "A-User", "nonce": .string(Self.nonce),
    ]
  }

  private func addOffers() {
    let made: Facts = [
      ("nonce", .text(Self.nonce)), ("iat", .integer(seconds)), ("sensitivePaths", .null),
    ]
    sign("SIG-1", "an offer", offer, facts: made + [("/warnings.0.id", .null)])
    sign(
      "SIG-2", "an offer for everybody", offer.removing("transactionId"),
      facts: made + [("/warnings.0.id", "unbound-offer"), ("/warnings.0.at", "transactionId")])
    sign("SIG-1", "an introductory offer", introductory, facts: made)
    sign(
      "SIG-1", "no introductory offer", introductory.setting("allowIntroductoryOffer", false),
      facts: made)
    let madeV1: Facts = [
      ("nonce", .text(Self.nonce)), ("keyId", "2X9R4HXF34"), ("sensitivePaths", .null),
    ]
    sign("SIG-5", "an offer V1", offerV1, facts: madeV1 + [("timestamp", .integer(now))])
    sign(
      "SIG-5", "an offer V1 of yesterday", offerV1.appending("timestamp", .integer(now - 7)),
      facts: [("timestamp", .integer(now - 7))])
    sign("SIG-5", "an offer V1 for nobody", offerV1.removing("applicationUsername"), facts: madeV1)
    sign(
      "SIG-5", "an offer V1 for an empty name", offerV1.setting("applicationUsername", ""),
      facts: madeV1)
    sign(
      "SIG-8", "a nonce in capitals", offer.setting("nonce", .string(Self.nonce.uppercased())),
      facts: made)
  }

  /// Adds wrong values of every member that has a form (SIG-3, SIG-6, SIG-8).
  private func addOfferParameters() {
    func bad(_ rule: String, _ request: JSONText, _ member: String, _ value: JSONText?) {
      let text = value.map { String(decoding: $0.bytes.prefix(48), as: UTF8.self) } ?? "nothing"
      let kind = request.members.first.map { $0.value.description }
      sign(
        rule, "\(kind ?? "") with \(member) \(text)",
        value.map { request.setting(member, $0) } ?? request.removing(member), Self.misuse,
        at: member)
    }
    let long = JSONText.string(String(repeating: "x", count: 256))
    for (request, texts) in [
      (offer, ["productId", "offerIdentifier"]), (introductory, ["productId", "transactionId"]),
      (offerV1, ["productId", "offerId"]),
    ] {
      for member in texts {
        for value: JSONText? in [nil, "", long, 7, .null] { bad("SIG-6", request, member, value) }
        for value in ["a\u{2063}b", "a\u{7}b", "a\u{7f}", "a\u{85}"] {
          bad("SIG-3", request, member, .string(value))
        }
      }
    }
    sign(
      "SIG-6", "an offer with ids of 255 bytes",
      offer.setting("productId", .string(String(repeating: "x", count: 255))))
    sign(
      "SIG-3", "an offer with letters of other tongues", offer.setting("productId", "p\u{2062}é"))
    bad("SIG-3", offer, "transactionId", .string("1\u{2063}"))
    bad("SIG-6", offer, "transactionId", "")
    for value: JSONText? in [nil, "true", 1, .null] {
      bad("SIG-6", introductory, "allowIntroductoryOffer", value)
    }
    bad("SIG-6", offerV1, "applicationUsername", "Jürgen")
    bad("SIG-3", offerV1, "applicationUsername", .string("a\u{1}"))
    for value: JSONText in [.integer(seconds), "1", -1, .integer(4_102_444_800_000)] {
      bad("SIG-6", offerV1, "timestamp", value)
    }
    let nonces: [JSONText] = [
      "", "x", .string(Self.nonce + "0"), .string(String(Self.nonce.dropLast()) + "g"), 1,
      .string(Self.nonce.filter { $0 != "-" }),
    ]
    for request in [offer, introductory, offerV1] {
      for value in nonces { bad("SIG-8", request, "nonce", value) }
    }
    sign(
      "EXC-1", "an offer V1 with the member of another form",
      offerV1.appending("offerIdentifier", "o"), "misuse.exchange.request", at: "offerIdentifier")
  }

  /// Adds client secrets of Sign in with Apple (AID-20, AID-25).
  private func addAppleIDSecrets() {
    let kind: JSONText = ["operation": "sign-apple-client-secret"]
    let web = kind.appending("clientId", "com.example.web")
    func expires(_ seconds: Int64) -> Facts {
      [("expiresAtMs", .integer(seconds * 1000)), ("sensitivePaths.0", "clientSecret")]
    }
    sign("AID-20", "a client secret", web, facts: expires(seconds + 300))
    sign(
      "AID-20", "a client secret of the only client", kind, verifier: "signing-one-app",
      facts: expires(seconds + 300))
    sign(
      "AID-20", "a client secret for a minute", web.appending("ttlMs", 60_000),
      facts: expires(seconds + 60))
    sign(
      "AID-20", "a client secret for six months", web.appending("ttlMs", 15_777_000_000),
      facts: expires(seconds - 60 + 15_777_000))
    let misuse = "misuse.apple-id.parameter"
    for life: JSONText in [59_999, 15_777_000_001, "300000", .null] {
      sign(
        "AID-20", "a client secret for \(life) ms", web.appending("ttlMs", life), misuse,
        at: "ttlMs")
    }
    sign("AID-25", "a client secret of one of two clients", kind, misuse, at: "clientId")
    for client: JSONText in ["com.example.second", "", 1] {
      sign(
        "AID-25", "a client secret of \(client)", kind.appending("clientId", client), misuse,
        at: "clientId")
    }
    sign(
      "EXC-8", "a client secret without a key", kind, verifier: "standard",
      "config.exchange.block-missing", at: "appleId")
  }

  // MARK: configuration

  /// Adds the configuration of keys and secrets (docs/spec/configuration.md §8 … §10).
  private func addSigningConfigurations() {
    func config(
      _ rule: String, _ name: String, _ members: [(String, JSONText)], removing: [String] = [],
      _ status: String = "ok", at: String? = nil, facts: Facts = []
    ) {
      let whole: JSONText = [
        "apps": [
          ["bundleId": "com.example.app", "appAppleId": 1_234_567_890, "teamId": "ABCDE12345"]
        ],
        "appStoreServerApi": appStoreServerApiBlock, "appleId": appleIdBlock,
        "session": sessionBlock,
      ]
      add(
        rule, "keys: \(name)",
        .verifierNew(config: .bytes(whole.setting(members).removing(removing).bytes)),
        .init(status, at: at, facts: facts))
    }
    config(
      "EXC-10", "all of them", [],
      facts: [
        ("appStoreServerApi.privateKey", true), ("appStoreServerApi.apiBaseUrl", .null),
        ("appleId.privateKey", true), ("session.secrets.0.id", "s2"),
        ("session.secrets.0.secret", true), ("session.ttlMs", 900_000),
      ])
    config(
      "AID-20", "team and clients of the apps", [],
      removing: ["appleId.teamId", "appleId.clientIds"],
      facts: [("appleId.teamId", "ABCDE12345"), ("appleId.clientIds.0", "com.example.app")])
    let other = JSONText.string(utf8: (try? SigningKey.generate(.p384).pem()) ?? [])
    for (rule, block, status) in [
      ("API-10", "appStoreServerApi", "config.app-store.private-key"),
      ("AID-20", "appleId", "config.apple-id.key"),
    ] {
      let place = block + ".privateKey"
      for (name, value) in [
        ("no PEM", "x"), ("a number", 1), ("a key on P-384", other), ("nothing in it", ""),
      ] as [(String, JSONText)] {
        config(rule, "\(block) with \(name)", [(place, value)], status, at: place)
      }
      config(
        "CNF-1", "\(block) without a key", [], removing: [place], "config.document.missing",
        at: place)
      config(
        "CNF-1", "\(block) with another member", [(block + ".key", 1)],
        "config.document.unknown-member", at: block + ".key")
      let id = block + ".keyId"
      config(
        "CNF-1", "\(block) without a key id", [], removing: [id], "config.document.missing", at: id)
      for value: JSONText in ["KEYID1234", "KEYID-2345", 1] {
        let text = value.description
        let isType = text == "1"
        config(
          rule == "AID-20" ? rule : "CNF-1", "\(block) with the key id \(text)", [(id, value)],
          rule == "AID-20"
            ? "config.apple-id.key-id" : isType ? "config.document.type" : "config.document.range",
          at: id)
      }
    }
    let issuer = "appStoreServerApi.issuerId"
    config(
      "CNF-1", "an issuer that is no UUID", [(issuer, "57246542")], "config.document.range",
      at: issuer)
    addBaseURLs(config)
    addMissingBundleIds(config)
    addAppleIDMembers(config)
    addSessionMembers(config)
  }

  private typealias Adding = (
    String, String, [(String, JSONText)], [String], String, String?, Facts
  ) -> Void

  /// Adds base URLs of the App Store Server API (API-1).
  private func addBaseURLs(_ config: Adding) {
    let place = "appStoreServerApi.apiBaseUrl"
    let local: [(String, JSONText)] = [
      ("environments", ["LocalTesting"]),
      ("storekit", ["xcodeCertificates": [.string(authority.xcodeFingerprint)]]),
    ]
    config(
      "API-1", "another host for local tests", local + [(place, "https://localhost:8443/api")], [],
      "ok", nil, [(place, "https://localhost:8443/api")])
    let refused = "config.app-store.base-url"
    config(
      "API-1", "another host in Production", [(place, "https://localhost:8443")], [], refused,
      place, [])
    for url: JSONText in ["http://localhost", "https://", "https://a b", "localhost", 1] {
      config("API-1", "the host \(url)", local + [(place, url)], [], refused, place, [])
    }
  }

  /// Adds what a transaction without a bundle id is worth (API-57).
  private func addMissingBundleIds(_ config: Adding) {
    let place = "appStoreServerApi.missingBundleId"
    config("API-57", "bundle ids by default", [], [], "ok", nil, [(place, "accept")])
    for value in ["accept", "refuse"] {
      config(
        "API-57", "bundle ids: \(value)", [(place, .string(value))], [], "ok", nil,
        [(place, .text(value))])
    }
    config(
      "CNF-1", "bundle ids: required", [(place, "required")], [], "config.document.range", place, []
    )
    config("CNF-1", "bundle ids: true", [(place, true)], [], "config.document.type", place, [])
  }

  /// Adds the block `appleId` (AID-20, AID-25).
  private func addAppleIDMembers(_ config: Adding) {
    let team = "appleId.teamId"
    for value: JSONText in ["ABCDE1234", "abcde12345", 1] {
      config(
        "AID-20", "the team \(value)", [(team, value)], [], "config.apple-id.team-id", team, [])
    }
    config(
      "AID-20", "apps without a team",
      [("apps", [["bundleId": "com.example.app", "appAppleId": 1]])], [team],
      "config.apple-id.team-id", team, [])
    let clients = "appleId.clientIds"
    let many = JSONText.array((0..<17).map { .string("c\($0)") })
    for (name, value, at) in [
      ("no clients", [], clients), ("17 clients", many, clients),
      ("a client twice", ["a", "a"], clients + "[1]"), ("an empty client", [""], clients + "[0]"),
      (
        "a client of 256 bytes", [.string(String(repeating: "c", count: 256))], clients + "[0]"
      ), ("a text as clients", "com.example.app", clients),
    ] as [(String, JSONText, String)] {
      config("AID-25", name, [(clients, value)], [], "config.apple-id.clients", at, [])
    }
  }

  /// Adds the block `session` (SES-3).
  private func addSessionMembers(_ config: Adding) {
    let place = "session.secrets"
    func secret(_ id: JSONText, _ count: Int) -> JSONText {
      [
        "id": id,
        "secret": .string(utf8: Base64Text.encode([UInt8](repeating: 5, count: count))),
      ]
    }
    config("SES-3", "one secret", [(place, [secret("s", 64)])], [], "ok", nil, [])
    for (name, value, at) in [
      ("no secrets", [], place),
      ("three secrets", [secret("a", 32), secret("b", 32), secret("c", 32)], place),
      ("two secrets of one id", [secret("a", 32), secret("a", 33)], place + "[1]"),
      ("a secret of 31 bytes", [secret("a", 31)], place + "[0].secret"),
      ("a secret of 65 bytes", [secret("a", 65)], place + "[0].secret"),
      ("a secret of no base64", [["id": "a", "secret": "?"]], place + "[0].secret"),
      ("a secret that is a number", [["id": "a", "secret": 1]], place + "[0].secret"),
      ("a secret without an id", [secret("", 32)], place + "[0].id"),
      ("an id of 17 characters", [secret("abcdefghijklmnopq", 32)], place + "[0].id"),
      ("an id with a dot", [secret("a.b", 32)], place + "[0].id"),
      ("a text as secrets", "s", place),
    ] as [(String, JSONText, String)] {
      config("SES-3", name, [(place, value)], [], "config.session.secrets", at, [])
    }
    config("CNF-1", "a session without secrets", [], [place], "config.document.missing", place, [])
    config(
      "SES-3", "a secret without a text", [(place, [["id": "a"]])], [], "config.session.secrets",
      place + "[0].secret", [])
    for life: JSONText in [59_999, 3_600_001] {
      config(
        "CNF-1", "sessions of \(life) ms", [("session.ttlMs", life)], [], "config.document.range",
        "session.ttlMs", [])
    }
  }
}
