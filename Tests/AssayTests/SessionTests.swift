import AssayAuthority
import Testing

@testable import Assay

/// Tests session tokens issued from evidence, and their verification (docs/spec/session.md).
@Suite("Exchange session")
struct SessionTests {
  private static let now = AttestFixture.now
  private static let secret = [UInt8](1...48)
  private let block: JSONText = [
    "secrets": [["id": "s1", "secret": .string(utf8: Base64Text.encode(secret))]],
    "ttlMs": 120_000,
  ]
  private let verifier: Verifier

  init() throws { verifier = try AttestFixture.verifier([("session", block)]) }

  private func attested() throws -> Document {
    try AttestFixture.attest(try AttestFixture.attestation(), verifier)
  }

  private func asserted() throws -> Document {
    try AttestFixture.assert(try AttestFixture.assertion(), verifier)
  }

  private func issue(
    _ more: [(String, JSONText)] = [], _ evidence: [Document], _ verifier: Verifier? = nil
  ) -> Document {
    let request: JSONText = ["operation": "issue-session", "account": "account-1"]
    return (verifier ?? self.verifier).startExchange(
      request.setting(more).bytes, evidence: evidence, nowMs: Self.now
    ).document
  }

  private func asked(
    _ text: String, _ more: [(String, JSONText)] = [], now: Int64 = SessionTests.now
  ) -> Document {
    let request: JSONText = [
      "operation": "verify-session", "session": .string(text), "purpose": "metered",
    ]
    return verifier.startExchange(request.setting(more).bytes, nowMs: now).document
  }

  /// Returns the payload of a token after checking its code.
  private func payload(_ text: String) throws -> String {
    let parts = text.split(separator: "~").map { Array($0.utf8) }
    try require(parts.count == 3 && parts[0] == utf8("as1"))
    checkEqual(
      Base64.decodeURL(parts[2][...]),
      (try SessionTokenTemplate.code(
        Self.secret, utf8("assay-session-v1") + [0] + parts[1])))
    return String(decoding: try require(Base64.decodeURL(parts[1][...])), as: UTF8.self)
  }

  private var keyId: String {
    get throws {
      String(
        decoding: Base64.encodeStandard(try AttestFixture.device().keyId), as: UTF8.self)
    }
  }

  @Test("SES-1 SES-2 SES-3 a text from an attestation")
  func fromAttestation() throws {
    let document = issue(
      [("verdict", "limited"), ("risk", 3), ("binding", "jti-1"), ("ttlMs", 60_000)],
      [try attested()])
    Exchanges.expect(document, "ok")
    let text = try require(document.text("exchange.session.text"))
    let bind = String(decoding: Hex.encode(Assay.Digest.sha256.of(utf8("jti-1"))), as: UTF8.self)
    try checkEqual(
      payload(text),
      """
      {"kid":"s1","sub":"account-1","key":"\(try keyId)","app":"\(AttestFixture.appId)",\
      "env":"production","verdict":"limited","risk":3,"bind":"\(bind)",\
      "iat":\(Self.now),"exp":\(Self.now + 60_000)}
      """)
    checkEqual(document.text("exchange.session.keyId"), (try keyId))
    checkEqual(document.integer("exchange.session.issuedAtMs"), Self.now)
    checkEqual(document.integer("exchange.session.expiresAtMs"), Self.now + 60_000)
    checkEqual(document.text("exchange.sensitivePaths.0"), "session.text")
    let checked = asked(text, [("account", "account-1"), ("binding", "jti-1")])
    Exchanges.expect(checked, "ok")
    checkEqual(checked.flag("exchange.session.limited"), true)
    checkEqual(checked.text("exchange.session.keyId"), (try keyId))
  }

