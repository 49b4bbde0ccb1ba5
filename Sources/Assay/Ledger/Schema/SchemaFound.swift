/// The tables of the ledger that a database has.
struct SchemaFound {
  var tables: [SchemaTable]
  /// The prefix of the tables' names.
  let prefix: Text
  /// The version whose columns the ledger's tables have.
  var columnsVersion: Int64 = 1
  var row: SchemaRow? = nil

  /// Returns the first missing table of those that a ledger of this version has; `nil` if none is
  /// missing.
  func missing(of version: Int64) -> SchemaTable? {
    SchemaTable.allCases.first {
      $0 != .schema && $0 != .evidence && $0.firstVersion <= version && !tables.contains($0)
    }
  }

  func name(_ table: SchemaTable) -> Text { table.name(prefix) }
}
