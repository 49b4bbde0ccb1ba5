/// Reads rows of one partition, of the table or of an index
/// (docs/spec/store-statements.md §3).
struct DynamoQuery {
  /// nil: the table.
  var index: StaticString? = nil
  /// In the form of a request's expressions.
  let condition: StaticString
  let values: DynamoRequest.Values
  let limit: Int64
  var isNewestFirst = false

  func call(_ table: Text) -> StoreCall {
    var writer = JSONWriter(capacity: 512)
    writer.beginObject()
    writer.member("TableName", table)
    if let index { writer.member("IndexName", index) }
    writer.member("KeyConditionExpression", condition)
    DynamoRequest(action: .get, key: DynamoKey("", ""), values: values)
      .writeMeanings([Text(stringLiteral: condition).utf8], &writer)
    writer.member("Limit", integer: limit)
    if isNewestFirst { writer.member("ScanIndexForward", boolean: false) }
    // The service refuses it for an index, which lags behind the table.
    if index == nil { writer.member("ConsistentRead", boolean: true) }
    writer.endObject()
    return .dynamo(api: "Query", input: writer.bytes)
  }
}
