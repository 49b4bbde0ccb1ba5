import Testing

@testable import Assay
@testable import AssayAuthority

private typealias Write = AssayAuthority.DER

/// Changes the unsigned parts around signed data in every kind of evidence (RCP-12, RCP-28, APR-4,
/// APR-7, JWS-94, ATT-12, ASR-1, FRC-1): the app, the keys and the decision stay the same, or the
/// evidence is refused.
@Suite("RCP-12 RCP-28 APR-4 APR-7 JWS-94 ATT-12 ASR-1 FRC-1 unsigned words")
struct UnsignedWordsTests {
  private static let now = Minted.now

  // MARK: bench

  /// Returns a verifier with one app, its own roots and a catalogue; `changes` by dotted path.
  private static func verifier(_ changes: [(String, JSONText)] = []) throws -> Verifier {
    let config: JSONText = [
      "apps": [
        ["bundleId": "com.example.app", "appAppleId": 1_234_567_890],
        ["bundleId": "com.example.other", "appAppleId": 1_000_000_001],
      ],
      "environments": ["Production", "Sandbox"],
      "plans": ["free", "premium"],
      "products": [
        "com.example.app.premium.monthly": [
          "plan": "premium", "type": "auto-renewable", "group": "main",
        ]
      ],
      "storekit": ["anchors": [.string(try Minted.authority().anchor)]],
      "receipts": try AppReceiptFixture.authority().configuration,
    ]
    let (verifier, document) = Verifier.alone(config.setting(changes).bytes)
    return try require(verifier, "\(document.text("error.message") ?? "")")
  }

  private static let sandbox = Minted.purchase
  private static let production = sandbox.with {
    $0.environment = "Production"
    $0.transactionId = "350000900000001"
    $0.originalTransactionId = "350000900000001"
    $0.webOrderLineItemId = "350000090000001"
  }
  /// A purchase of an unknown pool (RCP-27).
  private static let unknown = sandbox.with {
    $0.environment = "Production"
    $0.transactionId = "3000000900000001"
    $0.originalTransactionId = "3000000900000001"
    $0.webOrderLineItemId = "3000000090000001"
  }

  /// Returns the facts of a document, without members about unsigned parts: the path of
  /// certificates, the text's transport, the text itself, and whether it was edited.
  private static func facts(_ document: Document, _ member: String) -> [String] {
    guard let value = document.tree?.at(member) else { return [] }
    return facts(value)
  }

  private static func facts(_ value: JSONValue) -> [String] {
    // Every minted attestation has a new token and a new leaf.
    let around = [
      "chain", "transport", "outerAltered", "signer", "warnings", "leaf", "bytes", "token",
    ]
    return value.children.flatMap { child -> [String] in
      let name = child.name.string
      if around.contains(name) { return [] }
      if name == "receipt" { return facts(child).map { "receipt." + $0 } }
      return [name + "=" + String(decoding: child.source, as: UTF8.self)]
    }
  }

  private static func decision(
    _ verifier: Verifier, _ evidence: [Document]
  ) -> String {
    let document = verifier.decide(evidence, account: nil, nowMs: now)
    let value = document.tree?.at("decision")
    return document.name + " " + String(decoding: value?.source ?? [], as: UTF8.self)
  }

  /// Returns a refund of the purchase, as an app receipt and as a JWS.
  private static func refunds(_ purchase: Purchase, _ verifier: Verifier) throws -> [Document] {
    let refunded = purchase.with {
      $0.revocationDate = now - Purchase.day
      $0.revocationReason = 0
    }
    let receipt = try AppReceiptFixture.authority()
      .appTemplate(AppReceiptFacts([refunded], like: refunded)).signed()
    let jws = try Minted.authority().mint(refunded.transactionPayload)
    let documents = [
      verifier.verifyReceipt(receipt, kind: .app, nowMs: now),
      verifier.verifyJWS(jws, kind: .transaction, nowMs: now),
    ]
    for document in documents { checkEqual(document.status, .ok, "\(document.refusal)") }
    return documents
  }

