import AssayAuthority

extension CaseFixture {
  /// Adds the cases of docs/spec/receipts.md, docs/spec/receipts-triage.md and
  /// docs/spec/receipts-decisions.md.
  func addReceiptCases() throws {
    try addTransportCases()
    try addPropertyListCases()
    try addTransactionReceiptCases()
    try addPurchaseInfoCases()
    try addReceiptIdentityCases()
    try addAppReceiptCases()
    try addAppReceiptContainerCases()
    try addReceiptAttributeCases()
    try addReceiptPathCases()
    try addTriageCases()
    try addReceiptResponseCases()
    try addReceiptDecisions()
    try addReceiptConfigurationCases()
  }

  /// Adds verifiers that differ from the standard one in settings for receipts.
  func addReceiptVerifiers(_ add: (String, [(String, JSONText)]) -> Void) {
    let anchors: JSONText = ["anchors": [.string(receipts.anchor)]]
    add("receipts-without-intermediates", [("receipts", anchors)])
    add("receipts-of-apple", [("receipts", [:])])
    add("v2-refused", [("receipts.version2", "refuse")])
    add("late-signed-refused", [("receipts.signedAfterPurchase", "refuse")])
    add("unknown-environment", [("receipts.unknownEnvironment", "allow")])
    add(
      "unknown-production",
      [("environments", ["Production"]), ("receipts.unknownEnvironment", "allow")])
    add("receipts-of-a-month", [("receipts.maxAgeMs", .integer(30 * Purchase.day))])
    add("device-ids", [("receipts.deviceIds", "report")])
    add("small-input", [("receipts.caps", ["inputBytes": 2000])])
    add("small-receipt", [("receipts.caps", ["transactionReceiptBytes": 2500])])
    add("small-info", [("receipts.caps", ["purchaseInfoBytes": 900])])
    add("small-app-receipt", [("receipts.caps", ["appReceiptBytes": 3500])])
    add("few-purchases", [("receipts.caps", ["purchases": 2])])
    add(
      "xcode-of-others",
      [
        ("environments", ["Xcode"]), ("attest.environments", ["development"]),
        ("storekit.xcodeCertificates", [.string(authority.xcodeFingerprint)]),
      ])
  }

  /// A subscription of the years of version 2, in Sandbox.
  var old: Purchase { purchase.moved(by: 1_395_000_000_000 - now) }

  // MARK: Adding cases

  func receipt(
    _ rule: String, _ name: String, _ bytes: [UInt8],
    kind: ReceiptEvidenceKind = .transactionReceipt, verifier: String = "standard",
    subject: [UInt8]? = nil, now: Int64? = nil, _ status: String = "ok", check: String? = nil,
    at: String? = nil, hint: String? = nil, facts: Facts = []
  ) {
    add(
      rule, name,
      .verifyReceipt(
        verifier: verifier, kind: kind, receipt: .bytes(bytes), subject: subject,
        now: now ?? self.now), .init(status, check: check, at: at, hint: hint, facts: facts))
  }

  func receipt(
    _ rule: String, _ name: String, text: EvidenceText, kind: ReceiptEvidenceKind,
    verifier: String = "standard", _ status: String, check: String? = nil
  ) {
    add(
      rule, name,
      .verifyReceipt(verifier: verifier, kind: kind, receipt: text, subject: nil, now: now),
      .init(status, check: check))
  }

  /// Adds a transaction receipt that differs from a good one in one thing.
  func transactionReceipt(
    _ rule: String, _ name: String, of purchase: Purchase? = nil, version: UInt8 = 3,
    generation: ReceiptAuthority.Generation? = nil, verifier: String = "standard",
    now: Int64? = nil, _ status: String = "ok", check: String? = nil, at: String? = nil,
    hint: String? = nil, facts: Facts = [],
    _ change: (inout TransactionReceiptTemplate) throws -> Void = { _ in }
  ) throws {
    var template = try receipts.transactionTemplate(
      purchase ?? self.purchase, version: version, generation: generation)
    try change(&template)
    receipt(
      rule, name, Base64Text.encode(try template.signed()), verifier: verifier, now: now, status,
      check: check, at: at, hint: hint, facts: facts)
  }

  /// Adds a receipt whose signed list differs from a good one in one thing.
  func purchaseInfo(
    _ rule: String, _ name: String, of purchase: Purchase? = nil, verifier: String = "standard",
    _ status: String = "ok", check: String? = nil, at: String? = nil, facts: Facts = [],
    _ change: (PropertyListText) -> PropertyListText
  ) throws {
    try transactionReceipt(
      rule, name, of: purchase, verifier: verifier, status, check: check, at: at, facts: facts
    ) { $0.info = change($0.info) }
  }

  /// The facts of an app receipt about the standard purchase.
  var appFacts: AppReceiptFacts { AppReceiptFacts([purchase], like: purchase) }

  /// Adds an app receipt that differs from a good one in one thing.
  func appReceipt(
    _ rule: String, _ name: String, of facts: AppReceiptFacts? = nil,
    generation: ReceiptAuthority.Generation? = nil, digest: SigningKey.Digest? = nil,
    verifier: String = "standard", subject: [UInt8]? = nil, now: Int64? = nil,
    _ status: String = "ok", check: String? = nil, at: String? = nil, facts expected: Facts = [],
    _ change: (inout AppReceiptTemplate) throws -> Void = { _ in }
  ) throws {
    var template = try receipts.appTemplate(
      facts ?? appFacts, generation: generation, digest: digest)
    try change(&template)
    receipt(
      rule, name, Base64Text.encode(try template.signed()), kind: .appReceipt,
      verifier: verifier, subject: subject, now: now, status, check: check, at: at,
      facts: expected)
  }

  /// Adds an app receipt whose attributes differ from those of a good one.
  func attributes(
    _ rule: String, _ name: String, _ status: String = "ok", check: String? = nil,
    at: String? = nil, verifier: String = "standard", facts: Facts = [],
    _ change: ([AttributeTemplate]) -> [AttributeTemplate]
  ) throws {
    try appReceipt(
      rule, name, verifier: verifier, status, check: check, at: at, facts: facts
    ) { $0.attributes = change($0.attributes) }
  }

  /// Adds an app receipt whose only purchase differs from a good one.
  func purchaseAttributes(
    _ rule: String, _ name: String, _ status: String = "ok", check: String? = nil,
    at: String? = nil, facts: Facts = [], of purchase: Purchase? = nil,
    _ change: ([AttributeTemplate]) -> [AttributeTemplate]
  ) throws {
    let own = change((purchase ?? self.purchase).receiptAttributes)
    try attributes(rule, name, status, check: check, at: at, facts: facts) {
      $0.setting(AttributeTemplate(17, AttributeTemplate.set(own)))
    }
  }
}
