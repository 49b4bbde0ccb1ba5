import AssayAuthority
import Testing

@testable import Assay

/// Tests the exchange `assess-risk` beyond the case table (RSK-1 … RSK-33).
@Suite("Risk")
struct RiskTests {
  private static let day: Int64 = 86_400_000

  private func assess(
    _ observations: JSONText, _ changes: [(String, JSONText)] = [], now: Int64 = Exchanges.now
  ) throws -> Document {
    try Exchanges.run(
      ["operation": "assess-risk", "observations": observations], changes, now: now)
  }

  private func reasons(_ document: Document) -> [String] {
    document.tree?.at("risk")?.texts("reasons") ?? []
  }

  /// Expects a verdict with its reasons, and the matching status.
  private func expect(
    _ observations: JSONText, _ verdict: String, _ rules: [Int], now: Int64 = Exchanges.now,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try expect(observations, [], verdict, rules, now: now, sourceLocation: sourceLocation)
  }

  private func expect(
    _ observations: JSONText, _ changes: [(String, JSONText)], _ verdict: String, _ rules: [Int],
    now: Int64 = Exchanges.now, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let document = try assess(observations, changes, now: now)
    checkEqual(document.text("risk.verdict"), verdict, sourceLocation: sourceLocation)
    checkEqual(reasons(document), rules.map { "RSK-\($0)" }, sourceLocation: sourceLocation)
    checkEqual(
      document.name, (verdict == "allow" ? "ok" : "rejected.risk.\(verdict)"),
      sourceLocation: sourceLocation)
  }

  private func observed(
    _ request: String, _ attestation: String, _ more: [(String, JSONText)] = []
  ) -> JSONText {
    let base: JSONText = [
      "request": .string(request), "attestation": .string(attestation),
    ]
    return base.setting(more)
  }

  private func bits(_ bit0: Bool, _ bit1: Bool, _ month: String? = "2026-05") -> JSONText {
    [
      "outcome": "bits", "month": month.map { .string($0) } ?? .null,
      "bits": ["bit0": ["value": .boolean(bit0)], "bit1": ["value": .boolean(bit1)]],
    ]
  }

  private static let requests = ["read", "free", "metered", "paid", "promo", "restore"]
  private let clear: (String, JSONText) = ("deviceCheck", "no-bits")

  // MARK: rules

  @Test("RSK-11 what only unattested requests are asked for does not count", arguments: requests)
  func verified(request: String) throws {
    try expect(
      observed(
        request, "verified",
        [
          clear, ("history", ["accountHadKey": true]), ("category", 4), ("errorCode", 4),
          ("rates", ["accountsPerIpDay": 500, "unsupportedNow": 1, "unsupportedBase": 0]),
          ("clientSends", true), ("platform", "ios"),
        ]), "allow", [11])
    try expect(observed(request, "verified", [clear, ("category", 0)]), "deny", [11, 26])
  }

  @Test("RSK-13 one of the two had a key, neither had, and where nothing can attest")
  func downgrade() throws {
    for attestation in ["unsupported", "absent"] {
      try expect(
        observed(
          "read", attestation,
          [("history", ["accountHadKey": false, "deviceHadKey": true]), ("platform", "ios")]),
        "step-up", attestation == "unsupported" ? [13, 16] : [13])
      try expect(
        observed(
          "read", attestation,
          [("history", ["accountHadKey": false, "deviceHadKey": false]), ("platform", "ios")]),
        "limited", attestation == "unsupported" ? [16] : [28])
    }
    try expect(
      observed(
        "read", "absent", [("history", ["accountHadKey": true]), ("platform", "macos")]),
      "limited", [28])
    try expect(
      observed("read", "temporarily-unavailable", [("history", ["accountHadKey": true])]),
      "limited", [23])
  }

  @Test("RSK-14 the abuse bit of 24 months ago, of nobody knows when, and without a name")
  func abuse() throws {
    for request in Self.requests {
      let verdict = ["paid", "promo", "metered"].contains(request) ? "deny" : "limited"
      for month in ["2024-11", nil] as [String?] {
        try expect(
          observed(request, "verified", [("deviceCheck", bits(false, true, month))]), verdict,
          [11, 14])
      }
    }
    // Without a name the bit means nothing.
    try expect(
      observed("paid", "verified", [("deviceCheck", bits(false, true))]),
      [("deviceCheck.bits", ["bit0": ["name": "promo"]])], "allow", [11])
  }

