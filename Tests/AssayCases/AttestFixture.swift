import AssayAuthority

extension CaseFixture {
  /// Adds verifiers that differ in the accepted apps or policy of App Attest. The standard verifier
  /// accepts both environments and both apps.
  func addAttestVerifiers(_ add: (String, [(String, JSONText)]) -> Void) {
    func attest(_ name: String, _ member: String, _ value: JSONText) {
      add("attest-" + name, [("attest." + member, value)])
    }
    attest("production", "environments", ["production"])
    attest("development", "environments", ["development"])
    attest("stored", "time", "stored")
    attest("receipt-ignored", "receipt", "ignore")
    attest("hour", "maxAgeMs", 3_600_000)
    attest("store-alone", "category", ["accept": [4]])
    attest("category-required", "category", ["missing": "refuse"])
    attest("category-ten", "category", ["accept": [10, 2]])
    attest("exact-build", "bundleVersion", ["exact": ["1314", "1400.2"]])
    attest("least-build", "bundleVersion", ["minimum": "1314.0.2"])
    attest("macos", "platform", "macos")
    attest("ios", "platform", "ios")
    attest("challenge-whole", "challenge", ["mode": "whole"])
    for encoding in ["text", "base64", "base64url", "hex"] {
      attest(
        "challenge-\(encoding)", "challenge",
        ["mode": "json", "path": "proof.challenge", "encoding": .string(encoding)])
    }
    attest("other-app", "appIds", ["ABCDE12345.com.example.other"])
    attest("monthly-refresh", "refreshEveryMs", .integer(31 * Purchase.day))
    add("attest-no-skew", [("clockSkewMs", 0)])
    // Without the block, no App ID is accepted.
    configure("attest-nobody", standardConfig.removing("attest"))
    configure(
      "attest-of-apple", standardConfig.removing(["attest.anchors", "attest.receiptAnchors"]))
    configure(
      "attest-derived",
      standardConfig.removing("attest.appIds").setting(
        "apps",
        [["bundleId": "com.example.app", "appAppleId": 1_234_567_890, "teamId": "ABCDE12345"]]))
  }

  /// The client data that the app signed in these cases.
  static let clientData = Array(
    "{\"proof\":{\"challenge\":\"6f70656e20736573616d65206e6f7721\"},\"buy\":\"coins\"}".utf8)
  var clientData: [UInt8] { CaseFixture.clientData }
  var clientDataHash: [UInt8] { AttestDigest.sha256(clientData) }

  /// The instant at which the evidence of these cases was made: a minute ago.
  var madeMs: Int64 { now - 59_847 }

  /// Returns the device with another system or environment, and the same key.
  func device(
    _ system: AttestedDevice.System,
    _ environment: AuthenticatorDataTemplate.Environment = .production
  ) -> AttestedDevice {
    device.with {
      $0.system = system
      $0.environment = environment
    }
  }

  // MARK: adding cases

  /// The client data, or their hash, that the host passes.
  enum ClientDataGiven {
    case data([UInt8])
    case hash([UInt8])
    case kind(Int32, EvidenceText)

    var kind: Int32 {
      switch self {
      case .data: return 1
      case .hash: return 2
      case .kind(let kind, _): return kind
      }
    }

    var text: EvidenceText {
      switch self {
      case .data(let bytes), .hash(let bytes): return .bytes(bytes)
      case .kind(_, let text): return text
      }
    }
  }

  /// Adds an attestation that differs from a good one in one thing.
  func attestation(
    _ rule: String, _ name: String, of device: AttestedDevice? = nil,
    verifier: String = "standard", keyId: [UInt8]? = nil, given: ClientDataGiven? = nil,
    clientDataHash: [UInt8]? = nil, madeMs: Int64? = nil, now: Int64? = nil,
    _ status: String = "ok", check: String? = nil, at: String? = nil, hint: String? = nil,
    facts: Facts = [], _ change: (inout AttestationTemplate) throws -> Void = { _ in }
  ) throws {
    let device = device ?? self.device
    var template = try attest.attestation(
      of: device, clientDataHash: clientDataHash ?? self.clientDataHash,
      madeMs: madeMs ?? self.madeMs)
    try change(&template)
    attestation(
      rule, name, object: .bytes(try template.signed()), verifier: verifier,
      keyId: keyId ?? device.keyId, given: given, now: now,
      .init(status, check: check, at: at, hint: hint, facts: facts))
  }

