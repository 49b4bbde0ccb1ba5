/// Device keys.
extension DynamoDatabase {
  func insert(_ row: KeyRow) throws(LedgerSuspension) -> (row: KeyRow, isMade: Bool) {
    let index: DynamoRequest.Values = [
      ("owner_pk", .text(DynamoKey.account(row.owner))),
      ("owner_sk", .text(DynamoKey.ordered("K#", row.createdAtMs))),
    ]
    guard let item = try insert(.attestKey(row.id), row.arguments + index) else {
      return (row, true)
    }
    return (try KeyRow(item).checked(row.id), false)
  }

  func keyRow(_ id: Text) throws(LedgerSuspension) -> KeyRow? {
    guard let item = try read(.attestKey(id)) else { return nil }
    return try KeyRow(item).checked(id)
  }

  func advance(
    _ id: Text, owner: Text, counter: Int64
  ) throws(LedgerSuspension) -> (isMade: Bool, row: KeyRow?) {
    let changed = try update(
      isOnce: true,
      .update(
        .attestKey(id), "SET #counter = :counter, #used_at_ms = :now",
        if: "#owner = :owner AND #state = :active AND #counter < :counter",
        [
          ("counter", .integer(counter)), ("now", .integer(context.nowMs)),
          ("owner", .text(owner)), ("active", .text("active")),
        ]))
    guard let (isMade, item) = changed else { return (false, nil) }
    let row = try KeyRow(item).checked(id)
    guard !isMade || row.counter == counter else { throw .shape("counter") }
    return (isMade, row)
  }

  func keep(_ receipt: KeyRow.Receipt, of id: Text) throws(LedgerSuspension) -> KeyRow? {
    var request = DynamoRequest.update(
      .attestKey(id), "",
      if: "#state = :active AND #receipt_created_at_ms < :receipt_created_at_ms",
      [("active", .text("active"))])
    request.set(receipt.arguments)
    return try keyRow(request, id).row
  }

  func retire(_ id: Text, owner: Text) throws(LedgerSuspension) -> (row: KeyRow?, isMade: Bool) {
    try keyRow(
      .update(
        .attestKey(id), "SET #state = :retired, #used_at_ms = :now",
        if: "#owner = :owner AND #state = :active",
        [
          ("retired", .text("retired")), ("now", .integer(context.nowMs)),
          ("owner", .text(owner)), ("active", .text("active")),
        ]), id)
  }

  /// Makes a change. Returns the row afterwards, or the one that failed its condition.
  private func keyRow(
    _ request: DynamoRequest, _ id: Text
  ) throws(LedgerSuspension) -> (row: KeyRow?, isMade: Bool) {
    guard let (isMade, item) = try update(request) else { return (nil, false) }
    return (try KeyRow(item).checked(id), isMade)
  }
}

extension KeyRow {
  fileprivate init(_ item: DynamoItem) throws(LedgerSuspension) {
    try self.init(try item.row(KeyRow.columns))
  }
}
