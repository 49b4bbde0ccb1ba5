/// A read of several rows of one partition, of the table or of an index
/// (docs/spec/ledger-statements.md §3).
struct DynamoQuery {
  /// The index; `nil` for the table.
  var index: StaticString? = nil
  /// The condition, in the form of a request's expressions.
  let condition: StaticString
  let values: DynamoRequest.Values
  let limit: Int64
  var isNewestFirst = false

  func call(_ table: Text) -> DatabaseCall {
    var writer = JSONWriter(capacity: 512)
    writer.beginObject()
    writer.member("TableName", table)
    if let index { writer.member("IndexName", index) }
    writer.member("KeyConditionExpression", condition)
    DynamoRequest(action: .get, key: DynamoKey("", ""), values: values)
      .writeMeanings([Text(stringLiteral: condition).utf8], &writer)
    writer.member("Limit", integer: limit)
    if isNewestFirst { writer.member("ScanIndexForward", boolean: false) }
    // A consistent read is refused for an index, which lags behind the table.
    if index == nil { writer.member("ConsistentRead", boolean: true) }
    writer.endObject()
    return .dynamo(api: "Query", input: writer.bytes)
  }
}

extension DynamoQuery {
  /// The largest number of rows of one account in a reply.
  static let walkCap = 50

  /// Returns the query of an account's rows in the index of owners.
  ///
  /// - Parameters:
  ///   - kind: The prefix of `owner_sk`.
  ///   - cap: The largest number of rows, the newest first; `nil`: the oldest fifty.
  static func owned(by account: Text, _ kind: Text, newest cap: Int64? = nil) -> DynamoQuery {
    DynamoQuery(
      index: "assay-owner",
      condition: "#owner_pk = :owner_pk AND begins_with(#owner_sk, :owner_sk)",
      values: [("owner_pk", .text(DynamoKey.account(account))), ("owner_sk", .text(kind))],
      limit: cap ?? Int64(walkCap), isNewestFirst: cap != nil)
  }

  /// Returns the query of rows in the account's own partition.
  ///
  /// - Parameter kind: The prefix of the sort key.
  static func account(_ account: Text, _ kind: Text) -> DynamoQuery {
    partition(DynamoKey.account(account), kind)
  }

  /// Returns the query of the texts that a subscription or purchase has named.
  static func texts(of row: DynamoKey) -> DynamoQuery {
    partition(row.partition, DynamoKey.texts)
  }

  private static func partition(_ partition: Text, _ kind: Text) -> DynamoQuery {
    DynamoQuery(
      condition: "#PK = :pk AND begins_with(#SK, :sk)",
      values: [("pk", .text(partition)), ("sk", .text(kind))], limit: Int64(walkCap))
  }
}
