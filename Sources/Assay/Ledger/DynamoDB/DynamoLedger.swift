/// The ledger on DynamoDB (docs/spec/ledger-statements.md §3). A change whose condition failed
/// returns the row that it met, and that row decides (STM-11): one with our own attempt id is our
/// own change, made before (STO-72).
extension LedgerSession {
  // MARK: names

  /// Returns the key of the one row to which both keys of a purchase lead (STO-11).
  mutating func dynamoCanonicalKey(_ keys: PurchaseKeys) throws(LedgerSuspension) -> Text {
    let known = try dynamoTarget(of: keys.transaction, orElse: keys.purchase)
    guard keys.purchase != keys.transaction else {
      return known == keys.purchase ? known : try dynamoTarget(of: known) ?? known
    }
    let other = try dynamoTarget(of: keys.purchase, orElse: known)
    return known == keys.purchase ? other : try dynamoTarget(of: known) ?? known
  }

  /// Returns the key to which `name` leads; stores `target` first if it leads nowhere.
  private mutating func dynamoTarget(
    of name: Text, orElse target: Text
  ) throws(LedgerSuspension) -> Text {
    let (isMade, row) = try dynamoChange(
      .insert(.name(name), [("name", .text(name)), ("target", .text(target))]))
    if isMade { return target }
    guard let row else { throw .shape("item") }
    return try row.text("target")
  }

  private mutating func dynamoTarget(of name: Text) throws(LedgerSuspension) -> Text? {
    guard let row = try dynamoRead(.name(name)) else { return nil }
    return try row.text("target")
  }

  /// Returns the canonical key of a transaction without storing its keys; `nil` if it is unknown.
  mutating func dynamoKnownKey(_ transactionKey: Text) throws(LedgerSuspension) -> Text? {
    guard let known = try dynamoTarget(of: transactionKey) else { return nil }
    return try dynamoTarget(of: known) ?? known
  }

  // MARK: one row

  mutating func dynamoInsert(
    _ row: LedgerRow, _ evidence: StoredEvidence
  ) throws(LedgerSuspension) -> LedgerRow {
    let (isMade, item) = try dynamoChange(.insert(row.dynamoKey, row.attributes))
    var stands = row
    if !isMade {
      guard let item else { throw .shape("item") }
      stands = try LedgerRow(item)
    }
    try dynamoKeep(evidence, of: stands)
    return stands
  }

  mutating func dynamoLedgerRow(_ key: Text) throws(LedgerSuspension) -> LedgerRow? {
    guard let item = try dynamoRead(.ledger(key)) else { return nil }
    return try LedgerRow(item)
  }

  /// Makes a change, and returns the row as stored afterwards, whether the change was made or not;
  /// `nil` if there is none.
  private mutating func dynamoRow(
    _ request: DynamoRequest, keeping evidence: StoredEvidence? = nil
  ) throws(LedgerSuspension) -> LedgerRow? {
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
    _ row: LedgerRow, _ claimRequest: ClaimRequest, _ evidence: StoredEvidence?, asOfMs: Int64
  ) throws(LedgerSuspension) -> LedgerRow? {
    try dynamoRow(
      .update(
        row.dynamoKey,
        """
        SET #attempt_id = :attempt_id, #lease_expires_at_ms = :lease_expires_at_ms, \
        #due_at_ms = :lease_expires_at_ms, #evidence = :evidence, \
        #as_of_ms = :as_of_ms, #repeats = :repeats ADD #fencing_token :one
        """,
        if: """
          #owner = :owner AND #state = :claimed AND #lease_expires_at_ms <= :now_ms \
          AND #as_of_ms = :read_as_of_ms AND #fencing_token = :read_fencing_token
          """,
        [
          ("attempt_id", .text(claimRequest.attemptId)),
          ("lease_expires_at_ms", .integer(claimRequest.leaseExpiresAtMs)),
          ("one", .integer(1)), ("as_of_ms", .integer(max(asOfMs, row.asOfMs))),
          ("read_as_of_ms", .integer(row.asOfMs)),
          ("read_fencing_token", .integer(row.fencingToken)),
          ("repeats", .integer(row.repeats &+ (claimRequest.handsOut ? 1 : 0))),
          ("owner", .text(row.owner)), ("claimed", .text("claimed")),
          ("now_ms", .integer(context.nowMs)),
          ("evidence", .text(evidence?.sha256 ?? row.evidence)),
        ]), keeping: evidence)
  }

