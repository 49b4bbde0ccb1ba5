/// Due lists on DynamoDB: the sparse index `assay-due`, eight partitions for each kind
/// (docs/spec/ledger-statements.md §3, "due"). The index lags; the row decides.
extension DynamoDatabase {
  /// The largest number of rounds of changes, until 25 rows are taken or none is left.
  private static let roundCap = 8

  /// Returns rows that are due, the oldest first: at most 25 of each partition.
  private func due(_ kind: StaticString, beforeMs: Int64) throws(LedgerSuspension) -> [DynamoKey] {
    let results = try run { table in
      (0..<DynamoKey.duePartitions).map { number in
        DynamoQuery(
          index: "assay-due", condition: "#due_pk = :due_pk AND #due_at_ms <= :before_ms",
          values: [
            ("due_pk", .text(DynamoKey.due(kind, number))), ("before_ms", .integer(beforeMs)),
          ], limit: Int64(LedgerContext.dueCap)
        ).call(table)
      }
    }
    var found: [(key: DynamoKey, atMs: Int64)] = []
    for place in results.indices {
      for item in try results.items(place) {
        found.append((try item.key(), try item.integer("due_at_ms")))
      }
    }
    return found.ordered { $0.atMs < $1.atMs }.map { $0.key }
  }

  /// Takes due rows one by one. A row whose condition fails belongs to another sweeper.
  ///
  /// - Parameter isOurs: Whether a row that failed the condition was taken by this attempt before.
  func takeDue(
    _ kind: StaticString, beforeMs: Int64, _ change: (DynamoKey) -> DynamoRequest,
    isOurs: (DynamoItem) throws(LedgerSuspension) -> Bool
  ) throws(LedgerSuspension) -> [DynamoItem] {
    var rest = try due(kind, beforeMs: beforeMs)[...]
    var taken: [DynamoItem] = []
    for _ in 0..<Self.roundCap where !rest.isEmpty && taken.count < LedgerContext.dueCap {
      let keys = Array(rest.prefix(LedgerContext.dueCap &- taken.count))
      rest = rest.dropFirst(keys.count)
      let results = try run { table in keys.map { change($0).call(table) } }
      for place in results.indices {
        let (isMade, row) = try results.change(place)
        guard let row else { continue }
        if isMade { taken.append(row) } else if try isOurs(row) { taken.append(row) }
      }
    }
    return taken
  }

  func takeDue(
    _ state: LedgerRow.State, attemptId: Text, leaseMs: Int64, beforeMs: Int64
  ) throws(LedgerSuspension) -> [LedgerRow] {
    let values: DynamoRequest.Values = [
      ("attempt_id", .text(attemptId)), ("lease_expires_at_ms", .integer(leaseMs)),
      ("one", .integer(1)),
      ("state", .text(Text(stringLiteral: state.name))), ("before_ms", .integer(beforeMs)),
    ]
    let items = try takeDue(
      state.dueKind, beforeMs: beforeMs,
      { key in
        .update(
          key,
          """
          SET #attempt_id = :attempt_id, #lease_expires_at_ms = :lease_expires_at_ms, \
          #due_at_ms = :lease_expires_at_ms, \
          #repeats = if_not_exists(#repeats, #fencing_token) + :one ADD #fencing_token :one
          """,
          if: "#state = :state AND #lease_expires_at_ms <= :before_ms", values)
      },
      // The row may have been taken by a call whose reply was lost.
      isOurs: { row throws(LedgerSuspension) in
        let row = try LedgerRow(row)
        return row.state == state && row.attemptId == attemptId && row.leaseMs == leaseMs
      })
    return try items.map(LedgerRow.init)
  }

  func heldClaims(beforeMs: Int64) throws(LedgerSuspension) -> [LedgerRow] {
    let keys = try due("CLAIM#", beforeMs: beforeMs).prefix(LedgerContext.dueCap)
    guard !keys.isEmpty else { return [] }
    let results = try run { table in keys.map { DynamoRequest.get($0).call(table) } }
    var rows: [LedgerRow] = []
    for place in results.indices {
      guard let item = try results.item(place) else { continue }
      let row = try LedgerRow(item)
      if row.state == .claimed && row.leaseMs <= beforeMs { rows.append(row) }
    }
    return rows
  }
}
