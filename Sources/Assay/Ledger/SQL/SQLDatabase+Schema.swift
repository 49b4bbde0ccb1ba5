/// Making, migrating and checking the tables (STO-78, STM-1, STM-7).
extension SQLDatabase {
  /// The time limit of a statement in milliseconds: a change of tables may take long, and no
  /// request waits for it.
  private static let changeMs: Int64 = 3_600_000

  // MARK: create

  /// Makes or migrates the tables in one transaction, one host at a time. MariaDB commits each
  /// change of a table by itself; therefore the version is written last.
  func createSchema(_ lineage: Text) throws(LedgerSuspension) -> OperationResult {
    let found = try tablesFound()
    switch SchemaState(found, keepsEvidence: context.policy.keepEvidence) {
    case .refused(let place):
      try unlock()
      throw .refused(CreateSchema.refusal(place))
    case .whole(let row):
      try unlock()
      return CreateSchema.end("exists", row)
    case .toMake(let version):
      let row = try make(lineage, found.tables.contains(.evidence), from: version)
      let isOurs = found.row == nil && row.lineage == lineage
      return CreateSchema.end(version > 0 ? "migrated" : isOurs ? "created" : "exists", row)
    }
  }

  /// Ends the transaction on MariaDB, where the lock belongs to the connection, not to the
  /// transaction.
  private func unlock() throws(LedgerSuspension) {
    if isMariaDB { _ = try run(.commit) { [(.schemaUnlock, [])] } }
  }

  private func tablesFound() throws(LedgerSuspension) -> SchemaFound {
    let hasLock = context.engine != .sqlite
    let results = try changing(.begin) {
      (hasLock ? [DatabaseCall.sql(.schemaLock, [])] : [])
        + [.sql(.schemaTables, []), .sql(.schemaColumns, [])]
    }
    var found = SchemaFound(
      tables: try results.tables(results.count &- 2, context.policy.prefix),
      prefix: context.policy.prefix)
    var columns = try results.row(results.count &- 1)
    found.columnsVersion = try 1 &+ columns.integer()
    guard found.tables.contains(.schema) else { return found }
    let read = try run(.within) { [(.schemaRead, [])] }
    if let row = try read.rowIfAny(0) { found.row = try SchemaRow(row) }
    return found
  }

  private func make(
    _ lineage: Text, _ hasEvidence: Bool, from version: Int64
  ) throws(LedgerSuspension) -> SchemaRow {
    let (context, isMariaDB) = (context, isMariaDB)
    let results = try changing(.commit) {
      let schema = LedgerSchema(policy: context.policy, nowMs: context.nowMs)
      var calls: [DatabaseCall] = []
      if let text = SchemaTable.schema.create(context.engine) { calls.append(.schema(text)) }
      calls.append(
        .sql(
          .schemaInsert,
          [
            ("version", .integer(version)), ("lineage", .text(lineage)),
            ("created_at_ms", .integer(context.nowMs)),
          ]))
      for migration in SchemaMigration.all where version > 0 && migration.from >= version {
        calls += migration.statements(context.engine, hasEvidence: hasEvidence)
          .map { .schema($0) }
      }
      calls += schema.creations.map { .schema($0) }
      calls.append(.sql(.schemaVersion, [("version", .integer(SchemaMigration.current))]))
      if isMariaDB { calls.append(.sql(.schemaUnlock, [])) }
      return calls + [.sql(.schemaRead, [])]
    }
    return try SchemaRow(try results.row(results.count &- 1))
  }

  private func changing(
    _ transaction: DatabaseStep.Transaction, _ calls: () -> [DatabaseCall]
  ) throws(LedgerSuspension) -> [DatabaseResult] {
    try session.run {
      var step = DatabaseStep(calls: calls(), transaction: transaction)
      step.statementMs = Self.changeMs
      return step
    }
  }

  // MARK: check

  private static let checks: [(name: StaticString, statement: SQLStatement)] = [
    ("purchase_key", .checkName), ("purchase", .checkLedger), ("subscription", .checkSubscription),
    ("quota", .checkQuota), ("challenge", .checkChallenge), ("device_key", .checkKey),
    ("event", .checkEvent), ("merged_account", .checkLink), ("audit", .checkAudit),
    ("run", .checkRun), ("difference", .checkDifference), ("refund", .checkRefund),
    ("download", .checkDownload), ("customer", .checkCustomer),
    ("restriction", .checkRestriction),
  ]

  func checkSchema() throws(LedgerSuspension) -> CheckSchema.Found {
    let policy = context.policy
    let there = try run { [(.schemaTables, [])] }.tables(0, policy.prefix)
    let wanted = LedgerSchema(policy: policy, nowMs: context.nowMs).tables
    if let missing = wanted.first(where: { !there.contains($0) }) {
      throw .refused(CreateSchema.refusal(missing.name(policy.prefix)))
    }
    var tables = Self.checks
    if policy.keepEvidence { tables.append(("evidence", .checkEvidence)) }
    let isSQLite = policy.engine == .sqlite
    let results = try run {
      var calls: [(SQLStatement, Arguments)] = [(.schemaRead, [])]
      calls += tables.map { ($0.statement, []) }
      calls.append((.checkPrimary, []))
      if isSQLite { calls.append((.checkJournal, [])) }
      return calls
    }
    for place in tables.indices {
      guard try results.rows(place &+ 1).isEmpty else { throw .shape("results") }
    }
    var row = try results.row(tables.count &+ 1)
    guard try row.integer() == 0 else { throw CheckSchema.standby("primary") }
    if isSQLite {
      var mode = try results.row(tables.count &+ 2)
      guard try mode.text() == "wal" else { throw CheckSchema.standby("journal_mode") }
    }
    let schema = try results.rowIfAny(0).map { row throws(LedgerSuspension) in try SchemaRow(row) }
    guard let schema, schema.version == SchemaMigration.current else {
      throw .refused(CreateSchema.refusal("version"))
    }
    return CheckSchema.Found(tables: tables.map { $0.name }, schema: schema)
  }
}
