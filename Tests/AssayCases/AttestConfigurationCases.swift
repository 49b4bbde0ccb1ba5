import AssayAuthority

extension CaseFixture {
  /// Adds the blocks `attest`, `deviceCheck` and `risk` (docs/spec/configuration.md §5 and §6).
  func addAttestConfigurationCases() throws {
    addAppIds()
    addAttestEnvironments()
    addAttestPolicySettings()
    try addAttestAnchors()
    try addDeviceCheckSettings()
    addRiskSettings()
  }

  private var app: JSONText { ["bundleId": "com.example.app", "appAppleId": 1_234_567_890] }

  private func config(
    _ rule: String, _ name: String, _ members: [(String, JSONText)], _ status: String = "ok",
    at: String? = nil, facts: Facts = []
  ) {
    let whole: JSONText = ["apps": [app.appending("teamId", "ABCDE12345")]]
    add(
      rule, name, .verifierNew(config: .bytes(whole.setting(members).bytes)),
      .init(status, at: at, facts: facts))
  }

  private func attest(
    _ rule: String, _ name: String, _ block: JSONText, _ status: String = "ok",
    at: String? = nil, facts: Facts = []
  ) {
    config(rule, "attest: \(name)", [("attest", block)], status, at: at, facts: facts)
  }

  /// Adds App IDs (ATT-23).
  private func addAppIds() {
    let refused = "config.attest.app-ids"
    attest(
      "ATT-23", "App IDs of teams and bundles", [:],
      facts: [("attest.appIds.0", "ABCDE12345.com.example.app")])
    config(
      "ATT-23", "attest: neither App IDs nor a team", [("apps", [app]), ("attest", [:])], refused)
    config("ATT-23", "no attest, no team", [("apps", [app])])
    attest("ATT-23", "an App ID", ["appIds": ["ABCDE12345.com.example.app"]])
    attest("ATT-23", "no App IDs", ["appIds": []], refused)
    attest("ATT-23", "an App ID without a prefix", ["appIds": ["com.example.app"]], refused)
    attest("ATT-23", "an empty App ID", ["appIds": [""]], refused)
    attest("ATT-23", "a prefix alone", ["appIds": ["ABCDE12345."]], refused)
    attest("ATT-23", "a number as an App ID", ["appIds": [5]], refused)
    attest("ATT-23", "a text as App IDs", ["appIds": "ABCDE12345.com.example.app"], refused)
    func many(_ count: Int) -> JSONText {
      ["appIds": .array((0..<count).map { .string("ABCDE12345.com.example.a\($0)") })]
    }
    attest("ATT-23", "64 App IDs", many(64))
    attest("ATT-23", "65 App IDs", many(65), refused)
  }

