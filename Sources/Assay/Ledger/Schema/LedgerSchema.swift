/// The schema that a database needs before the first statement: texts that the host runs itself, as
/// the library never does (docs/spec/ledger-statements.md STM-1).
struct LedgerSchema {
  let policy: LedgerPolicy
  /// The current time in milliseconds since 1970 UTC, from which expired rows are computed.
  let nowMs: Int64

  /// The milliseconds for which rows are kept beyond the time that they contain (STM-3).
  private static let garbage: [(statement: SQLStatement, keptMs: Int64)] = [
    (.garbageQuota, 0), (.garbageChallenge, Milliseconds.day),
    (.garbageEvent, 30 &* Milliseconds.day), (.garbageDifference, 400 &* Milliseconds.day),
    (.garbageRefund, 400 &* Milliseconds.day), (.garbageEvidence, Milliseconds.day),
    (.garbageCustomer, 400 &* Milliseconds.day), (.garbageDownload, 400 &* Milliseconds.day),
  ]

  /// Whether a statement deletes from a table that this ledger uses.
  private func isOurs(_ statement: SQLStatement) -> Bool {
    switch statement {
    case .garbageEvidence: return policy.keepEvidence
    case .garbageCustomer, .garbageDownload: return policy.customerKey != nil
    default: return true
    }
  }

  var tables: [SchemaTable] {
    SchemaTable.allCases.filter { $0 != .evidence || policy.keepEvidence }
  }

  /// The statements that make missing tables, with their indexes.
  var creations: [StaticString] {
    tables.compactMap { $0.create(policy.engine) } + indexes
  }

  private var indexes: [StaticString] {
    policy.engine.isSQL ? tables.flatMap { $0.indexes } : []
  }

  /// Writes `"version":3,"statements":[…],"indexes":[…],"garbage":[…],"migrations":[…]`, with calls
  /// as in a step (STO-2).
  func write(_ writer: inout JSONWriter) {
    writer.member("version", integer: SchemaMigration.current)
    writer.name("statements")
    writer.beginArray()
    if policy.engine == .dynamodb, let table = policy.table {
      DynamoSchema(table: table).write(&writer)
    }
    for table in tables {
      if let text = table.create(policy.engine) { write(text, nil, &writer) }
    }
    writer.endArray()
    writer.name("indexes")
    writer.beginArray()
    for text in indexes { write(text, nil, &writer) }
    writer.endArray()
    writer.name("garbage")
    writer.beginArray()
    for (statement, keptMs) in LedgerSchema.garbage where isOurs(statement) {
      if let text = statement.text(policy.engine) { write(text, nowMs &- keptMs, &writer) }
    }
    writer.endArray()
    writeMigrations(&writer)
  }

  private func writeMigrations(_ writer: inout JSONWriter) {
    writer.name("migrations")
    writer.beginArray()
    for migration in SchemaMigration.all where policy.engine.isSQL {
      writer.beginObject()
      writer.member("from", integer: migration.from)
      writer.member("to", integer: migration.to)
      writer.name("statements")
      writer.beginArray()
      let changes = migration.statements(policy.engine, hasEvidence: policy.keepEvidence)
      for text in changes + creations { write(text, nil, &writer) }
      writer.endArray()
      writer.endObject()
    }
    writer.endArray()
  }

  /// Writes a statement with at most one parameter.
  private func write(_ text: StaticString, _ argument: Int64?, _ writer: inout JSONWriter) {
    writer.beginObject()
    let values: SQLText.Values = argument.map { [("before_ms", .integer($0))] } ?? []
    SQLText.write(text, values, policy, &writer)
    writer.member("returnsRows", boolean: false)
    writer.endObject()
  }
}
