/// A row of the ledger in the one table: the columns of SQL by their names, and those of
/// the indexes (docs/spec/store-statements.md §3).
extension LedgerRow {
  private static let columns: [StaticString] = [
    "pkey", "env", "txn", "otx", "state", "owner", "product", "quantity", "purchased_ms",
    "asof_ms", "evidence", "gen", "grant_id", "attempt", "tries", "claimed_ms", "lease_ms",
    "granted_ms", "revoked_ms", "note", "units", "out_n", "revoked_pct", "repeats",
  ]

  init(_ item: DynamoItem) throws(StoreStop) {
    try self.init(try item.row(LedgerRow.columns), isDynamo: true)
  }

  var dynamoKey: DynamoKey { .ledger(purchaseKey) }

  /// All attributes beside the key; `.null` for one that the row does not have.
  var attributes: DynamoRequest.Values {
    let due = dueKind
    let isOwned = !owner.isEmpty
    return arguments + [
      ("ok", isOwned ? .text(DynamoKey.account(owner)) : .null),
      ("os", isOwned ? .text(DynamoKey.ordered("L#", purchasedMs)) : .null),
      ("dk", due.map { .text(dynamoKey.due($0)) } ?? .null),
      ("dt", due == nil ? .null : .integer(leaseMs)),
    ]
  }

  /// The kind of due rows that the row belongs to; `nil` if nothing is due.
  private var dueKind: StaticString? {
    if state == .claimed && leaseMs != LedgerRow.noLease { return LedgerRow.State.claimed.dueKind }
    return isTakeBackPending ? LedgerRow.State.revoked.dueKind : nil
  }
}

extension LedgerRow.State {
  /// The kind of this state's rows in the index of due rows; granted rows have nothing due.
  var dueKind: StaticString { self == .revoked ? "BACK#" : "CLAIM#" }
}
