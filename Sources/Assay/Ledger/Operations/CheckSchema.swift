/// The operation `check-schema`: checks at start-up, not at the first purchase, that all tables
/// exist in this version with their columns, and that the server is a primary that keeps its data
/// (STM-1, STM-7).
struct CheckSchema: LedgerOperation {
  private static let tables: [(name: StaticString, statement: SQLStatement)] = [
    ("purchase_key", .checkName), ("purchase", .checkLedger), ("subscription", .checkSubscription),
    ("quota", .checkQuota), ("challenge", .checkChallenge), ("device_key", .checkKey),
    ("event", .checkEvent), ("merged_account", .checkLink), ("audit", .checkAudit),
  ]

  /// The lineage that the host saw first; `nil` at its first check.
  private let lineage: Text?

  private struct Found {
    var tables: [StaticString] = []
    var schema: SchemaRow? = nil
    /// The warnings: `not-persistent`, `unknown`, `no-lineage`.
    var warnings: [StaticString] = []
  }

  /// - Throws: `misuse.exchange.request`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    lineage = try parameters["lineage"]?.text(1...64)
  }

  func run(_ session: inout LedgerSession) throws(LedgerSuspension) -> OperationResult {
    let found: Found
    switch session.context.engine {
    case .sqlite, .postgres, .mariadb: found = try tables(&session)
    case .redis: found = try redis(&session)
    case .dynamodb: found = try dynamo(&session)
    }
    if let lineage, session.context.engine != .redis, found.schema?.lineage != lineage {
      throw .refused(Refusal(.configLedgerLineage, "STO-78", at: "lineage"))
    }
    return OperationResult { writer in
      writer.name("tables")
      writer.beginArray()
      for name in found.tables { writer.string(name) }
      writer.endArray()
      writer.member("primary", boolean: true)
      writer.member("version", integer: found.schema?.version)
      writer.member("lineage", found.schema?.lineage)
      writer.name("warnings")
      writer.beginArray()
      for warning in found.warnings { writer.string(warning) }
      writer.endArray()
    }
  }

  /// Returns the refusal of a server that is no primary, or of a table that is not active (STM-7).
  static func standby(_ place: String) -> LedgerSuspension {
    .refused(Refusal(.unavailableDatabaseStandby, "STO-74", at: place))
  }

  private func tables(_ session: inout LedgerSession) throws(LedgerSuspension) -> Found {
    let policy = session.context.policy
    let there = try session.sql { [(.schemaTables, [])] }.tables(0, policy.prefix)
    let wanted = LedgerSchema(policy: policy, nowMs: session.context.nowMs).tables
    if let missing = wanted.first(where: { !there.contains($0) }) {
      throw .refused(CreateSchema.refusal(missing.name(policy.prefix)))
    }
    var tables = Self.tables
    if policy.keepEvidence { tables.append(("evidence", .checkEvidence)) }
    let isSQLite = policy.engine == .sqlite
    let results = try session.sql {
      var calls: [(SQLStatement, LedgerSession.Arguments)] = [(.schemaRead, [])]
      calls += tables.map { ($0.statement, []) }
      calls.append((.checkPrimary, []))
      if isSQLite { calls.append((.checkJournal, [])) }
      return calls
    }
    for place in tables.indices {
      guard try results.rows(place &+ 1).isEmpty else { throw .shape("results") }
    }
    var row = try results.row(tables.count &+ 1)
    guard try row.integer() == 0 else { throw Self.standby("primary") }
    if isSQLite {
      var mode = try results.row(tables.count &+ 2)
      guard try mode.text() == "wal" else { throw Self.standby("journal_mode") }
    }
    let schema = try results.rowIfAny(0).map { row throws(LedgerSuspension) in try SchemaRow(row) }
    guard let schema, schema.version == SchemaMigration.current else {
      throw .refused(CreateSchema.refusal("version"))
    }
    return Found(tables: tables.map { $0.name }, schema: schema)
  }

  private func redis(_ session: inout LedgerSession) throws(LedgerSuspension) -> Found {
    let results = try session.run {
      DatabaseStep(
        calls: [.command(["ROLE"])] + RedisInfo.calls(["server", "memory", "persistence"]))
    }
    guard case .reply(let words)? = results.first else { throw .shape("reply") }
    guard words.first == .text("master") else { throw Self.standby("ROLE") }
    let info = try RedisInfo(results.dropFirst())
    var found = Found()
    let (policy, most) = (info["maxmemory_policy"], info["maxmemory"])
    if let policy, let most, policy != "noeviction", most != "0" {
      throw .refused(Refusal(.configLedgerEvicting, "STO-83", at: "maxmemory_policy"))
    }
    if info["aof_enabled"] == "0" { found.warnings.append("not-persistent") }
    if policy == nil || most == nil || info["aof_enabled"] == nil {
      found.warnings.append("unknown")
    }
    return found
  }

  /// Checks that the table and both indexes are active.
  private func dynamo(_ session: inout LedgerSession) throws(LedgerSuspension) -> Found {
    guard let table = try session.dynamoTable() else {
      throw .refused(CreateSchema.refusal(session.context.policy.table ?? ""))
    }
    if let part = Self.inactivePart(of: table) { throw Self.standby(part) }
    var found = Found()
    found.schema = try session.dynamoSchemaRow()
    guard let row = found.schema else {
      // A template made the table, which has no columns and no version to check.
      found.warnings.append("no-lineage")
      return found
    }
    guard row.version == SchemaMigration.current else {
      throw .refused(CreateSchema.refusal("version"))
    }
    return found
  }

  /// Returns the part of the table that is not active; `nil` if all of them are.
  static func inactivePart(of table: JSONValue?) -> String? {
    guard table?.member("TableStatus")?.isText("ACTIVE") == true else { return "TableStatus" }
    guard let indexes = table?.member("GlobalSecondaryIndexes"), indexes.kind == .array else {
      return "GlobalSecondaryIndexes"
    }
    for name in ["assay-owner", "assay-due"] as [StaticString] {
      let index = indexes.children.first { $0.member("IndexName")?.isText(name) == true }
      guard index?.member("IndexStatus")?.isText("ACTIVE") == true else {
        return Text(stringLiteral: name).string
      }
    }
    return nil
  }
}
