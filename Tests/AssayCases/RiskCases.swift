import AssayAuthority

extension CaseFixture {
  /// Adds verifiers with risk rules or device bits of their own.
  func addRiskVerifiers(_ add: (String, [(String, JSONText)]) -> Void) {
    add("risk-record", [("risk", ["mode": "record"])])
    add(
      "risk-own",
      [
        (
          "risk",
          [
            "rules": [
              "RSK-16": "off", "RSK-18": "deny", "RSK-27": "limited", "RSK-11": "step-up",
            ],
            "receiptThreshold": 2, "limitedPerDay": 3,
          ]
        )
      ])
    add("device-check", [("deviceCheck", deviceCheckBlock)])
    add(
      "device-check-crossed",
      [
        (
          "deviceCheck",
          deviceCheckBlock.setting(
            "bits",
            ["bit0": ["name": "abuse"], "bit1": ["name": "promo-welcome", "resetAfterMonths": 3]])
        )
      ])
    add("device-check-unnamed", [("deviceCheck", deviceCheckBlock.removing("bits"))])
  }

  /// A block in which bit 0 is a used offer, for a year, and bit 1 abuse, for two years.
  var deviceCheckBlock: JSONText {
    [
      "teamId": "ABCDE12345", "keyId": "KEYID12345",
      "privateKey": .string(utf8: (try? authority.leafKey.pem()) ?? []),
      "bits": [
        "bit0": ["name": "promo-used", "resetAfterMonths": 12],
        "bit1": ["name": "abuse", "resetAfterMonths": 24],
      ],
    ]
  }

  /// Adds the risk of requests (docs/spec/device-check.md §4).
  func addRiskCases() {
    addRiskRules()
    addRiskOfSystems()
    addRiskConflicts()
    addRiskOfDevices()
    addRiskPolicies()
    addRiskInputs()
  }

  /// Adds an assessment; `reasons` are all rules that fire, in their order.
  private func risk(
    _ rule: String, _ name: String, _ observations: JSONText, verifier: String = "standard",
    _ verdict: String, _ reasons: [Int], facts: Facts = []
  ) {
    var expected: Facts = [("/kind", "risk"), ("/risk.verdict", .text(verdict))]
    for (place, number) in reasons.enumerated() {
      expected.append(("/risk.reasons.\(place)", .text("RSK-\(number)")))
    }
    expected.append(("/risk.reasons.\(reasons.count)", .null))
    request(
      rule, name, ["operation": "assess-risk", "observations": observations], verifier: verifier,
      verdict == "allow" ? "ok" : "rejected.risk." + verdict, facts: expected + facts)
  }

  func request(
    _ rule: String, _ name: String, _ request: JSONText, verifier: String = "standard",
    evidence: [EvidenceCase.Evidence] = [], now: Int64? = nil, _ status: String = "ok",
    at: String? = nil, facts: Facts = []
  ) {
    add(
      rule, "exchange: \(name)",
      .exchange(
        verifier: verifier, request: .bytes(request.bytes), evidence: evidence, now: now ?? self.now
      ), .init(status, at: at, facts: facts))
  }

  private static let requests = ["read", "free", "metered", "paid", "promo", "restore"]

  private func seen(_ request: String, _ attestation: String, _ more: JSONText = [:]) -> JSONText {
    let base: JSONText = ["request": .string(request), "attestation": .string(attestation)]
    return .object(base.members + more.members)
  }

  private static let phone: JSONText = ["platform": "ios", "osMajor": 18, "context": "app"]
  private static let mac: JSONText = ["platform": "macos", "osMajor": 15, "context": "app"]

  private static func joined(_ one: JSONText, _ other: JSONText) -> JSONText {
    .object(one.members + other.members)
  }