  /// Platform, system version, context, whether support is expected there.
  private static let places: [(String?, Int64?, String?, Bool)] = [
    ("ios", 14, "app", true), ("ipados", 14, nil, true), ("ipados", 13, nil, false),
    ("watchos", 8, "app", false), ("macos", 27, "app", false),
    ("ios", 27, "other-extension", false),
    // An omitted value raises no trust.
    (nil, nil, nil, true), ("ios", nil, nil, true), (nil, 3, nil, true),
    ("macos", nil, nil, false), (nil, nil, "other-extension", false),
  ]

  @Test(
    "RSK-16 RSK-17 RSK-18 unsupported, where support is expected and where not",
    arguments: places)
  func unsupported(
    platform: String?, version: Int64?, context: String?, isExpected: Bool
  ) throws {
    for request in Self.requests {
      var more = [clear]
      if let platform { more.append(("platform", .string(platform))) }
      if let version { more.append(("osMajor", .integer(version))) }
      if let context { more.append(("context", .string(context))) }
      let isPromo = request == "promo"
      let bare = observed(request, "unsupported", more)
      let bought = bare.setting("purchase", "verified")
      if isExpected {
        try expect(bare, isPromo ? "deny" : "limited", [16])
        try expect(bought, isPromo ? "deny" : "limited", [16])
      } else {
        try expect(bare, isPromo ? "step-up" : "limited", [18])
        try expect(bare.setting("purchase", "none"), isPromo ? "step-up" : "limited", [18])
        if ["paid", "restore", "metered"].contains(request) {
          try expect(bought, "allow", [17])
        } else {
          try expect(bought, isPromo ? "limited" : "allow", [28])
        }
      }
    }
  }

  @Test("RSK-20 an offer is never given on a guess, and nothing else waits for DeviceCheck")
  func promoUnknown() throws {
    let mac: [(String, JSONText)] = [("platform", "macos")]
    try expect(observed("promo", "unsupported", mac + [("deviceCheck", .null)]), "deny", [18, 20])
    try expect(observed("promo", "absent"), "deny", [20])
    try expect(observed("promo", "absent", [("deviceCheck", bits(false, false))]), "limited", [28])
    for request in Self.requests where request != "promo" {
      let document = try assess(
        observed(request, "unsupported", mac + [("deviceCheck", "unavailable")]))
      checkEqual(reasons(document), ["RSK-18"])
      checkEqual(document.tree?.at("risk.retryAfterMs")?.isNull, true)
      try expect(observed(request, "verified", [("deviceCheck", "token-refused")]), "allow", [11])
    }
  }

  @Test("RSK-20 RSK-11 an offer waits whatever the attestation says: the device may be old")
  func promoUnknownOnVerified() throws {
    try expect(observed("promo", "verified"), "deny", [11, 20])
    try expect(observed("promo", "verified", [("deviceCheck", .null)]), "deny", [11, 20])
    try expect(observed("promo", "refused"), "deny", [12, 20])
    try expect(
      observed("promo", "temporarily-unavailable", [("deviceCheck", "unavailable")]), "step-up",
      [20, 23])
  }

  @Test("RSK-20 without the block DeviceCheck is not asked, and an offer does not wait for it")
  func promoWithoutBlock() throws {
    let verifier = try Minted.verifier([])
    for word: JSONText in ["unavailable", "absent", "token-refused", .null] {
      for (attestation, status, rule) in [
        ("verified", "ok", "RSK-11"), ("absent", "rejected.risk.limited", "RSK-28"),
        ("refused", "rejected.risk.deny", "RSK-12"),
      ] {
        let observations = observed("promo", attestation, [("deviceCheck", word)])
        let request: JSONText = ["operation": "assess-risk", "observations": observations]
        let document = verifier.startExchange(request.bytes, nowMs: Exchanges.now).document
        Exchanges.expect(document, status)
        checkEqual(reasons(document), [rule])
      }
    }
  }

