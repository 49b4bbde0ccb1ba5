/// A row of the ledger in the one table: the columns of SQL by their names, and those of
/// the indexes (docs/spec/ledger-statements.md §3).
extension LedgerRow {
  private static let columns: [StaticString] = [
    "purchase_key", "environment", "transaction_id", "original_transaction_id", "state", "owner",
    "product", "quantity", "purchased_at_ms", "as_of_ms", "evidence", "generation", "grant_id",
    "attempt_id", "fencing_token", "claimed_at_ms", "lease_expires_at_ms", "granted_at_ms",
    "revoked_at_ms", "note", "units", "granted_units", "revocation_percentage", "repeats",
  ]

  init(_ item: DynamoItem) throws(LedgerSuspension) {
    try self.init(try item.row(LedgerRow.columns), isDynamo: true)
  }

  var dynamoKey: DynamoKey { .ledger(purchaseKey) }

  /// All attributes beside the key; `.null` for one that the row does not have.
  var attributes: DynamoRequest.Values {
    let due = dueKind
    let isOwned = !owner.isEmpty
    return arguments + [
      ("owner_pk", isOwned ? .text(DynamoKey.account(owner)) : .null),
      ("owner_sk", isOwned ? .text(DynamoKey.ordered("L#", purchasedAtMs)) : .null),
      ("due_pk", due.map { .text(dynamoKey.due($0)) } ?? .null),
      ("due_at_ms", due == nil ? .null : .integer(leaseMs)),
    ]
  }

  /// Returns the request that writes all of the row, unless another process changed what was read.
  func change(from read: LedgerRow) -> DynamoRequest {
    var request = DynamoRequest.update(
      dynamoKey,
      if: """
        #state = :read_state AND #generation = :read_generation \
        AND #fencing_token = :read_fencing_token AND #as_of_ms = :read_as_of_ms \
        AND #attempt_id = :read_attempt_id AND #lease_expires_at_ms = :read_lease_expires_at_ms
        """,
      [
        ("read_state", .text(Text(stringLiteral: read.state.name))),
        ("read_generation", .integer(read.generation)),
        ("read_fencing_token", .integer(read.fencingToken)),
        ("read_as_of_ms", .integer(read.asOfMs)), ("read_attempt_id", .text(read.attemptId)),
        ("read_lease_expires_at_ms", .integer(read.leaseMs)),
      ])
    request.set(attributes)
    return request
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