  /// Adds each rule without the others, for every kind of request.
  private func addRiskRules() {
    let allowance: Facts = [("/risk.allowance", 20)]
    for request in CaseFixture.requests {
      let promo = request == "promo"
      // RSK-20 fires beside every rule if an offer has no device bits.
      let clean: JSONText = promo ? ["deviceCheck": "no-bits"] : [:]
      func on(_ more: JSONText) -> JSONText { CaseFixture.joined(more, clean) }
      risk("RSK-11", "\(request), verified", seen(request, "verified", clean), "allow", [11])
      risk("RSK-12", "\(request), refused", seen(request, "refused", clean), "deny", [12])
      risk(
        "RSK-12", "\(request), refused on a Mac with a purchase",
        seen(request, "refused", on(CaseFixture.joined(CaseFixture.mac, ["purchase": "verified"]))),
        "deny", [12])
      for (name, history) in [
        ("account", ["accountHadKey": true]), ("device", ["deviceHadKey": true]),
      ] as [(String, JSONText)] {
        risk(
          "RSK-13", "\(request), absent, the \(name) had a key",
          seen(request, "absent", on(CaseFixture.joined(CaseFixture.phone, ["history": history]))),
          "step-up", [13])
      }
      risk(
        "RSK-16", "\(request), unsupported on a phone",
        seen(request, "unsupported", on(CaseFixture.phone)), promo ? "deny" : "limited", [16],
        facts: promo ? [] : allowance)
      risk(
        "RSK-18", "\(request), unsupported on a Mac",
        seen(request, "unsupported", on(CaseFixture.mac)), promo ? "step-up" : "limited", [18])
      if ["paid", "restore", "metered"].contains(request) {
        risk(
          "RSK-17", "\(request), unsupported on a Mac with a purchase",
          seen(
            request, "unsupported",
            on(CaseFixture.joined(CaseFixture.mac, ["purchase": "verified"]))),
          "allow", [17])
      } else {
        risk(
          "RSK-28", "\(request), unsupported on a Mac with a purchase",
          seen(
            request, "unsupported",
            on(CaseFixture.joined(CaseFixture.mac, ["purchase": "verified"]))),
          promo ? "limited" : "allow", [28])
      }
      for purchase in ["foreign", "refused"] {
        let denied = ["paid", "restore"].contains(request)
        risk(
          "RSK-15", "\(request), verified with a \(purchase) purchase",
          seen(request, "verified", on(["purchase": .string(purchase)])),
          denied ? "deny" : "allow", denied ? [11, 15] : [11])
      }
      for (metric, verdict) in [
        (10, "allow"), (11, "step-up"), (50, "step-up"), (51, promo ? "deny" : "step-up"),
      ] as [(Int64, String)] {
        risk(
          "RSK-21", "\(request), verified, metric \(metric)",
          seen(request, "verified", on(["receipt": ["risk": .integer(metric)]])), verdict,
          metric > 10 ? [11, 21] : [11])
      }
      let gentle = ["read", "free"].contains(request)
      risk(
        "RSK-22", "\(request), no Apple, a key of a month ago",
        seen(
          request, "temporarily-unavailable",
          on(["history": ["lastAttestedMs": .integer(now - 30 * Purchase.day)]])),
        gentle ? "allow" : "limited", [22])
      risk(
        "RSK-23", "\(request), no Apple, a key of long ago",
        seen(
          request, "temporarily-unavailable",
          on(["history": ["lastAttestedMs": .integer(now - 31 * Purchase.day)]])),
        "limited", [23])
      risk(
        "RSK-23", "\(request), no Apple, no history",
        seen(request, "temporarily-unavailable", clean), "limited", [23])
      risk(
        "RSK-27", "\(request), absent where the client sends",
        seen(request, "absent", on(["clientSends": true])), "step-up", [27])
      risk("RSK-28", "\(request), absent", seen(request, "absent", clean), "limited", [28])
      addRiskOfCustomers(request) { self.seen(request, "verified", on(["customer": $0])) }
    }
  }