  /// Expects of every variation that it is refused, or has the facts and the decision of the good
  /// one.
  private struct Comparison {
    let member: String
    let facts: [String]
    let decisions: [String]
    let verifier: Verifier
    let refunds: [Document]

    init(
      _ good: Document, _ member: String, _ verifier: Verifier, refunds: [Document] = []
    ) {
      checkEqual(good.status, .ok, "\(good.refusal)")
      self.member = member
      self.verifier = verifier
      self.refunds = refunds
      facts = UnsignedWordsTests.facts(good, member)
      check(!facts.isEmpty)
      decisions = Comparison.decisions(good, verifier, refunds)
    }

    private static func decisions(
      _ document: Document, _ verifier: Verifier, _ refunds: [Document]
    ) -> [String] {
      [UnsignedWordsTests.decision(verifier, [document])]
        + refunds.map { UnsignedWordsTests.decision(verifier, [$0, document]) }
    }

    /// Returns `false` if the variation was refused.
    @discardableResult
    func asked(_ other: Document, decides: Bool = true, _ name: String) -> Bool {
      guard other.status == .ok else { return false }
      checkEqual(UnsignedWordsTests.facts(other, member), facts, "\(name)")
      if decides {
        checkEqual(Comparison.decisions(other, verifier, refunds), decisions, "\(name)")
      }
      return true
    }
  }

  /// Returns each byte from `start` on, changed in one bit and in all of them.
  private static func flips(_ bytes: [UInt8], step: Int = 1) -> [(place: Int, bytes: [UInt8])] {
    stride(from: 0, to: bytes.count, by: step).flatMap { place in
      ([0x01, 0x20, 0xff] as [UInt8]).map { mask in
        var changed = bytes
        changed[place] ^= mask
        return (place, changed)
      }
    }
  }

  // MARK: transaction receipts

  /// Returns every outer list around the signed list of one purchase.
  private static func outerLists(
    _ purchase: Purchase
  ) throws -> [(name: String, receipt: [UInt8])] {
    let good = try AppReceiptFixture.authority().transactionTemplate(purchase).outerList()
    var lists: [(String, PropertyListText)] = []
    let environments = [nil, "", "Sandbox", "Production", "Xcode", "sandbox", "\\U0053andbox"]
    for environment in environments as [String?] {
      for pod in [nil, "", "100", "35", "19", "300"] as [String?] {
        var list = good.removing("environment").removing("pod")
        if let environment { list = list.appending("environment", environment) }
        if let pod { list = list.appending("pod", pod) }
        lists.append(("environment \(environment ?? "-"), pod \(pod ?? "-")", list))
      }
    }
    let signed = purchase.purchaseInfo.entries.map { String(decoding: $0.key, as: UTF8.self) }
    for key in signed + ["bundle-id", "receipt-type", "original-transaction-id-2"] {
      for value in ["Sandbox", "2000000999999999", "7", "com.example.other"] {
        lists.append(("\(key) \(value)", good.appending(key, value)))
      }
    }
    for status in [nil, "1", "-1"] as [String?] {
      let list = good.removing("signing-status")
      lists.append(
        ("signing-status", status.map { list.appending("signing-status", $0) } ?? list))
    }
    for (name, style) in PropertyListText.Style.all where name != "loose style" {
      lists.append((name, PropertyListText(good.entries, style: style)))
    }
    lists.append(("reversed", PropertyListText(good.entries.reversed())))
    return lists.map { ($0.0, $0.1.bytes) }
  }

