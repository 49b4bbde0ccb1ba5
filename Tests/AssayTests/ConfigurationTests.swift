import AssayAuthority
import Testing

@testable import Assay

/// Tests CNF-1 … CNF-4, CFG-1 … CFG-4, and every member of docs/spec/configuration.md §1 to §3.
@Suite("Configuration")
struct ConfigurationTests {
  private static let minimal: JSONText = [
    "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]]
  ]
  /// A configuration to which every other member can be added.
  private static let sandbox: JSONText = [
    "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890]],
    "environments": ["Sandbox"], "plans": ["free", "pro"],
    "products": ["p": ["type": "consumable"]],
  ]

  private func make(_ config: JSONText) -> Document { Verifier.alone(config.bytes).document }

  private func expect(
    _ config: JSONText, _ status: String, at place: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let (verifier, document) = Verifier.alone(config.bytes)
    checkEqual(verifier != nil, (status == "ok"), sourceLocation: sourceLocation)
    checkEqual(
      document.name, status, "\(document.text("error.at") ?? "")", sourceLocation: sourceLocation)
    if let place {
      checkEqual(document.text("error.at"), place, sourceLocation: sourceLocation)
    }
    if status != "ok" {
      checkEqual(
        document.tree?.member("configuration")?.isNull, true, sourceLocation: sourceLocation)
      checkEqual(document.text("error.check"), "configuration", sourceLocation: sourceLocation)
    }
  }

  private func effective(_ document: Document) -> [UInt8] {
    Array(document.tree?.member("configuration")?.source ?? [])
  }

  // MARK: defaults

  @Test("CNF-1 the minimal configuration is filled in with every default")
  func defaults() {
    let expected = """
      {"apps":[{"bundleId":"com.example.app","appAppleId":1234567890,"teamId":null}],\
      "environments":["Production"],"products":{},"plans":["free"],"quotas":{},\
      "clockSkewMs":60000,"decision":{"accountToken":"when-given","sandbox":"below",\
      "gracePeriod":true,"billingRetry":"deny","renewalLeewayMs":0,"familySharing":"allow"},\
      "storekit":{"anchors":{"source":"built-in","sha256":\
      ["63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"]},\
      "x5cRoot":"must-match","missingEnvironment":"refuse","undatedNotifications":"now",\
      "nested":"verify","maxAgeMs":null,"xcodeCertificates":[],"ocspHosts":["ocsp.apple.com"],\
      "caps":{"jwsBytes":65536},"cache":{"chains":16}},"receipts":{"anchors":\
      {"source":"built-in","sha256":\
      ["b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024"]},\
      "intermediates":[\
      {"sha256":"447ad65484610f20fdc33804c8597a1e208fbe4ef9c5653485cc7d3df730c016",\
      "source":"shipped"},\
      {"sha256":"64b302913f11ca1b6806093b76cade7f7b123be0c04924fda87f5f4e8647f051",\
      "source":"shipped"},\
      {"sha256":"ce057691d730f89ca25e916f7335f4c8a15713dcd273a658c024023f8eb809c2",\
      "source":"shipped"},\
      {"sha256":"53fd008278e5a595fe1e908ae9c5e5675f26243264a5a6438c023e3ce2870760",\
      "source":"shipped"},\
      {"sha256":"0f570d7502373a2102e2106faaa8fa4844944a07ee676198484f4d6ce15bea47",\
      "source":"shipped"}],"version2":"accept","signedAfterPurchase":"accept",\
      "unknownEnvironment":"refuse","maxAgeMs":null,"deviceIds":"omit",\
      "sharedSecrets":{},"caps":{"inputBytes":3145728,"transactionReceiptBytes":16384,\
      "purchaseInfoBytes":8192,"appReceiptBytes":1048576,"purchases":8192}},\
      "attest":null,"deviceCheck":null,"tokens":[],"risk":{"mode":"enforce","rules":{},"receiptThreshold":10,\
      "limitedPerDay":20},"refunds":{"mode":"record","rules":{},"order":[],"deliverWithinMs":3600000,\
      "marginMs":1800000,"repeat":{"count":3,"percent":50},"samples":{},"outages":[],"late":"silent"},\
      "appStoreServerApi":null,"appleId":null,"session":null,"ledger":null}
      """
    checkEqual(String(decoding: effective(make(Self.minimal)), as: UTF8.self), expected)
  }