  @Test("RSK-21 a threshold of one's own for the risk metric of the last receipt")
  func metric() throws {
    let threshold: [(String, JSONText)] = [("risk.receiptThreshold", 60)]
    try expect(
      observed("promo", "verified", [("receipt", ["risk": 60]), clear]), threshold, "allow", [11])
    try expect(
      observed("paid", "verified", [("receipt", ["risk": 61])]), threshold, "step-up", [11, 21])
    try expect(
      observed("paid", "verified", [("receipt", ["risk": 1])]), [("risk.receiptThreshold", 0)],
      "step-up", [11, 21])
  }

  @Test("RSK-22 RSK-23 attestation is unavailable for now", arguments: requests)
  func transient(request: String) throws {
    func history(_ age: Int64, _ more: [(String, JSONText)] = []) -> (String, JSONText) {
      let history: JSONText = ["lastAttestedMs": .integer(Exchanges.now - age)]
      return ("history", history.setting(more))
    }
    let mild = request == "read" || request == "free"
    for other in [
      history(30 * Self.day + 1), history(-1), history(0, [("accountHadKey", false)]),
      ("history", ["accountHadKey": true]),
    ] {
      try expect(observed(request, "temporarily-unavailable", [other, clear]), "limited", [23])
    }
    try expect(observed(request, "absent", [clear, ("errorCode", 3)]), "limited", [28])
    let document = try assess(
      observed(request, "temporarily-unavailable", [history(0), clear]))
    checkEqual(document.integer("risk.retryAfterMs"), (mild ? nil : 60_000))
    // Waiting does not help if another rule is stricter.
    let stricter = try assess(
      observed(request, "temporarily-unavailable", [history(0), clear, ("category", 0)]))
    checkEqual(stricter.text("risk.verdict"), "deny")
    checkEqual(stricter.tree?.at("risk.retryAfterMs")?.isNull, true)
  }

  @Test("RSK-24 a jump in unsupported makes unsupported claims one step stricter")
  func wave() throws {
    func rates(_ now: String, _ base: String) -> (String, JSONText) {
      ("rates", ["unsupportedNow": .text(now), "unsupportedBase": .text(base)])
    }
    let mac: [(String, JSONText)] = [("platform", "macos"), clear]
    try expect(observed("read", "unsupported", mac + [rates("0.3", "0.1")]), "limited", [18])
    try expect(
      observed("read", "unsupported", mac + [rates("0.300000000001", "0.1")]), "step-up",
      [18, 24])
    try expect(observed("read", "unsupported", mac + [rates("0.05", "0")]), "limited", [18])
    try expect(
      observed("read", "unsupported", mac + [rates("51e-3", "0")]), "step-up", [18, 24])
    try expect(
      observed("promo", "unsupported", mac + [rates("1", "0")]), "deny", [18, 24])
    try expect(
      observed("promo", "unsupported", [clear, rates("1", "0")]), "deny", [16, 24])
    // If no other rule fires, the default becomes stricter.
    try expect(
      observed("promo", "unsupported", mac + [rates("1", "0"), ("purchase", "verified")]),
      "step-up", [24, 28])
    try expect(
      observed("read", "unsupported", mac + [rates("1", "0"), ("purchase", "verified")]),
      "limited", [24, 28])
    for other: JSONText in [["unsupportedNow": 1], ["unsupportedBase": 0]] {
      try expect(observed("read", "unsupported", mac + [("rates", other)]), "limited", [18])
    }
    for attestation in ["absent", "temporarily-unavailable"] {
      let document = try assess(observed("read", attestation, [clear, rates("1", "0")]))
      check(!reasons(document).contains("RSK-24"))
    }
  }