  @Test("RCP-28 RCP-30 no word of the outer list changes keys, identity or decision")
  func outerWords() throws {
    for (purchase, environment) in [(Self.production, "Production"), (Self.sandbox, "Sandbox")] {
      for accepted in [["Production", "Sandbox"], [environment]] {
        let verifier = try Self.verifier([
          ("environments", .array(accepted.map { .string($0) }))
        ])
        func verify(_ receipt: [UInt8]) -> Document {
          verifier.verifyReceipt(receipt, kind: .transaction, nowMs: Self.now)
        }
        let good = verify(try AppReceiptFixture.authority().transactionReceipt(purchase))
        let comparison = Comparison(
          good, "transactionReceipt", verifier, refunds: try Self.refunds(purchase, verifier))
        checkEqual(good.text("transactionReceipt.environment"), environment)
        checkEqual(
          good.text("transactionReceipt.keys.transaction"),
          "\(environment)/\(purchase.transactionId)")
        check(comparison.decisions[0].hasPrefix("ok "))
        for refunded in comparison.decisions.dropFirst() {
          check(refunded.contains("\"state\":\"refunded\""), "\(refunded.prefix(200))")
        }
        for (name, receipt) in try Self.outerLists(purchase) {
          // Neither the result nor the keys change (RCP-28).
          check(comparison.asked(verify(receipt), name), "\(name)")
        }
      }
    }
  }

  @Test("RCP-30 no word of the outer list skips the check of the app")
  func outerWordsAndApp() throws {
    let verifier = try Self.verifier()
    let foreign = Self.production.with { $0.appAppleId = 7 }
    for (name, receipt) in try Self.outerLists(foreign) {
      let answer = verifier.verifyReceipt(receipt, kind: .transaction, nowMs: Self.now)
      checkEqual(answer.status, .rejectedAppAppAppleId, "\(name)")
    }
  }

  @Test("RCP-28 no word lets in a receipt of another environment")
  func outerWordsAndPolicy() throws {
    for (purchase, accepted) in [(Self.production, "Sandbox"), (Self.sandbox, "Production")] {
      let verifier = try Self.verifier([("environments", [.string(accepted)])])
      for (name, receipt) in try Self.outerLists(purchase) {
        let answer = verifier.verifyReceipt(receipt, kind: .transaction, nowMs: Self.now)
        checkEqual(answer.status, .rejectedEnvironmentNotAccepted, "\(name)")
      }
    }
  }

  @Test("RCP-28 RCP-29 an id that shows nothing: a word is only for the policy")
  func unknownPool() throws {
    for environments in [["Production", "Sandbox"], ["Production"], ["Sandbox"]] {
      let list = JSONText.array(environments.map { .string($0) })
      let strict = try Self.verifier([("environments", list)])
      let verifier = try Self.verifier([
        ("environments", list), ("receipts.unknownEnvironment", "allow"),
      ])
      func verify(_ receipt: [UInt8]) -> Document {
        verifier.verifyReceipt(receipt, kind: .transaction, nowMs: Self.now)
      }
      let good = verify(try AppReceiptFixture.authority().transactionReceipt(Self.unknown))
      let comparison = Comparison(good, "transactionReceipt", verifier)
      // No signed member has the environment of other evidence.
      checkEqual(comparison.decisions, ["rejected.payload.incomplete null"])
      checkEqual(good.tree?.at("transactionReceipt.environment")?.isNull, true)
      checkEqual(good.tree?.at("transactionReceipt.environmentSource")?.isNull, true)
      checkEqual(good.text("transactionReceipt.keys.transaction"), "unknown/3000000900000001")
      for (name, receipt) in try Self.outerLists(Self.unknown) {
        let answer = verify(receipt)
        let mayRefuse = name.hasPrefix("environment Sandbox,") || name.hasPrefix("environment \\")
        if mayRefuse, !environments.contains("Sandbox") {
          checkEqual(answer.status, .rejectedEnvironmentNotAccepted, "\(name)")
          checkEqual(answer.text("error.at"), "environment")
        } else {
          check(comparison.asked(answer, name), "\(name) \(answer.refusal)")
        }
        let refused = strict.verifyReceipt(receipt, kind: .transaction, nowMs: Self.now)
        if refused.status == .ok {
          // An outer Sandbox counts for the policy only (RCP-28).
          check(mayRefuse && environments.contains("Sandbox"), "\(name)")
          check(
            comparison.asked(refused, decides: false, name), "\(name) \(refused.refusal)")
        } else {
          check(
            refused.status == .rejectedEnvironmentMissing
              || refused.status == .rejectedEnvironmentNotAccepted, "\(name)")
        }
      }
    }
  }