  func attestation(
    _ rule: String, _ name: String, object: EvidenceText, verifier: String = "standard",
    keyId: [UInt8], given: ClientDataGiven? = nil, now: Int64? = nil,
    _ expect: EvidenceCase.Expectation
  ) {
    let given = given ?? .data(clientData)
    add(
      rule, "attestation: \(name)",
      .verifyAttestation(
        verifier: verifier, attestation: object, keyId: keyId, clientDataKind: given.kind,
        clientData: given.text, now: now ?? self.now), expect)
  }

  /// Adds an assertion that differs from a good one in one thing.
  func assertion(
    _ rule: String, _ name: String, of device: AttestedDevice? = nil,
    verifier: String = "standard", publicKey: [UInt8]? = nil, given: ClientDataGiven? = nil,
    clientDataHash: [UInt8]? = nil, counter: UInt32 = 7, stored: UInt32 = 6,
    now: Int64? = nil, _ status: String = "ok", check: String? = nil, at: String? = nil,
    hint: String? = nil, facts: Facts = [],
    _ change: (inout AssertionTemplate) throws -> Void = { _ in }
  ) throws {
    let device = device ?? self.device
    var template = AssertionTemplate(
      of: device, clientDataHash: clientDataHash ?? self.clientDataHash, counter: counter)
    try change(&template)
    assertion(
      rule, name, object: .bytes(try template.signed()), verifier: verifier,
      publicKey: publicKey ?? device.point, given: given, stored: stored, now: now,
      .init(status, check: check, at: at, hint: hint, facts: facts))
  }

  func assertion(
    _ rule: String, _ name: String, object: EvidenceText, verifier: String = "standard",
    publicKey: [UInt8], given: ClientDataGiven? = nil, stored: UInt32 = 6,
    now: Int64? = nil, _ expect: EvidenceCase.Expectation
  ) {
    let given = given ?? .data(clientData)
    add(
      rule, "assertion: \(name)",
      .verifyAssertion(
        verifier: verifier, assertion: object, publicKey: publicKey, counter: stored,
        clientDataKind: given.kind, clientData: given.text, now: now ?? self.now), expect)
  }

  /// Returns the facts of a receipt about the device.
  func receiptFacts(
    _ kind: AttestReceiptFacts.Kind = .attest, of device: AttestedDevice? = nil,
    created: Int64? = nil, risk: Int = 2
  ) throws -> AttestReceiptFacts {
    let device = device ?? self.device
    let created = created ?? madeMs
    let leaf = try attest.attestation(
      of: device, clientDataHash: clientDataHash, madeMs: created
    ).leafCertificate()
    return AttestReceiptFacts(
      kind, device, certificate: leaf, clientHash: clientDataHash, created: created, risk: risk)
  }

  /// Adds an App Attest receipt that differs from a good one in one thing.
  func attestReceipt(
    _ rule: String, _ name: String, of facts: AttestReceiptFacts? = nil,
    verifier: String = "standard", subject: [UInt8]? = nil, now: Int64? = nil,
    _ status: String = "ok", check: String? = nil, at: String? = nil,
    facts expected: Facts = [], _ change: (inout AppReceiptTemplate) throws -> Void = { _ in }
  ) throws {
    var template = attest.receiptTemplate(try facts ?? receiptFacts())
    try change(&template)
    receipt(
      rule, "App Attest receipt: \(name)", try template.signed(), kind: .attestReceipt,
      verifier: verifier, subject: subject, now: now, status, check: check, at: at,
      facts: expected)
  }
}
