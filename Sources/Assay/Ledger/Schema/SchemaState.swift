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
      } else if let missing = found.missing {
        self = .refused(found.name(missing))
      } else if row.version < SchemaMigration.current {
        self = .toMake(row.version)
      } else if keepsEvidence && !found.tables.contains(.evidence) {
        // Texts are kept from now on; no purchase depends on their table.
        self = .toMake(0)
      } else {
        self = .whole(row)
      }
    } else if !found.tables.contains(where: { $0.isInEveryVersion }) {
      self = .toMake(0)
    } else if let missing = found.missing {
      self = .refused(found.name(missing))
    } else if !found.hasUnits {
      self = .toMake(1)
    } else if found.tables.contains(.schema) {
      // The host ran the statements itself.
      self = .toMake(0)
    } else {
      self = .refused(found.name(.schema))
    }
  }
}

extension SchemaTable {
  /// Whether every version has the table: version 1 stored no version, and kept evidence is an
  /// option.
  var isInEveryVersion: Bool { self != .schema && self != .evidence }

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
