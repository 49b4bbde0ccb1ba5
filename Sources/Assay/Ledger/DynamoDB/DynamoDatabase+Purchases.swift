/// Purchases and their keys.
extension DynamoDatabase {
  // MARK: keys

  func canonicalKey(_ keys: PurchaseKeys) throws(LedgerSuspension) -> Text {
    let known = try target(of: keys.transaction, orElse: keys.purchase)
    guard keys.purchase != keys.transaction else {
      return known == keys.purchase ? known : try target(of: known) ?? known
    }
    let other = try target(of: keys.purchase, orElse: known)
    return known == keys.purchase ? other : try target(of: known) ?? known
  }

  /// Returns the key to which `name` leads; stores `target` first if it leads nowhere.
  private func target(of name: Text, orElse target: Text) throws(LedgerSuspension) -> Text {
    let row = try insert(
      .name(name), [("name", .text(name)), ("target", .text(target))], "item")
    return try row?.text("target") ?? target
  }

  private func target(of name: Text) throws(LedgerSuspension) -> Text? {
    guard let row = try read(.name(name)) else { return nil }
    return try row.text("target")
  }

  func knownKey(_ transactionKey: Text) throws(LedgerSuspension) -> Text? {
    guard let known = try target(of: transactionKey) else { return nil }
    return try target(of: known) ?? known
  }

  func resolve(
    _ keys: PurchaseKeys, of purchase: LedgerPurchase, _ shown: SubscriptionUpdate?,
    inTransaction: Bool, _ new: () -> LedgerRow?
  ) throws(LedgerSuspension) -> (key: Text, subscriptionOwner: Text?, row: LedgerRow?) {
    let key = try canonicalKey(keys)
    if purchase.product?.type == .consumable { return (key, nil, nil) }
    if let shown { return (key, try show(shown).owner, nil) }
    let subscription = try subscription(
      environment: Text(stringLiteral: purchase.facts.environment.name),
      purchase.facts.originalTransactionId)
    return (key, subscription?.owner, nil)
  }

  // MARK: one row

  func insert(_ row: LedgerRow, _ evidence: StoredEvidence) throws(LedgerSuspension) -> LedgerRow {
    let item = try insert(row.dynamoKey, row.attributes, "item")
    let stands = try item.map(LedgerRow.init) ?? row
    try keep(evidence, of: stands)
    return try stands.checked(row.purchaseKey)
  }

  func ledgerRow(_ key: Text) throws(LedgerSuspension) -> LedgerRow? {
    guard let item = try read(.ledger(key)) else { return nil }
    return try LedgerRow(item).checked(key)
  }

  /// Makes a change, and returns the row as stored afterwards, whether the change was made or not;
  /// `nil` if there is none.
  private func changed(
    _ request: DynamoRequest, keeping evidence: StoredEvidence? = nil
  ) throws(LedgerSuspension) -> LedgerRow? {
    guard let (_, item) = try update(request, "Attributes") else { return nil }
    let row = try LedgerRow(item)
    if let evidence { try keep(evidence, of: row) }
    return row
  }

  func takeOver(
    _ row: LedgerRow, _ request: ClaimRequest, _ purchase: LedgerPurchase?
  ) throws(LedgerSuspension) -> LedgerRow? {
    let evidence = purchase?.evidence
    return try changed(
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
          ("attempt_id", .text(request.attemptId)),
          ("lease_expires_at_ms", .integer(request.leaseExpiresAtMs)), ("one", .integer(1)),
          // The time of the newest evidence seen is kept (STO-33).
          ("as_of_ms", .integer(max(purchase?.stateToldMs ?? 0, row.asOfMs))),
          ("read_as_of_ms", .integer(row.asOfMs)),
          ("read_fencing_token", .integer(row.fencingToken)),
          ("repeats", .integer(row.repeats &+ (request.handsOut ? 1 : 0))),
          ("owner", .text(row.owner)), ("claimed", .text("claimed")),
          ("now_ms", .integer(context.nowMs)),
          ("evidence", .text(evidence?.sha256 ?? row.evidence)),
        ]), keeping: evidence)?.checked(row.purchaseKey)
  }

  func handOut(_ row: LedgerRow, _ request: ClaimRequest) throws(LedgerSuspension) -> LedgerRow? {
    guard request.handsOut, row.repeats == 0 else { return row }
    var next = row
    next.repeats = 1
    next.fencingToken &+= 1
    return try changed(next.change(from: row))?.checked(row.purchaseKey)
  }

  func adopt(
    _ next: LedgerRow, over row: LedgerRow, _ evidence: StoredEvidence
  ) throws(LedgerSuspension) -> LedgerRow? {
    try changed(next.change(from: row), keeping: evidence)?.checked(row.purchaseKey)
  }

  func free(
    _ next: LedgerRow, over row: LedgerRow, _ evidence: StoredEvidence
  ) throws(LedgerSuspension) {
    _ = try changed(next.change(from: row), keeping: evidence)
  }

  func reverse(
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
    return try changed(request, keeping: evidence)?.checked(next.purchaseKey)
  }

  func complete(
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
    guard let (isMade, item) = try update(request, "Attributes") else { return (nil, false) }
    let row = try LedgerRow(item)
    if row.state == .granted && row.owner == owner { try bindSubscription(of: row) }
    return (try row.checked(key), isMade)
  }

  func raise(
    _ row: LedgerRow, _ evidence: StoredEvidence, toMs asOfMs: Int64
  ) throws(LedgerSuspension) -> LedgerRow {
    // A claimed row keeps the digest of its claimant's evidence (STO-28).
    let isGranted = row.state == .granted
    return try changed(
      .update(
        row.dynamoKey,
        isGranted
          ? "SET #as_of_ms = :as_of_ms, #evidence = :evidence" : "SET #as_of_ms = :as_of_ms",
        if: "#state = :state AND #as_of_ms < :as_of_ms",
        [
          ("as_of_ms", .integer(asOfMs)), ("evidence", .text(evidence.sha256)),
          ("state", .text(Text(stringLiteral: row.state.name))),
        ]), keeping: isGranted ? evidence : nil)?.checked(row.purchaseKey) ?? row
  }

  func taken(
    _ key: Text, _ take: TakeBackId, fencingToken: Int64
  ) throws(LedgerSuspension) -> LedgerRow? {
    try changed(
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
        ]))?.checked(key)
  }

  // MARK: several rows

  func purchases(
    of account: Text
  ) throws(LedgerSuspension) -> (rows: [LedgerRow], isEventual: Bool) {
    var query = DynamoQuery.owned(by: account, "L#")
    query.isNewestFirst = true
    // The index of owners lags.
    return (try run { [query.call($0)] }.items(0).map(LedgerRow.init), true)
  }
}
