import AssayAuthority

extension CaseFixture {
  /// Adds configurations that build a verifier, and variants of them that do not (CNF-1 … CNF-4,
  /// CFG-1 … CFG-4).
  func addConfigurationCases() throws {
    addGoodConfigurations()
    addForms()
    addSharedMembers()
    addStoreKitMembers()
    try addAnchors()
  }

  private func config(
    _ rule: String, _ name: String, text: [UInt8], _ status: String = "ok", at: String? = nil,
    message: String? = nil
  ) {
    add(
      rule, name, .verifierNew(config: .bytes(text)),
      .init(status, at: at, facts: message.map { [("/error.message", .text($0))] } ?? []))
  }

  private func config(
    _ rule: String, _ name: String, _ changes: [(String, JSONText)], _ status: String = "ok",
    at: String? = nil, message: String? = nil
  ) {
    config(rule, name, text: minimal.setting(changes).bytes, status, at: at, message: message)
  }

  private var minimal: JSONText {
    ["apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]]]
  }

  private func addGoodConfigurations() {
    config("CNF-1", "the smallest configuration", [])
    config("CNF-1", "all that is common", text: standardConfig.bytes)
    for (name, configuration) in verifiers {
      config("CNF-1", "the verifier \(name)", text: configuration.bytes)
    }
    config("CNF-1", "white space around", text: [0x20, 0x0a] + minimal.bytes + [0x0a])
    config(
      "CNF-1", "every member of storekit",
      [
        (
          "storekit",
          [
            "anchors": [.string(authority.anchor)], "x5cRoot": "must-match",
            "missingEnvironment": "refuse", "undatedNotifications": "now", "nested": "verify",
            "maxAgeMs": ["transaction": 1], "xcodeCertificates": [],
            "ocspHosts": ["ocsp.apple.com"], "caps": ["jwsBytes": 65_536],
            "cache": ["chains": 16],
          ]
        ),
        (
          "decision",
          [
            "accountToken": "if-present", "gracePeriod": true, "billingRetry": "deny",
            "renewalLeewayMs": 0,
            "familySharing": "allow",
          ]
        ),
        ("clockSkewMs", 60_000), ("plans", ["free", "premium"]),
        ("quotas", ["free": ["free": 99_999], "premium": ["free": 99_999, "premium": 20]]),
      ])
  }

  private func addForms() {
    let good = minimal.bytes
    let syntax: [(String, [UInt8])] = [
      ("nothing at all", []), ("no JSON", Array("apps".utf8)),
      ("a cut-off object", Array(good.dropLast())), ("text after it", good + [0x7d]),
      ("a byte order mark", [0xef, 0xbb, 0xbf] + good),
      ("an array", [0x5b] + good + [0x5d]),
      ("a member twice", Array(good.dropLast()) + Array(",\"apps\":[]}".utf8)),
      ("a trailing comma", Array(good.dropLast()) + Array(",}".utf8)),
      ("invalid UTF-8", Array(good.dropLast()) + [0x2c, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
      ("a NUL", good + [0]), ("a comment", Array("// x\n".utf8) + good),
    ]
    for (name, text) in syntax {
      config("CNF-1", "a configuration with \(name)", text: text, "config.document.syntax")
    }
    add(
      "CNF-1", "a configuration longer than 1 MiB",
      .verifierNew(config: .repeated(prefix: good, unit: [0x20], count: 1 << 20, suffix: [])),
      .init("config.document.range", at: "byte 1048576", hint: "a configuration has at most 1 MiB"))
    config("CNF-1", "an empty object", text: [0x7b, 0x7d], "config.document.missing", at: "apps")
    for path in [
      "requried", "storekit.rootentry", "storekit.caps.bytes", "storekit.cache.size",
      "decision.leeway", "storekit.maxAge",
    ] {
      config(
        "CNF-1", "an unknown member \(path)", [(path, 1)], "config.document.unknown-member",
        at: path)
    }
    config(
      "CNF-1", "an unknown kind in maxAgeMs", [("storekit.maxAgeMs.receipt", 1)],
      "config.document.unknown-member", at: "storekit.maxAgeMs.receipt")
    config(
      "CNF-1", "an app without a bundle id", [("apps", [["appAppleId": 1]])],
      "config.document.missing", at: "apps[0].bundleId")
    config(
      "CNF-1", "an environment twice", [("environments", ["Sandbox", "Sandbox"])],
      "config.document.range", at: "environments[1]")
    config(
      "CNF-1", "an unknown environment", [("environments", ["Staging"])],
      "config.document.range", at: "environments[0]")
    config(
      "CNF-1", "an unknown member of an app",
      [("apps", [["bundleId": "com.example.app", "appAppleId": 1, "name": "x"]])],
      "config.document.unknown-member", at: "apps[0].name")
    let types: [(String, JSONText)] = [
      ("apps", "com.example.app"), ("environments", "Production"), ("products", []),
      ("plans", "free"), ("quotas", []), ("clockSkewMs", "60000"), ("clockSkewMs", true),
      ("decision", "strict"), ("decision.gracePeriod", 1), ("decision.accountToken", true),
      ("decision.renewalLeewayMs", "0"), ("storekit", []), ("storekit.anchors", .string("AAAA")),
      ("storekit.caps", 1), ("storekit.caps.jwsBytes", "65536"),
      ("storekit.cache.chains", "16"), ("storekit.maxAgeMs", 1),
      ("storekit.xcodeCertificates", "x"),
      ("storekit.x5cRoot", 1), ("storekit.nested", true),
    ]
    for (path, value) in types {
      config("CNF-1", "\(path) as \(value)", [(path, value)], "config.document.type", at: path)
    }
    for path in ["clockSkewMs", "storekit", "decision", "environments"] {
      config("CNF-2", "\(path) null", [(path, .null)], "config.document.type", at: path)
    }
    let ranges: [(String, JSONText)] = [
      ("clockSkewMs", -1), ("clockSkewMs", 300_001), ("decision.renewalLeewayMs", -1),
      ("decision.renewalLeewayMs", 3_600_001), ("decision.accountToken", "maybe"),
      ("decision.billingRetry", "no"),
      ("decision.familySharing", "some"), ("decision.sandbox", "above"),
      ("storekit.x5cRoot", "any"),
      ("storekit.missingEnvironment", "guess"), ("storekit.undatedNotifications", "never"),
      ("storekit.nested", "skip"), ("storekit.caps.jwsBytes", 8191),
      ("storekit.caps.jwsBytes", 262_145), ("storekit.cache.chains", -1),
      ("storekit.cache.chains", 65), ("storekit.maxAgeMs.transaction", 0),
      ("storekit.maxAgeMs.renewal-info", -5),
    ]
    for (path, value) in ranges {
      config("CNF-1", "\(path) of \(value)", [(path, value)], "config.document.range", at: path)
    }
    for (path, values) in [
      ("clockSkewMs", [0, 300_000]), ("decision.renewalLeewayMs", [0, 3_600_000]),
      ("storekit.caps.jwsBytes", [8192, 262_144]), ("storekit.cache.chains", [0, 64]),
      ("storekit.maxAgeMs.notification", [1]),
    ] as [(String, [Int64])] {
      for value in values {
        config("CNF-1", "\(path) at its bound \(value)", [(path, .integer(value))])
      }
    }
  }

  private func addSharedMembers() {
    func apps(_ list: JSONText...) -> [(String, JSONText)] { [("apps", .array(list))] }
    config(
      "CFG-1", "Production without appAppleId", apps(["bundleId": "com.example.app"]),
      "config.apps.app-apple-id-required")
    config(
      "CFG-1", "Production without the second appAppleId",
      apps(
        ["bundleId": "com.example.app", "appAppleId": 1], ["bundleId": "com.example.second"]),
      "config.apps.app-apple-id-required")
    config(
      "CFG-1", "Sandbox alone without appAppleId",
      apps(["bundleId": "com.example.app"]) + [("environments", ["Sandbox"])])
    let long = String(repeating: "b", count: 255)
    let fine = "com.example.app"
    let forms: [(name: String, apps: JSONText, place: String, cause: String)] = [
      ("no app", [], "", "it is empty"),
      (
        "257 apps",
        .array((0..<257).map { ["bundleId": .string("app\($0)"), "appAppleId": 1] }), "",
        "more than 256 apps"
      ),
      (
        "a bundle id that is a number", [["bundleId": 1, "appAppleId": 1]], "[0].bundleId",
        "bundleId is not a text"
      ),
      (
        "an empty bundle id", [["bundleId": "", "appAppleId": 1]], "[0].bundleId",
        "bundleId is empty"
      ),
      (
        "a bundle id of 256 bytes", [["bundleId": .string(long + "b"), "appAppleId": 1]],
        "[0].bundleId", "bundleId is longer than 255 bytes"
      ),
      (
        "a bundle id twice",
        [
          ["bundleId": .string(fine), "appAppleId": 1],
          ["bundleId": .string(fine), "appAppleId": 2],
        ],
        "[1].bundleId", "an earlier app has the same bundleId"
      ),
      (
        "app id 0", [["bundleId": .string(fine), "appAppleId": 0]], "[0].appAppleId",
        "appAppleId is not an integer from 1 to 2^53 - 1"
      ),
      (
        "a negative app id", [["bundleId": .string(fine), "appAppleId": -7]], "[0].appAppleId",
        "appAppleId is not an integer from 1 to 2^53 - 1"
      ),
      (
        "app id 2^53", [["bundleId": .string(fine), "appAppleId": 9_007_199_254_740_992]],
        "[0].appAppleId", "appAppleId is not an integer from 1 to 2^53 - 1"
      ),
      (
        "an app id in quotes", [["bundleId": .string(fine), "appAppleId": "1234567890"]],
        "[0].appAppleId", "appAppleId is a text: write the number without quotes"
      ),
      (
        "a team id of nine characters",
        [["bundleId": .string(fine), "appAppleId": 1, "teamId": "ABCDE1234"]], "[0].teamId",
        "teamId is not 10 characters of A to Z and 0 to 9"
      ),
      (
        "a team id in lower case",
        [["bundleId": .string(fine), "appAppleId": 1, "teamId": "abcde12345"]], "[0].teamId",
        "teamId is not 10 characters of A to Z and 0 to 9"
      ),
    ]
    for form in forms {
      config(
        "CFG-4", form.name, [("apps", form.apps)], "config.apps.form", at: "apps" + form.place,
        message: "apps, or an entry in it, cannot be used: " + form.cause)
    }
    config(
      "CFG-4", "an app without a bundle id", apps(["appAppleId": 1]), "config.document.missing",
      at: "apps[0].bundleId")
    config(
      "CFG-4", "a bundle id of 255 bytes", apps(["bundleId": .string(long), "appAppleId": 1]))
    config(
      "CFG-4", "app id 2^53-1",
      apps(["bundleId": "com.example.app", "appAppleId": 9_007_199_254_740_991]))
    config(
      "CFG-4", "a team id",
      apps(["bundleId": "com.example.app", "appAppleId": 1, "teamId": "ABCDE12345"]))
    config(
      "CFG-4", "bundle ids that differ in case alone",
      apps(
        ["bundleId": "com.example.app", "appAppleId": 1],
        ["bundleId": "com.example.App", "appAppleId": 2]))
    let pinned: (String, JSONText) = (
      "storekit.xcodeCertificates", [.string(authority.xcodeFingerprint)]
    )
    for local in ["Xcode", "LocalTesting"] {
      config(
        "CFG-2", "\(local) beside Production",
        [("environments", ["Production", .string(local)]), pinned],
        "config.environments.mixed")
      config(
        "CFG-2", "\(local) without a pinned certificate",
        [("environments", [.string(local)])], "config.storekit.xcode-certificate-required")
      config(
        "CFG-2", "\(local) with a pinned certificate",
        [("environments", [.string(local)]), pinned])
      config(
        "CFG-2", "\(local) beside Sandbox",
        [("environments", [.string(local), "Sandbox"]), pinned])
    }
    config("CFG-2", "no environment", [("environments", [])], "config.environments.mixed")
    config(
      "CFG-2", "a fingerprint of 31 octets",
      [
        ("environments", ["Xcode"]),
        ("storekit.xcodeCertificates", [.string(String(repeating: "ab", count: 31))]),
      ], "config.storekit.xcode-certificate-required")
    config(
      "CFG-2", "a fingerprint that is no hex",
      [
        ("environments", ["Xcode"]),
        ("storekit.xcodeCertificates", [.string(String(repeating: "xy", count: 32))]),
      ], "config.storekit.xcode-certificate-required")
    addCatalogue()
  }

  private func addCatalogue() {
    let plans: (String, JSONText) = ("plans", ["free", "standard"])
    let product = "products.season"
    let refused: [(String, JSONText)] = [
      ("an unknown plan", ["plan": "gold", "type": "auto-renewable"]),
      ("an unknown type", ["plan": "standard", "type": "forever"]),
      ("no type", ["plan": "standard"]),
      ("a non-renewing product without duration", ["plan": "standard", "type": "non-renewing"]),
      (
        "a duration of no unit",
        ["plan": "standard", "type": "non-renewing", "duration": "P30"]
      ),
      (
        "a duration in hours",
        ["plan": "standard", "type": "non-renewing", "duration": "PT12H"]
      ),
      (
        "a duration of zero",
        ["plan": "standard", "type": "non-renewing", "duration": "P0D"]
      ),
      (
        "an empty duration", ["plan": "standard", "type": "non-renewing", "duration": ""]
      ),
    ]
    for (name, value) in refused {
      config("CNF-1", "a product with \(name)", [plans, (product, value)], "config.products.form")
    }
    for duration in ["P30D", "P2W", "P1M", "P1Y"] {
      config(
        "CNF-1", "a duration of \(duration)",
        [
          plans,
          (
            product,
            ["plan": "standard", "type": "non-renewing", "duration": .string(duration)]
          ),
        ])
    }
    config(
      "CNF-1", "a product without id",
      text: minimal.appending(
        "products", .object([.init("", ["type": "consumable"])])
      ).bytes, "config.products.form")
    config(
      "CNF-1", "a limit that is no integer",
      [plans, ("quotas", ["free": ["free": .text("1.5")]])], "config.quotas.form")
    config("CNF-1", "no plan", [("plans", [])], "config.plans.form")
    config("CNF-1", "a plan twice", [("plans", ["free", "free"])], "config.plans.form")
    config(
      "CNF-1", "limits of an unknown plan", [plans, ("quotas", ["gold": ["free": 1]])],
      "config.quotas.form")
    config(
      "CNF-1", "a negative limit", [plans, ("quotas", ["free": ["free": -1]])],
      "config.quotas.form")
  }

  private func addStoreKitMembers() {
    for (name, hosts, at) in [
      ("no OCSP host", [], "storekit.ocspHosts"),
      ("an empty OCSP host", [""], "storekit.ocspHosts[0]"),
      ("an OCSP address for a host", ["http://ocsp.apple.com/x"], "storekit.ocspHosts[0]"),
    ] as [(String, JSONText, String)] {
      config(
        "CNF-1", name,
        [("storekit.anchors", [.string(authority.anchor)]), ("storekit.ocspHosts", hosts)],
        "config.document.range", at: at)
    }
    config(
      "CNF-1", "OCSP hosts as a text",
      [
        ("storekit.anchors", [.string(authority.anchor)]), ("storekit.ocspHosts", "x"),
      ], "config.document.type", at: "storekit.ocspHosts")
    config(
      "CNF-1", "own OCSP hosts with own anchors",
      [
        ("storekit.anchors", [.string(authority.anchor)]),
        ("storekit.ocspHosts", ["ocsp.test-authority.example"]),
      ])
    config(
      "CNF-1", "own OCSP hosts without own anchors",
      [("storekit.ocspHosts", ["ocsp.test-authority.example"])], "config.document.range")
  }

  /// Adds own anchors (CFG-3, CER-2).
  private func addAnchors() throws {
    func root(_ change: (inout CertificateTemplate) -> Void) throws -> [UInt8] {
      var template = authority.root
      change(&template)
      return try template.signed(by: authority.rootKey)
    }
    let other = try SigningKey.generate(.p384)
    let rsa = try SigningKey.generate(.rsa(bits: 2048))
    var rsaRoot = authority.root
    rsaRoot.publicKeyInfo = try rsa.publicKeyInfo()
    rsaRoot.innerAlgorithm = CertificateTemplate.algorithm(
      OID.sha256WithRSA, parameters: DER.null)
    rsaRoot.digest = .sha256
    let p521 = try SigningKey.generate(.p521)
    var p521Root = authority.root
    p521Root.publicKeyInfo = try p521.publicKeyInfo()
    let refused: [(String, [UInt8])] = [
      ("of nothing", []), ("of junk", [1, 2, 3]),
      ("with a byte after it", authority.chain.root + [0]),
      ("cut off", Array(authority.chain.root.dropLast())),
      ("that is an intermediate", authority.chain.intermediate),
      ("that is a leaf", authority.chain.leaf),
      ("signed by another key", try authority.root.signed(by: other)),
      ("with a damaged signature", try root { $0.signatureForm = .damaged }),
      (
        "of version 1",
        try root {
          $0.version = []
          $0.extensions = nil
        }
      ),
      (
        "that is no CA",
        try root {
          $0 = $0.replacing(OID.basicConstraints, with: .basicConstraints(ca: false))
        }
      ),
      (
        "without basicConstraints",
        try root {
          $0 = $0.replacing(OID.basicConstraints, with: nil)
        }
      ),
      (
        "whose issuer is another",
        try root {
          $0.issuer = DistinguishedName.make(ChainNames.apple.root)
        }
      ),
      ("with an RSA key", try rsaRoot.signed(by: rsa)),
      ("with a P-521 key", try p521Root.signed(by: p521)),
    ]
    func anchors(_ certificates: [[UInt8]]) -> [(String, JSONText)] {
      [("storekit.anchors", .array(certificates.map(JWSTemplate.entry)))]
    }
    for (name, certificate) in refused {
      config(
        "CFG-3", "an anchor \(name)", anchors([certificate]), "config.certificates.root-set",
        at: "storekit.anchors[0]")
    }
    for (name, oid, digest) in [
      ("SHA-256", OID.ecdsaWithSHA256, .sha256), ("SHA-512", OID.ecdsaWithSHA512, .sha512),
    ] as [(String, String, SigningKey.Digest)] {
      let other = try root {
        $0.innerAlgorithm = CertificateTemplate.algorithm(oid)
        $0.digest = digest
      }
      config("CER-11", "an anchor signed with \(name)", anchors([other]))
    }
    config(
      "CFG-3", "a bad anchor after a good one",
      anchors([authority.chain.root, authority.chain.intermediate]),
      "config.certificates.root-set", at: "storekit.anchors[1]")
    config("CFG-3", "no anchor", anchors([]), "config.certificates.root-set")
    config(
      "CFG-3", "seventeen anchors",
      anchors(try (0..<17).map { number in try root { $0.serial = [UInt8(number + 1)] } }),
      "config.certificates.root-set")
    config(
      "CFG-3", "sixteen anchors",
      anchors(try (0..<16).map { number in try root { $0.serial = [UInt8(number + 1)] } }))
    let p256 = try SigningKey.generate(.p256)
    var small = authority.root
    small.publicKeyInfo = try p256.publicKeyInfo()
    small.use(OID.ecdsaWithSHA256, .sha256)
    config("CFG-3", "an anchor with a P-256 key", anchors([try small.signed(by: p256)]))
    config("CFG-3", "an anchor", anchors([authority.chain.root]))
    config(
      "CNF-4", "an anchor in PEM",
      [
        (
          "storekit.anchors",
          [.string("-----BEGIN CERTIFICATE-----\n" + authority.anchor + "\n")]
        )
      ], "config.certificates.root-set", at: "storekit.anchors[0]")
    config(
      "CNF-4", "an anchor in the URL alphabet",
      [
        (
          "storekit.anchors",
          [.string(utf8: Base64Text.encodeURL(authority.chain.root + [0xfb, 0xff]))]
        )
      ], "config.certificates.root-set", at: "storekit.anchors[0]")
  }
}