  @Test("RSK-25 RSK-26 RSK-27 addresses, categories, silent clients")
  func others() throws {
    let recent: (String, JSONText) = (
      "history", ["lastAttestedMs": .integer(Exchanges.now)]
    )
    try expect(
      observed(
        "read", "temporarily-unavailable", [recent, ("rates", ["accountsPerIpDay": 101])]),
      "limited", [22, 25])
    try expect(
      observed(
        "read", "temporarily-unavailable", [recent, ("rates", ["accountsPerIpDay": 100])]),
      "allow", [22])
    let few: [(String, JSONText)] = [("ledger", ["engine": "sqlite", "signup": ["limit": 7]])]
    for (accounts, rules) in [(7, [22]), (8, [22, 25])] as [(Int64, [Int])] {
      try expect(
        observed(
          "read", "temporarily-unavailable",
          [recent, ("rates", ["accountsPerIpDay": .integer(accounts)])]), few,
        accounts > 7 ? "limited" : "allow", rules)
    }
    for category: Int64 in [2, 3, 5, 6] {
      try expect(
        observed("read", "temporarily-unavailable", [recent, ("category", .integer(category))]),
        "allow", [22])
    }
    let strict: [(String, JSONText)] = [
      ("attest", ["appIds": ["ABCDE12345.com.example.app"], "category": ["accept": [4]]])
    ]
    try expect(
      observed("read", "temporarily-unavailable", [recent, ("category", 4)]), strict, "allow",
      [22])
    try expect(observed("read", "absent", [("clientSends", false)]), "limited", [28])
    try expect(
      observed("read", "absent", [("clientSends", true), ("errorCode", 1)]), "limited", [28])
    try expect(
      observed("read", "unsupported", [("clientSends", true), ("platform", "macos")]), "limited",
      [18])
  }

  @Test("RSK-28 when no rule fires the request is limited", arguments: requests)
  func otherwise(request: String) throws {
    try expect(
      observed(request, "absent", [clear]), [("risk.rules", ["RSK-28": "off"])], "limited", [])
    let isMild = request == "read" || request == "free"
    try expect(
      observed(request, "absent", [clear, ("purchase", "verified")]),
      isMild ? "allow" : "limited", [28])
    for purchase: JSONText in ["none", "foreign", "refused", .null] where isMild {
      try expect(observed(request, "absent", [("purchase", purchase)]), "limited", [28])
    }
    // Missing information is no reason to allow, and neither is a purchase.
    try expect(
      observed(request, "absent", [clear, ("purchase", "verified")]),
      [("risk.rules", ["RSK-28": "off"])], "limited", [])
  }

  /// Returns the member `customer`, harmless but for one signal.
  private func customer(_ signal: String, _ value: JSONText) -> (String, JSONText) {
    let harmless: JSONText = [
      "accountsPerDownload": 1, "downloadCount": 1, "accountsPerToken": 1, "purchases": 4,
      "refunds": 0, "downloadPurchases": 4, "downloadRefunds": 0, "newKeys": 0, "activeKeys": 1,
      "deviceRisk": .null, "transfers": 0, "isRestricted": false,
    ]
    return ("customer", harmless.setting(signal, value))
  }

  // MARK: rules as data

  @Test("RSK-2 every rule can be switched off or given another verdict", arguments: 11...33)
  func changes(rule: Int) throws {
    let day = Self.day
    let firing: [Int: JSONText] = [
      11: observed("read", "verified"), 12: observed("read", "refused"),
      13: observed("read", "absent", [("history", ["accountHadKey": true])]),
      14: observed("read", "absent", [("deviceCheck", bits(false, true))]),
      15: observed("paid", "absent", [("purchase", "foreign")]),
      16: observed("read", "unsupported"),
      17: observed("paid", "unsupported", [("purchase", "verified"), ("platform", "macos")]),
      18: observed("paid", "unsupported", [("platform", "macos")]),
      19: observed("promo", "absent", [("deviceCheck", bits(true, false))]),
      20: observed("promo", "absent"), 21: observed("read", "absent", [("receipt", ["risk": 11])]),
      22: observed(
        "read", "temporarily-unavailable",
        [("history", ["lastAttestedMs": .integer(Exchanges.now - day)])]),
      23: observed("read", "temporarily-unavailable"),
      24: observed(
        "read", "unsupported", [("rates", ["unsupportedNow": 1, "unsupportedBase": 0])]),
      25: observed("read", "absent", [("rates", ["accountsPerIpDay": 101])]),
      26: observed("read", "absent", [("category", 7)]),
      27: observed("read", "absent", [("clientSends", true)]), 28: observed("read", "absent"),
      29: observed("read", "verified", [customer("isRestricted", true)]),
      30: observed("read", "verified", [customer("accountsPerDownload", 6)]),
      31: observed("paid", "verified", [customer("refunds", 4)]),
      32: observed("read", "verified", [customer("newKeys", 6)]),
      33: observed("restore", "verified", [customer("transfers", 3)]),
    ]
    let observations = try require(firing[rule])
    check(reasons(try assess(observations)).contains("RSK-\(rule)"))
    func changed(_ verdict: String) throws -> Document {
      try assess(
        observations, [("risk", ["rules": .object([.init("RSK-\(rule)", .string(verdict))])])])
    }
    let isFirm = [12, 14, 15, 26, 29].contains(rule)
    if !isFirm { check(!reasons(try changed("off")).contains("RSK-\(rule)")) }
    for verdict in isFirm ? ["deny"] : ["allow", "limited", "step-up", "deny"] {
      let document = try changed(verdict)
      let entry = document.tree?.at("risk.rules")?.children.first {
        $0.string("id") == "RSK-\(rule)"
      }
      checkEqual(entry?.string("verdict"), verdict)
    }
    try checkEqual(changed("deny").name, "rejected.risk.deny")
    try check(changed("deny").text("configuration") == nil)
  }

