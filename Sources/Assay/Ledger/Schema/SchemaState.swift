/// The action that the tables of a database need (STO-78).
enum SchemaState {
  /// An operator has to repair the tables: one is missing, or the version is a later one.
  case refused(Text)
  case whole(SchemaRow)
  /// Missing tables are made, after the migration from this version; 0: without a migration.
  case toMake(Int64)

  init(_ found: SchemaFound, keepsEvidence: Bool) {
    if let row = found.row {
      if row.version == 0 {
        // The host stopped while it made the tables (MariaDB).
        self = .toMake(0)
      } else if row.version > SchemaMigration.current || row.version < 0 {
        self = .refused("version")
      } else if let missing = found.missing(of: row.version) {
        self = .refused(found.name(missing))
      } else if row.version < SchemaMigration.current {
        self = .toMake(row.version)
      } else if keepsEvidence && !found.tables.contains(.evidence) {
        // Texts are kept from now on; no purchase depends on their table.
        self = .toMake(0)
      } else {
        self = .whole(row)
      }
    } else if !found.tables.contains(where: { $0 != .schema && $0 != .evidence }) {
      self = .toMake(0)
    } else if let missing = found.missing(of: found.columnsVersion) {
      self = .refused(found.name(missing))
    } else if found.columnsVersion == 1 || found.tables.contains(.schema) {
      // Version 1 stored none; of a later one the host ran the statements itself.
      let version = found.columnsVersion
      self = .toMake(version == SchemaMigration.current ? 0 : version)
    } else {
      self = .refused(found.name(.schema))
    }
  }
}

extension SchemaTable {
  /// The version in which the table came.
  var firstVersion: Int64 {
    switch self {
    case .schema: return 2
    case .run, .difference, .refund, .download, .customer, .restriction: return 3
    default: return 1
    }
  }

  /// Returns the table's name in the engine.
  func name(_ prefix: Text) -> Text {
    Text(prefix.utf8 + Text(stringLiteral: word).utf8)
  }
}

extension [DatabaseResult] {
  /// Returns the ledger's tables among all tables of the engine.
  func tables(_ place: Int, _ prefix: Text) throws(LedgerSuspension) -> [SchemaTable] {
    let names = try rows(place).map { row throws(LedgerSuspension) in try row.onlyText() }
    return SchemaTable.allCases.filter { names.contains($0.name(prefix)) }
  }
}
