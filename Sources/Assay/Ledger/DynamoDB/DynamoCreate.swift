/// `create-schema` on DynamoDB: the one table, and the row with its version and lineage (STO-78).
extension LedgerSession {
  /// The waits between checks of a table that is being made, in milliseconds; half a minute in all.
  private static let looksMs: [Int64] = [1000, 2000, 4000, 8000, 16_000]

  mutating func dynamoCreateTable(_ lineage: Text) throws(LedgerSuspension) -> OperationResult {
    let schema = DynamoSchema(table: context.policy.table ?? "")
    let isMade = try dynamoTable() == nil
    if isMade {
      // The table may have been made by another host in the meantime.
      try dynamoCall(schema.creation, absent: "ResourceInUseException")
    }
    try dynamoAwaitTable()
    // DynamoDB refuses to switch on an expiry that is on already.
    if isMade { try dynamoCall(schema.expiry, absent: "ValidationException") }
    if let row = try dynamoSchemaRow() {
      guard row.version <= SchemaMigration.current else {
        throw .refused(CreateSchema.refusal("version"))
      }
      return CreateSchema.end("exists", row)
    }
    let arguments: Arguments = [
      ("id", .text("schema")), ("version", .integer(SchemaMigration.current)),
      ("lineage", .text(lineage)), ("created_at_ms", .integer(context.nowMs)),
    ]
    _ = try dynamoChange(.insert(.schema, arguments))
    guard let row = try dynamoSchemaRow() else { throw .rowMissing }
    let isOurs = row.lineage == lineage
    return CreateSchema.end(isOurs ? (isMade ? "created" : "migrated") : "exists", row)
  }

  mutating func dynamoSchemaRow() throws(LedgerSuspension) -> SchemaRow? {
    guard let item = try dynamoRead(.schema) else { return nil }
    return try SchemaRow(try item.row(SchemaRow.columns))
  }

  /// Returns the description of the table; `nil` if there is none.
  mutating func dynamoTable() throws(LedgerSuspension) -> JSONValue? {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("TableName", context.policy.table ?? "")
    writer.endObject()
    let result = try dynamoCall(
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
  private mutating func dynamoAwaitTable() throws(LedgerSuspension) {
    var nowMs = context.nowMs
    for pause in Self.looksMs {
      if CheckSchema.inactivePart(of: try dynamoTable()) == nil { return }
      nowMs = try wait(untilMs: Milliseconds.sum(nowMs, pause))
    }
    if let part = CheckSchema.inactivePart(of: try dynamoTable()) {
      throw CheckSchema.standby(part)
    }
  }

  /// - Parameter absent: The engine's error code that is a result as well.
  @discardableResult
  private mutating func dynamoCall(
    _ call: (api: StaticString, input: [UInt8]), absent: StaticString
  ) throws(LedgerSuspension) -> DatabaseResult? {
    try run {
      var step = DatabaseStep(calls: [.dynamo(api: call.api, input: call.input)])
      step.absentCode = absent
      return step
    }.first
  }
}
