import AssayAuthority
import Testing

@testable import Assay

/// Tests challenges and events with scripted replies (STO-60, STO-61, STO-65).
@Suite("Stores: challenges, once")
struct LedgerChallengeTests {
  private static let now = AttestFixture.now
  /// The challenge in the client data of the fixture.
  private static let text = "bm90IHJhbmRvbSBhdCBhbGw"
  private static let id = String(
    decoding: Hex.encode(Digest.sha256.of(utf8("not random at all"))), as: UTF8.self)

  private func verifier(
    _ engine: LedgerEngine = .sqlite, _ changes: [(String, JSONText)] = []
  ) throws -> Verifier {
    try AttestFixture.verifier(
      [
        ("ledger", StoreAnswer.stores(engine)),
        (
          "attest.challenge",
          ["mode": "json", "path": "challenge", "encoding": "base64url"]
        ),
      ] + changes)
  }

  private func row(
    _ engine: LedgerEngine, id: String = id, purpose: String = "attest", subject: String = "ann",
    expires: Int64 = now + 300_000, usedBy: String? = nil, usedAtMs: Int64 = now,
    isMade: Bool = true
  ) -> String {
    StoreAnswer.row(
      engine, ChallengeRow.columns,
      [
        "\"\(id)\"", "\"\(purpose)\"", "\"\(subject)\"", "\(expires)",
        usedBy.map { "\"\($0)\"" } ?? "null", usedBy == nil ? "null" : "\(usedAtMs)",
      ], isMade: isMade)
  }

  // MARK: issue

  private let issue: JSONText = [
    "operation": "issue-challenge", "challenge": .string(text), "purpose": "attest",
    "subject": "ann",
  ]

  @Test("STO-60 the SHA-256 is kept, not the challenge", arguments: StoreAnswer.engines)
  func issued(_ engine: LedgerEngine) throws {
    let script = LedgerScript(try verifier(engine), issue, now: Self.now)
    let store = script.source("exchange.database")
    check(store.contains(Self.id) && !store.contains(Self.text))
    checkEqual(script.document.flag("exchange.database.repeatable"), true)
    if engine == .dynamodb {
      checkEqual(script.document.text("exchange.database.calls.0.api"), "PutItem")
      try script.answer("{\"output\":{}}")
    } else {
      try script.answer(row(engine))
    }
    script.expect("ok", "issued")
    checkEqual(script.document.text("exchange.sha256"), Self.id)
    checkEqual(script.document.integer("exchange.expiresAtMs"), Self.now + 300_000)
  }

  @Test("STO-60 what stands there under it already", arguments: StoreAnswer.engines)
  func collision(_ engine: LedgerEngine) throws {
    let verifier = try verifier(engine)
    func answered(_ row: String) throws -> LedgerScript {
      let script = LedgerScript(verifier, issue, now: Self.now)
      try script.answer(row)
      return script
    }
    // A repetition after a lost reply.
    let again = try answered(row(engine, expires: Self.now + 5, isMade: false))
    again.expect("ok", "issued")
    checkEqual(again.document.integer("exchange.expiresAtMs"), Self.now + 5)
    for stands in [
      row(engine, purpose: "assert", isMade: false), row(engine, subject: "bob", isMade: false),
      row(engine, usedBy: "x", isMade: false), row(engine, expires: Self.now, isMade: false),
    ] {
      try answered(stands).expect("unavailable.challenge.collision", at: "challenge")
    }
    try answered(row(engine, id: "00", isMade: false))
      .expect("unavailable.database.unexpected-reply")
  }

