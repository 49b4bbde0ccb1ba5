import AssayAuthority
import Testing

@testable import Assay

/// Tests device keys with scripted replies (STO-62 … STO-64).
@Suite("Stores: attested keys")
struct LedgerKeyTests {
  private static let now = AttestFixture.now
  private static let durable: [LedgerEngine] = [.sqlite, .postgres, .mariadb, .dynamodb]

  private func verifier(
    _ engine: LedgerEngine = .sqlite, _ changes: [(String, JSONText)] = []
  ) throws -> Verifier {
    try AttestFixture.verifier([("ledger", StoreAnswer.stores(engine))] + changes)
  }

  private func hexId() throws -> String {
    String(decoding: Hex.encode(try AttestFixture.device().keyId), as: UTF8.self)
  }

  private func point() throws -> String {
    String(decoding: Base64.encodeStandard(try AttestFixture.device().point), as: UTF8.self)
  }

  /// Returns the values of a row that is good but for some columns.
  private func values(_ changes: [String: String] = [:]) throws -> [String] {
    let good: [(String, String)] = [
      ("key_id", "\"\(try hexId())\""), ("owner", "\"ann\""),
      ("app", "\"\(AttestFixture.appId)\""), ("environment", "\"production\""),
      ("public_key", "\"\(try point())\""), ("counter", "6"), ("state", "\"active\""),
      ("created_at_ms", "\(Self.now - 5)"), ("used_at_ms", "\(Self.now - 5)"),
      ("receipt", "\"cg==\""),
      ("receipt_created_at_ms", "1"), ("next_refresh_at_ms", "2"), ("risk", "3"),
    ]
    return good.map { changes[$0.0] ?? $0.1 }
  }

  private func row(
    _ engine: LedgerEngine, _ changes: [String: String] = [:], isMade: Bool = true,
    isRead: Bool = false
  ) throws -> String {
    let row = StoreAnswer.row(
      engine, KeyRow.columns, try values(changes), isMade: isMade)
    guard isRead else { return row }
    return engine.isSQL
      ? String(row.dropFirst(3)) : row.replacing("\"Attributes\"", with: "\"Item\"")
  }

  /// Returns the reply to a step that reads a row before and after a change; for DynamoDB with the
  /// row that failed the condition.
  private func change(
    _ engine: LedgerEngine, from before: [String: String]?, to after: [String: String]
  ) throws -> String {
    let found = try row(engine, after, isMade: false)
    guard engine.isSQL else { return found }
    let first = try before.map { try row(engine, $0, isMade: false, isRead: true) }
    return (first ?? "{\"rows\":[]}") + "," + found
  }

  // MARK: bind

  private let bind: JSONText = ["operation": "register-device-key", "account": "ann"]

  private func attested(_ verifier: Verifier) throws -> Document {
    try AttestFixture.attest(try AttestFixture.attestation(), verifier)
  }

  @Test("STO-62 a key is one account's", arguments: durable)
  func bound(_ engine: LedgerEngine) throws {
    let verifier = try verifier(engine)
    let evidence = try attested(verifier)
    func expect(
      _ changes: [String: String], _ status: String, _ outcome: String?, changed: Bool? = nil,
      isNew: Bool = false
    ) throws {
      let script = LedgerScript(verifier, bind, [evidence], now: Self.now)
      try script.answer(try change(engine, from: isNew ? nil : changes, to: changes))
      script.expect(status, outcome)
      checkEqual(script.document.flag("exchange.changed"), changed)
    }
    let madeNow = ["created_at_ms": "\(Self.now)"]
    if engine.isSQL { try expect(madeNow, "ok", "registered", changed: true, isNew: true) }
    try expect([:], "ok", "already", changed: false)
    try expect([:], "ok", "already", changed: false, isNew: true)
    try expect(madeNow, "ok", "already", changed: false)
    // The step was repeated, and finds the change that it made itself (STO-31).
    let again = LedgerScript(verifier, bind, [evidence], now: Self.now)
    try again.lose()
    try again.wait()
    try again.answer(try change(engine, from: madeNow, to: madeNow))
    again.expect("ok", "registered")
    try expect(
      ["owner": "\"bob\""], "rejected.device-key.other-account", "other-account", changed: false)
    try expect(
      ["state": "\"retired\""], "rejected.device-key.retired", "retired", changed: false)
    try expect(["public_key": "\"BA==\""], "unavailable.database.unexpected-reply", nil)
    try expect(["key_id": "\"00\""], "unavailable.database.unexpected-reply", nil)
    try expect(["state": "\"odd\""], "unavailable.database.unexpected-reply", nil)
    if engine == .dynamodb {
      let script = LedgerScript(verifier, bind, [evidence], now: Self.now)
      check(script.source("exchange.database").contains("\"owner_pk\":{\"S\":\"USER#ann\"}"))
      try script.answer("{\"output\":{}}")
      script.expect("ok", "registered")
    }
  }