  @Test("RSK-2 the strictest verdict wins")
  func strictest() throws {
    let observations = observed(
      "read", "absent",
      [
        ("receipt", ["risk": 11]), ("rates", ["accountsPerIpDay": 101]), ("clientSends", true),
      ])
    let order = ["allow", "limited", "step-up", "deny"]
    for first in 0..<4 {
      for second in 0..<4 {
        let rules: JSONText = [
          "RSK-21": .string(order[first]), "RSK-25": .string(order[second]), "RSK-27": "allow",
        ]
        try expect(
          observations, [("risk", ["rules": rules])], order[max(first, second)], [21, 25, 27])
      }
    }
  }

  // MARK: document

  @Test("RSK-2 the document explains itself")
  func document() throws {
    let document = try assess(observed("paid", "unsupported", [("platform", "ios")]))
    checkEqual(
      Text(Array(document.tree?.at("risk")?.source ?? [])),
      """
      {"verdict":"limited","would":null,"reasons":["RSK-16"],"rules":[{"id":"RSK-16",\
      "verdict":"limited","reason":"unsupported is claimed where support is expected"}],\
      "allowance":20,"retryAfterMs":null,"client":null}
      """)
    checkEqual(document.text("kind"), "risk")
    checkEqual(document.text("checks.0.id"), "risk.input")
    checkEqual(document.flag("checks.0.ok"), true)
    checkEqual(document.flag("checks.1.ok"), false)
    checkEqual(document.text("error.check"), "risk.verdict")
    checkEqual(document.text("error.rule"), "RSK-2")
    check(document.evidence == nil)
    let allowed = try assess(observed("paid", "verified"))
    checkEqual(allowed.flag("ok"), true)
    checkEqual(allowed.flag("checks.1.ok"), true)
    checkEqual(allowed.tree?.at("risk.allowance")?.isNull, true)
    let more = try assess(observed("paid", "absent"), [("risk.limitedPerDay", 7)])
    checkEqual(more.integer("risk.allowance"), 7)
    let denied = try assess(observed("paid", "refused"))
    checkEqual(denied.tree?.at("risk.allowance")?.isNull, true)
    for rule in RiskRule.allCases {
      checkEqual("\(rule.id)", "RSK-\(rule.rawValue)")
      check(rule.reason.utf8CodeUnitCount > 10)
    }
  }

  @Test("RSK-5 in record mode the verdict is allow, and the real one is beside it")
  func record() throws {
    let record: [(String, JSONText)] = [("risk.mode", "record")]
    for (attestation, would) in [
      ("refused", "deny"), ("absent", "limited"), ("verified", "allow"),
    ] {
      let document = try assess(observed("paid", attestation), record)
      Exchanges.expect(document, "ok")
      checkEqual(document.text("risk.verdict"), "allow")
      checkEqual(document.text("risk.would"), would)
      checkEqual(document.tree?.at("risk.allowance")?.isNull, true)
      check(!reasons(document).isEmpty)
    }
    let unreadable = try assess(["request": "paid"], record)
    Exchanges.expect(unreadable, "malformed.risk.input")
  }