  @Test("STO-8 what is no challenge")
  func misuse() throws {
    let wrong: [(String, JSONText, String)] = [
      ("challenge", "bm90IHJhbmRvbSBhdCBhb", "misuse.ledger.attempt-id"),
      ("challenge", .string(String(repeating: "A", count: 65)), "misuse.ledger.attempt-id"),
      ("challenge", "bm90IHJhbmRvbSBhdCBhbGx", "misuse.ledger.attempt-id"),
      ("challenge", "bm90IHJhbmRvbSBhdCBhb+/", "misuse.ledger.attempt-id"),
      ("challenge", 7, "misuse.ledger.attempt-id"), ("purpose", "", "misuse.exchange.request"),
      ("purpose", "a b", "misuse.exchange.request"),
      ("purpose", "a\u{1}b", "misuse.exchange.request"),
      ("purpose", .string(String(repeating: "a", count: 33)), "misuse.exchange.request"),
      ("subject", "ann ", "misuse.ledger.account"),
    ]
    for (member, value, status) in wrong {
      LedgerScript(try verifier(), issue.setting([(member, value)]), now: Self.now)
        .expect(status, at: member)
    }
    // The text is long enough, but its decoded bytes are too short for a challenge.
    let hex = try verifier(
      .sqlite, [("attest.challenge", ["mode": "json", "path": "challenge", "encoding": "hex"])])
    for (count, status) in [(30, "misuse.ledger.attempt-id"), (32, "pending.exchange.database")] {
      LedgerScript(
        hex, issue.setting([("challenge", .string(String(repeating: "a", count: count)))]),
        now: Self.now
      ).expect(status, at: status.hasPrefix("misuse") ? "challenge" : nil)
    }
    // Without an encoding the text itself is the challenge.
    let host = try verifier(.sqlite, [("attest.challenge", ["mode": "host"])])
    let script = LedgerScript(host, issue, now: Self.now)
    let id = Hex.encode(Digest.sha256.of(utf8(Self.text)))
    checkEqual(script.arguments(1), "[\"\(String(decoding: id, as: UTF8.self))\"]")
    let plain = String(repeating: "a", count: 21)
    for (text, status) in [
      (plain + "a", "pending.exchange.database"), (plain, "misuse.ledger.attempt-id"),
      (plain + "\u{1}", "misuse.ledger.attempt-id"), (plain + "é", "misuse.ledger.attempt-id"),
      (String(repeating: "a", count: 64), "pending.exchange.database"),
      (String(repeating: "a", count: 65), "misuse.ledger.attempt-id"),
    ] {
      LedgerScript(host, issue.setting([("challenge", .string(text))]), now: Self.now)
        .expect(status, at: status.hasPrefix("misuse") ? "challenge" : nil)
    }
  }

  // MARK: consume

  private let consume: JSONText = [
    "operation": "consume-challenge", "challenge": .string(text), "purpose": "attest",
    "subject": "ann", "usedBy": "me",
  ]

  @Test("STO-61 each outcome, on every engine", arguments: StoreAnswer.engines)
  func consumed(_ engine: LedgerEngine) throws {
    let verifier = try verifier(engine)
    func expect(_ row: String, _ status: String, _ outcome: String?) throws {
      let script = LedgerScript(verifier, consume, now: Self.now)
      try script.answer(row)
      script.expect(status, outcome)
    }
    try expect(row(engine, usedBy: "me"), "ok", "consumed")
    try expect(
      row(engine, expires: Self.now - 1, usedBy: "me", usedAtMs: Self.now - 9, isMade: false),
      "ok", "consumed")
    try expect(
      row(engine, usedBy: "you", isMade: false), "rejected.challenge.used", "used")
    try expect(
      row(engine, expires: Self.now, isMade: false), "rejected.challenge.expired", "expired")
    try expect(
      row(engine, purpose: "assert", isMade: false), "rejected.challenge.mismatch", "mismatch")
    try expect(
      row(engine, subject: "bob", usedBy: "me", isMade: false), "rejected.challenge.mismatch",
      "mismatch")
    try expect(StoreAnswer.absent(engine), "rejected.challenge.unknown", "unknown")
    // If it is unused and in time, the change must have been made.
    try expect(
      row(engine, expires: Self.now + 1, isMade: false), "unavailable.database.unexpected-reply",
      nil)
    try expect(row(engine, id: "00", usedBy: "me"), "unavailable.database.unexpected-reply", nil)
  }