  /// The signals of a customer about whom nothing is known.
  private static let customer: JSONText = [
    "accountsPerDownload": 5, "downloadCount": 1, "accountsPerToken": 1, "purchases": 4,
    "refunds": 2, "downloadPurchases": 7, "downloadRefunds": 3, "newKeys": 5, "activeKeys": 1,
    "deviceRisk": .null, "transfers": 2, "isRestricted": false,
  ]

  /// Adds the rules about a customer, each at its limit and one beyond (CUS-41).
  private func addRiskOfCustomers(_ request: String, _ seen: (JSONText) -> JSONText) {
    func of(_ changes: [(String, JSONText)]) -> JSONText {
      seen(CaseFixture.customer.setting(changes))
    }
    let gentle = ["read", "restore"].contains(request)
    let pays = ["paid", "promo"].contains(request)
    risk("CUS-41", "\(request), a customer at all limits", of([]), "allow", [11])
    risk(
      "RSK-29", "\(request), restricted", of([("isRestricted", true)]),
      gentle ? "limited" : "deny", [11, 29])
    risk(
      "RSK-30", "\(request), six accounts at a download", of([("accountsPerDownload", 6)]),
      request == "promo" ? "deny" : "limited", [11, 30])
    for (name, changes) in [
      ("half of the purchases refunded", [("purchases", 6), ("refunds", 3)]),
      ("half of the download's refunded", [("downloadPurchases", 6)]),
    ] as [(String, [(String, JSONText)])] {
      risk(
        "RSK-31", "\(request), \(name)", of(changes), pays ? "step-up" : "allow",
        pays ? [11, 31] : [11])
    }
    risk("RSK-32", "\(request), six new keys", of([("newKeys", 6)]), "step-up", [11, 32])
    let moves = request == "restore"
    risk(
      "RSK-33", "\(request), three transfers", of([("transfers", 3)]),
      moves ? "step-up" : "allow", moves ? [11, 33] : [11])
  }

  /// Adds systems with and without App Attest (§3), and requests without Apple's response.
  private func addRiskOfSystems() {
    for (platform, version, context, isExpected) in [
      ("ios", 14, "app", true), ("ios", 13, "app", false), ("ipados", 14, "app", true),
      ("ipados", 13, "app", false), ("tvos", 15, "app", true), ("tvos", 14, "app", false),
      ("watchos", 9, "app", true), ("watchos", 9, "watch-extension", true),
      ("watchos", 8, "watch-extension", false), ("visionos", 1, "app", true),
      ("macos", 15, "app", false), ("catalyst", 15, "app", false),
      ("ios-on-mac", 15, "app", false), ("ios", 18, "action-extension", false),
      ("ios", 18, "sso-extension", false), ("ios", 18, "other-extension", false),
    ] as [(String, Int64, String, Bool)] {
      let device: JSONText = [
        "platform": .string(platform), "osMajor": .integer(version), "context": .string(context),
      ]
      risk(
        isExpected ? "RSK-16" : "RSK-18", "unsupported on \(platform) \(version), \(context)",
        seen("paid", "unsupported", device), "limited", [isExpected ? 16 : 18])
      risk(
        "RSK-13", "unsupported on \(platform) \(version), \(context), the account had a key",
        seen(
          "paid", "unsupported", CaseFixture.joined(device, ["history": ["accountHadKey": true]])),
        isExpected ? "step-up" : "limited", isExpected ? [13, 16] : [18])
    }
    let recent: JSONText = [
      "errorCode": 4, "history": ["lastAttestedMs": .integer(now - Purchase.day)],
    ]
    risk("RSK-22", "absent by error code 4", seen("read", "absent", recent), "allow", [22])
    risk("RSK-22", "paid, absent by error code 4", seen("paid", "absent", recent), "limited", [22])
    risk(
      "RSK-23", "absent by error code 4, no history", seen("read", "absent", ["errorCode": 4]),
      "limited", [23])
    risk(
      "RSK-12", "refused, with error code 4", seen("read", "refused", recent), "deny", [12])
  }