  @Test("RCP-6 RCP-18 any octet of the outer text changed: the same, or refused")
  func outerFlips() throws {
    let verifier = try Self.verifier()
    let receipt = try AppReceiptFixture.authority().transactionTemplate(Self.production).signed()
    func verify(_ bytes: [UInt8]) -> Document {
      verifier.verifyReceipt(bytes, kind: .transaction, nowMs: Self.now)
    }
    let comparison = Comparison(
      verify(receipt), "transactionReceipt", verifier,
      refunds: try Self.refunds(Self.production, verifier))
    var same = 0
    for (place, changed) in Self.flips(receipt, step: 5) {
      if comparison.asked(verify(changed), "octet \(place)") { same += 1 }
    }
    // Only the text around the two values may change.
    check(same < 60)
  }

  @Test("RCP-1 RCP-2 RCP-4 the transport changes nothing that is said")
  func transports() throws {
    let verifier = try Self.verifier()
    let list = try AppReceiptFixture.authority().transactionTemplate(Self.production).signed()
    let container = try AppReceiptFixture.authority()
      .appTemplate(AppReceiptFacts([Self.production], like: Self.production)).signed()
    for (bytes, kind, member) in [
      (list, ReceiptKind.transaction, "transactionReceipt"), (container, .app, "appReceipt"),
    ] {
      let comparison = Comparison(
        verifier.verifyReceipt(bytes, kind: kind, nowMs: Self.now), member, verifier)
      var same = 0
      for form in TransportForm.allCases {
        let answer = verifier.verifyReceipt(form.encode(bytes), kind: kind, nowMs: Self.now)
        if comparison.asked(answer, form.rawValue) { same += 1 }
      }
      check(same >= 7)
      for (before, after) in [
        ("-----BEGIN PKCS7-----\n", "\n-----END PKCS7-----\n"), ("\"", "\""), ("", ","),
      ] {
        let text = utf8(before) + Base64Text.encode(bytes) + utf8(after)
        let answer = verifier.verifyReceipt(text, kind: kind, nowMs: Self.now)
        check(answer.status != .ok, "\(before)")
      }
    }
  }

  @Test("TRI-10 RCP-28 no word of the outer list changes the keys that triage names")
  func triagedWords() throws {
    let verifier = try Self.verifier()
    for purchase in [Self.production, Self.sandbox, Self.unknown] {
      func claimed(_ receipt: [UInt8]) -> [String] {
        let answer = verifier.triage(receipt, nowMs: Self.now)
        checkEqual(answer.status, .pendingTriageVerifyNext)
        return Self.facts(answer, "unverified")
      }
      let template = try AppReceiptFixture.authority().transactionTemplate(purchase)
      let good = claimed(try template.signed())
      check(good.contains { $0.hasPrefix("keys=[\"") })
      for (name, receipt) in try Self.outerLists(purchase) {
        checkEqual(claimed(receipt), good, "\(name)")
      }
    }
  }

  // MARK: app receipts

  private static func appTemplate(_ purchase: Purchase) throws -> AppReceiptTemplate {
    try AppReceiptFixture.authority().appTemplate(AppReceiptFacts([purchase], like: purchase))
  }

