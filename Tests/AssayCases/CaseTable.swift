import AssayAuthority

/// All cases, with the configurations of the verifiers that they name.
public struct CaseTable: Sendable {
  public var verifiers: [(name: String, config: JSONText)]
  public var cases: [EvidenceCase]
  /// The evidence for random decisions.
  public var pool: DecisionPool

  /// Mints the whole table. All dates in it are near `now`, milliseconds since 1970 UTC.
  public static func make(now: Int64) throws -> CaseTable {
    // Receipts and the dates of Apple's responses have whole seconds.
    let now = now / 1000 * 1000
    let fixture = try CaseFixture(now: now)
    try fixture.addGoodEvidence()
    try fixture.addVariations()
    try fixture.addPayloadCases()
    try fixture.addNotificationCases()
    try fixture.addDateCases()
    try fixture.addIdentityCases()
    try fixture.addXcodeCases()
    try fixture.addHostileInput()
    try fixture.addConfigurationCases()
    try fixture.addDecisions()
    try fixture.addReceiptCases()
    fixture.addExpiryCases()
    try fixture.addAttestationCases()
    try fixture.addAssertionCases()
    try fixture.addAttestReceiptCases()
    try fixture.addAttestConfigurationCases()
    fixture.addRiskCases()
    fixture.addRefundCases()
    try fixture.addDeviceCheckCases()
    try fixture.addTokenCases()
    try fixture.addExchangeCases()
    try fixture.addAnswerVerifyReceiptCases()
    fixture.addSigningCases()
    fixture.addInAppRequestCases()
    try fixture.addRealtimeCases()
    try fixture.addSessionCases()
    try fixture.addDeviceProofCases()
    try fixture.addAppleIDCases()
    try fixture.addTranscripts()
    fixture.addStoreSchemaCases()
    try fixture.addRecordedCases()
    return CaseTable(
      verifiers: fixture.verifiers, cases: fixture.cases, pool: try fixture.decisionPool())
  }

  /// Returns the configuration of a verifier, as JSON text.
  public func config(_ verifier: String) -> [UInt8]? {
    verifiers.first { $0.name == verifier }?.config.bytes
  }

  /// The table as one JSON object in UTF-8, for the tests of other languages:
  ///
  ///     {"assayCases":1, "verifiers":{name: configuration}, "cases":[case],
  ///      "decisionPool":{"now":ms, "items":[item]}}
  ///
  /// An item of the pool is an entry of `evidence` with the members of
  /// `DecisionPool.Item`.
  ///
  /// A case has `name`, `rule`, `call` and `expect` {`status`, `check`?, `at`?,
  /// `hint`?: how `error.hint` begins, `facts`?: {dotted path: text, integer,
  /// boolean or null}}, and by `call`:
  /// - `verify_jws`: `verifier`, `kind`, `now` and `jws` or one of its forms;
  /// - `verify_receipt`: `verifier`, `kind` (transaction-receipt, app-receipt,
  ///   attest-receipt), `receipt` or one of its forms, `subjectBase64`?, `now`;
  /// - `verify_attestation`: `verifier`, `attestation`, `keyId`, `clientData` or
  ///   one of their forms, `clientDataKind` (1 data, 2 hash), `now`;
  /// - `verify_assertion`: `verifier`, `assertion`, `publicKey`, `clientData` or
  ///   one of their forms, `clientDataKind`, `counter`, `now`;
  /// - `verify_token`: `verifier`, `jwks`, `token` or one of their forms, `earlier`: a list
  ///   of {`token` or one of its forms, `now`} that the same key set verifies first,
  ///   `now`;
  /// - `keyset_new`: `jwks` or one of its forms;
  /// - `exchange`: `verifier`, `request` or one of its forms, `evidence` as
  ///   `decide` has it, `now`;
  /// - `exchange`: the same and `steps`, a list of {`expect`, `answer` or one of
  ///   its forms, `now`}: the document before each answer meets the step's `expect`,
  ///   the one after the last answer the case's;
  /// - `triage`: `verifier`, `blob` or one of its forms, `now`;
  /// - `read_verify_receipt_response`: `verifier`, `body` or one of its forms, `now`;
  /// - `decide`: `verifier`, `account` (text or null), `now`, `evidence`: a list
  ///   of {`kind`, `verifier`?} with `jws` for the kinds of JWS, `receipt` or its
  ///   forms for those of receipts, `body` for `verify-receipt-response`, the members of its call
  ///   for `attestation` and `assertion`, each verified at `now` first, and `jwks` for
  ///   `keyset`, which is read;
  /// - `check_expiry`: `expires`, `grace`, `revoked` (null: no date), `now`;
  /// - `verifier_new`: `config`, the raw text, or one of its forms.
  ///
  /// Forms of a text `x`: `xBase64` where the bytes are not text, `xRepeat`
  /// {`prefix`, `unit`, `count`, `suffix`} where it is too long to write out.
  public var json: [UInt8] {
    let document: JSONText = [
      "assayCases": 1,
      "verifiers": .object(verifiers.map { .init($0.name, $0.config) }),
      "cases": .array(cases.map(\.json)), "decisionPool": pool.json,
    ]
    return document.bytes
  }
}