  /// Adds several rules at once: the strictest verdict wins, and RSK-24 makes it one step stricter.
  private func addRiskConflicts() {
    func rates(_ now: String, _ base: String) -> JSONText {
      ["rates": ["unsupportedNow": .text(now), "unsupportedBase": .text(base)]]
    }
    func unsupported(_ request: String, _ platform: JSONText, _ more: JSONText) -> JSONText {
      seen(request, "unsupported", CaseFixture.joined(platform, more))
    }
    let jump = rates("0.2", "0.05")
    risk(
      "RSK-24", "a jump, on a phone", unsupported("paid", CaseFixture.phone, jump), "step-up",
      [16, 24])
    risk(
      "RSK-24", "a jump, on a Mac", unsupported("paid", CaseFixture.mac, jump), "step-up", [18, 24])
    risk(
      "RSK-24", "a jump, on a Mac with a purchase",
      unsupported("paid", CaseFixture.mac, CaseFixture.joined(jump, ["purchase": "verified"])),
      "limited", [17, 24])
    risk(
      "RSK-24", "three times as many",
      unsupported("paid", CaseFixture.phone, rates("0.15", "0.05")),
      "limited", [16])
    risk(
      "RSK-24", "a jump to one in twenty",
      unsupported("paid", CaseFixture.phone, rates("0.05", "0.001")), "limited", [16])
    risk(
      "RSK-24", "a jump to a little more",
      unsupported("paid", CaseFixture.phone, rates("0.0501", "0.001")), "step-up", [16, 24])
    risk(
      "RSK-24", "a jump does not concern what was verified", seen("paid", "verified", jump),
      "allow", [11])
    for number: Int64 in [0, 7, 8, 9] {
      risk(
        "RSK-26", "absent, category \(number)",
        seen("paid", "absent", ["category": .integer(number)]), "deny", [26])
    }
    for number: Int64 in [1, 4, 10] {
      risk(
        "RSK-26", "absent, category \(number)",
        seen("paid", "absent", ["category": .integer(number)]), "limited", [28])
    }
    risk(
      "RSK-26", "absent, category 2 where the store alone is accepted",
      seen("paid", "absent", ["category": 2]), verifier: "attest-store-alone", "deny", [26])
    risk(
      "RSK-2", "a metric and a foreign purchase",
      seen("paid", "verified", ["receipt": ["risk": 11], "purchase": "foreign"]), "deny",
      [11, 15, 21])
    risk(
      "RSK-13", "a Mac that had a key",
      seen(
        "paid", "unsupported",
        CaseFixture.joined(CaseFixture.mac, ["history": ["accountHadKey": true]])), "limited", [18])
  }

