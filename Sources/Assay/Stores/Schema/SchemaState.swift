/// What is to be done about the tables that a store has (STO-78).
enum SchemaState {
  /// A person looks at it: a part is missing, or it is of a later version.
  case refused(Text)
  case whole(SchemaRow)
  /// Made from this version; 0: from nothing.
  case toMake(Int64)

  init(_ found: SchemaFound, keepsEvidence: Bool) {
    if let row = found.row {
      if row.version == 0 {
        // It was stopped in the middle (MariaDB).
        self = .toMake(0)
      } else if row.version > SchemaMigration.current || row.version < 0 {
        self = .refused("version")
      } else if let missing = found.missing {
        self = .refused(found.name(missing))
      } else if row.version < SchemaMigration.current {
        self = .toMake(row.version)
      } else if keepsEvidence && !found.tables.contains(.evidence) {
        // Texts are kept from now on: no purchase depends on them.
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
      // The host ran the texts itself.
      self = .toMake(0)
    } else {
      self = .refused(found.name(.schema))
    }
  }
}

extension SchemaTable {
  /// Version 1 had no row that says so, and kept texts are an option.
  var isInEveryVersion: Bool { self != .schema && self != .evidence }

  /// As the engine knows it.
  func name(_ prefix: Text) -> Text {
    Text(prefix.utf8 + Text(stringLiteral: word).utf8)
  }
}

extension [StoreResult] {
  /// The tables of a store among those of the engine.
  func tables(_ place: Int, _ prefix: Text) throws(StoreStop) -> [SchemaTable] {
    var names: [Text] = []
    for var row in try rows(place) {
      names.append(try row.text())
      try row.end()
    }
    return SchemaTable.allCases.filter { names.contains($0.name(prefix)) }
  }
}
