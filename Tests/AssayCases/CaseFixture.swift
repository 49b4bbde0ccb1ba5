import AssayAuthority

/// Makes the cases: one authority, one instant, and the verifiers.
final class CaseFixture {
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

  /// A configuration with two apps, both environments of the App Store, and its own root.
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
      configure(name, standard.setting(changes))
    }
    add("standard", [])
    add("production-only", [("environments", ["Production"])])
    add("sandbox-only", [("environments", ["Sandbox"])])
    add(
      "sandbox-without-app-id",
      [("environments", ["Sandbox"]), ("apps", [["bundleId": "com.example.app"]])])
    add("small-cap", [("storekit.caps", ["jwsBytes": 8192])])
    add("large-cap", [("storekit.caps", ["jwsBytes": 262_144])])
    add("root-entry-ignored", [("storekit.x5cRoot", "ignored")])
    add("environment-from-id", [("storekit.missingEnvironment", "from-transaction-id")])
    add("undated-nested", [("storekit.undatedNotifications", "nested")])
    add("nested-omitted", [("storekit.nested", "omit")])
    add(
      "fresh",
      [
        (
          "storekit.maxAgeMs",
          [
            "transaction": 3_600_000, "renewal-info": 3_600_000, "notification": 691_200_000,
            "app-transaction": 3_600_000, "realtime-request": 60_000,
          ]
        )
      ])
    add(
      "fresh-long",
      [("storekit.maxAgeMs", ["transaction": .integer(2000 * Purchase.day)])])
    add("no-skew", [("clockSkewMs", 0)])
    add("no-cache", [("storekit.cache", ["chains": 0])])
    add("account-required", [("decision", ["accountToken": "required"])])
    add("account-ignored", [("decision", ["accountToken": "ignored"])])
    add("account-if-present", [("decision", ["accountToken": "if-present"])])
    add("sandbox-equal", [("decision", ["sandbox": "equal"])])
    add("sandbox-never", [("decision", ["sandbox": "never"])])
    add(
      "consumable-plan",
      [
        (
          "products", ["com.example.app.boost": ["plan": "premium", "type": "consumable"]]
        )
      ])
    add("no-grace", [("decision", ["gracePeriod": false])])
    add("lenient-retry", [("decision", ["billingRetry": "allow"])])
    add("leeway", [("decision", ["renewalLeewayMs": 3_600_000])])
    add("no-family", [("decision", ["familySharing": "deny"])])
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
    addRefundVerifiers(add)
    addTokenVerifiers(add)
  }

  /// Adds a verifier that cases may name.
  func configure(_ name: String, _ config: JSONText) { verifiers.append((name, config)) }

  // MARK: Adding cases

  typealias Facts = [(path: String, value: EvidenceCase.Fact)]

  /// Adds a case. The path of a fact starts in the document's member about the call, or, with `/`,
  /// at the document's root.
  func add(
    _ rule: String, _ name: String, _ call: EvidenceCase.Call, _ expect: EvidenceCase.Expectation
  ) {
    cases.append(
      EvidenceCase(
        name: "\(rule) \(name)", rule: rule, call: call, expect: expect.inside(call.member)))
  }

  func verify(
    _ rule: String, _ name: String, _ jws: [UInt8], kind: EvidenceKind = .transaction,
    verifier: String = "standard", now: Int64? = nil, _ status: String = "ok", check: String? = nil,
    at: String? = nil, facts: Facts = []
  ) {
    add(
      rule, name,
      .verifyJWS(verifier: verifier, kind: kind, jws: .bytes(jws), now: now ?? self.now),
      .init(status, check: check, at: at, facts: facts))
  }

  /// Adds a case with a payload signed by the authority.
  func verify(
    _ rule: String, _ name: String, payload: JSONText, kind: EvidenceKind = .transaction,
    verifier: String = "standard", now: Int64? = nil, _ status: String = "ok", check: String? = nil,
    at: String? = nil, facts: Facts = []
  ) throws {
    verify(
      rule, name, try authority.mint(payload), kind: kind, verifier: verifier, now: now, status,
      check: check, at: at, facts: facts)
  }

  /// Adds a case with a notification signed by the authority.
  func notify(
    _ rule: String, _ name: String, _ payload: JSONText, verifier: String = "standard",
    now: Int64? = nil, _ status: String = "ok", check: String? = nil, at: String? = nil,
    facts: Facts = []
  ) throws {
    try verify(
      rule, name, payload: payload, kind: .notification, verifier: verifier, now: now, status,
      check: check, at: at, facts: facts)
  }

  /// Adds a decision, by the decision row of the rule unless another one is named.
  func decide(
    _ rule: String, _ name: String, _ evidence: [EvidenceCase.Evidence],
    verifier: String = "standard", account: String? = nil, now: Int64? = nil,
    _ status: String = "ok", state: String? = nil, row: String? = nil, facts: Facts = []
  ) {
    add(
      rule, name,
      .decide(verifier: verifier, evidence: evidence, account: account, now: now ?? self.now),
      .init(status, facts: state.map { outcome($0, row ?? rule, facts) } ?? facts))
  }

  func transaction(_ purchase: Purchase) throws -> EvidenceCase.Evidence {
    .init(.transaction, try authority.mint(purchase.transactionPayload))
  }

  func renewal(_ purchase: Purchase) throws -> EvidenceCase.Evidence {
    .init(.renewalInfo, try authority.mint(purchase.renewalPayload))
  }
}

extension EvidenceCase.Call {
  /// The document's member about the subject of the call.
  fileprivate var member: String {
    switch self {
    case .verifyJWS(_, let kind, _, _): Self.member(kind.rawValue)
    case .verifyReceipt(_, let kind, _, _, _): Self.member(kind.rawValue)
    case .triage: "triage"
    case .readVerifyReceiptResponse: "verifyReceipt"
    case .verifyAttestation: "attestation"
    case .verifyAssertion: "assertion"
    case .verifyToken: "token"
    case .keysetNew: "keyset"
    case .exchange, .transcript: "exchange"
    case .decide, .checkExpiry: "decision"
    case .verifierNew: "configuration"
    }
  }

  /// Returns the member of a kind: `appTransaction` for `app-transaction`.
  private static func member(_ kind: String) -> String {
    let words = kind.split(separator: "-")
    return words.dropFirst().reduce(String(words[0])) {
      $0 + $1.prefix(1).uppercased() + $1.dropFirst()
    }
  }
}

extension EvidenceCase.Expectation {
  /// Returns the expectation with the paths of facts from the root of the document.
  func inside(_ member: String) -> Self {
    var whole = self
    whole.facts = facts.map { path, value in
      (path.hasPrefix("/") ? String(path.dropFirst()) : "\(member).\(path)", value)
    }
    return whole
  }
}