  /// Adds the two device bits (RSK-14, RSK-19, RSK-20).
  private func addRiskOfDevices() {
    func bits(_ bit0: Bool, _ bit1: Bool, months: Int64?) -> JSONText {
      let month = months.map { CaseFixture.month(now, before: $0) }
      return [
        "deviceCheck": [
          "outcome": "bits", "month": month.map { .string($0) } ?? .null,
          "bits": [
            "bit0": ["value": .boolean(bit0)], "bit1": ["value": .boolean(bit1)],
          ],
        ]
      ]
    }
    for request in CaseFixture.requests {
      let strict = ["paid", "promo", "metered"].contains(request)
      risk(
        "RSK-14", "\(request), verified, abuse",
        seen(request, "verified", bits(false, true, months: 1)),
        verifier: "device-check", strict ? "deny" : "limited", [11, 14])
      risk(
        "RSK-14", "\(request), verified, abuse of 25 months ago",
        seen(request, "verified", bits(false, true, months: 25)), verifier: "device-check",
        "allow", [11])
      risk(
        "RSK-19", "\(request), verified, an offer used",
        seen(request, "verified", bits(true, false, months: 12)), verifier: "device-check",
        request == "promo" ? "deny" : "allow", request == "promo" ? [11, 19] : [11])
    }
    risk(
      "RSK-19", "an offer used 13 months ago",
      seen("promo", "verified", bits(true, false, months: 13)), verifier: "device-check",
      "allow", [11])
    risk(
      "RSK-19", "an offer used, nobody knows when",
      seen("promo", "verified", bits(true, false, months: nil)), verifier: "device-check",
      "deny", [11, 19])
    risk(
      "RSK-19", "the bits the other way about",
      seen("promo", "verified", bits(true, false, months: 1)), verifier: "device-check-crossed",
      "deny", [11, 14])
    risk(
      "RSK-19", "the second bit for the offer",
      seen("promo", "verified", bits(false, true, months: 3)), verifier: "device-check-crossed",
      "deny", [11, 19])
    risk(
      "RSK-20", "an offer, Apple unavailable",
      seen(
        "promo", "unsupported", CaseFixture.joined(CaseFixture.mac, ["deviceCheck": "unavailable"])),
      verifier: "device-check", "step-up", [18, 20])
    for word in ["absent", "token-refused"] {
      risk(
        "RSK-20", "an offer, device bits \(word)",
        seen(
          "promo", "unsupported",
          CaseFixture.joined(CaseFixture.mac, ["deviceCheck": .string(word)])),
        verifier: "device-check", "deny", [18, 20])
    }
    risk(
      "RSK-20", "no offer, Apple unavailable",
      seen("paid", "verified", ["deviceCheck": "unavailable"]), verifier: "device-check",
      "allow", [11])
    risk(
      "RSK-20", "an offer, verified, Apple unavailable",
      seen("promo", "verified", ["deviceCheck": "unavailable"]), verifier: "device-check",
      "step-up", [11, 20], facts: [("/risk.retryAfterMs", 60_000)])
    risk(
      "RSK-20", "an offer, verified, device never written",
      seen("promo", "verified", ["deviceCheck": "no-bits"]), verifier: "device-check",
      "allow", [11])
    for word in ["absent", "token-refused"] {
      risk(
        "RSK-20", "an offer, verified, device bits \(word)",
        seen("promo", "verified", ["deviceCheck": .string(word)]), verifier: "device-check", "deny",
        [11, 20], facts: [("/risk.retryAfterMs", .null)])
    }
    risk(
      "RSK-20", "an offer, verified, nobody asks DeviceCheck",
      seen("promo", "verified"), "allow", [11])
  }

  /// Adds policies of the risk rules (RSK-2, RSK-5).
  private func addRiskPolicies() {
    let refused = seen("paid", "refused")
    risk(
      "RSK-5", "recorded, not enforced", refused, verifier: "risk-record", "allow", [12],
      facts: [("/risk.would", "deny")])
    risk(
      "RSK-2", "a rule that is off", seen("paid", "unsupported", CaseFixture.phone),
      verifier: "risk-own", "limited", [28], facts: [("/risk.allowance", 3)])
    risk(
      "RSK-2", "a rule with its own verdict", seen("paid", "unsupported", CaseFixture.mac),
      verifier: "risk-own", "deny", [18])
    risk(
      "RSK-2", "a gentler rule", seen("paid", "absent", ["clientSends": true]),
      verifier: "risk-own", "limited", [27])
    risk(
      "RSK-2", "a stricter rule", seen("paid", "verified"), verifier: "risk-own", "step-up", [11])
    risk(
      "RSK-21", "its own threshold",
      seen(
        "paid", "unsupported",
        CaseFixture.joined(CaseFixture.mac, ["receipt": ["risk": 3], "purchase": "verified"])),
      verifier: "risk-own", "step-up", [17, 21])
    risk(
      "RSK-3", "nothing but the client's word",
      seen(
        "paid", "unsupported",
        ["platform": "macos", "osMajor": 15, "context": "app", "errorCode": 1]), "limited", [18])
    for code in 0...4 {
      request(
        "RSK-3", "error code \(code)",
        [
          "operation": "assess-risk",
          "observations": seen("read", "verified", ["errorCode": .integer(Int64(code))]),
        ], facts: [("/risk.client.code", .integer(Int64(code)))])
    }
  }

