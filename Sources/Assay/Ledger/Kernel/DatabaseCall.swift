/// One call to the engine.
enum DatabaseCall {
  /// The values of a statement or a row, by the names of parameters or columns.
  typealias Arguments = [(name: StaticString, value: DatabaseValue)]

  case sql(SQLStatement, Arguments)
  /// A text of `SchemaTable` or `SchemaMigration`.
  case schema(StaticString)
  /// A request to DynamoDB: low-level JSON with types, as the SDK's client takes it.
  case dynamo(api: StaticString, input: [UInt8])
  /// A call of the guard script (docs/spec/ledger-statements.md §4).
  case script(keys: [Text], arguments: [Text])
  case command([Text])

  func write(_ context: LedgerContext, _ writer: inout JSONWriter) {
    writer.beginObject()
    switch self {
    case .sql(let statement, let arguments):
      let text = statement.text(context.engine) ?? ""
      SQLText.write(text, arguments, context.policy, &writer)
      writer.member("returnsRows", boolean: statement.givesRows(context.engine))
    case .schema(let text):
      SQLText.write(text, [], context.policy, &writer)
      writer.member("returnsRows", boolean: false)
    case .dynamo(let api, let input):
      writer.member("api", api)
      writer.name("input")
      writer.raw(input)
    case .script(let keys, let arguments):
      // The script is escaped like any text: its lines end in line feeds.
      writer.member("script", Text(stringLiteral: GuardScript.text))
      writer.member("sha1", GuardScript.sha1)
      DatabaseCall.write("keys", keys, &writer)
      DatabaseCall.write("args", arguments, &writer)
    case .command(let words): DatabaseCall.write("command", words, &writer)
    }
    writer.endObject()
  }

  private static func write(_ name: StaticString, _ texts: [Text], _ writer: inout JSONWriter) {
    writer.name(name)
    writer.beginArray()
    for text in texts { writer.string(text) }
    writer.endArray()
  }
}
