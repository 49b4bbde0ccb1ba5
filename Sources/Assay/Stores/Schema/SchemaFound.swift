/// What there is of a store's tables.
struct SchemaFound {
  var tables: [SchemaTable]
  /// Of their names.
  let prefix: Text
  /// The ledger has the columns of version 2.
  var hasUnits = false
  var row: SchemaRow? = nil

  /// The first that a store has in any version, and that is not there.
  var missing: SchemaTable? {
    SchemaTable.allCases.first { $0.isInEveryVersion && !tables.contains($0) }
  }

  func name(_ table: SchemaTable) -> Text { table.name(prefix) }
}
