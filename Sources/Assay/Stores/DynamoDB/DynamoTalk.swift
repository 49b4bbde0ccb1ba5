/// Steps on DynamoDB.
extension StoreTalk {
  /// - Parameter calls: Returns the calls for the name of the table.
  mutating func dynamo(
    isOnce: Bool = false, _ calls: (Text) -> [StoreCall]
  ) throws(StoreStop) -> [StoreResult] {
    let table = context.policy.table ?? ""
    return try run { StoreStep(calls: calls(table), isOnce: isOnce) }
  }

  /// Reads one row.
  mutating func dynamoRead(_ key: DynamoKey) throws(StoreStop) -> DynamoItem? {
    try dynamo { [DynamoRequest.get(key).call($0)] }.item(0)
  }

  /// Changes one row. Returns whether the change was made, and the row as stored afterwards.
  mutating func dynamoChange(
    isOnce: Bool = false, _ request: DynamoRequest
  ) throws(StoreStop) -> (isMade: Bool, row: DynamoItem?) {
    try dynamo(isOnce: isOnce) { [request.call($0)] }.change(0)
  }

  /// Changes several rows, all or none. Returns `nil` if all were changed, otherwise the result of
  /// each.
  mutating func dynamoChange(
    _ changes: [DynamoRequest]
  ) throws(StoreStop) -> [(isRefused: Bool, row: DynamoItem?)]? {
    try dynamo { [DynamoTransaction(changes).call($0)] }.cancellation(0)
  }
}