  @Test("CNF-1 empty blocks mean their defaults")
  func emptyBlocks() {
    let plain = effective(make(Self.minimal))
    let blocks = Self.minimal.setting([
      ("decision", [:]), ("storekit", [:]), ("storekit.caps", [:]), ("storekit.cache", [:]),
      ("products", [:]), ("quotas", [:]),
    ])
    checkEqual(effective(make(blocks)), plain)
  }

  // MARK: bounds

  @Test("CNF-1 every member is taken inside its bounds and refused just outside, with its path")
  func bounds() throws {
    let pin = String(repeating: "0a", count: 32)
    for (path, value, status) in [
      ("clockSkewMs", .text("1.5"), "config.document.range"),
      ("clockSkewMs", .text("9223372036854775808"), "config.document.range"),
      ("decision.accountToken", "Required", "config.document.range"),
      ("decision.billingRetry", "", "config.document.range"),
      ("storekit.maxAgeMs.renewal-info", 9_007_199_254_740_991, "ok"),
      ("storekit.maxAgeMs.app-transaction", -1, "config.document.range"),
      ("storekit.maxAgeMs.realtime-request", "1", "config.document.type"),
      ("storekit.xcodeCertificates", [], "ok"),
      ("storekit.xcodeCertificates", [.string(pin.uppercased())], "ok"),
      ("storekit.anchors", [], "config.certificates.root-set"),
      ("environments", [], "config.environments.mixed"), ("plans", [], "config.plans.form"),
      ("quotas.free.free", 0, "ok"), ("quotas.pro.x", 9_007_199_254_740_991, "ok"),
      ("quotas.free.free", -1, "config.quotas.form"), ("quotas.gold", [:], "config.quotas.form"),
      ("quotas.free.free", 9_007_199_254_740_992, "config.quotas.form"),
      ("quotas.free.free", "1", "config.quotas.form"),
      ("products.q.type", "subscription", "config.products.form"),
      ("products.p.plan", "gold", "config.products.form"), ("products.p.plan", "pro", "ok"),
      ("products.p.duration", "P1M", "ok"), ("products.p.duration", "1M", "config.products.form"),
      ("products.p.stack", true, "ok"), ("products.p.stack", 1, "config.document.type"),
      ("products.p.group", "g", "ok"), ("products.p", [], "config.document.type"),
    ] as [(String, JSONText, String)] {
      let config = Self.sandbox.setting(path, value)
      expect(config, status, at: status == "ok" ? nil : path)
    }
    let longTeam: JSONText = ["bundleId": "b", "appAppleId": 1, "teamId": "ABCDE123456"]
    expect(Self.minimal.setting("apps", [longTeam]), "config.apps.form", at: "apps[0].teamId")
  }

  @Test("CFG-4 up to 256 apps, each bundle id once, compared by bytes")
  func apps() {
    func config(_ count: Int) -> JSONText {
      Self.minimal.setting(
        "apps",
        .array((0..<count).map { ["bundleId": .string("app\($0)"), "appAppleId": .integer(1)] }))
    }
    expect(config(256), "ok")
    func two(_ left: String, _ right: String) -> JSONText {
      Self.minimal.setting(
        "apps",
        [
          ["bundleId": .string(left), "appAppleId": 1],
          ["bundleId": .string(right), "appAppleId": 2],
        ])
    }
    expect(two("caf\u{e9}", "cafe\u{301}"), "ok")
    expect(Self.minimal.setting("apps", [1]), "config.document.type", at: "apps[0]")
  }

