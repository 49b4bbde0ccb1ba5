/// What an account has in the one table, for its link or its end: at most 50 of each kind
/// (docs/spec/store-statements.md §3, "link", "forget").
struct DynamoAccount {
  var lines: [LineRow] = []
  var days: [DynamoItem] = []
  var purchases: [LedgerRow] = []
  var keys: [DynamoKey] = []
  /// Also the rows that only lead from a second account to an audit row.
  var audits: [(key: DynamoKey, isLink: Bool)] = []
  /// There may be more of them.
  var isCut = false
}

extension StoreTalk {
  mutating func dynamoAccount(_ account: Text) throws(StoreStop) -> DynamoAccount {
    let results = try dynamo { table in
      [
        DynamoQuery.account(account, DynamoKey.linesOfAccount).call(table),
        DynamoQuery.account(account, DynamoKey.days).call(table),
        DynamoQuery.owned(by: account, "L#").call(table),
        DynamoQuery.owned(by: account, "K#").call(table),
        DynamoQuery.owned(by: account, "A#").call(table),
      ]
    }
    var found = DynamoAccount()
    for item in try results.items(0) { found.lines.append(try LineRow(item)) }
    found.days = try results.items(1)
    for item in try results.items(2) { found.purchases.append(try LedgerRow(item)) }
    for item in try results.items(3) { found.keys.append(try item.key()) }
    for item in try results.items(4) {
      found.audits.append((try item.key(), try item.value("what") == .text("link")))
    }
    for place in results.indices where try results.items(place).count >= DynamoQuery.walkCap {
      found.isCut = true
    }
    return found
  }

  /// Each of these as a transaction of its own, in one step.
  ///
  /// - Returns: for each why it was cancelled; nil: it was made.
  mutating func dynamoChanges(
    _ changes: [[DynamoRequest]]
  ) throws(StoreStop) -> [[(isRefused: Bool, row: DynamoItem?)]?] {
    guard !changes.isEmpty else { return [] }
    let results = try dynamo { table in changes.map { DynamoTransaction($0).call(table) } }
    var outcomes: [[(isRefused: Bool, row: DynamoItem?)]?] = []
    for place in results.indices { outcomes.append(try results.cancellation(place)) }
    return outcomes
  }

  /// Each of these by itself, in one step; how many were made.
  @discardableResult
  mutating func dynamoChanges(_ changes: [DynamoRequest]) throws(StoreStop) -> Int64 {
    guard !changes.isEmpty else { return 0 }
    let results = try dynamo { table in changes.map { $0.call(table) } }
    var made: Int64 = 0
    for place in results.indices where try results.change(place).isMade { made &+= 1 }
    return made
  }

  // MARK: audit

  /// The row, and where it names a second account one that is found by that account.
  mutating func dynamoAudit(_ row: AuditRow) throws(StoreStop) {
    let requests = row.dynamoRequests
    try dynamoChanges(requests)
  }
}

extension AuditRow {
  var dynamoRequests: [DynamoRequest] {
    var requests = [DynamoRequest.insert(.audit(id), arguments + AuditRow.owned(owner, atMs))]
    guard !other.isEmpty else { return requests }
    requests.append(.put(AuditRow.otherKey(id), AuditRow.owned(other, atMs)))
    return requests
  }

  /// Of the row that only leads the index of owners to the other account's audit.
  static let otherSort: Text = "OTHER"

  private static func otherKey(_ id: Text) -> DynamoKey { otherKey(.audit(id)) }

  static func otherKey(_ audit: DynamoKey) -> DynamoKey { DynamoKey(audit.partition, otherSort) }

  private static func owned(_ account: Text, _ atMs: Int64) -> DynamoRequest.Values {
    [("ok", .text(DynamoKey.account(account))), ("os", .text(DynamoKey.ordered("A#", atMs)))]
  }
}
