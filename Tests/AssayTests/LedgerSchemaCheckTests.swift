import AssayAuthority
import Testing

@testable import Assay

/// Tests `check-schema`, and the engines that an exchange may use, with scripted replies.
@Suite("Stores: check-schema")
struct LedgerSchemaCheckTests {
  private let request: JSONText = ["operation": "check-schema"]

  private func asked(
    _ engine: LedgerEngine, _ stores: [(String, JSONText)] = []
  ) throws -> LedgerScript {
    LedgerScript(try Minted.verifier([("ledger", StoreAnswer.stores(engine, stores))]), request)
  }

  /// Returns the schema's row, `count` tables without rows, and further results.
  private func tables(_ count: Int, _ rest: [String], version: Int = 3) -> String {
    let row = "{\"rows\":[[\"schema\",\(version),\"\(Self.lineage)\",1]]}"
    return ([row] + Array(repeating: "{\"rows\":[]}", count: count) + rest).joined(
      separator: ",")
  }

  private static let lineage = "lineage-000000000000000000000001"

  /// Returns the names of all tables but this one.
  private func names(without: SchemaTable? = nil, evidence: Bool = false) -> String {
    let tables = SchemaTable.allCases.filter {
      $0 != without && (evidence || $0 != .evidence)
    }
    return "{\"rows\":[\(tables.map { "[\"assay_\($0.word)\"]" }.joined(separator: ","))]}"
  }

  /// Returns the script after the first read, which found all tables.
  private func found(
    _ engine: LedgerEngine, _ stores: [(String, JSONText)] = [], evidence: Bool = false
  ) throws -> LedgerScript {
    let script = try asked(engine, stores)
    try script.answer(names(evidence: evidence))
    return script
  }

  private func rows(_ engine: LedgerEngine, primary: String = "0", journal: String = "wal")
    -> [String]
  {
    let rest = ["{\"rows\":[[\(primary)]]}"]
    return engine == .sqlite ? rest + ["{\"rows\":[[\"\(journal)\"]]}"] : rest
  }

  private static let engines: [LedgerEngine] = [.sqlite, .postgres, .mariadb]

  @Test("STM-1 STM-7 every column, and whether this is a primary", arguments: engines)
  func checked(_ engine: LedgerEngine) throws {
    let script = try found(engine)
    checkEqual(script.document.flag("exchange.database.repeatable"), true)
    let start =
      "SELECT purchase_key,environment,transaction_id,original_transaction_id,state,owner,"
    checkEqual(script.sql(2)?.hasPrefix(start), true)
    checkEqual(script.sql(2)?.hasSuffix(" FROM assay_purchase WHERE 1 = 0"), true)
    try script.answer(tables(15, rows(engine)))
    script.expect("ok")
    checkEqual(script.document.text("exchange.tables.11"), "refund")
    checkEqual(script.document.text("exchange.tables.14"), "restriction")
    checkEqual(script.document.flag("exchange.primary"), true)
    checkEqual(script.document.text("exchange.lineage"), Self.lineage)
    checkEqual(script.document.integer("exchange.version"), 3)
    let keeping = try found(engine, [("keepEvidence", true)], evidence: true)
    try keeping.answer(tables(16, rows(engine)))
    checkEqual(keeping.document.text("exchange.tables.15"), "evidence")
    let odd = try found(engine)
    try odd.answer(tables(14, ["{\"rows\":[[1]]}"] + rows(engine)))
    odd.expect("unavailable.database.unexpected-reply", at: "results")
    let missing = try found(engine)
    try missing.fail("1")
    missing.expect("unavailable.database.statement-failed", at: "error.code")
  }

  @Test("STO-74 STM-7 a standby, or a store that is only read", arguments: engines)
  func standby(_ engine: LedgerEngine) throws {
    let script = try found(engine)
    try script.answer(tables(15, rows(engine, primary: "1")))
    Exchanges.expect(script.document, "unavailable.database.standby", at: "primary", rule: "STO-74")
    for silent in ["null", "\"x\""] {
      let script = try found(engine)
      try script.answer(tables(15, rows(engine, primary: silent)))
      script.expect("unavailable.database.unexpected-reply")
    }
    guard engine == .sqlite else { return }
    let journal = try found(engine)
    try journal.answer(tables(15, rows(engine, journal: "delete")))
    Exchanges.expect(
      journal.document, "unavailable.database.standby", at: "journal_mode", rule: "STO-74")
  }

  @Test("STO-78 STM-8 a missing table, another version, another store", arguments: engines)
  func schema(_ engine: LedgerEngine) throws {
    for table in SchemaTable.allCases where table != .evidence {
      let script = try asked(engine)
      try script.answer(names(without: table))
      Exchanges.expect(
        script.document, "config.ledger.schema", at: "assay_\(table.word)", rule: "STO-78")
    }
    for version in [0, 1, 2, 4] {
      let script = try found(engine)
      try script.answer(tables(15, rows(engine), version: version))
      Exchanges.expect(script.document, "config.ledger.schema", at: "version", rule: "STO-78")
    }
    for (lineage, status) in [
      (Self.lineage, "ok"), ("lineage-000000000000000000000002", "config.ledger.lineage"),
    ] {
      let script = LedgerScript(
        try Minted.verifier([("ledger", StoreAnswer.stores(engine))]),
        request.setting("lineage", .string(lineage)))
      try script.answer(names())
      try script.answer(tables(15, rows(engine)))
      script.expect(status, at: status == "ok" ? nil : "lineage")
    }
  }

  @Test("STO-74 STM-7 Redis names its role")
  func role() throws {
    let script = try asked(.redis)
    checkEqual(script.source("exchange.database.calls.0.command"), "[\"ROLE\"]")
    let info = ",{\"reply\":[\"\"]},{\"reply\":[\"\"]},{\"reply\":[\"\"]}"
    try script.answer("{\"reply\":[\"master\",77]}\(info)")
    script.expect("ok")
    for (reply, status) in [
      ("[\"slave\",\"192.0.2.1\"]", "unavailable.database.standby"),
      ("[]", "unavailable.database.standby"),
    ] {
      let script = try asked(.redis)
      try script.answer("{\"reply\":\(reply)}\(info)")
      script.expect(status, at: "ROLE")
    }
    let odd = try asked(.redis)
    try odd.answer("{\"rows\":[]}\(info)")
    odd.expect("unavailable.database.unexpected-reply", at: "reply")
  }

  @Test("STO-74 STM-7 the table of DynamoDB and both its indexes take part")
  func dynamo() throws {
    func table(
      _ status: String = "ACTIVE", _ indexes: [(String, String)]?
    ) throws -> LedgerScript {
      let listed = indexes?.map { "{\"IndexName\":\"\($0)\",\"IndexStatus\":\"\($1)\"}" }
      let list = listed.map { ",\"GlobalSecondaryIndexes\":[\($0.joined(separator: ","))]" }
      let script = try asked(.dynamodb)
      checkEqual(script.source("exchange.database.calls.0.input"), "{\"TableName\":\"T\"}")
      try script.answer(
        "{\"output\":{\"Table\":{\"TableStatus\":\"\(status)\"\(list ?? "")}}}")
      return script
    }
    let (owner, due) = (("assay-owner", "ACTIVE"), ("assay-due", "ACTIVE"))
    let bare = try table("ACTIVE", [due, owner])
    try bare.answer("{\"output\":{}}")
    bare.expect("ok")
    checkEqual(bare.source("exchange.warnings"), "[\"no-lineage\"]")
    let marked = try table("ACTIVE", [due, owner])
    try marked.answer(
      """
      {"output":{"Item":{"PK":{"S":"SCHEMA#"},"SK":{"S":"SCHEMA"},"id":{"S":"schema"},\
      "version":{"N":"3"},"lineage":{"S":"L"},"created_at_ms":{"N":"1"}}}}
      """)
    checkEqual(marked.document.text("exchange.lineage"), "L")
    let gone = try asked(.dynamodb)
    try gone.fail("ResourceNotFoundException")
    Exchanges.expect(gone.document, "config.ledger.schema", at: "T", rule: "STO-78")
    for (script, place) in [
      (try table("CREATING", [owner, due]), "TableStatus"),
      (try table("ACTIVE", nil), "GlobalSecondaryIndexes"),
      (try table("ACTIVE", [owner]), "assay-due"), (try table("ACTIVE", [due]), "assay-owner"),
      (try table("ACTIVE", [owner, ("assay-due", "CREATING")]), "assay-due"),
    ] {
      script.expect("unavailable.database.standby", at: place)
    }
    let odd = try asked(.dynamodb)
    try odd.answer(
      "{\"output\":{\"Table\":{\"TableStatus\":\"ACTIVE\",\"GlobalSecondaryIndexes\":{}}}}")
    odd.expect("unavailable.database.standby", at: "GlobalSecondaryIndexes")
    for answer in ["{\"output\":{}}", "{\"rows\":[]}"] {
      let script = try asked(.dynamodb)
      try script.answer(answer)
      script.expect("unavailable.database.unexpected-reply", at: "output.Table")
    }
  }

  @Test("STO-74 an executor that finds no primary says so, and nothing is repeated")
  func executor() throws {
    for engine in StoreAnswer.engines {
      for executed in ["no", "unknown"] {
        let script = LedgerScript(
          try Minted.verifier([("ledger", StoreAnswer.stores(engine))]),
          ["operation": "record-event", "id": "NOTE#1", "attemptId": "attempt-0000000000000001"])
        try script.fail("standby", executed: executed)
        Exchanges.expect(
          script.document, "unavailable.database.standby", at: "error.code", rule: "STO-74")
      }
    }
  }

  // MARK: create-schema

  private static let create: JSONText = ["operation": "create-schema", "lineage": .string(lineage)]

  private func columns(_ store: SQLiteStore) throws -> [String] {
    try store.run("SELECT name FROM pragma_table_info('assay_purchase') ORDER BY name", [])
  }

  @Test("STO-78 an empty store is made once; what stands stays")
  func created() throws {
    let store = try SQLiteStore(hasTables: false)
    let made = try store.run(Self.create)
    checkEqual(made.text("exchange.outcome"), "created")
    checkEqual(made.text("exchange.lineage"), Self.lineage)
    let whole = try SQLiteStore()
    try checkEqual(columns(store), (try columns(whole)))
    let other = Self.create.setting("lineage", "lineage-000000000000000000000002")
    let again = try store.run(other)
    checkEqual(again.text("exchange.outcome"), "exists")
    checkEqual(again.text("exchange.lineage"), Self.lineage)
    // The host ran the statements itself: only the row is missing.
    try checkEqual(whole.run(Self.create).text("exchange.outcome"), "created")
    let indexes = try store.run("SELECT COUNT(*) FROM sqlite_master WHERE type = 'index'", [])
    checkEqual(
      indexes, (try whole.run("SELECT COUNT(*) FROM sqlite_master WHERE type = 'index'", [])))
  }

  @Test("STO-78 where a part is missing nothing is made", arguments: SchemaTable.allCases)
  func partly(_ table: SchemaTable) throws {
    let store = try SQLiteStore(hasTables: false)
    try store.run(Self.create)
    guard table != .evidence else { return }
    try store.run("DROP TABLE assay_\(table.word)", [])
    let refused = try store.run(Self.create)
    Exchanges.expect(refused, "config.ledger.schema", at: "assay_\(table.word)", rule: "STO-78")
    try check(
      store.run("SELECT name FROM sqlite_master WHERE name = 'assay_\(table.word)'", []).isEmpty)
  }

  @Test("STO-78 STM-8 texts are kept from now on: their table is made in a store that stands")
  func evidence() throws {
    let store = try SQLiteStore([("ledger.keepEvidence", true)], hasTables: false)
    try store.run(Self.create)
    try store.run("DROP TABLE assay_evidence", [])
    try checkEqual(store.run(Self.create).name, "ok")
    try checkEqual(store.run("SELECT COUNT(*) FROM assay_evidence", []), ["[0]"])
  }

  @Test("STM-8 a store of version 1 is changed, and its rows say what was paid out")
  func migrated() throws {
    let store = try SQLiteStore(hasTables: false)
    let newer: [SchemaTable] = [.schema, .purchase, .subscription] + Self.ofVersion3
    for table in SchemaTable.allCases where !newer.contains(table) {
      try store.run("\(try require(table.create(.sqlite)))", [])
    }
    // The tables as version 1 had them.
    try store.run(Self.withoutCommitments, [])
    try store.run("ALTER TABLE assay_evidence DROP COLUMN bundle_id", [])
    var ledger = "\(try require(SchemaTable.purchase.create(.sqlite)))"
    for column in ["units", "granted_units", "repeats"] {
      ledger = ledger.replacing(" \(column) INTEGER NOT NULL,", with: "")
    }
    try store.run(ledger.replacing(" revocation_percentage INTEGER,", with: ""), [])
    for (key, state, tries) in [("a", "granted", 1), ("b", "revoked", 0), ("c", "claimed", 3)] {
      try store.run(
        """
        INSERT INTO assay_purchase (purchase_key,environment,transaction_id,\
        original_transaction_id,state,owner,product,quantity,purchased_at_ms,as_of_ms,evidence,\
        generation,grant_id,attempt_id,fencing_token,claimed_at_ms,lease_expires_at_ms,\
        granted_at_ms,revoked_at_ms,note) \
        VALUES ('\(key)','e','t','o','\(state)','w','p',4,1,1,'d',0,'g','a',\(tries),1,1,NULL,NULL,NULL)
        """, [])
    }
    try checkEqual(store.run(Self.create).text("exchange.outcome"), "migrated")
    try checkEqual(
      store.run(
        """
        SELECT units,granted_units,repeats,revocation_percentage,lease_expires_at_ms \
        FROM assay_purchase ORDER BY purchase_key
        """, []),
      ["[4,4,0,null,1]", "[4,0,0,100000,9007199254740991]", "[4,0,3,null,1]"])
    try checkEqual(
      store.run("SELECT COUNT(commitment_of), COUNT(*) FROM assay_subscription", []), ["[0,0]"])
    try checkEqual(store.run("SELECT bundle_id FROM assay_evidence", []), [])
    try checkEqual(store.run("SELECT COUNT(*) FROM assay_difference", []), ["[0]"])
    try checkEqual(store.run("SELECT COUNT(*) FROM assay_refund", []), ["[0]"])
    try store.run("UPDATE assay_purchase SET granted_units = 2 WHERE purchase_key = 'a'", [])
    try checkEqual(store.run(Self.create).text("exchange.outcome"), "exists")
    try checkEqual(
      store.run("SELECT granted_units FROM assay_purchase WHERE purchase_key = 'a'", []), ["[2]"])
  }

  /// The tables that came with version 3.
  private static let ofVersion3 = SchemaTable.allCases.filter { $0.firstVersion == 3 }

  /// The table of subscriptions before version 3.
  private static var withoutCommitments: String {
    var text = "\(SchemaTable.subscription.create(.sqlite) ?? "")"
    for column in ["commitment_ends_at_ms", "commitment_period", "commitment_of"] {
      text = text.replacing(" \(column) INTEGER,", with: "")
    }
    return text
  }

  @Test(
    "STM-8 a ledger of version 2 gets the tables and columns of version 3",
    arguments: [true, false])
  func migratedFromTwo(_ hasRow: Bool) throws {
    let store = try SQLiteStore(hasTables: false)
    try store.run(Self.create)
    for table in Self.ofVersion3 { try store.run("DROP TABLE assay_\(table.word)", []) }
    try store.run("DROP TABLE assay_subscription", [])
    try store.run(Self.withoutCommitments, [])
    // Without its row the host has run the statements of version 2 itself.
    try store.run(
      hasRow ? "UPDATE assay_schema SET version = 2" : "DELETE FROM assay_schema", [])
    try checkEqual(store.run(Self.create).text("exchange.outcome"), "migrated")
    try checkEqual(store.run("SELECT version FROM assay_schema", []), ["[3]"])
    try checkEqual(store.run("SELECT COUNT(commitment_of) FROM assay_subscription", []), ["[0]"])
    for table in Self.ofVersion3 {
      try checkEqual(store.run("SELECT COUNT(*) FROM assay_\(table.word)", []), ["[0]"])
    }
    try checkEqual(store.run(Self.create).text("exchange.outcome"), "exists")
  }

  @Test("STM-8 MariaDB: one at a time, the version last, and what was stopped is ended")
  func stopped() throws {
    let script = LedgerScript(
      try Minted.verifier([("ledger", StoreAnswer.stores(.mariadb))]), Self.create)
    checkEqual(script.sql(0)?.hasPrefix("SELECT GET_LOCK("), true)
    checkEqual(script.document.integer("exchange.database.limits.statementMs"), 3_600_000)
    try script.answer("{\"rows\":[[1]]},{\"rows\":[]},{\"rows\":[[0]]}")
    checkEqual(script.sql(0)?.hasPrefix("CREATE TABLE IF NOT EXISTS assay_schema"), true)
    checkEqual(script.source("exchange.database.calls.1.args.0"), "0")
    let count = script.document.tree?.at("exchange.database.calls")?.count ?? 0
    checkEqual(script.sql(count - 3)?.hasPrefix("UPDATE assay_schema SET version = "), true)
    checkEqual(script.sql(count - 2)?.hasPrefix("SELECT RELEASE_LOCK("), true)
    // The ledger is missing, but version 0 never promised that the tables exist.
    let stopped = try read(version: 0, units: 0)
    checkEqual(stopped.sql(0)?.hasPrefix("CREATE TABLE"), true)
    let changing = try read(version: 1, units: 1, tables: names())
    checkEqual(
      changing.sql(2)?.hasPrefix("ALTER TABLE assay_purchase ADD COLUMN IF NOT EXISTS"), true)
    let newer = try read(version: 4, units: 2, tables: names())
    checkEqual(newer.sql(0)?.hasPrefix("SELECT RELEASE_LOCK("), true)
    try newer.answer("{\"rows\":[[1]]}")
    Exchanges.expect(newer.document, "config.ledger.schema", at: "version", rule: "STO-78")
  }

  private func read(
    version: Int, units: Int,
    tables: String = "{\"rows\":[[\"assay_schema\"],[\"assay_purchase_key\"]]}"
  ) throws -> LedgerScript {
    let script = LedgerScript(
      try Minted.verifier([("ledger", StoreAnswer.stores(.mariadb))]), Self.create)
    try script.answer("{\"rows\":[[1]]},\(tables),{\"rows\":[[\(units)]]}")
    try script.answer("{\"rows\":[[\"schema\",\(version),\"L\",1]]}")
    return script
  }

  @Test("STO-78 the table of DynamoDB is made, awaited and marked; Redis needs none")
  func createdElsewhere() throws {
    func script(_ engine: LedgerEngine) throws -> LedgerScript {
      LedgerScript(try Minted.verifier([("ledger", StoreAnswer.stores(engine))]), Self.create)
    }
    let index = { (name: String) in "{\"IndexName\":\"\(name)\",\"IndexStatus\":\"ACTIVE\"}" }
    let active =
      "{\"output\":{\"Table\":{\"TableStatus\":\"ACTIVE\",\"GlobalSecondaryIndexes\":[\(index("assay-owner")),\(index("assay-due"))]}}}"
    let item =
      "{\"id\":{\"S\":\"schema\"},\"version\":{\"N\":\"3\"},\"lineage\":{\"S\":\"\(Self.lineage)\"},\"created_at_ms\":{\"N\":\"1\"}}"
    let made = try script(.dynamodb)
    try made.fail("ResourceNotFoundException")
    checkEqual(made.document.text("exchange.database.calls.0.api"), "CreateTable")
    try made.answer("{\"output\":{}}")
    try made.answer("{\"output\":{\"Table\":{\"TableStatus\":\"CREATING\"}}}")
    checkEqual(made.waitsUntil, Minted.now + 1000)
    try made.wait()
    try made.answer(active)
    checkEqual(made.document.text("exchange.database.calls.0.api"), "UpdateTimeToLive")
    try made.fail("ValidationException")
    try made.answer("{\"output\":{}}")
    checkEqual(made.document.text("exchange.database.calls.0.api"), "PutItem")
    try made.answer("{\"output\":{}}")
    try made.answer("{\"output\":{\"Item\":\(item)}}")
    made.expect("ok", "created")
    let standing = try script(.dynamodb)
    try standing.answer(active)
    try standing.answer(active)
    try standing.answer("{\"output\":{\"Item\":\(item)}}")
    standing.expect("ok", "exists")
    try script(.redis).expect("ok", "exists")
    for lineage in ["short", "lineage with spaces in it, thirty-2"] {
      let wrong = Self.create.setting("lineage", .string(lineage))
      LedgerScript(try Minted.verifier([("ledger", StoreAnswer.stores(.redis))]), wrong)
        .expect("misuse.exchange.request", at: "lineage")
    }
  }

  // MARK: which store

  @Test("STO-1 STO-13 the engine of a request, and what it must not hold")
  func engine() throws {
    let once: JSONText = [
      "operation": "record-event", "id": "NOTE#1", "attemptId": "attempt-0000000000000001",
    ]
    let unshared = try Minted.verifier([
      ("ledger", StoreAnswer.stores(.postgres, [("shared", false)]))
    ])
    LedgerScript(unshared, once).expect("pending.exchange.database")
    let named = LedgerScript(unshared, once.setting([("engine", "redis")]))
    checkEqual(named.document.text("exchange.database.engine"), "redis")
    LedgerScript(unshared, once.setting([("engine", "sqlite")]))
      .expect("config.ledger.not-shared", at: "ledger.shared")
    let lookup: JSONText = ["operation": "find", "account": "ann"]
    LedgerScript(unshared, lookup).expect("pending.exchange.database")
    LedgerScript(unshared, lookup.setting([("engine", "redis")]))
      .expect("config.ledger.not-durable", at: "engine")
    Exchanges.expect(
      LedgerScript(try Minted.verifier(), once).document, "config.exchange.block-missing",
      at: "ledger", rule: "EXC-8")
  }
}