  /// Adds refused observations (RSK-1).
  private func addRiskInputs() {
    func bad(_ name: String, _ observations: JSONText, at: String? = nil) {
      request(
        "RSK-1", name, ["operation": "assess-risk", "observations": observations],
        "malformed.risk.input", at: at)
    }
    let good = seen("paid", "verified")
    bad("no request", ["attestation": "verified"])
    bad("no attestation", ["request": "paid"])
    bad("an unknown request", seen("payed", "verified"))
    bad("a misspelt attestation", seen("paid", "unsuported"))
    bad("an attestation in upper case", seen("paid", "Verified"))
    bad("an unknown member", good.setting("trust", true))
    bad("an unknown platform", good.setting("platform", "android"))
    bad("an unknown context", good.setting("context", "widget"))
    bad("a system of text", good.setting("osMajor", "18"))
    bad("error code 5", good.setting("errorCode", 5))
    bad("a negative error code", good.setting("errorCode", -1))
    bad("an unknown purchase", good.setting("purchase", "yes"))
    bad("an unknown device answer", good.setting("deviceCheck", "clean"))
    bad("an unknown member of history", good.setting("history", ["accountHadKeys": true]))
    bad("a text in history", good.setting("history", ["accountHadKey": "true"]))
    bad("an unknown member of the receipt", good.setting("receipt", ["metric": 1]))
    bad("a text as the metric", good.setting("receipt", ["risk": "1"]))
    bad("category 11", good.setting("category", 11))
    bad("a share past 1", good.setting("rates", ["unsupportedNow": .text("1.5")]))
    bad("a negative share", good.setting("rates", ["unsupportedNow": .text("-0.1")]))
    bad("a text as a flag", good.setting("clientSends", "yes"))
    for signal in CaseFixture.customer.members where signal.name != "deviceRisk" {
      bad(
        "a customer without \(signal.name)",
        good.setting("customer", CaseFixture.customer.removing(signal.name)))
    }
    bad("an unknown signal", good.setting("customer", CaseFixture.customer.setting("keys30d", 1)))
    bad("a negative signal", good.setting("customer", CaseFixture.customer.setting("refunds", -1)))
    bad("a list of observations", [])
    bad("a text of observations", "paid")
    request(
      "RSK-1", "every member there is",
      [
        "operation": "assess-risk",
        "observations": [
          "request": "paid", "attestation": "verified", "errorCode": 2, "platform": "ipados",
          "osMajor": 27, "context": "app",
          "history": [
            "accountHadKey": true, "deviceHadKey": true, "accountAgeDays": 400,
            "lastAttestedMs": .integer(now - 5),
          ],
          "deviceCheck": "no-bits", "receipt": ["risk": 2, "ageMs": 1000, "expired": false],
          "category": 4, "clientSends": true, "purchase": "verified",
          "rates": ["unsupportedNow": 0, "unsupportedBase": 1, "accountsPerIpDay": 1],
          "customer": CaseFixture.customer.setting("deviceRisk", 1),
        ],
      ], facts: [("/risk.verdict", "allow")])
  }

  /// Returns the month this many months before an instant, such as "2026-05".
  static func month(_ ms: Int64, before months: Int64) -> String {
    let text = CertificateTime.readable(ms: ms)
    let year = Int64(text.prefix(4)) ?? 0
    let month = Int64(text.dropFirst(5).prefix(2)) ?? 1
    let count = year * 12 + month - 1 - months
    let digits = String(100 + count % 12 + 1).dropFirst()
    return "\(count / 12)-\(digits)"
  }
}