  @Test("CNF-1 up to 32 plans and 4,096 products")
  func counts() {
    func plans(_ count: Int) -> JSONText {
      Self.minimal.setting("plans", .array((0..<count).map { .string("plan\($0)") }))
    }
    expect(plans(32), "ok")
    expect(plans(33), "config.plans.form", at: "plans")
    expect(Self.minimal.setting("plans", ["free", ""]), "config.plans.form", at: "plans[1]")
    expect(Self.minimal.setting("plans", ["free", "free"]), "config.plans.form", at: "plans[1]")
    expect(Self.minimal.setting("plans", ["free", 1]), "config.document.type", at: "plans[1]")
    func products(_ count: Int) -> JSONText {
      Self.minimal.setting(
        "products",
        .object((0..<count).map { .init("product\($0)", ["type": "consumable"]) }))
    }
    expect(products(4096), "ok")
    expect(products(4097), "config.products.form", at: "products")
  }

  @Test("CNF-1 the type is required, and a non-renewing product needs a duration")
  func products() {
    func product(_ value: JSONText) -> JSONText { Self.minimal.setting("products", ["p": value]) }
    expect(product([:]), "config.products.form", at: "products.p.type")
    expect(product(["type": 1]), "config.products.form", at: "products.p.type")
    expect(product(["type": "non-renewing"]), "config.products.form", at: "products.p.duration")
    for (duration, isGood) in [
      ("P1D", true), ("P90D", true), ("P2W", true), ("P12M", true), ("P9999Y", true),
      ("P0D", false), ("P01D", false), ("P-1D", false), ("P1H", false), ("PT1H", false),
      ("P1M1D", false), ("P10000D", false), ("P", false), ("PD", false), ("p1d", false),
      ("P1d", false), ("p1D", false), ("Q1D", false),
      ("P1.5D", false), ("P 1D", false), ("", false), ("P1D ", false),
    ] {
      expect(
        product(["type": "non-renewing", "duration": .string(duration)]),
        isGood ? "ok" : "config.products.form", at: isGood ? nil : "products.p.duration")
    }
  }

  // MARK: rules

  @Test("CNF-1 an unknown member of decide and of a product is refused with its path")
  func unknownMembers() {
    for path in ["decision.x", "products.p.x"] {
      expect(Self.sandbox.setting(path, 1), "config.document.unknown-member", at: path)
    }
  }

  @Test("CNF-1 what a plan limits has a name")
  func namelessLimit() {
    expect(
      Self.sandbox.setting("quotas.free", ["": 1]), "config.quotas.form", at: "quotas.free.")
  }

  @Test("CNF-1 a long name is shown by its first 64 bytes, no character cut")
  func longNames() {
    let unknown = "config.document.unknown-member"
    let ascii = String(repeating: "k", count: 64)
    expect(Self.minimal.setting(ascii, 1), unknown, at: ascii)
    expect(Self.minimal.setting(ascii + "l", 1), unknown, at: ascii + "…")
    let wide = String(repeating: "k", count: 62) + "é"
    expect(Self.minimal.setting(wide + "l", 1), unknown, at: wide + "…")
    let split = String(repeating: "k", count: 63)
    expect(Self.minimal.setting(split + "é", 1), unknown, at: split + "…")
    expect(
      Self.minimal.setting("decision", [split + "é": 1]), unknown, at: "decision." + split + "…")
  }

  @Test("CNF-2 null is not a value, for any member")
  func null() {
    for path in [
      "apps", "environments", "products", "plans", "quotas", "clockSkewMs", "decision", "storekit",
      "products.p", "products.p.plan", "products.p.type", "products.p.group", "products.p.duration",
      "products.p.stack", "quotas.free", "quotas.free.x", "decision.accountToken",
      "decision.gracePeriod", "decision.billingRetry", "decision.renewalLeewayMs",
      "decision.familySharing", "storekit.anchors", "storekit.x5cRoot",
      "storekit.missingEnvironment", "storekit.undatedNotifications", "storekit.nested",
      "storekit.maxAgeMs", "storekit.maxAgeMs.transaction",
      "storekit.xcodeCertificates", "storekit.caps", "storekit.caps.jwsBytes", "storekit.cache",
      "storekit.cache.chains",
    ] {
      let (verifier, document) = Verifier.alone(Self.sandbox.setting(path, .null).bytes)
      check(verifier == nil, "\(path)")
      checkEqual(document.status.family, .config, "\(path)")
      checkEqual(document.text("error.at"), path)
    }
    for name in ["bundleId", "appAppleId", "teamId"] {
      let app: JSONText = ["bundleId": "b", "appAppleId": 1, "teamId": "ABCDE12345"]
      let config = Self.sandbox.setting("apps", [app.setting(name, .null)])
      expect(config, "config.apps.form", at: "apps[0].\(name)")
    }
  }

