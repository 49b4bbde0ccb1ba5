/// Steps of DynamoDB.
extension StoreTalk {
  /// - Parameter calls: with the name of the table.
  mutating func dynamo(
    isOnce: Bool = false, _ calls: (Text) -> [StoreCall]
  ) throws(StoreStop) -> [StoreResult] {
    let table = context.policy.table ?? ""
    return try run { StoreStep(calls: calls(table), isOnce: isOnce) }
  }

  /// One read of one row.
  mutating func dynamoRead(_ key: DynamoKey) throws(StoreStop) -> DynamoItem? {
    try dynamo { [DynamoRequest.get(key).call($0)] }.item(0)
  }

  /// One change of one row, and what stands there then.
  mutating func dynamoChange(
    isOnce: Bool = false, _ request: DynamoRequest
  ) throws(StoreStop) -> (isMade: Bool, row: DynamoItem?) {
    try dynamo(isOnce: isOnce) { [request.call($0)] }.change(0)
  }

  /// Changes of several rows; nil: all were made.
  mutating func dynamoChange(
    _ changes: [DynamoRequest]
  ) throws(StoreStop) -> [(isRefused: Bool, row: DynamoItem?)]? {
    try dynamo { [DynamoTransaction(changes).call($0)] }.cancellation(0)
  }
}
