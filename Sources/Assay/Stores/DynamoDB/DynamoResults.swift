/// Reading what a step of DynamoDB brought, call by call.
extension Array where Element == StoreResult {
  /// The row of a read, if there is one.
  func item(_ place: Int) throws(StoreStop) -> DynamoItem? {
    let output = try output(place)
    guard let item = output.present("Item") else { return nil }
    return try DynamoItem(item)
  }

  /// The rows of a query.
  func items(_ place: Int) throws(StoreStop) -> [DynamoItem] {
    guard let list = try output(place).member("Items"), list.kind == .array else {
      throw .unread(place)
    }
    var items: [DynamoItem] = []
    for item in list.children { items.append(try DynamoItem(item)) }
    return items
  }

  /// Whether the change was made, and the row that stands there: after an update the new
  /// one, where the condition failed that which it met.
  func change(_ place: Int) throws(StoreStop) -> (isMade: Bool, row: DynamoItem?) {
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

  /// Why a transaction was cancelled, and the row that the change met; nil: it was made.
  /// Of a change that was not the reason, `isRefused` is false.
  func cancellation(
    _ place: Int
  ) throws(StoreStop) -> [(isRefused: Bool, row: DynamoItem?)]? {
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

  private func output(_ place: Int) throws(StoreStop) -> JSONValue {
    guard place < count, case .output(let output) = self[place] else { throw .unread(place) }
    return output
  }
}

extension StoreStop {
  fileprivate static func unread(_ place: Int) -> StoreStop {
    .shape("results[" + String(place) + "]")
  }
}
