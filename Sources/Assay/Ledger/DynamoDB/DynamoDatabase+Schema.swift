/// Making and checking the one table, and the row with its version and lineage (STO-78).
extension DynamoDatabase {
  /// The waits between checks of a table that is being made, in milliseconds; half a minute in all.
  private static let looksMs: [Int64] = [1000, 2000, 4000, 8000, 16_000]

  func createSchema(_ lineage: Text) throws(LedgerSuspension) -> OperationResult {
    let schema = DynamoSchema(table: table)
    let isMade = try describeTable() == nil
    if isMade {
      // The table may have been made by another host in the meantime.
      try call(schema.creation, absent: "ResourceInUseException")
    }
    try awaitTable()
    // DynamoDB refuses to switch on an expiry that is on already.
    if isMade { try call(schema.expiry, absent: "ValidationException") }
    if let row = try schemaRow() {
      guard row.version <= SchemaMigration.current else {
        throw .refused(CreateSchema.refusal("version"))
      }
      guard row.version < SchemaMigration.current else { return CreateSchema.end("exists", row) }
      return CreateSchema.end("migrated", try migrate(row))
    }
    let arguments: DynamoRequest.Values = [
      ("id", .text("schema")), ("version", .integer(SchemaMigration.current)),
      ("lineage", .text(lineage)), ("created_at_ms", .integer(context.nowMs)),
    ]
    _ = try change(.insert(.schema, arguments))
    guard let row = try schemaRow() else { throw .rowMissing }
    let isOurs = row.lineage == lineage
    return CreateSchema.end(isOurs ? (isMade ? "created" : "migrated") : "exists", row)
  }

  /// Writes the version: rows of older versions are read as they are (STM-8).
  private func migrate(_ row: SchemaRow) throws(LedgerSuspension) -> SchemaRow {
    let change = DynamoRequest.update(
      .schema, "SET #version = :version", if: "#version < :version",
      [("version", .integer(SchemaMigration.current))])
    _ = try update(change)
    guard let row = try schemaRow() else { throw .rowMissing }
    return row
  }

  private func schemaRow() throws(LedgerSuspension) -> SchemaRow? {
    guard let item = try read(.schema) else { return nil }
    return try SchemaRow(try item.row(SchemaRow.columns))
  }

  /// Returns the description of the table; `nil` if there is none.
  private func describeTable() throws(LedgerSuspension) -> JSONValue? {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("TableName", table)
    writer.endObject()
    let result = try call(
      ("DescribeTable", writer.bytes), absent: "ResourceNotFoundException")
    if case .done? = result { return nil }
    guard case .output(let output)? = result, let table = output.member("Table") else {
      throw .shape("output.Table")
    }
    return table
  }

  /// Waits until the table and its indexes are active.
  ///
  /// - Throws: `unavailable.database.standby` if they are not active in time.
  private func awaitTable() throws(LedgerSuspension) {
    var nowMs = context.nowMs
    for pause in Self.looksMs {
      if Self.inactivePart(of: try describeTable()) == nil { return }
      nowMs = try session.wait(untilMs: Milliseconds.sum(nowMs, pause))
    }
    if let part = Self.inactivePart(of: try describeTable()) {
      throw CheckSchema.standby(part)
    }
  }

  /// - Parameter absent: The engine's error code that is a result as well.
  @discardableResult
  private func call(
    _ call: (api: StaticString, input: [UInt8]), absent: StaticString
  ) throws(LedgerSuspension) -> DatabaseResult? {
    try session.run {
      var step = DatabaseStep(calls: [.dynamo(api: call.api, input: call.input)])
      step.absentCode = absent
      return step
    }.first
  }

  /// Checks that the table and both indexes are active.
  func checkSchema() throws(LedgerSuspension) -> CheckSchema.Found {
    guard let description = try describeTable() else {
      throw .refused(CreateSchema.refusal(table))
    }
    if let part = Self.inactivePart(of: description) { throw CheckSchema.standby(part) }
    guard let row = try schemaRow() else {
      // A template made the table, which has no columns and no version to check.
      return CheckSchema.Found(warnings: ["no-lineage"])
    }
    guard row.version == SchemaMigration.current else {
      throw .refused(CreateSchema.refusal("version"))
    }
    return CheckSchema.Found(schema: row)
  }

  /// Returns the part of the table that is not active; `nil` if all of them are.
  private static func inactivePart(of table: JSONValue?) -> String? {
    guard table?.member("TableStatus")?.isText("ACTIVE") == true else { return "TableStatus" }
    guard let indexes = table?.member("GlobalSecondaryIndexes"), indexes.kind == .array else {
      return "GlobalSecondaryIndexes"
    }
    for name in ["assay-owner", "assay-due"] as [StaticString] {
      let index = indexes.children.first { $0.member("IndexName")?.isText(name) == true }
      guard index?.member("IndexStatus")?.isText("ACTIVE") == true else {
        return Text(stringLiteral: name).string
      }
    }
    return nil
  }
}