  /// Adds environments and the choice of date for certificates (ATT-26, ATT-40).
  private func addAttestEnvironments() {
    let refused = "config.attest.environments"
    for list: JSONText in [["production"], ["development"], ["production", "development"]] {
      attest("ATT-26", "environments \(list)", ["environments": list])
    }
    for list: JSONText in [
      [], ["Production"], ["sandbox"], ["production", "x"], [1], "production",
    ] { attest("ATT-26", "environments \(list)", ["environments": list], refused) }
    config(
      "ATT-26", "attest: environments from the shared ones",
      [("environments", ["Sandbox"]), ("attest", [:])],
      facts: [("attest.environments.0", "development")])
    config(
      "ATT-26", "attest: Xcode's environment alone",
      [
        ("environments", ["Xcode"]),
        ("storekit", ["xcodeCertificates": [.string(authority.xcodeFingerprint)]]),
        ("attest", [:]),
      ], refused)
    attest("ATT-40", "stored", ["time": "stored"])
    attest("ATT-40", "no receipt", ["receipt": "ignore"])
    attest(
      "ATT-40", "stored without a receipt", ["time": "stored", "receipt": "ignore"],
      "config.attest.stored-needs-receipt")
    attest("CNF-1", "another time", ["time": "now"], "config.document.range", at: "attest.time")
    attest(
      "CNF-1", "an unknown member", ["root": "x"], "config.document.unknown-member",
      at: "attest.root")
    attest("CNF-1", "a list", [], "config.document.type", at: "attest")
    for value: Int64 in [1, 300_000] {
      attest("CNF-1", "an age of \(value)", ["maxAgeMs": .integer(value)])
    }
    for value: Int64 in [0, -1] {
      attest(
        "CNF-1", "an age of \(value)", ["maxAgeMs": .integer(value)], "config.document.range",
        at: "attest.maxAgeMs")
    }
    attest("RFR-3", "a refresh a day", ["refreshEveryMs": 86_400_000])
    attest(
      "RFR-3", "a refresh an hour", ["refreshEveryMs": 3_600_000], "config.document.range",
      at: "attest.refreshEveryMs")
    for platform in ["any", "macos", "ios"] {
      attest("ATT-47", "platform \(platform)", ["platform": .string(platform)])
    }
    attest(
      "ATT-47", "another platform", ["platform": "tvos"], "config.document.range",
      at: "attest.platform")
  }

  /// Adds policies for validation category, build number and challenge (ATT-45, ATT-46, ASR-10).
  private func addAttestPolicySettings() {
    func policy(
      _ rule: String, _ member: String, _ value: JSONText, _ isGood: Bool
    ) {
      let text = String(decoding: value.bytes.prefix(80), as: UTF8.self)
      attest(
        rule, "\(member) \(text)", .object([.init(member, value)]),
        isGood ? "ok" : "config.attest.policy")
    }
    for value: JSONText in [
      ["accept": [4]], ["accept": [1, 2, 3, 4, 5, 6, 10]], ["missing": "refuse"],
      ["accept": [2, 4], "missing": "accept"], [:],
    ] { policy("ATT-45", "category", value, true) }
    for value: JSONText in [
      ["accept": [0]], ["accept": [4, 7]], ["accept": [8]], ["accept": [9]], ["accept": []],
      ["accept": [-1]], ["accept": ["4"]], ["accept": 4], ["missing": "ok"], ["missing": true],
      [4],
    ] { policy("ATT-45", "category", value, false) }
    for value: JSONText in [
      ["exact": ["1314"]], ["exact": ["1", "2.0"]], ["minimum": "1314"], ["minimum": "1.2.3"],
    ] { policy("ATT-46", "bundleVersion", value, true) }
    for value: JSONText in [
      ["exact": []], ["exact": "1"], ["exact": [1]], ["exact": ["1"], "minimum": "1"],
      ["minimum": "x"], ["minimum": ""], ["minimum": "1..2"], ["minimum": 1], [:], "1",
    ] { policy("ATT-46", "bundleVersion", value, false) }
    for value: JSONText in [
      ["mode": "host"], ["mode": "whole"], ["mode": "json", "path": "challenge"],
      ["mode": "json", "path": "a.b.c.d.e.f.g.h", "encoding": "hex"],
    ] { policy("ASR-10", "challenge", value, true) }
    for value: JSONText in [
      ["mode": "cbor"], ["mode": "json"], ["mode": "json", "path": ""],
      ["mode": "json", "path": "a..b"], ["mode": "json", "path": "a.b.c.d.e.f.g.h.i"],
      ["mode": "json", "path": "a", "encoding": "utf8"], ["mode": 1],
      ["mode": "whole", "path": "a"], "whole",
    ] { policy("ASR-10", "challenge", value, false) }
  }