  @Test("STO-62 the row is made from the attestation alone")
  func row() throws {
    let verifier = try verifier()
    let evidence = try attested(verifier)
    let script = LedgerScript(verifier, bind, [evidence], now: Self.now)
    let receipt = try require(evidence.text("attestation.receipt.bytes"))
    let made = try require(evidence.integer("attestation.receipt.createdAtMs"))
    let next = try require(evidence.integer("attestation.receipt.refreshAtMs"))
    checkEqual(
      script.arguments(1),
      """
      ["\(try hexId())","ann","\(AttestFixture.appId)","production","\(try point())",0,"active",\
      \(Self.now),\(Self.now),"\(receipt)",\(made),\(next),null]
      """)
    let ignoring = try self.verifier(.sqlite, [("attest.receipt", "ignore")])
    let bare = LedgerScript(ignoring, bind, [try attested(ignoring)], now: Self.now)
    check(bare.arguments(1).hasSuffix(",null,0,0,null]"))
  }

  @Test("EXC-13 STO-13 what does not prove a key now")
  func evidence() throws {
    let verifier = try verifier()
    let asserted = try AttestFixture.assert(try AttestFixture.assertion(), verifier)
    let misuse = "misuse.exchange.evidence"
    LedgerScript(verifier, bind, [], now: Self.now).expect(misuse, at: "evidence")
    LedgerScript(verifier, bind, [asserted], now: Self.now).expect(misuse, at: "evidence[0]")
    let advance: JSONText = ["operation": "advance-device-key-counter", "account": "ann"]
    LedgerScript(verifier, advance, [try attested(verifier)], now: Self.now)
      .expect(misuse, at: "evidence[0]")
    let stored = try self.verifier(.sqlite, [("attest.time", "stored")])
    let old = try AttestFixture.assert(try AttestFixture.assertion(), stored)
    for (request, document) in [(bind, try attested(stored)), (advance, old)] {
      let script = LedgerScript(stored, request, [document], now: Self.now)
      Exchanges.expect(script.document, misuse, at: "evidence[0]", rule: "EXC-13")
    }
    let redis = try self.verifier(.redis)
    LedgerScript(redis, bind, [try attested(redis)], now: Self.now)
      .expect("config.ledger.not-durable", at: "engine")
  }

  // MARK: advance

  private let advance: JSONText = ["operation": "advance-device-key-counter", "account": "ann"]

  @Test("STO-63 a counter is used once", arguments: durable)
  func advanced(_ engine: LedgerEngine) throws {
    let verifier = try verifier(engine)
    let evidence = try AttestFixture.assert(try AttestFixture.assertion(), verifier)
    func begun() -> LedgerScript {
      LedgerScript(verifier, advance, [evidence], now: Self.now)
    }
    let done = begun()
    checkEqual(done.document.flag("exchange.database.repeatable"), false)
    switch engine {
    case .mariadb:
      checkEqual(done.document.text("exchange.database.connection"), "same")
      try done.answer("{},{\"rows\":[[1,0]]}")
    case .dynamodb: try done.answer(try row(engine, ["counter": "7"]))
    default: try done.answer("{\"rows\":[[7]]}")
    }
    done.expect("ok", "advanced")
    checkEqual(done.document.integer("exchange.counter"), 7)
    func expect(_ changes: [String: String]?, _ status: String, _ outcome: String?) throws {
      let script = begun()
      if engine.isSQL {
        try script.answer(engine == .mariadb ? "{},{\"rows\":[[0,0]]}" : "{\"rows\":[]}")
        checkEqual(script.document.flag("exchange.database.repeatable"), true)
      }
      if let changes {
        try script.answer(try row(engine, changes, isMade: false, isRead: engine.isSQL))
      } else {
        try script.answer(StoreAnswer.absent(engine, isRead: engine.isSQL))
      }
      script.expect(status, outcome)
    }
    try expect(nil, "rejected.device-key.unknown", "unknown")
    try expect(["owner": "\"bob\""], "rejected.device-key.other-account", "other-account")
    try expect(["state": "\"retired\""], "rejected.device-key.retired", "retired")
    try expect(["counter": "7"], "rejected.device-key.replayed", "replayed")
    try expect(["counter": "4294967295"], "rejected.device-key.replayed", "replayed")
    try expect(["counter": "6"], "unavailable.database.contention", nil)
    try expect(["counter": "-1"], "unavailable.database.unexpected-reply", nil)
    let lost = begun()
    try lost.lose()
    lost.expect("unavailable.database.outcome-unknown")
  }

