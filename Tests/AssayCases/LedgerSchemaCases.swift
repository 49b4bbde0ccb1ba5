import AssayAuthority

extension CaseFixture {
  /// Adds the block `ledger` (docs/spec/configuration.md §11), and the tables of a ledger
  /// (docs/spec/ledger-statements.md STM-1).
  func addStoreSchemaCases() {
    addStoreVerifiers()
    addStoreBlocks()
    addSchemas()
    addSchemaRequests()
  }

  /// Adds `ledger` with PostgreSQL and all evidence kept, and `ledger-dynamodb` with a table.
  private func addStoreVerifiers() {
    configure(
      "ledger",
      standardConfig.setting(
        "ledger", ["engine": "postgres", "prefix": "shop_", "keepEvidence": true]))
    configure(
      "ledger-dynamodb", standardConfig.setting("ledger", ["engine": "dynamodb", "table": "shop"]))
  }

  // MARK: configuration

  private func stores(
    _ rule: String, _ name: String, _ changes: [(String, JSONText)], _ status: String = "ok",
    at: String? = nil
  ) {
    let block: JSONText = ["engine": "postgres"]
    let config = standardConfig.setting("ledger", block.setting(changes))
    add(
      rule, "stores: \(name)", .verifierNew(config: .bytes(config.bytes)),
      .init(status, at: at.map { "ledger." + $0 }))
  }

  private func addStoreBlocks() {
    for engine in ["sqlite", "postgres", "mariadb", "redis"] {
      stores("STO-13", "the engine \(engine)", [("engine", .string(engine))])
    }
    stores(
      "STO-13", "an unknown engine", [("engine", "oracle")], "config.ledger.engine",
      at: "engine")
    stores(
      "CNF-1", "DynamoDB without a table", [("engine", "dynamodb")], "config.document.missing",
      at: "table")
    stores(
      "STO-13", "a disk per instance", [("engine", "sqlite"), ("shared", false)],
      "config.ledger.not-shared", at: "shared")
    stores(
      "STO-13", "placeholders of another engine",
      [("engine", "sqlite"), ("placeholders", "dollar")], "config.ledger.placeholders",
      at: "placeholders")
    stores(
      "STO-5", "a prefix that begins with a digit", [("prefix", "1a")], "config.ledger.prefix",
      at: "prefix")
    stores(
      "STO-5", "a prefix with a quotation mark", [("prefix", "a\"")], "config.ledger.prefix",
      at: "prefix")
    stores("STO-81", "a short lease", [("leaseMs", 4999)], "config.ledger.lease", at: "leaseMs")
    stores(
      "STO-76", "a statement without an end", [("statementMs", 60_001)], "config.ledger.limits",
      at: "statementMs")
    stores(
      "STO-76", "a wait for a lock that is longer than its statement",
      [("statementMs", 1000), ("lockMs", 1001)], "config.ledger.limits", at: "lockMs")
    stores(
      "STO-76", "an exchange without time for a statement", [("requestMs", 4999)],
      "config.ledger.limits", at: "requestMs")
    stores(
      "STO-93", "a short key", [("forgetKey", .string(String(repeating: "A", count: 40)))],
      "config.ledger.forget-key", at: "forgetKey")
    stores(
      "CUS-1", "a short key of customers",
      [("customerKey", .string(String(repeating: "A", count: 40)))],
      "config.ledger.customer-key", at: "customerKey")
    stores(
      "STO-66", "a pace of 0", [("rateLimits", .object([.init("look-up-order-id", 0)]))],
      "config.ledger.rate-limits", at: "rateLimits.look-up-order-id")
    stores(
      "STO-66", "the pace of an unknown operation", [("rateLimits", ["check-revocation": 1])],
      "config.ledger.rate-limits",
      at: "rateLimits.check-revocation")
    stores(
      "STO-56", "a short name", [("signup", ["username": ["digits": 15]])],
      "config.ledger.signup", at: "signup.username.digits")
    stores(
      "STO-56", "a name that is longer than any",
      [("signup", ["username": ["prefix": "abc", "digits": 48]])], "config.ledger.signup",
      at: "signup.username")
    stores(
      "CNF-1", "a meter that is open and has no limit", [("failOpen", ["meters": ["gold"]])],
      "config.document.range", at: "failOpen.meters[0]")
  }

  // MARK: tables

  private func schema(
    _ rule: String, _ name: String, _ more: [(String, JSONText)] = [],
    verifier: String = "standard", _ status: String = "ok", at: String? = nil, facts: Facts = []
  ) {
    let request: JSONText = ["operation": "describe-schema"]
    self.request(
      rule, "schema: \(name)", request.setting(more), verifier: verifier, status, at: at,
      facts: facts)
  }

