/// The tables of the ledger that a database has.
struct SchemaFound {
  var tables: [SchemaTable]
  /// The prefix of the tables' names.
  let prefix: Text
  /// Whether the ledger has the columns of version 2.
  var hasUnits = false
  var row: SchemaRow? = nil

  /// The first missing table of those that every version has; `nil` if none is missing.
  var missing: SchemaTable? {
    SchemaTable.allCases.first { $0.isInEveryVersion && !tables.contains($0) }
  }

  func name(_ table: SchemaTable) -> Text { table.name(prefix) }
}