  @Test("CNF-1 what the strict reader refuses is refused with its offset")
  func syntax() {
    for (text, place) in [
      ("", "byte 0"), ("{", "byte 1"), ("[]", "byte 0"), ("{\"apps\":[],\"apps\":[]}", "byte 11"),
      ("{}x", "byte 2"), ("{\"a\":\u{1}}", "byte 5"), ("\u{feff}{}", "byte 0"),
      ("{\"a\":01}", "byte 6"),
    ] {
      let document = Verifier.alone(utf8(text)).document
      checkEqual(document.status, .configDocumentSyntax, "\(text)")
      checkEqual(document.text("error.at"), place, "\(text)")
    }
  }

  @Test("CNF-1 a configuration of 1 MiB is read")
  func size() {
    let text = Self.minimal.bytes
    let padding = [UInt8](repeating: 0x20, count: 1 << 20 - text.count)
    check(Verifier.alone(text + padding).verifier != nil)
  }

  @Test("CFG-1 Production, which is the default, needs the Apple id of every app")
  func appleIds() {
    let apps: JSONText = [["bundleId": "a", "appAppleId": 1], ["bundleId": "b"]]
    expect(["apps": apps], "config.apps.app-apple-id-required", at: "apps[1].appAppleId")
  }

  @Test(
    "CFG-2 environments: known, each once, local ones not beside Production and only with a pin")
  func environments() {
    let pin = JSONText.string(String(repeating: "0a", count: 32))
    let pinned = Self.sandbox.setting("storekit.xcodeCertificates", [pin])
    expect(pinned.setting("environments", ["Xcode", "LocalTesting", "Sandbox"]), "ok")
    expect(
      pinned.setting("environments", ["Production", "Xcode"]), "config.environments.mixed",
      at: "environments")
    expect(
      Self.sandbox.setting("environments", ["Xcode"]),
      "config.storekit.xcode-certificate-required", at: "storekit.xcodeCertificates")
    for bad in ["production", "SANDBOX", "", "Sandbox "] {
      expect(
        pinned.setting("environments", ["Sandbox", .string(bad)]), "config.document.range",
        at: "environments[1]")
    }
    expect(pinned.setting("environments", [1]), "config.document.type", at: "environments[0]")
    for bad in [
      String(repeating: "0a", count: 31), String(repeating: "0a", count: 33), "xyz",
      String(repeating: "g", count: 64),
    ] {
      let (verifier, document) = Verifier.alone(
        pinned.setting("storekit.xcodeCertificates", [pin, .string(bad)]).bytes)
      check(verifier == nil)
      checkEqual(document.text("error.at"), "storekit.xcodeCertificates[1]")
    }
  }

  @Test("CFG-3 CER-2 an anchor that is no text, one of another key, and other spellings")
  func anchors() throws {
    let authority = try Minted.authority()
    func config(_ anchor: JSONText) -> JSONText {
      Self.minimal.setting("storekit.anchors", [anchor])
    }
    expect(config(1), "config.document.type", at: "storekit.anchors[0]")
    var template = authority.root
    template.publicKeyInfo = try SigningKey.generate(.p384).publicKeyInfo()
    let other = try template.signed(by: SigningKey.generate(.p384))
    check(Anchor(authority.chain.root, .elliptic) != nil)
    check(Anchor(other, .elliptic) == nil)
    for spelling in ["\n", " ", "="] {
      expect(
        config(.string(authority.anchor + spelling)), "config.certificates.root-set",
        at: "storekit.anchors[0]")
    }
  }

