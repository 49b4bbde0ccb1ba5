/// The rows of an account in the one table, for its merge or its deletion: at most 50 of each kind
/// (docs/spec/ledger-statements.md §3, "link", "forget").
struct DynamoAccount {
  var subscriptions: [SubscriptionRow] = []
  var days: [DynamoItem] = []
  var purchases: [LedgerRow] = []
  var keys: [DynamoKey] = []
  /// Audit rows, and the rows that lead from a second account to an audit row.
  var audits: [(key: DynamoKey, isLink: Bool)] = []
  /// Whether the account may have more rows of a kind.
  var isCut = false
}

extension DynamoDatabase {
  /// Reads the rows of an account.
  func account(_ account: Text) throws(LedgerSuspension) -> DynamoAccount {
    let results = try run { table in
      [
        DynamoQuery.account(account, DynamoKey.subscriptionsOfAccount).call(table),
        DynamoQuery.account(account, DynamoKey.days).call(table),
        DynamoQuery.owned(by: account, "L#").call(table),
        DynamoQuery.owned(by: account, "K#").call(table),
        DynamoQuery.owned(by: account, "A#").call(table),
      ]
    }
    var found = DynamoAccount()
    for item in try results.items(0) { found.subscriptions.append(try SubscriptionRow(item)) }
    found.days = try results.items(1)
    for item in try results.items(2) { found.purchases.append(try LedgerRow(item)) }
    for item in try results.items(3) { found.keys.append(try item.key()) }
    for item in try results.items(4) {
      found.audits.append((try item.key(), try item.value("action") == .text("merge")))
    }
    for place in results.indices where try results.items(place).count >= DynamoQuery.walkCap {
      found.isCut = true
    }
    return found
  }

  /// Inserts each audit row and, if it names a second account, a row found by that account.
  func insert(_ rows: [AuditRow]) throws(LedgerSuspension) {
    try changeEach(rows.flatMap { $0.dynamoRequests })
  }
}

extension AuditRow {
  var dynamoRequests: [DynamoRequest] {
    var requests = [DynamoRequest.insert(.audit(id), arguments + AuditRow.owned(owner, atMs))]
    guard !other.isEmpty else { return requests }
    requests.append(.put(AuditRow.otherKey(.audit(id)), AuditRow.owned(other, atMs)))
    return requests
  }

  /// The sort key of a row that leads from the second account, in the index of owners, to the audit
  /// row.
  static let otherSort: Text = "OTHER"

  static func otherKey(_ audit: DynamoKey) -> DynamoKey { DynamoKey(audit.partition, otherSort) }

  private static func owned(_ account: Text, _ atMs: Int64) -> DynamoRequest.Values {
    [
      ("owner_pk", .text(DynamoKey.account(account))),
      ("owner_sk", .text(DynamoKey.ordered("A#", atMs))),
    ]
  }
}