extension EvidenceCase {
  /// One entry of `cases`.
  var json: JSONText {
    var entry: JSONText = ["name": .string(name), "rule": .string(rule)]
    func begin(_ call: String, _ verifier: String? = nil) {
      entry.add("call", call)
      entry.add("verifier", verifier)
    }
    func exchange(_ request: EvidenceText, _ evidence: [Evidence], _ now: Int64) {
      entry.add("request", request)
      entry.add("evidence", evidence.map(\.json))
      entry.add("now", now)
    }
    switch call {
    case .verifyJWS(let verifier, let kind, let jws, let now):
      begin("verify_jws", verifier)
      entry.add("kind", kind.rawValue)
      entry.add("jws", jws)
      entry.add("now", now)
    case .verifyReceipt(let verifier, let kind, let receipt, let subject, let now):
      begin("verify_receipt", verifier)
      entry.add("kind", kind.rawValue)
      entry.add("receipt", receipt)
      entry.add("subjectBase64", subject?.base64Text)
      entry.add("now", now)
    case .triage(let verifier, let blob, let now):
      begin("triage", verifier)
      entry.add("blob", blob)
      entry.add("now", now)
    case .readVerifyReceiptResponse(let verifier, let body, let now):
      begin("read_verify_receipt_response", verifier)
      entry.add("body", body)
      entry.add("now", now)
    case .verifyAttestation(let verifier, let attestation, let keyId, let kind, let data, let now):
      begin("verify_attestation", verifier)
      entry.add("attestation", attestation)
      entry.add("keyId", .bytes(keyId))
      entry.add("clientDataKind", Int64(kind))
      entry.add("clientData", data)
      entry.add("now", now)
    case .verifyAssertion(
      let verifier, let assertion, let key, let counter, let kind, let data, let now):
      begin("verify_assertion", verifier)
      entry.add("assertion", assertion)
      entry.add("publicKey", .bytes(key))
      entry.add("counter", Int64(counter))
      entry.add("clientDataKind", Int64(kind))
      entry.add("clientData", data)
      entry.add("now", now)
    case .verifyToken(let verifier, let jwks, let earlier, let token, let now):
      begin("verify_token", verifier)
      entry.add("jwks", jwks)
      entry.add("earlier", earlier.map(\.json))
      entry.add("token", token)
      entry.add("now", now)
    case .keysetNew(let jwks):
      begin("keyset_new")
      entry.add("jwks", jwks)
    case .exchange(let verifier, let request, let evidence, let now):
      begin("exchange", verifier)
      exchange(request, evidence, now)
    case .transcript(let verifier, let request, let evidence, let now, let steps):
      begin("transcript", verifier)
      exchange(request, evidence, now)
      entry.add("steps", steps.map(\.json))
    case .decide(let verifier, let evidence, let account, let now):
      begin("decide", verifier)
      entry.add("evidence", evidence.map(\.json))
      entry = entry.appending("account", account.map { .string($0) } ?? .null)
      entry.add("now", now)
    case .checkExpiry(let expires, let grace, let revoked, let now):
      begin("check_expiry")
      for (member, date) in [("expires", expires), ("grace", grace), ("revoked", revoked)] {
        entry = entry.appending(member, date.map { .integer($0) } ?? .null)
      }
      entry.add("now", now)
    case .verifierNew(let config):
      begin("verifier_new")
      entry.add("config", config)
    }
    return entry.appending("expect", expect.json)
  }
}