  /// Adds own anchors (CER-2).
  private func addAttestAnchors() throws {
    let refused = "config.certificates.root-set"
    let keys = self.attest.keys
    for (member, root, intermediate, template, key) in [
      (
        "anchors", self.attest.rootCertificate, self.attest.intermediateCertificate,
        self.attest.root, keys.root
      ),
      (
        "receiptAnchors", self.attest.receiptChain.root, self.attest.receiptChain.intermediate,
        self.attest.receiptSigners.root, keys.receiptRoot
      ),
    ] {
      func anchors(_ name: String, _ list: [[UInt8]], _ status: String = "ok") {
        attest(
          "CER-2", "\(member) \(name)",
          .object([.init(member, .array(list.map(JWSTemplate.entry)))]), status)
      }
      anchors("of one root", [root])
      let digests: [(String, String, SigningKey.Digest)] = [
        ("SHA-256", OID.ecdsaWithSHA256, .sha256), ("SHA-512", OID.ecdsaWithSHA512, .sha512),
      ]
      for (name, oid, digest) in digests {
        var other = template
        other.innerAlgorithm = CertificateTemplate.algorithm(oid)
        other.digest = digest
        anchors("of a root signed with \(name)", [try other.signed(by: key)])
      }
      anchors("of nothing", [], refused)
      anchors("of an intermediate", [intermediate], refused)
      anchors("of junk", [[1, 2, 3]], refused)
      anchors("with a byte after it", [root + [0]], refused)
      anchors("of a good root and junk", [root, [0x30, 0]], refused)
    }
    attest(
      "CER-2", "Apple's roots", [:],
      facts: [
        (
          "attest.anchors.sha256.0",
          "1cb9823ba28ba6ad2d33a006941de2ae4f513ef1d4e831b9f7e0fa7b6242c932"
        ),
        (
          "attest.receiptAnchors.sha256.0",
          "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"
        ),
      ])
  }

  // MARK: deviceCheck, risk

  /// Adds the block `deviceCheck`: team, key and bits (DVC-1, DVC-2, DVC-10, DVC-11).
  private func addDeviceCheckSettings() throws {
    let key = JSONText.string(utf8: try SigningKey.generate(.p256).pem())
    let block: JSONText = ["keyId": "KEYID12345", "privateKey": key]
    func device(
      _ rule: String, _ name: String, _ block: JSONText, _ status: String = "ok"
    ) {
      config(rule, "deviceCheck: \(name)", [("deviceCheck", block)], status)
    }
    device("DVC-1", "a key", block)
    device("DVC-1", "a team of its own", block.setting("teamId", "ZZZZZ99999"))
    device("DVC-1", "no key id", block.removing("keyId"), "config.document.missing")
    for id in ["", "KEYID1234", "KEYID123456"] {
      device(
        "DVC-1", "a key id \"\(id)\"", block.setting("keyId", .string(id)),
        "config.device-check.key-id")
    }
    for id in ["", "ABCDE1234", "ABCDE123456"] {
      device(
        "DVC-1", "a team id \"\(id)\"", block.setting("teamId", .string(id)),
        "config.device-check.team-id")
    }
    config(
      "DVC-1", "deviceCheck: no team", [("apps", [app]), ("deviceCheck", block)],
      "config.device-check.team-id")
    config(
      "DVC-1", "deviceCheck: two teams",
      [
        (
          "apps",
          [
            app.appending("teamId", "ABCDE12345"),
            ["bundleId": "com.example.b", "appAppleId": 5, "teamId": "ZZZZZ99999"],
          ]
        ),
        ("deviceCheck", block),
      ], "config.device-check.team-id")
    let bad = "config.device-check.key"
    device("DVC-2", "no private key", block.removing("privateKey"))
    device("DVC-2", "neither key nor key id", ["teamId": "ABCDE12345"])
    device("DVC-2", "an empty private key", block.setting("privateKey", ""), bad)
    device("DVC-2", "a private key of junk", block.setting("privateKey", "-----BEGIN"), bad)
    device(
      "DVC-2", "a P-384 key",
      block.setting("privateKey", .string(utf8: try SigningKey.generate(.p384).pem())), bad)
    device(
      "DVC-2", "an RSA key",
      block.setting("privateKey", .string(utf8: try receipts.keys.leaf.pem())), bad)
    for value in ["production", "development"] {
      device("DVC-2", "environment \(value)", block.setting("environment", .string(value)))
    }
    device(
      "DVC-2", "another environment", block.setting("environment", "sandbox"),
      "config.document.range")
    let bits = "config.device-check.bits"
    device(
      "DVC-10", "two bits",
      block.setting(
        "bits",
        [
          "bit0": ["name": "promo-used", "resetAfterMonths": 12],
          "bit1": ["name": "abuse", "resetAfterMonths": 24],
        ]))
    device("DVC-10", "a bit that never ages", block.setting("bits", ["bit1": ["name": "x"]]))
    device(
      "DVC-10", "a third bit", block.setting("bits", ["bit2": ["name": "x"]]),
      "config.document.unknown-member")
    device("DVC-10", "a bit without a name", block.setting("bits", ["bit0": [:]]), bits)
    device(
      "DVC-10", "a bit with an empty name", block.setting("bits", ["bit0": ["name": ""]]), bits)
    device(
      "DVC-11", "a bit of 0 months",
      block.setting("bits", ["bit0": ["name": "x", "resetAfterMonths": 0]]), bits)
    device(
      "DVC-11", "a bit of a text of months",
      block.setting("bits", ["bit0": ["name": "x", "resetAfterMonths": "1"]]), bits)
  }

