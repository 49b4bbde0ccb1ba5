/// Steps on DynamoDB.
extension LedgerSession {
  /// - Parameter calls: Returns the calls for the name of the table.
  mutating func dynamo(
    isOnce: Bool = false, _ calls: (Text) -> [DatabaseCall]
  ) throws(LedgerSuspension) -> [DatabaseResult] {
    let table = context.policy.table ?? ""
    return try run { DatabaseStep(calls: calls(table), isOnce: isOnce) }
  }

  /// Reads one row.
  mutating func dynamoRead(_ key: DynamoKey) throws(LedgerSuspension) -> DynamoItem? {
    try dynamo { [DynamoRequest.get(key).call($0)] }.item(0)
  }

  /// Changes one row. Returns whether the change was made, and the row as stored afterwards.
  mutating func dynamoChange(
    isOnce: Bool = false, _ request: DynamoRequest
  ) throws(LedgerSuspension) -> (isMade: Bool, row: DynamoItem?) {
    try dynamo(isOnce: isOnce) { [request.call($0)] }.change(0)
  }

  /// Changes several rows, all or none. Returns `nil` if all were changed, otherwise the result of
  /// each.
  mutating func dynamoChange(
    _ changes: [DynamoRequest]
  ) throws(LedgerSuspension) -> [(isRefused: Bool, row: DynamoItem?)]? {
    try dynamo { [DynamoTransaction(changes).call($0)] }.cancellation(0)
  }
}