  @Test(
    "what a server does about each error of the client", arguments: DeviceCheckClientError.allCases)
  func clientErrors(error: DeviceCheckClientError) throws {
    let names = [
      "unknownSystemFailure", "featureUnsupported", "invalidInput", "invalidKey",
      "serverUnavailable",
    ]
    let document = try assess(
      observed("read", "unsupported", [("errorCode", .integer(error.rawValue))]))
    checkEqual(document.integer("risk.client.code"), error.rawValue)
    checkEqual(document.text("risk.client.name"), names[Int(error.rawValue)])
    for member in ["app", "action", "text"] {
      check((document.text("risk.client." + member)?.count ?? 0) > 20)
    }
    // A code never raises trust.
    let without = try assess(observed("read", "unsupported"))
    if error != .serverUnavailable {
      checkEqual(without.text("risk.verdict"), document.text("risk.verdict"))
      checkEqual(reasons(without), reasons(document))
    }
  }

  // MARK: input

  @Test(
    "RSK-1 an unknown member or value is refused with its place",
    arguments: [
      ("request", "buy", "request"), ("request", .null, "request"), ("request", 1, "request"),
      ("attestation", "unsuported", "attestation"), ("attestation", .null, "attestation"),
      ("attested", "verified", "attested"), ("errorCode", 5, "errorCode"),
      ("errorCode", -1, "errorCode"), ("errorCode", "1", "errorCode"),
      ("platform", "iOS", "platform"), ("osMajor", -1, "osMajor"), ("osMajor", "27", "osMajor"),
      ("context", "extension", "context"), ("history", "none", "history"),
      ("history", ["accountHadKeys": true], "history.accountHadKeys"),
      ("history", ["accountHadKey": 1], "history.accountHadKey"),
      ("history", ["deviceHadKey": "no"], "history.deviceHadKey"),
      ("history", ["accountAgeDays": -1], "history.accountAgeDays"),
      ("history", ["lastAttestedMs": -1], "history.lastAttestedMs"),
      ("receipt", ["metric": 3], "receipt.metric"), ("receipt", ["risk": -1], "receipt.risk"),
      ("receipt", ["ageMs": -1], "receipt.ageMs"), ("receipt", ["expired": 0], "receipt.expired"),
      ("receipt", 3, "receipt"), ("category", 11, "category"), ("category", -1, "category"),
      ("clientSends", "true", "clientSends"), ("purchase", "yes", "purchase"),
      ("rates", 1, "rates"), ("rates", ["unsupported": 0], "rates.unsupported"),
      ("rates", ["unsupportedNow": .text("1.0001")], "rates.unsupportedNow"),
      ("rates", ["unsupportedNow": "0.5"], "rates.unsupportedNow"),
      ("rates", ["unsupportedBase": -1], "rates.unsupportedBase"),
      ("rates", ["accountsPerIpDay": -1], "rates.accountsPerIpDay"),
    ] as [(String, JSONText, String)])
  func malformed(name: String, value: JSONText, place: String) throws {
    let document = try assess(observed("read", "unsupported").setting(name, value))
    Exchanges.expect(
      document, "malformed.risk.input", at: "observations." + place, rule: "RSK-1")
    checkEqual(document.text("kind"), "risk")
    checkEqual(document.text("error.check"), "risk.input")
    checkEqual(document.tree?.member("risk")?.isNull, true)
  }

  @Test("RSK-1 request and attestation are required")
  func required() throws {
    for name in ["request", "attestation"] {
      Exchanges.expect(
        try assess(observed("read", "verified").removing(name)), "malformed.risk.input",
        at: "observations." + name)
    }
    Exchanges.expect(try assess("x"), "malformed.risk.input", at: "observations")
    // Other members may be null, as documents have absent facts.
    let nulls = [
      "errorCode", "platform", "osMajor", "context", "history", "deviceCheck", "receipt",
      "category", "clientSends", "purchase", "rates",
    ]
    let document = try assess(observed("read", "absent", nulls.map { ($0, .null) }))
    checkEqual(document.json, (try assess(observed("read", "absent"))).json)
    let inner = observed(
      "read", "absent",
      [
        (
          "history",
          [
            "accountHadKey": .null, "deviceHadKey": .null, "accountAgeDays": .null,
            "lastAttestedMs": .null,
          ]
        ), ("receipt", ["risk": .null, "ageMs": .null, "expired": .null]),
        ("rates", ["unsupportedNow": .null, "unsupportedBase": .null, "accountsPerIpDay": .null]),
      ])
    try checkEqual(assess(inner).json, document.json)
  }

