import AssayAuthority

/// Where the cases are made: one authority, one instant, and the verifiers.
final class CaseBench {
  let now: Int64
  let authority: Authority
  let receipts: ReceiptAuthority
  let attest: AttestAuthority
  let tokens: TokenAuthority
  /// A device whose keys are attested in these cases.
  let device: AttestedDevice
  /// A good subscription in Sandbox.
  let purchase: Purchase
  var verifiers: [(name: String, config: JSONText)] = []
  var cases: [EvidenceCase] = []

  init(now: Int64) throws {
    self.now = now
    authority = try Authority(now: now)
    receipts = try ReceiptAuthority()
    attest = try AttestAuthority(now: now)
    tokens = try TokenAuthority(now: now)
    device = try AttestedDevice(
      key: try .generate(.p256), appId: "ABCDE12345.com.example.app")
    purchase = Purchase(now: now)
    addVerifiers()
  }

  /// A good subscription in Production.
  var production: Purchase {
    purchase.with {
      $0.environment = "Production"
      $0.transactionId = "180000900000001"
      $0.originalTransactionId = "180000900000001"
    }
  }

  /// Two apps, both environments of the App Store, its own root.
  var standardConfig: JSONText {
    [
      "apps": [
        ["bundleId": "com.example.app", "appAppleId": 1_234_567_890],
        ["bundleId": "com.example.second", "appAppleId": 1_234_567_891],
      ],
      "environments": ["Production", "Sandbox"],
      "plans": ["free", "standard", "premium"],
      "products": [
        "com.example.app.standard.monthly": [
          "plan": "standard", "type": "auto-renewable", "group": "main",
        ],
        "com.example.app.premium.monthly": [
          "plan": "premium", "type": "auto-renewable", "group": "main",
        ],
        "com.example.app.extra.monthly": ["plan": "standard", "type": "auto-renewable"],
        "com.example.app.season": [
          "plan": "standard", "type": "non-renewing", "duration": "P90D", "stack": true,
        ],
        "com.example.app.month": [
          "plan": "standard", "type": "non-renewing", "duration": "P1M",
        ],
        "com.example.app.lifetime": ["plan": "premium", "type": "non-consumable"],
        "com.example.app.coins100": ["type": "consumable"],
      ],
      "storekit": ["anchors": [.string(authority.anchor)]],
      "receipts": receipts.configuration,
      "attest": attest.configuration(appIds: [
        "ABCDE12345.com.example.second", "ABCDE12345.com.example.app",
      ]),
    ]
  }

  private func addVerifiers() {
    let standard = standardConfig
    func add(_ name: String, _ changes: [(String, JSONText)]) {
      verifiers.append((name, standard.setting(changes)))
    }
    add("standard", [])
    add("production-only", [("environments", ["Production"])])
    add("sandbox-only", [("environments", ["Sandbox"])])
    add(
      "sandbox-without-app-id",
      [("environments", ["Sandbox"]), ("apps", [["bundleId": "com.example.app"]])])
    add("small-cap", [("storekit.caps", ["jwsBytes": 8192])])
    add("large-cap", [("storekit.caps", ["jwsBytes": 262_144])])
    add("root-entry-ignored", [("storekit.rootEntry", "ignored")])
    add("environment-from-id", [("storekit.missingEnvironment", "from-transaction-id")])
    add("undated-nested", [("storekit.undatedNotifications", "nested")])
    add("nested-omitted", [("storekit.nested", "omit")])
    add(
      "fresh",
      [
        (
          "storekit.fresh",
          [
            "maxAgeMs": [
              "transaction": 3_600_000, "renewal": 3_600_000, "notification": 691_200_000,
              "app-transaction": 3_600_000, "realtime-request": 60_000,
            ]
          ]
        )
      ])
    add(
      "fresh-long",
      [("storekit.fresh", ["maxAgeMs": ["transaction": .integer(2000 * Purchase.day)]])])
    add("no-skew", [("clockSkewMs", 0)])
    add("no-cache", [("storekit.cache", ["chains": 0])])
    add("account-required", [("decide", ["account": "required"])])
    add("account-ignored", [("decide", ["account": "ignored"])])
    add("account-if-present", [("decide", ["account": "ifPresent"])])
    add("sandbox-equal", [("decide", ["sandbox": "equal"])])
    add("sandbox-never", [("decide", ["sandbox": "never"])])
    add(
      "consumable-plan",
      [
        (
          "products", ["com.example.app.boost": ["plan": "premium", "type": "consumable"]]
        )
      ])
    add("no-grace", [("decide", ["grace": false])])
    add("lenient-retry", [("decide", ["retry": "lenient"])])
    add("leeway", [("decide", ["leewayMs": 3_600_000])])
    add("no-family", [("decide", ["family": "deny"])])
    for (name, environment) in [("xcode", "Xcode"), ("local-testing", "LocalTesting")] {
      add(
        name,
        [
          ("environments", [.string(environment), "Sandbox"]),
          (
            "storekit.xcodeCertificates",
            [.string(authority.xcodeFingerprint), .string(receipts.xcodeFingerprint)]
          ),
        ])
    }
    addReceiptVerifiers(add)
    addAttestVerifiers(add)
    addRiskVerifiers(add)
    addTokenVerifiers(add)
  }

  // MARK: Adding cases

  func verify(
    _ rule: String, _ name: String, _ jws: [UInt8], kind: EvidenceKind = .transaction,
    verifier: String = "standard", now: Int64? = nil, _ status: String = "ok",
    check: String? = nil, at: String? = nil,
    facts: [(path: String, value: EvidenceCase.Fact)] = []
  ) {
    add(
      rule, name, text: .bytes(jws), kind: kind, verifier: verifier, now: now,
      .init(status, check: check, at: at, facts: facts))
  }

  func add(
    _ rule: String, _ name: String, text: EvidenceText, kind: EvidenceKind = .transaction,
    verifier: String = "standard", now: Int64? = nil, _ expect: EvidenceCase.Expectation
  ) {
    cases.append(
      EvidenceCase(
        name: "\(rule) \(name)", rule: rule,
        call: .verifyJWS(
          verifier: verifier, kind: kind, jws: text, now: now ?? self.now),
        expect: expect))
  }

  /// A payload signed by the authority.
  func verify(
    _ rule: String, _ name: String, payload: JSONText, kind: EvidenceKind = .transaction,
    verifier: String = "standard", now: Int64? = nil, _ status: String = "ok",
    check: String? = nil, at: String? = nil,
    facts: [(path: String, value: EvidenceCase.Fact)] = []
  ) throws {
    verify(
      rule, name, try authority.mint(payload), kind: kind, verifier: verifier, now: now,
      status, check: check, at: at, facts: facts)
  }

  func decide(
    _ rule: String, _ name: String, _ evidence: [EvidenceCase.Evidence],
    verifier: String = "standard", account: String? = nil, now: Int64? = nil,
    _ status: String = "ok", facts: [(path: String, value: EvidenceCase.Fact)] = []
  ) {
    cases.append(
      EvidenceCase(
        name: "\(rule) \(name)", rule: rule,
        call: .decide(
          verifier: verifier, evidence: evidence, account: account, now: now ?? self.now),
        expect: .init(status, facts: facts)))
  }

  func transaction(_ purchase: Purchase) throws -> EvidenceCase.Evidence {
    .init(.transaction, try authority.mint(purchase.transactionPayload))
  }

  func renewal(_ purchase: Purchase) throws -> EvidenceCase.Evidence {
    .init(.renewal, try authority.mint(purchase.renewalPayload))
  }
}
