/// The operation `create-schema`: makes the tables if there are none, and migrates those of an
/// older version; makes nothing if a table is missing (STO-78).
struct CreateSchema: LedgerOperation {
  /// The host's random text for tables that this operation makes.
  let lineage: Text

  /// - Throws: `misuse.exchange.request`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let node = try parameters.needed("lineage")
    lineage = try node.text(32...32)
    try require(lineage.utf8.allSatisfy { (0x21...0x7e).contains($0) }, node)
  }

  var jitterSeed: Text { lineage }

  var isBounded: Bool { false }

  func run(_ session: inout LedgerSession) throws(LedgerSuspension) -> OperationResult {
    switch session.context.engine {
    case .sqlite, .postgres, .mariadb: return try session.createTables(lineage)
    case .dynamodb: return try session.dynamoCreateTable(lineage)
    case .redis: return CreateSchema.end("exists", nil)
    }
  }

  static func end(_ outcome: StaticString, _ row: SchemaRow?) -> OperationResult {
    OperationResult { writer in
      writer.member("outcome", outcome)
      writer.member("version", integer: row?.version)
      writer.member("lineage", row?.lineage)
    }
  }

  /// - Parameter place: The first missing table, or `version`.
  static func refusal(_ place: Text) -> Refusal {
    Refusal(.configLedgerSchema, "STO-78", at: place.string)
  }
}

extension LedgerSession {
  /// The time limit of a statement in milliseconds: a change of tables may take long, and no
  /// request waits for it.
  private static let changeMs: Int64 = 3_600_000

  /// Makes or migrates the tables in one transaction, one host at a time. MariaDB commits each
  /// change of a table by itself; therefore the version is written last.
  fileprivate mutating func createTables(_ lineage: Text) throws(LedgerSuspension)
    -> OperationResult
  {
    let found = try tablesFound()
    let (isMariaDB, keeps) = (context.engine == .mariadb, context.policy.keepEvidence)
    switch SchemaState(found, keepsEvidence: keeps) {
    case .refused(let place):
      // The lock belongs to the connection, not to the transaction.
      if isMariaDB { _ = try sql(.commit) { [(.schemaUnlock, [])] } }
      throw .refused(CreateSchema.refusal(place))
    case .whole(let row):
      if isMariaDB { _ = try sql(.commit) { [(.schemaUnlock, [])] } }
      return CreateSchema.end("exists", row)
    case .toMake(let version):
      let row = try make(lineage, found.row, from: version)
      let isOurs = found.row == nil && row.lineage == lineage
      return CreateSchema.end(version > 0 ? "migrated" : isOurs ? "created" : "exists", row)
    }
  }

  private mutating func tablesFound() throws(LedgerSuspension) -> SchemaFound {
    let hasLock = context.engine != .sqlite
    let results = try changing(.begin) {
      (hasLock ? [DatabaseCall.sql(.schemaLock, [])] : [])
        + [.sql(.schemaTables, []), .sql(.schemaUnits, [])]
    }
    var found = SchemaFound(
      tables: try results.tables(results.count &- 2, context.policy.prefix),
      prefix: context.policy.prefix)
    var units = try results.row(results.count &- 1)
    found.hasUnits = try units.integer() > 0
    guard found.tables.contains(.schema) else { return found }
    let read = try sql(.within) { [(.schemaRead, [])] }
    if let row = try read.rowIfAny(0) { found.row = try SchemaRow(row) }
    return found
  }

  private mutating func make(
    _ lineage: Text, _ standing: SchemaRow?, from version: Int64
  ) throws(LedgerSuspension) -> SchemaRow {
    let (context, isMariaDB) = (context, context.engine == .mariadb)
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
        calls += migration.statements(context.engine).map { .schema($0) }
      }
      calls += schema.creations.map { .schema($0) }
      calls.append(.sql(.schemaVersion, [("version", .integer(SchemaMigration.current))]))
      if isMariaDB { calls.append(.sql(.schemaUnlock, [])) }
      return calls + [.sql(.schemaRead, [])]
    }
    return try SchemaRow(try results.row(results.count &- 1))
  }

  private mutating func changing(
    _ transaction: DatabaseStep.Transaction, _ calls: () -> [DatabaseCall]
  ) throws(LedgerSuspension) -> [DatabaseResult] {
    try run {
      var step = DatabaseStep(calls: calls(), transaction: transaction)
      step.statementMs = Self.changeMs
      return step
    }
  }
}
