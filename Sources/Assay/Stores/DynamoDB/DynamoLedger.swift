/// The ledger on DynamoDB (docs/spec/store-statements.md §3). A change whose condition
/// failed brings the row that it met, and that row decides (STM-11): one with our own
/// attempt id is our own change, carried out before (STO-72).
extension StoreTalk {
  // MARK: names

  /// STO-11: both keys of a purchase lead to one row.
  mutating func dynamoCanonicalKey(_ keys: PurchaseKeys) throws(StoreStop) -> Text {
    let known = try dynamoTarget(of: keys.transaction, orElse: keys.purchase)
    guard keys.purchase != keys.transaction else {
      return known == keys.purchase ? known : try dynamoTarget(of: known) ?? known
    }
    let other = try dynamoTarget(of: keys.purchase, orElse: known)
    return known == keys.purchase ? other : try dynamoTarget(of: known) ?? known
  }

  /// What the name leads to, which it is told if it leads nowhere.
  private mutating func dynamoTarget(
    of name: Text, orElse target: Text
  ) throws(StoreStop) -> Text {
    let (isMade, row) = try dynamoChange(
      .insert(.name(name), [("name", .text(name)), ("target", .text(target))]))
    if isMade { return target }
    guard let row else { throw .shape("item") }
    return try row.text("target")
  }

  private mutating func dynamoTarget(of name: Text) throws(StoreStop) -> Text? {
    guard let row = try dynamoRead(.name(name)) else { return nil }
    return try row.text("target")
  }

  /// The key that both lead to, without remembering them.
  mutating func dynamoKnownKey(_ transactionKey: Text) throws(StoreStop) -> Text? {
    guard let known = try dynamoTarget(of: transactionKey) else { return nil }
    return try dynamoTarget(of: known) ?? known
  }

  // MARK: one row

  mutating func dynamoInsert(
    _ row: LedgerRow, _ evidence: StoreEvidence
  ) throws(StoreStop) -> LedgerRow {
    let (isMade, item) = try dynamoChange(.insert(row.dynamoKey, row.attributes))
    var stands = row
    if !isMade {
      guard let item else { throw .shape("item") }
      stands = try LedgerRow(item)
    }
    try dynamoKeep(evidence, of: stands)
    return stands
  }

  mutating func dynamoLedgerRow(_ key: Text) throws(StoreStop) -> LedgerRow? {
    guard let item = try dynamoRead(.ledger(key)) else { return nil }
    return try LedgerRow(item)
  }

  /// The row that stands there after a change that gives it back, made or not; nil: none.
  private mutating func dynamoRow(
    _ request: DynamoRequest, keeping evidence: StoreEvidence? = nil
  ) throws(StoreStop) -> LedgerRow? {
    let (isMade, item) = try dynamoChange(request)
    guard let item else {
      if isMade { throw .shape("Attributes") }
      return nil
    }
    let row = try LedgerRow(item)
    if let evidence { try dynamoKeep(evidence, of: row) }
    return row
  }

  mutating func dynamoTakeOver(
    _ row: LedgerRow, attempt: Text, leaseMs: Int64, _ evidence: StoreEvidence?
  ) throws(StoreStop) -> LedgerRow? {
    try dynamoRow(
      .update(
        row.dynamoKey,
        """
        SET #attempt = :attempt, #lease_ms = :lease_ms, #dt = :lease_ms, #evidence = :evidence \
        ADD #tries :one
        """,
        if: "#owner = :owner AND #state = :claimed AND #lease_ms <= :now_ms",
        [
          ("attempt", .text(attempt)), ("lease_ms", .integer(leaseMs)), ("one", .integer(1)),
          ("owner", .text(row.owner)), ("claimed", .text("claimed")),
          ("now_ms", .integer(context.nowMs)),
          ("evidence", .text(evidence?.sha256 ?? row.evidence)),
        ]), keeping: evidence)
  }

