/// What a store must have before the first statement: texts that the host runs itself, as
/// the library never does (docs/spec/store-statements.md STM-1).
struct StoreSchema {
  let policy: StoresPolicy
  /// Milliseconds since 1970 UTC, for the ends of what is garbage.
  let nowMs: Int64

  /// STM-3: how long rows are kept beyond the time that they name.
  private static let garbage: [(statement: SQLStatement, keptMs: Int64)] = [
    (.garbageQuota, 0), (.garbageChallenge, Milliseconds.day),
    (.garbageOnce, 30 &* Milliseconds.day), (.garbageEvidence, Milliseconds.day),
  ]

  var tables: [SchemaTable] {
    SchemaTable.allCases.filter { $0 != .evidence || policy.keepEvidence }
  }

  /// The tables that are not there, with their indexes.
  var creations: [StaticString] {
    tables.compactMap { $0.create(policy.dialect) } + indexes
  }

  private var indexes: [StaticString] {
    policy.dialect.isSQL ? tables.flatMap { $0.indexes } : []
  }

  /// `"version":2,"statements":[…],"indexes":[…],"garbage":[…],"migrations":[…]`: calls as in a
  /// step (STO-2).
  func write(_ writer: inout JSONWriter) {
    writer.member("version", integer: SchemaMigration.current)
    writer.name("statements")
    writer.beginArray()
    if policy.dialect == .dynamodb, let table = policy.table {
      DynamoSchema(table: table).write(&writer)
    }
    for table in tables {
      if let text = table.create(policy.dialect) { write(text, nil, &writer) }
    }
    writer.endArray()
    writer.name("indexes")
    writer.beginArray()
    for text in indexes { write(text, nil, &writer) }
    writer.endArray()
    writer.name("garbage")
    writer.beginArray()
    for (statement, keptMs) in StoreSchema.garbage
    where statement != .garbageEvidence || policy.keepEvidence {
      if let text = statement.text(policy.dialect) { write(text, nowMs &- keptMs, &writer) }
    }
    writer.endArray()
    writeMigrations(&writer)
  }

  private func writeMigrations(_ writer: inout JSONWriter) {
    writer.name("migrations")
    writer.beginArray()
    for migration in SchemaMigration.all where policy.dialect.isSQL {
      writer.beginObject()
      writer.member("from", integer: migration.from)
      writer.member("to", integer: migration.to)
      writer.name("statements")
      writer.beginArray()
      for text in migration.statements(policy.dialect) + creations { write(text, nil, &writer) }
      writer.endArray()
      writer.endObject()
    }
    writer.endArray()
  }

  /// A statement with at most one parameter.
  private func write(_ text: StaticString, _ argument: Int64?, _ writer: inout JSONWriter) {
    writer.beginObject()
    let values: SQLText.Values = argument.map { [("before_ms", .integer($0))] } ?? []
    SQLText.write(text, values, policy, &writer)
    writer.member("rows", boolean: false)
    writer.endObject()
  }
}
