/// What a store must have before the first statement: texts that the host runs itself, as
/// the library never does (docs/spec/store-statements.md STM-1).
struct StoreSchema {
  let policy: StoresPolicy
  /// Milliseconds since 1970 UTC, for the ends of what is garbage.
  let nowMs: Int64

  /// STM-3: how long rows are kept beyond the time that they name.
  private static let garbage: [(statement: SQLStatement, keptMs: Int64)] = [
    (.garbageQuota, 0), (.garbageChallenge, Milliseconds.day),
    (.garbageOnce, 30 &* Milliseconds.day),
  ]

  private var tables: [SchemaTable] {
    SchemaTable.allCases.filter { $0 != .evidence || policy.keepEvidence }
  }

  /// `"statements":[…],"indexes":[…],"garbage":[…]`, each a call as in a step (STO-2).
  func write(_ writer: inout JSONWriter) {
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
    if policy.dialect.isSQL {
      for table in tables { for text in table.indexes { write(text, nil, &writer) } }
    }
    writer.endArray()
    writer.name("garbage")
    writer.beginArray()
    for (statement, keptMs) in StoreSchema.garbage {
      if let text = statement.text(policy.dialect) { write(text, nowMs &- keptMs, &writer) }
    }
    writer.endArray()
  }

  /// A statement with at most one parameter.
  private func write(_ text: StaticString, _ argument: Int64?, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.name("sql")
    writer.string(utf8: rendered(text))
    writer.name("args")
    writer.beginArray()
    if let argument { writer.integer(argument) }
    writer.endArray()
    writer.member("rows", boolean: false)
    writer.endObject()
  }

  private static let standardPrefix: [UInt8] = Array("assay_".utf8)
  private static let parameter: [UInt8] = Array(":before_ms".utf8)

  /// With the prefix of tables, and the placeholder of the parameter.
  private func rendered(_ text: StaticString) -> [UInt8] {
    var rest = Text(stringLiteral: text).utf8[...]
    var bytes: [UInt8] = []
    while let byte = rest.first {
      if rest.starts(with: StoreSchema.standardPrefix) {
        bytes += policy.prefix.utf8
        rest = rest.dropFirst(StoreSchema.standardPrefix.count)
      } else if rest.starts(with: StoreSchema.parameter) {
        bytes += placeholder
        rest = rest.dropFirst(StoreSchema.parameter.count)
      } else {
        bytes.append(byte)
        rest = rest.dropFirst()
      }
    }
    return bytes
  }

  private var placeholder: [UInt8] {
    switch policy.placeholders {
    case .dollar: return [0x24, 0x31]
    case .format: return [0x25, 0x73]
    case .qmark, nil: return [0x3f]
    }
  }
}