  @Test("SES-1 a text from an assertion names the key that verified, and no environment")
  func fromAssertion() throws {
    for publicKey in [
      try AttestFixture.device().point, try AttestFixture.device().key.publicKeyInfo(),
    ] {
      let asserted = try AttestFixture.assert(
        try AttestFixture.assertion(), verifier, publicKey: publicKey)
      let text = try require(
        issue([("risk", .null)], [asserted]).text("exchange.session.text"))
      try checkEqual(
        payload(text),
        """
        {"kid":"s1","sub":"account-1","key":"\(try keyId)","app":"\(AttestFixture.appId)",\
        "env":null,"verdict":"allow","risk":null,"bind":null,\
        "iat":\(Self.now),"exp":\(Self.now + 120_000)}
        """)
      Exchanges.expect(asked(text), "ok")
    }
  }

  @Test("SES-1 accounts have the form of account ids")
  func accounts() throws {
    let evidence = try asserted()
    for bad: JSONText in [
      "", " a", "a ", .text(#""a\u0001""#), "a\u{85}", 7,
      .string(String(repeating: "a", count: 256)),
    ] {
      Exchanges.expect(
        issue([("account", bad)], [evidence]), "misuse.ledger.account", at: "account",
        rule: "SES-1")
    }
    // The longest account: every byte is escaped.
    let longest = String(repeating: "\"", count: 255)
    let document = issue([("account", .string(longest))], [evidence])
    Exchanges.expect(
      asked(try require(document.text("exchange.session.text")), [("account", .string(longest))]),
      "ok")
  }

  @Test("SES-1 SES-4 the other members of a request")
  func members() throws {
    let evidence = try asserted()
    for (member, values, rule) in [
      ("verdict", ["deny", 1, .null], "SES-1"), ("risk", [-1, 1_000_000_000, "1"], "SES-1"),
      ("binding", ["", .string(String(repeating: "b", count: 256)), 1], "SES-1"),
      ("ttlMs", [0, 3_600_001, "60000"], "SES-4"),
    ] as [(String, [JSONText], String)] {
      for value in values {
        Exchanges.expect(
          issue([(member, value)], [evidence]), "misuse.exchange.request", at: member, rule: rule)
      }
    }
    Exchanges.expect(issue([("ttlMs", 3_600_000), ("risk", 999_999_999)], [evidence]), "ok")
  }

  @Test("EXC-2 EXC-13 one document of an attested key, judged live")
  func evidence() throws {
    let misuse = "misuse.exchange.evidence"
    Exchanges.expect(issue([], []), misuse, at: "evidence", rule: "EXC-2")
    Exchanges.expect(issue([], [try asserted(), try attested()]), misuse, at: "evidence")
    let refused = try AttestFixture.assert(try AttestFixture.assertion(), verifier, counter: 9)
    Exchanges.expect(issue([], [refused]), misuse, at: "evidence[0]")
    let foreign = try AttestFixture.assert(
      try AttestFixture.assertion(), try AttestFixture.verifier([("clockSkewMs", 0)]))
    Exchanges.expect(issue([], [foreign]), misuse, at: "evidence[0]")
    let stored = try AttestFixture.verifier([("session", block), ("attest.time", "stored")])
    for document in [
      try AttestFixture.attest(try AttestFixture.attestation(), stored),
      try AttestFixture.assert(try AttestFixture.assertion(), stored),
    ] {
      Exchanges.expect(document, "ok")
      for verifier in [verifier, stored] {
        Exchanges.expect(
          issue([], [document], verifier), misuse, at: "evidence[0]", rule: "EXC-13")
      }
    }
    let without = try AttestFixture.verifier()
    let document = try AttestFixture.assert(try AttestFixture.assertion(), without)
    Exchanges.expect(
      issue([], [document], without), "config.exchange.block-missing", at: "session")
  }

  @Test("SES-10 SES-11 no change of a text passes")
  func changes() throws {
    let text = try require(issue([], [try asserted()]).text("exchange.session.text"))
    let octets = Array(text.utf8)
    for place in octets.indices {
      var other = octets
      other[place] = other[place] == 0x41 ? 0x42 : 0x41
      let document = asked(String(decoding: other, as: UTF8.self))
      check(
        ["malformed.session.form", "rejected.session.signature"].contains(document.name),
        "\(place)")
      check(document.tree?.at("exchange.session") == nil)
    }
  }
}