  /// Returns variants of what may be written around the payload of a container.
  private static func containers(
    _ good: AppReceiptTemplate, strangers: [[UInt8]]
  ) throws -> [(name: String, receipt: [UInt8])] {
    var made: [(String, [UInt8])] = []
    func add(_ name: String, _ change: (inout AppReceiptTemplate) throws -> Void) throws {
      var template = good
      try change(&template)
      made.append((name, try template.signed()))
    }
    for chunk in [1, 7, 100, 1 << 20] {
      try add("chunks of \(chunk)") { $0.form = .indefinite(chunk: chunk) }
    }
    try add("definite") { $0.form = .definite }
    try add("bag reversed") { $0.certificates.reverse() }
    try add("bag twice") { $0.certificates += $0.certificates }
    try add("leaf alone") { $0.certificates = [$0.chain.leaf] }
    try add("leaf gone") { $0.certificates.removeFirst() }
    for (place, stranger) in strangers.enumerated() {
      try add("stranger \(place) first") { $0.certificates.insert(stranger, at: 0) }
      try add("stranger \(place) last") { $0.certificates.append(stranger) }
      try add("stranger \(place) alone") { $0.certificates = [stranger] }
    }
    let words = Write.value(0x30, Write.oid(OID.data) + Write.value(0x31, Write.utf8("Sandbox")))
    try add("unsigned attributes") { $0.unsignedAttributes = Write.value(0xa1, words) }
    try add("signed attributes") { $0.signedAttributes = Write.value(0xa0, words) }
    try add("revocation lists") { $0.revocationLists = .raw(Write.value(0xa1, words)) }
    try add("another version") { $0.version = [3] }
    try add("another signer version") { $0.signerVersion = [3] }
    try add("another digest named") { $0.digestAlgorithms = [SigningKey.Digest.sha1.algorithm] }
    try add("two digests named") {
      $0.digestAlgorithms = [SigningKey.Digest.sha1.algorithm, $0.digest.algorithm]
    }
    try add("another digest of the signer") { $0.signerDigest = SigningKey.Digest.sha1.algorithm }
    try add("two signers") {
      let payload = AttributeTemplate.set($0.attributes)
      $0.signerInfos = [try $0.signerInfo(over: payload), try $0.signerInfo(over: payload)]
    }
    try add("trailing octets") { $0.finish = { $0 + [5, 0] } }
    return made
  }

  @Test("APR-1 APR-4 APR-7 nothing around the payload changes what an app receipt says")
  func containerWords() throws {
    let authority = try AppReceiptFixture.authority()
    let other = try authority.chain(.first)
    let strangers = [
      authority.xcodeCertificate, other.leaf, other.intermediate,
      try authority.chain(.developer).leaf,
    ]
    for purchase in [Self.production, Self.sandbox] {
      let verifier = try Self.verifier()
      func verify(_ receipt: [UInt8]) -> Document {
        verifier.verifyReceipt(receipt, kind: .app, nowMs: Self.now)
      }
      let good = try Self.appTemplate(purchase)
      let comparison = Comparison(
        verify(try good.signed()), "appReceipt", verifier,
        refunds: try Self.refunds(purchase, verifier))
      var same = 0
      for (name, receipt) in try Self.containers(good, strangers: strangers) {
        if comparison.asked(verify(receipt), name) { same += 1 }
      }
      check(same > 12)
    }
  }

  @Test("APR-5 APR-6 any octet of an app receipt changed: the same, or refused")
  func containerFlips() throws {
    let verifier = try Self.verifier()
    let receipt = try Self.appTemplate(Self.production).signed()
    func verify(_ bytes: [UInt8]) -> Document {
      verifier.verifyReceipt(bytes, kind: .app, nowMs: Self.now)
    }
    let comparison = Comparison(verify(receipt), "appReceipt", verifier)
    for (place, changed) in Self.flips(receipt, step: 7) {
      comparison.asked(verify(changed), "octet \(place)")
    }
  }

  // MARK: JWS

  private static func jwsTemplate() throws -> JWSTemplate {
    JWSTemplate(
      payload: production.transactionPayload.bytes, chain: try Minted.authority().chain)
  }