  @Test("CNF-4 certificates are parsed and never come back out")
  func nothingComesBack() throws {
    let document = Verifier.alone(try Minted.config().bytes).document
    let anchor = try Minted.authority().anchor
    let text = String(decoding: document.json, as: UTF8.self)
    check(!text.contains(anchor.prefix(40)))
    check(text.contains(Authority.fingerprint(try Minted.authority().chain.root)))
  }

  @Test("OCSP-1 other OCSP hosts only together with own anchors")
  func ocspHosts() throws {
    expect(
      Self.minimal.setting("storekit.ocspHosts", ["ocsp.example.com"]), "config.document.range",
      at: "storekit.ocspHosts")
    for (hosts, status) in [
      (["OCSP.example.com"], "config.document.range"), (["a b"], "config.document.range"),
      ([1], "config.document.type"),
    ] as [(JSONText, String)] {
      expect(try Minted.config([("storekit.ocspHosts", hosts)]), status)
    }
  }

  // MARK: the whole

  /// The example of docs/spec/configuration.md §12, without the blocks of other issues.
  static let full: JSONText = [
    "apps": [["bundleId": "com.example.app", "appAppleId": 1_234_567_890, "teamId": "ABCDE12345"]],
    "environments": ["Production", "Sandbox"],
    "products": [
      "com.example.app.standard.monthly": [
        "plan": "standard", "type": "auto-renewable", "group": "main",
      ],
      "com.example.app.premium.monthly": [
        "plan": "premium", "type": "auto-renewable", "group": "main",
      ],
      "com.example.app.season": [
        "plan": "standard", "type": "non-renewing", "duration": "P90D", "stack": true,
      ],
      "com.example.app.lifetime": ["plan": "premium", "type": "non-consumable"],
      "com.example.app.coins100": ["type": "consumable"],
    ],
    "plans": ["free", "standard", "premium"],
    "quotas": [
      "free": ["free": 99999, "premium": 0], "standard": ["free": 99999, "premium": 20],
      "premium": ["free": 99999, "premium": 50],
    ],
    "clockSkewMs": 60000,
    "decision": [
      "accountToken": "if-present", "sandbox": "equal", "gracePeriod": true, "billingRetry": "deny",
      "renewalLeewayMs": 0, "familySharing": "allow",
    ],
    "storekit": ["maxAgeMs": ["notification": 691_200_000, "realtime-request": 60000]],
  ]

  @Test("CNF-1 the full example is accepted, and every value of it is in the effective one")
  func fullExample() throws {
    let document = make(Self.full)
    checkEqual(document.status, .ok)
    let shown = try require(document.tree?.member("configuration"))
    let given = try JSONReader.readObject(Self.full.bytes).root
    checkEqual(missing(given, in: shown), [])
    checkEqual(
      shown.member("products")?.children.map(\.name), given.member("products")?.children.map(\.name)
    )
    let season = shown.member("products")?.children.first { $0.name == "com.example.app.season" }
    checkEqual(season?.string("group"), "com.example.app.season")
  }

  /// Returns the paths of members that `given` has and `shown` lacks or has with another value.
  private func missing(_ given: JSONValue, in shown: JSONValue, _ path: String = "") -> [String] {
    switch given.kind {
    case .object:
      return given.children.flatMap { member -> [String] in
        let place = path + "/" + member.name.string
        guard let other = shown.children.first(where: { $0.name == member.name }) else {
          return [place]
        }
        return missing(member, in: other, place)
      }
    case .array:
      guard given.count == shown.count else { return [path] }
      return zip(given.children, shown.children).flatMap { missing($0, in: $1, path + "[]") }
    default: return given.source == shown.source ? [] : [path]
    }
  }