  private static let bothSet: JSONText = ["bit0": ["value": true], "bit1": ["value": true]]

  @Test(
    "RSK-1 DVC-10 the observation of DeviceCheck",
    arguments: [
      ("clean", "deviceCheck"), ("bits", "deviceCheck"), (1, "deviceCheck"),
      (["month": "2026-05"], "deviceCheck.outcome"),
      (["outcome": "updated"], "deviceCheck.outcome"),
      (["outcome": "bits"], "deviceCheck.bits"),
      (["outcome": "bits", "bits": .null], "deviceCheck.bits"),
      (["outcome": "bits", "bits": ["bit0": ["value": true]]], "deviceCheck.bits.bit1.value"),
      (["outcome": "bits", "bits": ["bit1": ["value": true]]], "deviceCheck.bits.bit0.value"),
      (
        ["outcome": "bits", "bits": ["bit0": ["set": true], "bit1": ["value": true]]],
        "deviceCheck.bits.bit0.value"
      ),
      (
        ["outcome": "bits", "bits": ["bit0": ["value": 1], "bit1": ["value": true]]],
        "deviceCheck.bits.bit0.value"
      ),
      (
        ["outcome": "bits", "bits": ["bit0": ["value": true, "x": 1], "bit1": ["value": true]]],
        "deviceCheck.bits.bit0.x"
      ),
      (["outcome": "no-bits", "bit0": true], "deviceCheck.bit0"),
      (["outcome": "no-bits", "fault": "ours!"], "deviceCheck.fault"),
      (["outcome": "no-bits", "offer": 7], "deviceCheck.offer"),
      (["outcome": "unavailable", "month": "2026-05"], "deviceCheck.month"),
      (["outcome": "no-bits", "ageMonths": 1], "deviceCheck.ageMonths"),
      (
        ["outcome": "no-bits", "bits": ["bit0": ["value": true], "bit1": ["value": true]]],
        "deviceCheck.bits"
      ),
      (
        ["outcome": "bits", "ageMonths": 30, "bits": Self.bothSet], "deviceCheck.ageMonths"
      ),
      (
        ["outcome": "bits", "month": "2026-05", "ageMonths": "x", "bits": Self.bothSet],
        "deviceCheck.ageMonths"
      ),
      (
        [
          "outcome": "bits",
          "bits": ["bit0": ["value": false, "set": true], "bit1": ["value": true]],
        ], "deviceCheck.bits.bit0.set"
      ),
      (
        [
          "outcome": "bits",
          "bits": ["bit0": ["value": true, "set": 1], "bit1": ["value": true]],
        ], "deviceCheck.bits.bit0.set"
      ),
      (
        [
          "outcome": "bits",
          "bits": ["bit0": ["value": true], "bit1": ["value": true, "aged": 0]],
        ], "deviceCheck.bits.bit1.aged"
      ),
      (
        [
          "outcome": "bits", "month": "2026-13",
          "bits": ["bit0": ["value": true], "bit1": ["value": true]],
        ], "deviceCheck.month"
      ),
      (
        [
          "outcome": "bits",
          "bits": ["bit0": ["name": "trial", "value": true], "bit1": ["value": true]],
        ], "deviceCheck.bits.bit0.name"
      ),
    ] as [(JSONText, String)])
  func deviceCheckForms(value: JSONText, place: String) throws {
    Exchanges.expect(
      try assess(observed("promo", "verified", [("deviceCheck", value)])), "malformed.risk.input",
      at: "observations." + place, rule: "RSK-1")
  }