  mutating func dynamoReverse(
    _ next: LedgerRow, _ evidence: StoreEvidence
  ) throws(StoreStop) -> LedgerRow? {
    var request = DynamoRequest.update(
      next.dynamoKey,
      if: """
        #state = :revoked AND #gen = :old_gen AND #asof_ms < :asof_ms AND #owner IN (:owner, :none)
        """,
      [
        ("revoked", .text("revoked")), ("old_gen", .integer(next.generation &- 1)),
        ("none", .text("")),
      ])
    request.set(next.attributes)
    return try dynamoRow(request, keeping: evidence)
  }

  mutating func dynamoComplete(
    _ key: Text, owner: Text, grantId: Text, fence: Int64, note: Text?
  ) throws(StoreStop) -> LedgerRow? {
    var request = DynamoRequest.update(
      .ledger(key),
      if: "#owner = :owner AND #grant_id = :grant_id AND #state = :claimed AND #tries <= :fence",
      [
        ("owner", .text(owner)), ("grant_id", .text(grantId)), ("claimed", .text("claimed")),
        ("fence", .integer(fence)),
      ])
    var changes: DynamoRequest.Values = [
      ("state", .text("granted")), ("granted_ms", .integer(context.nowMs)), ("dk", .null),
      ("dt", .null),
    ]
    if let note { changes.append(("note", .text(note))) }
    request.set(changes)
    return try dynamoRow(request)
  }

  /// Puts the tombstone there, or revokes the row that stands there if that is not newer.
  mutating func dynamoRevoke(
    _ tombstone: LedgerRow, _ evidence: StoreEvidence
  ) throws(StoreStop) -> (before: LedgerRow?, after: LedgerRow) {
    var request = DynamoRequest.update(
      tombstone.dynamoKey, LedgerRow.revocation,
      if: "attribute_not_exists(#PK) OR #asof_ms <= :asof_ms",
      tombstone.arguments)
    request.givesOld = true
    let (isMade, old) = try dynamoChange(request)
    guard let old else {
      if !isMade { throw .shape("item") }
      try dynamoKeep(evidence, of: tombstone)
      return (nil, tombstone)
    }
    let before = try LedgerRow(old)
    guard isMade else { return (before, before) }
    var after = before
    after.state = .revoked
    after.revokedMs = tombstone.revokedMs
    after.asOfMs = tombstone.asOfMs
    after.evidence = tombstone.evidence
    try dynamoKeep(evidence, of: after)
    return (before, after)
  }

  // MARK: several rows

  /// The newest 50, by an index that may lag.
  mutating func dynamoLedger(of account: Text) throws(StoreStop) -> [LedgerRow] {
    var query = DynamoQuery.owned(by: account, "L#")
    query.isNewestFirst = true
    var rows: [LedgerRow] = []
    for item in try dynamo({ [query.call($0)] }).items(0) { rows.append(try LedgerRow(item)) }
    return rows
  }
}

extension LedgerRow {
  /// What a revocation changes, and what it sets where no row is.
  fileprivate static let revocation: StaticString = """
    SET #state = :state, #revoked_ms = :revoked_ms, #asof_ms = :asof_ms, #evidence = :evidence, \
    #pkey = if_not_exists(#pkey, :pkey), #env = if_not_exists(#env, :env), \
    #txn = if_not_exists(#txn, :txn), #otx = if_not_exists(#otx, :otx), \
    #owner = if_not_exists(#owner, :owner), #product = if_not_exists(#product, :product), \
    #quantity = if_not_exists(#quantity, :quantity), \
    #purchased_ms = if_not_exists(#purchased_ms, :purchased_ms), \
    #gen = if_not_exists(#gen, :gen), #grant_id = if_not_exists(#grant_id, :grant_id), \
    #attempt = if_not_exists(#attempt, :attempt), #tries = if_not_exists(#tries, :tries), \
    #claimed_ms = if_not_exists(#claimed_ms, :claimed_ms), \
    #lease_ms = if_not_exists(#lease_ms, :lease_ms) REMOVE #dk, #dt
    """
}