  @Test("CNF-1 the effective configuration, read again, gives the same one")
  func readAgain() throws {
    let pin = JSONText.string(String(repeating: "0a", count: 32))
    for config in [
      Self.minimal, Self.full, try Minted.config(), try AttestFixture.config(),
      try AttestFixture.config([
        ("attest.appIds", ["ZZZZZ99999.a"]), ("attest.environments", ["development"]),
        ("attest.time", "stored"), ("attest.maxAgeMs", 1), ("attest.platform", "ios"),
        ("attest.category", ["accept": [4], "missing": "refuse"]),
        ("attest.bundleVersion", ["minimum": "1.2"]),
        ("attest.challenge", ["mode": "json", "path": "a.b", "encoding": "hex"]),
        ("attest.refreshEveryMs", 86_400_001),
      ]),
      try AttestFixture.config([
        ("attest.receipt", "ignore"), ("attest.challenge", ["mode": "whole"]),
      ]),
      try Minted.config(Minted.xcodeChanges()),
      Self.sandbox.setting([
        ("storekit.x5cRoot", "ignored"), ("storekit.nested", "omit"), ("clockSkewMs", 7),
        ("storekit.missingEnvironment", "from-transaction-id"), ("decision.billingRetry", "allow"),
        ("storekit.undatedNotifications", "nested"), ("storekit.caps.jwsBytes", 8192),
        ("storekit.cache.chains", 0), ("decision.accountToken", "required"),
        ("decision.gracePeriod", false), ("decision.renewalLeewayMs", 5),
        ("decision.familySharing", "deny"), ("storekit.xcodeCertificates", [pin]),
        ("environments", ["LocalTesting"]), ("receipts.version2", "refuse"),
        ("receipts.signedAfterPurchase", "refuse"), ("receipts.unknownEnvironment", "allow"),
        ("receipts.maxAgeMs", 9), ("receipts.deviceIds", "report"),
        ("receipts.caps.inputBytes", 100), ("receipts.caps.purchases", 32_768),
      ]),
    ] {
      let once = effective(make(config))
      // The effective configuration leaves out members without a value and certificates; OCSP hosts
      // are configured only beside certificates.
      var given = try JSONReader.readObject(once).root.asText.withoutNulls
        .removing("storekit.anchors").removing("storekit.ocspHosts")
        .removing("receipts.anchors").removing("receipts.intermediates")
        .removing("attest.anchors").removing("attest.receiptAnchors")
      if let anchors = config["storekit.anchors"] {
        given = given.setting("storekit.anchors", anchors)
      }
      for member in [
        "receipts.anchors", "receipts.intermediates", "attest.anchors", "attest.receiptAnchors",
      ] {
        if let certificates = config[member] { given = given.setting(member, certificates) }
      }
      checkEqual(effective(make(given)), once)
      check(!once.isEmpty)
    }
  }

  @Test("DCD-1 EXC-11 verifiers that trust the same share a fingerprint, others do not")
  func fingerprints() throws {
    let first = make(Self.full).configuration
    checkEqual(make(Self.full).configuration, first)
    checkEqual(first.count, 32)
    checkEqual(make(Self.full.setting("decision.gracePeriod", false)).configuration, first)
    for other in [Self.full.setting("clockSkewMs", 1), Self.minimal] {
      check(make(other).configuration != first)
    }
    let block = try require(Signing.blocks().first { $0.0 == "appStoreServerApi" })
    let accepting = Self.full.setting([block])
    checkEqual(make(accepting).configuration, first)
    let refusing = accepting.setting("appStoreServerApi.missingBundleId", "refuse")
    check(make(refusing).configuration != first)
  }
}

extension JSONValue {
  /// The value as a text that can be changed.
  var asText: JSONText {
    switch kind {
    case .object: return .object(children.map { .init($0.name.string, $0.asText) })
    case .array: return .array(children.map { $0.asText })
    case .null: return .null
    default: return .raw(kind == .string ? Array(quotedSource) : Array(source))
    }
  }
}

extension JSONText {
  var withoutNulls: JSONText {
    switch self {
    case .object(let members):
      return .object(
        members.compactMap {
          if case .null = $0.value { return nil }
          return .init($0.name, $0.value.withoutNulls)
        })
    case .array(let elements): return .array(elements.map { $0.withoutNulls })
    default: return self
    }
  }
}