  @Test("STO-4 another number than ours is no advance")
  func advanceShapes() throws {
    for (engine, answer) in [
      (LedgerEngine.sqlite, "{\"rows\":[[8]]}"), (.postgres, "{\"rows\":[[7],[7]]}"),
      (.mariadb, "{},{\"rows\":[[2,0]]}"), (.mariadb, "{},{\"rows\":[]}"),
      (.dynamodb, "{\"output\":{}}"),
      (.dynamodb, try row(.dynamodb, ["counter": "8"])),
      (.sqlite, "{}"),
    ] {
      let verifier = try verifier(engine)
      let evidence = try AttestFixture.assert(try AttestFixture.assertion(), verifier)
      let script = LedgerScript(verifier, advance, [evidence], now: Self.now)
      try script.answer(answer)
      checkEqual(script.document.status.family, .unavailable, "\(engine) \(answer)")
      check(!script.document.name.contains("ok"))
    }
  }

  // MARK: receipt, retire, read

  @Test("STO-64 a receipt gives way to a later one only", arguments: durable)
  func receipt(_ engine: LedgerEngine) throws {
    let verifier = try verifier(engine)
    let text = try require(try attested(verifier).text("attestation.receipt.bytes"))
    let receipt = verifier.verifyReceipt(utf8(text), kind: .attest, nowMs: Self.now)
    Exchanges.expect(receipt, "ok")
    let made = try require(receipt.integer("attestReceipt.createdAtMs"))
    func expect(_ changes: [String: String]?, _ status: String, _ outcome: String?) throws {
      let script = LedgerScript(
        verifier, ["operation": "update-device-key-receipt"], [receipt], now: Self.now)
      if let changes {
        try script.answer(try row(engine, changes, isMade: changes["receipt"] != nil))
      } else {
        try script.answer(StoreAnswer.absent(engine))
      }
      script.expect(status, outcome)
      if status == "ok" { checkEqual(script.document.integer("exchange.nextRefreshAtMs"), 2) }
    }
    try expect(["receipt": "\"\(text)\"", "receipt_created_at_ms": "\(made)"], "ok", "kept")
    try expect(["receipt_created_at_ms": "\(made)"], "ok", "older")
    try expect(["receipt_created_at_ms": "\(made + 1)"], "ok", "older")
    try expect(
      ["receipt_created_at_ms": "\(made - 1)"], "unavailable.database.unexpected-reply", nil)
    try expect(["state": "\"retired\""], "rejected.device-key.retired", "retired")
    try expect(nil, "rejected.device-key.unknown", "unknown")
  }

