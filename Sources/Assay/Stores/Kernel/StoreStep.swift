/// What the host carries out in its store: statements in order, in one go (STO-2).
struct StoreStep {
  /// Marks for the executor, which opens, commits and rolls back (EXC-24).
  enum Transaction {
    case begin, inside, commit

    var name: StaticString {
      switch self {
      case .begin: return "begin"
      case .inside: return "inside"
      case .commit: return "commit"
      }
    }
  }

  var calls: [StoreCall]
  /// After an unclear failure it must not be repeated (docs/spec/stores.md §6).
  var isOnce = false
  /// Nothing may run on the connection between its statements.
  var needsOneConnection = false
  var transaction: Transaction? = nil

  /// The value of `store`.
  func write(id: Int64, _ context: StoreContext, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("id", integer: id)
    writer.member("dialect", context.dialect.name)
    writer.member("class", isOnce ? "once" : "idempotent")
    let isTied = needsOneConnection || transaction != nil
    writer.member("connection", isTied ? "same" : "any")
    writer.name("transaction")
    if let transaction { writer.string(transaction.name) } else { writer.null() }
    writer.name("run")
    writer.beginArray()
    for call in calls { call.write(context, &writer) }
    writer.endArray()
    writer.endObject()
  }
}

/// One call of the engine.
enum StoreCall {
  case sql(SQLStatement, [(name: StaticString, value: StoreValue)])
  /// Low-level JSON with types, as the SDK's client takes it.
  case dynamo(api: StaticString, input: [UInt8])
  /// The guard script (docs/spec/store-statements.md §4).
  case script(keys: [Text], arguments: [Text])
  case command([Text])

  fileprivate func write(_ context: StoreContext, _ writer: inout JSONWriter) {
    writer.beginObject()
    switch self {
    case .sql(let statement, let arguments):
      SQLText(statement, arguments, context).write(&writer)
      writer.member("rows", boolean: statement.givesRows(context.dialect))
    case .dynamo(let api, let input):
      writer.member("api", api)
      writer.name("input")
      writer.raw(input)
    case .script(let keys, let arguments):
      // Its lines end in line feeds, which JSON escapes.
      writer.member("script", Text(stringLiteral: GuardScript.text))
      writer.member("sha1", GuardScript.sha1)
      StoreCall.write("keys", keys, &writer)
      StoreCall.write("args", arguments, &writer)
    case .command(let words): StoreCall.write("command", words, &writer)
    }
    writer.endObject()
  }

  private static func write(
    _ name: StaticString, _ texts: [Text], _ writer: inout JSONWriter
  ) {
    writer.name(name)
    writer.beginArray()
    for text in texts { writer.string(text) }
    writer.endArray()
  }
}