  @Test("DVC-8 the result of read-device-check-response is an observation as it is")
  func handedOver() throws {
    func result(_ status: Int64, _ body: String) throws -> JSONText {
      let document = try Exchanges.run([
        "operation": "read-device-check-response", "call": "query", "status": .integer(status),
        "body": ["text": .string(body)],
      ])
      return .raw(Array(try require(document.tree?.at("exchange.deviceCheck")).source))
    }
    let cases: [(Int64, String, String, [Int])] = [
      (200, #"{"bit0":true,"bit1":false,"last_update_time":"2026-05"}"#, "deny", [11, 19]),
      (200, #"{"bit0":true,"bit1":true}"#, "deny", [11, 14, 19]),
      (200, #"{"bit0":true,"bit1":false,"last_update_time":"2025-01"}"#, "allow", [11]),
      (200, #"{"bit0":false,"bit1":false}"#, "allow", [11]),
      (200, "bit state not found", "allow", [11]),
    ]
    for (status, body, verdict, rules) in cases {
      try expect(
        observed("promo", "verified", [("deviceCheck", try result(status, body))]), verdict, rules)
    }
    try expect(
      observed("promo", "absent", [("deviceCheck", try result(503, ""))]), "step-up", [20])
    try expect(
      observed(
        "promo", "absent", [("deviceCheck", try result(401, "invalid authorization token"))]),
      "step-up", [20])
    try expect(
      observed("promo", "absent", [("deviceCheck", try result(400, "bad device token"))]), "deny",
      [20])
    // Ages are computed again, whatever the observation contains.
    let old = try result(200, #"{"bit0":true,"bit1":false,"last_update_time":"2026-05"}"#)
    try expect(
      observed("promo", "verified", [("deviceCheck", old)]), "allow", [11],
      now: Exchanges.now + 400 * Self.day)
  }

  @Test("DVC-10 bits that no name explains are warned of where an offer depends on them")
  func warning() throws {
    let bits: [(String, JSONText)] = [("deviceCheck", self.bits(true, true))]
    let unnamed: [(String, JSONText)] = [("deviceCheck.bits", ["bit0": ["name": "trial"]])]
    let document = try assess(observed("promo", "verified", bits), unnamed)
    checkEqual(document.text("warnings.0.id"), "promo-bit-not-configured")
    checkEqual(document.text("warnings.0.at"), "observations.deviceCheck")
    checkEqual(document.text("risk.verdict"), "allow")
    let refused = try assess(observed("promo", "refused", bits), unnamed)
    checkEqual(refused.text("warnings.0.id"), "promo-bit-not-configured")
    for other in [
      try assess(observed("promo", "verified", bits)),
      try assess(observed("paid", "verified", bits), unnamed),
      try assess(observed("promo", "verified", [("deviceCheck", "no-bits")]), unnamed),
    ] {
      check(other.text("warnings.0.id") == nil)
    }
  }

  // MARK: configuration

  @Test("RSK-2 the effective configuration has the block with its defaults")
  func effective() throws {
    func risk(_ changes: [(String, JSONText)]) throws -> Text {
      let document = Verifier.alone(try Minted.config(changes).bytes).document
      return Text(Array(document.tree?.at("configuration.risk")?.source ?? []))
    }
    try checkEqual(
      risk([]),
      """
      {"mode":"enforce","rules":{},"receiptThreshold":10,"limitedPerDay":20}
      """)
    let full: JSONText = [
      "mode": "record", "rules": ["RSK-28": "deny", "RSK-11": "off", "RSK-16": "step-up"],
      "receiptThreshold": 0, "limitedPerDay": 9_007_199_254_740_991,
    ]
    try checkEqual(
      risk([("risk", full)]),
      """
      {"mode":"record","rules":{"RSK-11":"off","RSK-16":"step-up","RSK-28":"deny"},\
      "receiptThreshold":0,"limitedPerDay":9007199254740991}
      """)
  }

  @Test(
    "RSK-2 CNF-1 what the block may hold",
    arguments: [
      ("risk", 1, "config.document.type", "risk"),
      ("risk.rules", ["RSK-10": "off"], "config.risk.rules", "risk.rules.RSK-10"),
      ("risk.rules", ["RSK-16": "denied"], "config.risk.rules", "risk.rules.RSK-16"),
      ("risk.rules", [], "config.risk.rules", "risk.rules"),
      (
        "risk.rules", ["RSK-26": "deny", "RSK-15": "step-up"], "config.risk.rules",
        "risk.rules.RSK-15"
      ),
    ] as [(String, JSONText, String, String)])
  func block(name: String, value: JSONText, status: String, place: String) throws {
    let (verifier, document) = Verifier.alone(try Minted.config([(name, value)]).bytes)
    check(verifier == nil)
    Exchanges.expect(document, status, at: place)
  }
}