  @Test("JWS-94 JWS-4 any octet of a JWS changed: the same, or refused")
  func jwsFlips() throws {
    let verifier = try Self.verifier()
    func verify(_ bytes: [UInt8]) -> Document {
      verifier.verifyJWS(bytes, kind: .transaction, nowMs: Self.now)
    }
    let authority = try Minted.authority()
    let jws = try authority.mint(Self.production.transactionPayload)
    let comparison = Comparison(
      verify(jws), "transaction", verifier, refunds: try Self.refunds(Self.production, verifier))
    // Header and payload are signed; the signature contains no members.
    for (place, changed) in Self.flips(jws, step: 11) {
      check(!comparison.asked(verify(changed), "octet \(place)"), "octet \(place)")
    }
    var mirrored = try Self.jwsTemplate()
    mirrored.signature = .mirrored
    check(comparison.asked(verify(try mirrored.signed()), "mirrored"))
    for (before, after) in [(" ", ""), ("", "\n"), ("", "."), ("", ".e30"), ("e30.", "")] {
      let text = utf8(before) + jws + utf8(after)
      check(verify(text).status != .ok, "\(before)\(after)")
    }
  }

  @Test("JWS-11 JWS-13 words of the header are signed; changing them takes a new signature")
  func jwsHeaders() throws {
    let verifier = try Self.verifier()
    let good = try Self.jwsTemplate()
    let comparison = Comparison(
      verifier.verifyJWS(try good.signed(), kind: .transaction, nowMs: Self.now), "transaction",
      verifier)
    for (name, value) in [
      ("environment", "Sandbox"), ("kid", "Apple_Xcode_Key"), ("typ", "JWT"),
      ("bundleId", "com.example.other"), ("x5t", "AAAA"),
    ] {
      var template = good
      template.header = template.header.appending(name, .string(value))
      let answer = verifier.verifyJWS(
        try template.signed(), kind: .transaction, nowMs: Self.now)
      comparison.asked(answer, name)
      // The members of the good evidence, without a signature over them.
      var swapped = good
      swapped.text = .swapped(header: template.header.bytes)
      let refused = verifier.verifyJWS(
        try swapped.signed(), kind: .transaction, nowMs: Self.now)
      check(refused.status != .ok, "\(name)")
    }
  }

  // MARK: App Attest

  /// Returns unsigned members at every position of a CBOR map.
  private static func strewn(_ members: [CBORText.Member]) -> [[CBORText.Member]] {
    let words: [CBORText.Member] = [
      .init("environment", .text("sandbox")), .init("fmt", .text("apple-appattest")),
      .init("authData", .bytes([1])), .init("keyId", .bytes([1])), .init("x5c", .array([])),
      .init("receipt", .bytes([])), .init("signature", .bytes([1])),
      .init("authenticatorData", .bytes([1])), .init("", .unsigned(0)),
    ]
    var lists = [Array(members.reversed())]
    for word in words {
      lists += [members + [word], [word] + members]
      for place in members.indices {
        var list = members
        list[place] = word
        lists.append(list)
      }
    }
    for place in members.indices {
      var list = members
      list.remove(at: place)
      lists.append(list)
    }
    return lists
  }

