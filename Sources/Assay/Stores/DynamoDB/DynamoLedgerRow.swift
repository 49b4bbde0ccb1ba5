/// A row of the ledger in the one table: the columns of SQL by their names, and those of
/// the indexes (docs/spec/store-statements.md §3).
extension LedgerRow {
  private static let columns: [StaticString] = [
    "pkey", "env", "txn", "otx", "state", "owner", "product", "quantity", "purchased_ms",
    "asof_ms", "evidence", "gen", "grant_id", "attempt", "tries", "claimed_ms", "lease_ms",
    "granted_ms", "revoked_ms", "note",
  ]

  init(_ item: DynamoItem) throws(StoreStop) { try self.init(try item.row(LedgerRow.columns)) }

  var dynamoKey: DynamoKey { .ledger(purchaseKey) }

  /// All attributes beside the key; null: the row does not have it.
  var attributes: DynamoRequest.Values {
    let isDue = state == .claimed
    let isOwned = !owner.isEmpty
    return arguments + [
      ("ok", isOwned ? .text(DynamoKey.account(owner)) : .null),
      ("os", isOwned ? .text(DynamoKey.ordered("L#", purchasedMs)) : .null),
      ("dk", isDue ? .text(dynamoKey.due("CLAIM#")) : .null),
      ("dt", isDue ? .integer(leaseMs) : .null),
    ]
  }
}