  @Test("STO-61 what each engine is asked")
  func calls() throws {
    let sql = LedgerScript(try verifier(.postgres), consume, now: Self.now)
    checkEqual(
      sql.arguments(), "[\"me\",\(Self.now),\"\(Self.id)\",\"attest\",\"ann\",\(Self.now)]")
    let redis = LedgerScript(try verifier(.redis), consume, now: Self.now)
    checkEqual(
      redis.source("exchange.database.calls.0.keys"), "[\"assay:{\(Self.id)}:challenge\"]")
    checkEqual(
      redis.arguments(),
      #"["","0","1","12","eq","purpose","attest","eq","subject","ann","eq","used_by","","#
        + #""ge","expires_at_ms","\#(Self.now + 1)","4","used_by","me","used_at_ms","#
        + #""\#(Self.now)","0"]"#)
    let issued = LedgerScript(try verifier(.redis), issue, now: Self.now)
    checkEqual(
      issued.document.text("exchange.database.calls.0.args.0"), "\(Self.now + 300_000 + 86_400_000)"
    )
    let dynamo = LedgerScript(try verifier(.dynamodb), consume, now: Self.now)
    checkEqual(
      dynamo.document.text("exchange.database.calls.0.input.ConditionExpression"),
      "#purpose = :purpose AND #subject = :subject AND #expires_at_ms > :now "
        + "AND (attribute_not_exists(#used_by) OR #used_by = :by)")
    checkEqual(
      dynamo.document.text("exchange.database.calls.0.input.Key.PK.S"), "CHAL#\(Self.id)")
  }

  @Test("STO-61 the challenge that was signed is the one that is used up")
  func evidence() throws {
    let verifier = try verifier()
    let keyId = String(decoding: Hex.encode(try AttestFixture.device().keyId), as: UTF8.self)
    let attested = try AttestFixture.attest(try AttestFixture.attestation(), verifier)
    let asserted = try AttestFixture.assert(try AttestFixture.assertion(), verifier)
    let bare = consume.removing("challenge").removing("usedBy")
    for (document, user) in [(attested, keyId), (asserted, keyId + ":7")] {
      for request in [bare, bare.setting([("challenge", .string(Self.text))])] {
        let script = LedgerScript(verifier, request, [document], now: Self.now)
        checkEqual(script.document.text("exchange.database.calls.0.args.0"), user)
        checkEqual(script.document.text("exchange.database.calls.0.args.2"), Self.id)
        try script.answer(row(.sqlite, usedBy: user))
        script.expect("ok", "consumed")
      }
    }
    let other = bare.setting([("challenge", "b3RoZXIgcmFuZG9tIHRleHQ")])
    LedgerScript(verifier, other, [asserted], now: Self.now)
      .expect("rejected.challenge.mismatch", "mismatch", at: "challenge")
    LedgerScript(verifier, bare.setting([("usedBy", "me")]), [asserted], now: Self.now)
      .expect("misuse.exchange.request", at: "usedBy")
    let stored = try self.verifier(.sqlite, [("attest.time", "stored")])
    let old = try AttestFixture.attest(try AttestFixture.attestation(), stored)
    let refused = LedgerScript(stored, bare, [old], now: Self.now)
    Exchanges.expect(
      refused.document, "misuse.exchange.evidence", at: "evidence[0]", rule: "EXC-13")
  }

  @Test("STO-61 without evidence the host names challenge and user")
  func host() throws {
    let verifier = try verifier()
    for member in ["challenge", "usedBy", "purpose", "subject"] {
      LedgerScript(verifier, consume.removing(member), now: Self.now)
        .expect("misuse.exchange.request", at: member)
    }
    // A client may send any text.
    for text in ["", "x", "%%%%%%%%%%%%%%%%%%%%%%%%", String(repeating: "A", count: 65)] {
      LedgerScript(verifier, consume.setting([("challenge", .string(text))]), now: Self.now)
        .expect("rejected.challenge.unknown", "unknown", at: "challenge")
    }
    // Client data without a challenge.
    let silent = try self.verifier(.sqlite, [("attest.challenge", ["mode": "host"])])
    let asserted = try AttestFixture.assert(try AttestFixture.assertion(), silent)
    let bare = consume.removing("challenge").removing("usedBy")
    LedgerScript(silent, bare, [asserted], now: Self.now)
      .expect("misuse.exchange.request", at: "challenge")
  }

  @Test("STO-4 a row of another shape is not understood")
  func shapes() throws {
    let verifier = try verifier()
    let good = ["\"\(Self.id)\"", "\"attest\"", "\"ann\"", "\(Self.now + 1)", "\"me\"", "1"]
    func answered(_ values: [String]) throws -> Document {
      let script = LedgerScript(verifier, consume, now: Self.now)
      return try script.answer("{},{\"rows\":[[\(values.joined(separator: ","))]]}")
    }
    try checkEqual(answered(good).name, "ok")
    var numbers = good
    numbers[3] = "\"\(Self.now + 1)\""
    try checkEqual(answered(numbers).name, "ok", "drivers give numbers as text")
    for place in good.indices {
      for value in ["null", "true", "{}", place == 3 || place == 5 ? "\"x\"" : "1"] {
        var values = good
        values[place] = value
        try checkEqual(
          answered(values).name, "unavailable.database.unexpected-reply", "\(place) \(value)")
      }
    }
    try checkEqual(answered(good + ["1"]).name, "unavailable.database.unexpected-reply")
    try checkEqual(answered(good.dropLast()).name, "unavailable.database.unexpected-reply")
    let lost = LedgerScript(verifier, consume, now: Self.now)
    try lost.lose()
    lost.expect("pending.exchange.wait")
    try lost.wait()
    try lost.answer(row(.sqlite, usedBy: "me"))
    lost.expect("ok", "consumed")
  }

  @Test("STO-4 what DynamoDB and Redis leave out of a row is not understood")
  func gaps() throws {
    for (engine, answer) in [
      (LedgerEngine.dynamodb, "{\"output\":{}}"),
      (
        .redis,
        row(.redis, expires: Self.now, isMade: false).replacing(
          "\"used_by\",\"\"", with: "\"used_by\",null")
      ),
    ] {
      let script = LedgerScript(try verifier(engine), consume, now: Self.now)
      try script.answer(answer)
      Exchanges.expect(script.document, "unavailable.database.unexpected-reply", rule: "STO-4")
    }
  }

  @Test("STO-4 numbers of a row are below 2^53, as numbers and as text")
  func numbers() throws {
    let verifier = try verifier()
    for (value, status) in [
      ("9007199254740991", "ok"), ("\"9007199254740991\"", "ok"),
      ("9007199254740992", "unavailable.database.unexpected-reply"),
      ("\"9007199254740992\"", "unavailable.database.unexpected-reply"),
    ] {
      let script = LedgerScript(verifier, once, now: Self.now)
      try script.answer("{},{\"rows\":[[\"attempt-0000000000000001\",\(value)]]}")
      checkEqual(script.document.name, status, "\(value)")
    }
  }

  // MARK: once

  private let once: JSONText = [
    "operation": "record-event", "id": "NOTE#1", "attemptId": "attempt-0000000000000001",
  ]

  @Test("STO-65 the first does it, and its retry", arguments: StoreAnswer.engines)
  func once(_ engine: LedgerEngine) throws {
    let verifier = try Minted.verifier([
      ("ledger", StoreAnswer.stores(engine, [("redis", ["volatile": true])]))
    ])
    func answered(_ attempt: String, isMade: Bool = false) throws -> LedgerScript {
      let script = LedgerScript(verifier, once, now: Self.now)
      try script.answer(
        StoreAnswer.row(
          engine, ["attempt_id", "stored_at_ms"], ["\"\(attempt)\"", "77"], isMade: isMade))
      return script
    }
    try answered("attempt-0000000000000001").expect("ok", "first")
    let seen = try answered("attempt-0000000000000002")
    seen.expect("rejected.event.duplicate", "duplicate", at: "id")
    checkEqual(seen.document.integer("exchange.storedAtMs"), 77)
    if engine == .dynamodb {
      let new = LedgerScript(verifier, once, now: Self.now)
      try new.answer("{\"output\":{}}")
      new.expect("ok", "first")
    }
    if engine.isSQL {
      let gone = LedgerScript(verifier, once, now: Self.now)
      try gone.answer("{},{\"rows\":[]}")
      gone.expect("unavailable.database.row-missing")
    }
    for (member, value, status) in [
      ("id", "", "misuse.exchange.request"), ("id", "a b", "misuse.exchange.request"),
      ("attemptId", "short", "misuse.ledger.attempt-id"),
    ] {
      LedgerScript(verifier, once.setting([(member, .string(value))]), now: Self.now)
        .expect(status, at: member)
    }
  }
}
