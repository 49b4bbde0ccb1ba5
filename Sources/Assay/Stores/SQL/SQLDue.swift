/// Due lists on SQL engines (docs/spec/store-statements.md §2, "Due lists").
extension StoreTalk {
  mutating func sqlDueClaims(
    attempt: Text, leaseMs: Int64, beforeMs: Int64
  ) throws(StoreStop) -> [LedgerRow] {
    let arguments: Arguments = [
      ("attempt", .text(attempt)), ("lease_ms", .integer(leaseMs)),
      ("before_ms", .integer(beforeMs)),
    ]
    guard context.dialect == .mysql else {
      return try ledgerRows(try sql { [(.claimsDue, arguments)] }, 0)
    }
    // Read under a lock, then changed one by one: the rows as they are after that.
    var rows = try ledgerRows(try sql(.begin) { [(.claimsDueLock, arguments)] }, 0)
    _ = try sql(.commit) {
      rows.map { (.claimsDueTake, arguments + [("pkey", .text($0.purchaseKey))]) }
    }
    for place in rows.indices {
      rows[place].attempt = attempt
      rows[place].leaseMs = leaseMs
      rows[place].tries &+= 1
    }
    return rows
  }
}