  mutating func dynamoReverse(
    _ next: LedgerRow, _ evidence: StoredEvidence
  ) throws(LedgerSuspension) -> LedgerRow? {
    var request = DynamoRequest.update(
      next.dynamoKey,
      if: """
        #state = :revoked AND #generation = :old_generation AND #as_of_ms < :as_of_ms \
        AND #owner IN (:owner, :none) \
        AND (#lease_expires_at_ms = :no_lease OR attribute_not_exists(#granted_units) \
        OR #granted_units = :zero)
        """,
      [
        ("revoked", .text("revoked")), ("old_generation", .integer(next.generation &- 1)),
        ("none", .text("")), ("no_lease", .integer(LedgerRow.noLease)), ("zero", .integer(0)),
      ])
    request.set(next.attributes)
    return try dynamoRow(request, keeping: evidence)
  }

  /// Writes all of the row, unless another process changed what was read.
  mutating func dynamoPut(
    _ next: LedgerRow, over read: LedgerRow, _ evidence: StoredEvidence? = nil
  ) throws(LedgerSuspension) -> LedgerRow? {
    try dynamoRow(next.dynamoChange(from: read), keeping: evidence)
  }

  mutating func dynamoComplete(
    _ key: Text, owner: Text, grantId: Text, fencingToken: Int64, note: Text?
  ) throws(LedgerSuspension) -> (row: LedgerRow?, isMade: Bool) {
    var request = DynamoRequest.update(
      .ledger(key),
      if: """
        #owner = :owner AND #grant_id = :grant_id AND #state = :claimed \
        AND #fencing_token <= :fencing_token
        """,
      [
        ("owner", .text(owner)), ("grant_id", .text(grantId)), ("claimed", .text("claimed")),
        ("fencing_token", .integer(fencingToken)),
      ])
    var changes: DynamoRequest.Values = [
      ("state", .text("granted")), ("granted_at_ms", .integer(context.nowMs)), ("due_pk", .null),
      ("due_at_ms", .null),
    ]
    if let note { changes.append(("note", .text(note))) }
    request.set(changes, ", #granted_units = if_not_exists(#units, #quantity)")
    let (isMade, item) = try dynamoChange(request)
    guard let item else {
      if isMade { throw .shape("Attributes") }
      return (nil, false)
    }
    let row = try LedgerRow(item)
    if row.state == .granted && row.owner == owner { try dynamoBindSubscription(of: row) }
    return (row, isMade)
  }

  /// Raises `asOfMs` of a row to the time of newer evidence without a revocation (STO-33).
  mutating func dynamoRaise(
    _ row: LedgerRow, _ evidence: StoredEvidence, toMs asOfMs: Int64
  ) throws(LedgerSuspension) -> LedgerRow? {
    // A claimed row keeps the digest of its claimant's evidence (STO-28).
    let isGranted = row.state == .granted
    return try dynamoRow(
      .update(
        row.dynamoKey,
        isGranted
          ? "SET #as_of_ms = :as_of_ms, #evidence = :evidence" : "SET #as_of_ms = :as_of_ms",
        if: "#state = :state AND #as_of_ms < :as_of_ms",
        [
          ("as_of_ms", .integer(asOfMs)), ("evidence", .text(evidence.sha256)),
          ("state", .text(Text(stringLiteral: row.state.name))),
        ]), keeping: isGranted ? evidence : nil)
  }

  /// Records that the host has taken back what `take` names (STO-35).
  mutating func dynamoTaken(
    _ key: Text, _ take: TakeBackId, fencingToken: Int64
  ) throws(LedgerSuspension) -> LedgerRow? {
    try dynamoRow(
      .update(
        .ledger(key),
        """
        SET #granted_units = :granted_units, #lease_expires_at_ms = :none \
        REMOVE #due_pk, #due_at_ms
        """,
        if: """
          #state = :revoked AND #grant_id = :grant_id AND #fencing_token <= :fencing_token \
          AND #granted_units > :granted_units
          """,
        [
          ("granted_units", .integer(take.target)), ("none", .integer(LedgerRow.noLease)),
          ("revoked", .text("revoked")), ("grant_id", .text(take.grantId)),
          ("fencing_token", .integer(fencingToken)),
        ]))
  }

  // MARK: several rows

  /// Returns the newest 50 rows of an account, by an index that may lag.
  mutating func dynamoLedger(of account: Text) throws(LedgerSuspension) -> [LedgerRow] {
    var query = DynamoQuery.owned(by: account, "L#")
    query.isNewestFirst = true
    var rows: [LedgerRow] = []
    for item in try dynamo({ [query.call($0)] }).items(0) { rows.append(try LedgerRow(item)) }
    return rows
  }
}