extension EvidenceCase.Evidence {
  var json: JSONText {
    var entry: JSONText = [:]
    switch proof {
    case .jws(let kind, let jws):
      entry.add("kind", kind.rawValue)
      entry = entry.appending("jws", .string(utf8: jws))
    case .receipt(let kind, let receipt):
      entry.add("kind", kind.rawValue)
      entry.add("receipt", .bytes(receipt))
    case .answer(let body):
      entry = ["kind": "verify-receipt-response", "body": .string(utf8: body)]
    case .keyset(let jwks): entry = ["kind": "keyset", "jwks": .string(utf8: jwks)]
    case .attestation(let attestation, let keyId, let data):
      entry = ["kind": "attestation", "clientDataKind": 1]
      entry.add("attestation", .bytes(attestation))
      entry.add("keyId", .bytes(keyId))
      entry.add("clientData", .bytes(data))
    case .assertion(let assertion, let key, let counter, let data):
      entry = ["kind": "assertion", "clientDataKind": 1, "counter": .integer(Int64(counter))]
      entry.add("assertion", .bytes(assertion))
      entry.add("publicKey", .bytes(key))
      entry.add("clientData", .bytes(data))
    }
    entry.add("verifier", verifier)
    return entry
  }
}

extension EvidenceCase.EarlierToken {
  var json: JSONText {
    var entry: JSONText = ["now": .integer(now)]
    entry.add("token", token)
    return entry
  }
}

extension EvidenceCase.Step {
  var json: JSONText {
    var entry: JSONText = ["expect": expect.json, "now": .integer(now)]
    entry.add("answer", answer)
    return entry
  }
}

extension EvidenceCase.Expectation {
  var json: JSONText {
    var entry: JSONText = ["status": .string(status)]
    entry.add("check", check)
    entry.add("at", at)
    entry.add("hint", hint)
    if facts.isEmpty { return entry }
    return entry.appending(
      "facts", .object(facts.map { JSONText.Member($0.path, $0.value.json) }))
  }
}

extension EvidenceCase.Fact {
  var json: JSONText {
    switch self {
    case .text(let text): return .string(text)
    case .integer(let number): return .integer(number)
    case .flag(let flag): return .boolean(flag)
    case .null: return .null
    }
  }
}

extension JSONText {
  /// Adds the member for a text: under `name`, under `nameBase64` if the bytes are no text, under
  /// `nameRepeat` if the text is a recipe.
  fileprivate mutating func add(_ name: String, _ text: EvidenceText) {
    switch text {
    case .bytes(let bytes) where bytes.isUTF8Text: self = appending(name, .string(utf8: bytes))
    case .bytes(let bytes): add(name + "Base64", bytes.base64Text)
    case .repeated(let prefix, let unit, let count, let suffix):
      self = appending(
        name + "Repeat",
        [
          "prefix": .string(utf8: prefix), "unit": .string(utf8: unit),
          "count": .integer(Int64(count)), "suffix": .string(utf8: suffix),
        ])
    }
  }

  fileprivate mutating func add(_ name: String, _ list: [JSONText]) {
    self = appending(name, .array(list))
  }
}

extension [UInt8] {
  /// Whether a JSON string can contain these bytes in every language.
  var isUTF8Text: Bool { !contains(0) && String(validating: self, as: UTF8.self) != nil }
}

extension CaseFixture {
  /// Adds all exchanges with Apple and with issuers of tokens.
  func addTranscripts() throws {
    try addVerifyReceiptTranscripts()
    addDeviceCheckTranscripts()
    try addAppStoreTranscripts()
    try addRevocationTranscripts()
    try addAttestRefreshTranscripts()
    try addAppleIDTranscripts()
    try addKeysetTranscripts()
  }
}