  @Test("STO-64 a key is retired by its account", arguments: durable)
  func retired(_ engine: LedgerEngine) throws {
    let verifier = try verifier(engine)
    let request: JSONText = [
      "operation": "retire-device-key", "account": "ann", "keyId": .string(try hexId()),
    ]
    func expect(_ changes: [String: String]?, _ status: String, _ outcome: String?) throws {
      let script = LedgerScript(verifier, request, now: Self.now)
      if let changes {
        let before = changes["used_at_ms"] == nil ? changes : [:]
        let isMade = changes["used_at_ms"] != nil && !engine.isSQL
        try script.answer(
          isMade ? row(engine, changes) : change(engine, from: before, to: changes))
      } else {
        try script.answer((engine.isSQL ? "{\"rows\":[]}," : "") + StoreAnswer.absent(engine))
      }
      script.expect(status, outcome)
    }
    let gone = "\"retired\""
    try expect(["state": gone, "used_at_ms": "\(Self.now)"], "ok", "retired")
    try expect(["state": gone], "ok", "already")
    try expect(
      ["state": gone, "owner": "\"bob\""], "rejected.device-key.other-account", "other-account")
    try expect(nil, "rejected.device-key.unknown", "unknown")
    try expect([:], "unavailable.database.contention", nil)
  }

  @Test("STO-4 a change of DynamoDB that shows no row is not understood")
  func unshown() throws {
    let verifier = try verifier(.dynamodb)
    let text = try require(try attested(verifier).text("attestation.receipt.bytes"))
    let receipt = verifier.verifyReceipt(utf8(text), kind: .attest, nowMs: Self.now)
    let retire: JSONText = [
      "operation": "retire-device-key", "account": "ann", "keyId": .string(try hexId()),
    ]
    for (request, evidence) in [
      (retire, []), (["operation": "update-device-key-receipt"], [receipt]),
    ]
      as [(JSONText, [Document])]
    {
      let script = LedgerScript(verifier, request, evidence, now: Self.now)
      try script.answer("{\"output\":{}}")
      Exchanges.expect(script.document, "unavailable.database.unexpected-reply", rule: "STO-4")
    }
  }

  @Test("STO-64 what a verification needs of a key", arguments: durable)
  func read(_ engine: LedgerEngine) throws {
    let verifier = try verifier(engine)
    let normal = String(
      decoding: Base64.encodeStandard(try AttestFixture.device().keyId), as: UTF8.self)
    func read(
      _ changes: [String: String]?, _ more: [(String, JSONText)] = []
    ) throws -> LedgerScript {
      let request: JSONText = ["operation": "get-device-key", "keyId": .string(normal)]
      let script = LedgerScript(verifier, request.setting(more), now: Self.now)
      try script.answer(
        try changes.map { try row(engine, $0, isRead: true) }
          ?? StoreAnswer.absent(engine, isRead: true))
      return script
    }
    for more in [[], [("account", "ann")]] as [[(String, JSONText)]] {
      let found = try read([:], more)
      found.expect("ok", "found")
      checkEqual(found.document.text("exchange.key.keyId"), normal)
      checkEqual(found.document.text("exchange.key.publicKey"), (try point()))
      checkEqual(found.document.integer("exchange.key.counter"), 6)
      check(!found.source("exchange").contains("ann"))
    }
    let foreign = try read([:], [("account", "bob")])
    foreign.expect("rejected.device-key.other-account", "other-account")
    checkEqual(foreign.source("exchange.key"), "null")
    try read(["state": "\"retired\""]).expect("rejected.device-key.retired", "retired")
    try read(nil).expect("rejected.device-key.unknown", "unknown")
    LedgerScript(verifier, ["operation": "get-device-key", "keyId": "AAAA"], now: Self.now)
      .expect("misuse.exchange.request", at: "keyId")
  }

  @Test("STO-4 a row of another shape is not understood")
  func shapes() throws {
    let verifier = try verifier()
    let good = try values()
    let request: JSONText = ["operation": "get-device-key", "keyId": .string(try hexId())]
    func answered(_ values: [String]) throws -> Document {
      let script = LedgerScript(verifier, request, now: Self.now)
      return try script.answer("{\"rows\":[[\(values.joined(separator: ","))]]}")
    }
    try checkEqual(answered(good).name, "ok")
    for place in good.indices {
      let isText = good[place].hasPrefix("\"")
      for value in ["true", isText ? "1" : "\"x\"", "null"] {
        // The receipt and the risk may be absent.
        if value == "null", place == 9 || place == 12 { continue }
        var values = good
        values[place] = value
        try checkEqual(
          answered(values).name, "unavailable.database.unexpected-reply", "\(place) \(value)")
      }
    }
    try checkEqual(answered(good + ["1"]).name, "unavailable.database.unexpected-reply")
  }
}
