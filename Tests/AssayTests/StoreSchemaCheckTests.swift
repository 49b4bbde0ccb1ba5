import AssayAuthority
import Testing

@testable import Assay

/// `schema.check`, and which store a conversation may speak with, with scripted answers.
@Suite("Stores: schema.check")
struct StoreSchemaCheckTests {
  private let request: JSONText = ["kind": "schema.check"]

  private func check(
    _ engine: StoreDialect, _ stores: [(String, JSONText)] = []
  ) throws -> StoreScript {
    StoreScript(try Minted.verifier([("stores", StoreAnswer.stores(engine, stores))]), request)
  }

  /// So many tables without rows, then what follows.
  private func tables(_ count: Int, _ rest: [String]) -> String {
    (Array(repeating: "{\"rows\":[]}", count: count) + rest).joined(separator: ",")
  }

  private func rows(_ engine: StoreDialect, primary: String = "0", journal: String = "wal")
    -> [String]
  {
    let rest = ["{\"rows\":[[\(primary)]]}"]
    return engine == .sqlite ? rest + ["{\"rows\":[[\"\(journal)\"]]}"] : rest
  }

  private static let engines: [StoreDialect] = [.sqlite, .postgres, .mysql]

  @Test("STM-1 STM-7 every column, and whether this is a primary", arguments: engines)
  func checked(_ engine: StoreDialect) throws {
    let script = try check(engine)
    #expect(script.document.text("exchange.store.class") == "idempotent")
    #expect(script.sql(1)?.hasPrefix("SELECT pkey,env,txn,otx,state,owner,") == true)
    #expect(script.sql(1)?.hasSuffix(" FROM assay_ledger WHERE 1 = 0") == true)
    try script.answer(tables(9, rows(engine)))
    script.expect("ok")
    #expect(script.document.text("exchange.tables.8") == "audit")
    #expect(script.document.flag("exchange.primary") == true)
    let keeping = try check(engine, [("keepEvidence", true)])
    try keeping.answer(tables(10, rows(engine)))
    #expect(keeping.document.text("exchange.tables.9") == "evidence")
    let odd = try check(engine)
    try odd.answer(tables(8, ["{\"rows\":[[1]]}"] + rows(engine)))
    odd.expect("unavailable.store.reply-shape", at: "results")
    let missing = try check(engine)
    try missing.fail("1")
    missing.expect("unavailable.store.engine", at: "error.code")
  }

  @Test("STO-74 STM-7 a standby, or a store that is only read", arguments: engines)
  func standby(_ engine: StoreDialect) throws {
    let script = try check(engine)
    try script.answer(tables(9, rows(engine, primary: "1")))
    Exchanges.expect(script.document, "unavailable.store.standby", at: "primary", rule: "STO-74")
    for silent in ["null", "\"x\""] {
      let script = try check(engine)
      try script.answer(tables(9, rows(engine, primary: silent)))
      script.expect("unavailable.store.reply-shape")
    }
    guard engine == .sqlite else { return }
    let journal = try check(engine)
    try journal.answer(tables(9, rows(engine, journal: "delete")))
    Exchanges.expect(
      journal.document, "unavailable.store.standby", at: "journal_mode", rule: "STO-74")
  }

  @Test("STO-74 STM-7 Redis names its role")
  func role() throws {
    let script = try check(.redis)
    #expect(script.source("exchange.store.run.0.command") == "[\"ROLE\"]")
    try script.answer("{\"reply\":[\"master\",77]}")
    script.expect("ok")
    for (reply, status) in [
      ("[\"slave\",\"192.0.2.1\"]", "unavailable.store.standby"),
      ("[]", "unavailable.store.standby"),
    ] {
      let script = try check(.redis)
      try script.answer("{\"reply\":\(reply)}")
      script.expect(status, at: "ROLE")
    }
    let odd = try check(.redis)
    try odd.answer("{\"rows\":[]}")
    odd.expect("unavailable.store.reply-shape", at: "reply")
  }

  @Test("STO-74 STM-7 the table of DynamoDB and both its indexes take part")
  func dynamo() throws {
    func table(
      _ status: String = "ACTIVE", _ indexes: [(String, String)]?
    ) throws -> StoreScript {
      let listed = indexes?.map { "{\"IndexName\":\"\($0)\",\"IndexStatus\":\"\($1)\"}" }
      let list = listed.map { ",\"GlobalSecondaryIndexes\":[\($0.joined(separator: ","))]" }
      let script = try check(.dynamodb)
      #expect(script.source("exchange.store.run.0.input") == "{\"TableName\":\"T\"}")
      try script.answer(
        "{\"output\":{\"Table\":{\"TableStatus\":\"\(status)\"\(list ?? "")}}}")
      return script
    }
    let (owner, due) = (("assay-owner", "ACTIVE"), ("assay-due", "ACTIVE"))
    try table("ACTIVE", [due, owner]).expect("ok")
    for (script, place) in [
      (try table("CREATING", [owner, due]), "TableStatus"),
      (try table("ACTIVE", nil), "GlobalSecondaryIndexes"),
      (try table("ACTIVE", [owner]), "assay-due"), (try table("ACTIVE", [due]), "assay-owner"),
      (try table("ACTIVE", [owner, ("assay-due", "CREATING")]), "assay-due"),
    ] {
      script.expect("unavailable.store.standby", at: place)
    }
    let odd = try check(.dynamodb)
    try odd.answer(
      "{\"output\":{\"Table\":{\"TableStatus\":\"ACTIVE\",\"GlobalSecondaryIndexes\":{}}}}")
    odd.expect("unavailable.store.standby", at: "GlobalSecondaryIndexes")
    for answer in ["{\"output\":{}}", "{\"rows\":[]}"] {
      let script = try check(.dynamodb)
      try script.answer(answer)
      script.expect("unavailable.store.reply-shape", at: "output.Table")
    }
  }

  @Test("STO-74 an executor that finds no primary says so, and nothing is repeated")
  func executor() throws {
    for engine in StoreAnswer.engines {
      for executed in ["no", "unknown"] {
        let script = StoreScript(
          try Minted.verifier([("stores", StoreAnswer.stores(engine))]),
          ["kind": "once", "id": "NOTE#1", "attempt": "attempt-0000000000000001"])
        try script.fail("standby", executed: executed)
        Exchanges.expect(
          script.document, "unavailable.store.standby", at: "error.code", rule: "STO-74")
      }
    }
  }

  // MARK: which store

  @Test("STO-1 STO-13 the dialect of a request, and what it must not hold")
  func dialect() throws {
    let once: JSONText = [
      "kind": "once", "id": "NOTE#1", "attempt": "attempt-0000000000000001",
    ]
    let unshared = try Minted.verifier([
      ("stores", StoreAnswer.stores(.postgres, [("shared", false)]))
    ])
    StoreScript(unshared, once).expect("pending.exchange.store")
    let named = StoreScript(unshared, once.setting([("dialect", "redis")]))
    #expect(named.document.text("exchange.store.dialect") == "redis")
    StoreScript(unshared, once.setting([("dialect", "sqlite")]))
      .expect("config.store.not-shared", at: "stores.shared")
    let lookup: JSONText = ["kind": "lookup", "account": "ann"]
    StoreScript(unshared, lookup).expect("pending.exchange.store")
    StoreScript(unshared, lookup.setting([("dialect", "redis")]))
      .expect("config.store.not-durable", at: "dialect")
    Exchanges.expect(
      StoreScript(try Minted.verifier(), once).document, "config.exchange.block-missing",
      at: "stores", rule: "EXC-8")
  }
}