  @Test("ATT-12 no member that is not signed changes what an attestation says")
  func attestationWords() throws {
    let verifier = try AttestFixture.verifier()
    let good = try AttestFixture.attestation()
    func asked(_ object: [UInt8], _ name: String, _ comparison: Comparison) throws {
      comparison.asked(try AttestFixture.attest(object, verifier), decides: false, name)
    }
    let comparison = Comparison(
      try AttestFixture.attest(good, verifier), "attestation", verifier)
    for (place, changed) in Self.flips(good, step: 13) {
      try asked(changed, "octet \(place)", comparison)
    }
    var objects: [CBORText.Member] = []
    var statements: [CBORText.Member] = []
    let objectsBox = MemberBox()
    let statementsBox = MemberBox()
    _ = try AttestFixture.attestation {
      $0.object = { objectsBox.keep($0) }
      $0.statement = { statementsBox.keep($0) }
    }
    objects = objectsBox.members
    statements = statementsBox.members
    check(objects.count == 3 && statements.count == 2)
    for (place, list) in Self.strewn(objects).enumerated() {
      try asked(
        try AttestFixture.attestation { $0.object = { _ in list } }, "object \(place)", comparison)
    }
    for (place, list) in Self.strewn(statements).enumerated() {
      try asked(
        try AttestFixture.attestation { $0.statement = { _ in list } }, "statement \(place)",
        comparison)
    }
    let root = try AttestFixture.authority().rootCertificate
    let changes: [(String, @Sendable ([[UInt8]]) -> [[UInt8]])] = [
      ("reversed", { $0.reversed() }), ("with the root", { $0 + [root] }),
      ("twice", { $0 + $0 }), ("leaf twice", { [$0[0]] + $0 }), ("root first", { [root] + $0 }),
    ]
    for (name, change) in changes {
      try asked(try AttestFixture.attestation { $0.chain = change }, "x5c \(name)", comparison)
    }
  }

  @Test("ASR-1 ASR-10 no member that is not signed changes what an assertion says")
  func assertionWords() throws {
    let verifier = try AttestFixture.verifier()
    let good = try AttestFixture.assertion()
    let comparison = Comparison(
      try AttestFixture.assert(good, verifier), "assertion", verifier)
    for (place, changed) in Self.flips(good) {
      let answer = try AttestFixture.assert(changed, verifier)
      comparison.asked(answer, decides: false, "octet \(place)")
    }
    let box = MemberBox()
    _ = try AttestFixture.assertion { $0.object = { box.keep($0) } }
    checkEqual(box.members.count, 2)
    for (place, list) in Self.strewn(box.members).enumerated() {
      let object = try AttestFixture.assertion { $0.object = { _ in list } }
      comparison.asked(
        try AttestFixture.assert(object, verifier), decides: false, "object \(place)")
    }
    // The client data are signed as bytes: any other bytes are other data.
    let data = AttestFixture.clientData
    for other in [data + utf8(" "), utf8(" ") + data, data.reversed(), []] {
      let answer = try AttestFixture.assert(good, verifier, clientData: .data(other))
      check(answer.status != .ok)
    }
  }

  @Test("FRC-1 FRC-3 nothing around the fields changes what an App Attest receipt says")
  func attestReceiptWords() throws {
    let fixture = try AttestReceiptFixture.shared()
    let trust = try fixture.trust()
    func said(_ receipt: [UInt8]) -> String? {
      guard let receipt = AttestReceiptFixture.verify(trust, receipt).receipt else { return nil }
      let document = AttestReceiptFixture.document(receipt)
      return document.children.filter { !["bytes", "sha256"].contains($0.name.string) }
        .map { String(decoding: $0.source, as: UTF8.self) }.joined(separator: "\n")
    }
    let good = try fixture.template(fixture.fields(refreshed: true))
    let bytes = try good.signed()
    let expected = try require(said(bytes))
    let strangers = [try fixture.leaf.signed(by: fixture.intermediateKey)]
    var same = 0
    for (name, receipt) in try Self.containers(good, strangers: strangers) {
      guard let other = said(receipt) else { continue }
      checkEqual(other, expected, "\(name)")
      same += 1
    }
    check(same > 4)
    for (place, changed) in Self.flips(bytes, step: 9) {
      if let other = said(changed) { checkEqual(other, expected, "octet \(place)") }
    }
  }
}

/// Stores the members that a template was made of.
private final class MemberBox: @unchecked Sendable {
  private(set) var members: [CBORText.Member] = []

  func keep(_ members: [CBORText.Member]) -> [CBORText.Member] {
    self.members = members
    return members
  }
}