  private func addSchemas() {
    schema(
      "STM-1", "SQLite without a block", [("engine", "sqlite")],
      facts: [
        ("step", "done"),
        (
          "statements.0.sql",
          .text(
            "CREATE TABLE IF NOT EXISTS assay_purchase_key (name TEXT NOT NULL, target TEXT NOT "
              + "NULL, PRIMARY KEY (name)) STRICT, WITHOUT ROWID")
        ), ("statements.0.returnsRows", false), ("statements.16", .null), ("version", 3),
        ("migrations.0.from", 1), ("migrations.0.to", 2), ("migrations.1.from", 2),
        ("migrations.1.to", 3), ("migrations.2", .null),
        (
          "migrations.1.statements.0.sql",
          "ALTER TABLE assay_subscription ADD COLUMN commitment_ends_at_ms INTEGER"
        ),
        (
          "migrations.0.statements.0.sql",
          "ALTER TABLE assay_purchase ADD COLUMN units INTEGER NOT NULL DEFAULT 1"
        ),
        (
          "migrations.0.statements.6.sql",
          .text(
            "CREATE TABLE IF NOT EXISTS assay_purchase_key (name TEXT NOT NULL, target TEXT NOT "
              + "NULL, PRIMARY KEY (name)) STRICT, WITHOUT ROWID")
        ),
        (
          "indexes.0.sql",
          """
          CREATE INDEX IF NOT EXISTS assay_purchase_owner \
          ON assay_purchase (owner, purchased_at_ms)
          """
        ), ("garbage.0.sql", "DELETE FROM assay_quota WHERE delete_after_ms < ?"),
        ("garbage.0.args.0", .integer(now)), ("garbage.1.args.0", .integer(now - 86_400_000)),
        ("garbage.2.args.0", .integer(now - 2_592_000_000)),
        ("garbage.3.args.0", .integer(now - 34_560_000_000)),
        ("garbage.4.args.0", .integer(now - 34_560_000_000)), ("garbage.5", .null),
      ])
    schema(
      "STM-1", "as configured, with the table of evidence", verifier: "ledger",
      facts: [
        (
          "statements.9.sql",
          .text(
            "CREATE TABLE IF NOT EXISTS shop_evidence (digest TEXT NOT NULL, body TEXT "
              + "NOT NULL, stored_at_ms BIGINT NOT NULL, bundle_id TEXT, PRIMARY KEY (digest))")
        ), ("garbage.2.sql", "DELETE FROM shop_event WHERE stored_at_ms < $1"),
        ("garbage.5.args.0", .integer(now - 86_400_000)), ("garbage.6", .null),
      ])
    schema(
      "STM-1", "MariaDB and a prefix that are named", [("engine", "mariadb"), ("prefix", "a")],
      verifier: "ledger",
      facts: [
        (
          "statements.6.sql",
          .text(
            "CREATE TABLE IF NOT EXISTS aevent (id VARCHAR(160) NOT NULL, attempt_id "
              + "VARCHAR(64) NOT NULL, stored_at_ms BIGINT NOT NULL, PRIMARY KEY (id)) "
              + "ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
        ), ("garbage.0.sql", "DELETE FROM aquota WHERE delete_after_ms < ?"),
      ])
    schema(
      "STM-1", "DynamoDB", verifier: "ledger-dynamodb",
      facts: [
        ("statements.0.api", "CreateTable"), ("statements.0.input.TableName", "shop"),
        ("statements.0.input.GlobalSecondaryIndexes.1.IndexName", "assay-due"),
        ("statements.1.api", "UpdateTimeToLive"),
        ("statements.1.input.TimeToLiveSpecification.AttributeName", "ttl"), ("indexes.0", .null),
        ("garbage.0", .null),
      ])
    schema(
      "STM-1", "Redis", [("engine", "redis")], verifier: "ledger",
      facts: [("statements.0", .null), ("indexes.0", .null), ("garbage.0", .null)])
  }

  private func addSchemaRequests() {
    schema("EXC-8", "no block and no engine", [], "config.exchange.block-missing", at: "ledger")
    schema(
      "STO-13", "an unknown engine", [("engine", "oracle")], "config.ledger.engine",
      at: "engine")
    schema(
      "STO-5", "another prefix than tables may have",
      [("engine", "sqlite"), ("prefix", "a;b")], "config.ledger.prefix", at: "prefix")
    schema(
      "CNF-1", "DynamoDB without a table", [("engine", "dynamodb")], verifier: "ledger",
      "config.document.missing", at: "ledger.table")
    for (member, request) in [
      (
        "id",
        ["operation": "record-event", "id": "N\u{1}", "attemptId": "attempt-0000000000000001"]
      ),
      (
        "account",
        ["operation": "consume-quota", "account": "a\u{0}", "meter": "free", "plan": "free"]
      ),
    ] as [(String, JSONText)] {
      self.request(
        "STO-84", "stores: a control character in \(member)", request, verifier: "ledger",
        "malformed.ledger.text", at: member)
    }
    schema(
      "EXC-1", "an unknown member", [("table", "shop")], "misuse.exchange.request", at: "table")
  }
}