  /// Adds the block `risk`: rules and their verdicts (RSK-2, RSK-5).
  private func addRiskSettings() {
    func risk(_ name: String, _ block: JSONText, _ status: String = "ok", at: String? = nil) {
      config("RSK-2", "risk: \(name)", [("risk", block)], status, at: at)
    }
    risk("nothing", [:])
    risk("record", ["mode": "record"])
    risk("another mode", ["mode": "watch"], "config.document.range", at: "risk.mode")
    for rule in 11...33 {
      // These rules accept only `deny`: a request that they refuse must never pass.
      let isFirm = [12, 14, 15, 26, 29].contains(rule)
      for verdict in ["off", "allow", "limited", "step-up", "deny"] where isFirm {
        risk(
          "rule RSK-\(rule) \(verdict)",
          ["rules": .object([.init("RSK-\(rule)", .string(verdict))])],
          verdict == "deny" ? "ok" : "config.risk.rules",
          at: verdict == "deny" ? nil : "risk.rules.RSK-\(rule)")
      }
      if !isFirm { risk("rule RSK-\(rule) off", ["rules": .object([.init("RSK-\(rule)", "off")])]) }
    }
    for verdict in ["off", "allow", "limited", "step-up", "deny"] {
      risk("a rule that says \(verdict)", ["rules": ["RSK-16": .string(verdict)]])
    }
    for (name, rules) in [
      ("rule RSK-10", ["RSK-10": "deny"]), ("rule RSK-", ["RSK-": "deny"]),
      ("a rule in lower case", ["rsk-16": "deny"]), ("a rule without its number", ["RSK": "deny"]),
      ("another verdict", ["RSK-16": "refuse"]), ("a verdict in upper case", ["RSK-16": "Deny"]),
      ("a number as a verdict", ["RSK-16": 1]), ("a null as a verdict", ["RSK-16": .null]),
    ] as [(String, JSONText)] {
      risk(name, ["rules": rules], "config.risk.rules")
    }
    risk("a list of rules", ["rules": []], "config.risk.rules")
    for member in ["receiptThreshold", "limitedPerDay"] {
      for value: Int64 in [0, 1000] {
        risk("\(member) \(value)", .object([.init(member, .integer(value))]))
      }
      risk(
        "\(member) -1", .object([.init(member, -1)]), "config.document.range", at: "risk.\(member)")
    }
    risk("an unknown member", ["level": 1], "config.document.unknown-member", at: "risk.level")
  }
}
