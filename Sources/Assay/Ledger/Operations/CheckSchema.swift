/// The operation `check-schema`: checks at start-up, not at the first purchase, that all tables
/// exist in this version with their columns, and that the server is a primary that keeps its data
/// (STM-1, STM-7).
struct CheckSchema: GuardOperation {
  /// The lineage that the host saw first; `nil` at its first check.
  private let lineage: Text?

  struct Found {
    var tables: [StaticString] = []
    var schema: SchemaRow? = nil
    /// Whether the engine has a lineage; Redis has none.
    var hasLineage = true
    /// The warnings: `not-persistent`, `unknown`, `no-lineage`.
    var warnings: [StaticString] = []
  }

  /// - Throws: `misuse.exchange.request`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    lineage = try parameters["lineage"]?.text(1...64)
  }

  func run(_ database: any GuardDatabase) throws(LedgerSuspension) -> OperationResult {
    let found = try database.checkSchema()
    if let lineage, found.hasLineage, found.schema?.lineage != lineage {
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
}
