/// The operation `create-schema`: makes the tables if there are none, and migrates those of an
/// older version; makes nothing if a table is missing (STO-78).
struct CreateSchema: GuardOperation {
  /// The host's random text for tables that this operation makes.
  private let lineage: Text

  /// - Throws: `misuse.exchange.request`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let node = try parameters.needed("lineage")
    lineage = try node.text(32...32)
    try require(lineage.utf8.allSatisfy { (0x21...0x7e).contains($0) }, node)
  }

  var jitterSeed: Text { lineage }

  var isBounded: Bool { false }

  func run(_ database: any GuardDatabase) throws(LedgerSuspension) -> OperationResult {
    try database.createSchema(lineage)
  }

  static func end(_ outcome: StaticString, _ row: SchemaRow?) -> OperationResult {
    OperationResult { writer in
      writer.member("outcome", outcome)
      writer.member("version", integer: row?.version)
      writer.member("lineage", row?.lineage)
    }
  }

  /// - Parameter place: The first missing table, or `version`.
  static func refusal(_ place: Text) -> Refusal {
    Refusal(.configLedgerSchema, "STO-78", at: place.string)
  }
}
