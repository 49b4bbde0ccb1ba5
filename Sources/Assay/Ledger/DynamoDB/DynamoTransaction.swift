/// Changes of several rows, all or none (docs/spec/ledger-statements.md §3).
struct DynamoTransaction {
  /// The changes: at most 100, no row twice.
  let changes: [DynamoRequest]

  init(_ changes: [DynamoRequest]) { self.changes = changes }

  func call(_ table: Text) -> DatabaseCall {
    var writer = JSONWriter(capacity: 2048)
    writer.beginObject()
    writer.name("TransactItems")
    writer.beginArray()
    for change in changes { change.writeElement(table, &writer) }
    writer.endArray()
    writer.endObject()
    return .dynamo(api: "TransactWriteItems", input: writer.bytes)
  }
}
