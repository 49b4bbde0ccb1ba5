/// Access to the results of a step on DynamoDB, by the index of the call.
extension Array where Element == DatabaseResult {
  /// Returns the row of a read; `nil` if there is none.
  func item(_ place: Int) throws(LedgerSuspension) -> DynamoItem? {
    let output = try output(place)
    guard let item = output.present("Item") else { return nil }
    return try DynamoItem(item)
  }

  /// Returns the rows of a query.
  func items(_ place: Int) throws(LedgerSuspension) -> [DynamoItem] {
    guard let list = try output(place).member("Items"), list.kind == .array else {
      throw .unread(place)
    }
    var items: [DynamoItem] = []
    for item in list.children { items.append(try DynamoItem(item)) }
    return items
  }

  /// Returns whether a change was made, and the row: the new one after an update, the stored one
  /// after a failed condition.
  func change(_ place: Int) throws(LedgerSuspension) -> (isMade: Bool, row: DynamoItem?) {
    guard place < count else { throw .unread(place) }
    switch self[place] {
    case .output(let output):
      guard let row = output.present("Attributes") else { return (true, nil) }
      return (true, try DynamoItem(row))
    case .conditionFailed(let row?): return (false, try DynamoItem(row))
    case .conditionFailed(nil): return (false, nil)
    default: throw .unread(place)
    }
  }

  /// Returns the result of each change in a cancelled transaction: whether its condition failed,
  /// and the row that it met. Returns `nil` if the transaction was committed.
  func cancellation(
    _ place: Int
  ) throws(LedgerSuspension) -> [(isRefused: Bool, row: DynamoItem?)]? {
    guard place < count else { throw .unread(place) }
    switch self[place] {
    case .output, .done: return nil
    case .cancelled(let reasons):
      var found: [(isRefused: Bool, row: DynamoItem?)] = []
      for reason in reasons {
        var row: DynamoItem? = nil
        if let item = reason.item { row = try DynamoItem(item) }
        found.append((reason.code == "ConditionalCheckFailed", row))
      }
      guard found.contains(where: { $0.isRefused }) else { throw .unread(place) }
      return found
    default: throw .unread(place)
    }
  }

  private func output(_ place: Int) throws(LedgerSuspension) -> JSONValue {
    guard place < count, case .output(let output) = self[place] else { throw .unread(place) }
    return output
  }
}

extension LedgerSuspension {
  fileprivate static func unread(_ place: Int) -> LedgerSuspension {
    .shape("results[" + String(place) + "]")
  }
}
