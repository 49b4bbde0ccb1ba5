/// The ledger on every engine. Each function is one conditional change or one read; its meaning is
/// left to the operations.
extension LedgerSession {
  private var isDynamo: Bool { context.engine == .dynamodb }

  /// Returns the key of the one row to which both keys of a purchase lead (STO-11).
  mutating func canonicalKey(_ keys: PurchaseKeys) throws(LedgerSuspension) -> Text {
    isDynamo ? try dynamoCanonicalKey(keys) : try sqlCanonicalKey(keys)
  }

  /// Stores `shown`, and returns the canonical key and the owner of the purchase's subscription;
  /// the owner is `nil` if there is no subscription, as for consumables.
  ///
  /// - Parameter shown: The subscription as the evidence reports it (RPL-2); `nil` if it is only
  ///   read.
  mutating func canonicalKey(
    _ keys: PurchaseKeys, of purchase: LedgerPurchase, _ shown: SubscriptionUpdate?,
    _ transaction: DatabaseStep.Transaction?
  ) throws(LedgerSuspension) -> (key: Text, subscriptionOwner: Text?) {
    let facts = purchase.facts
    let isConsumable = purchase.product?.type == .consumable
    if isConsumable && context.engine.isSQLServer && keys.areOne {
      return (try sqlTakeName(keys, transaction), nil)
    }
    guard isDynamo else {
      return try sqlCanonicalKey(keys, inSubscriptionOf: facts, shown, transaction)
    }
    let key = try dynamoCanonicalKey(keys)
    if isConsumable { return (key, nil) }
    if let shown { return (key, try dynamoShow(shown).owner) }
    let subscription = try dynamoSubscription(
      environment: Text(stringLiteral: facts.environment.name), facts.originalTransactionId)
    return (key, subscription?.owner)
  }

  /// Returns the canonical key of a transaction; `nil` if the ledger does not know the transaction.
  mutating func knownKey(_ transactionKey: Text) throws(LedgerSuspension) -> Text? {
    isDynamo ? try dynamoKnownKey(transactionKey) : try sqlKnownKey(transactionKey)
  }

  /// Inserts `row` if no row has its purchase key, and returns the stored row.
  mutating func insert(
    _ row: LedgerRow, _ evidence: StoredEvidence, _ transaction: DatabaseStep.Transaction? = nil
  ) throws(LedgerSuspension) -> LedgerRow {
    let stands =
      isDynamo ? try dynamoInsert(row, evidence) : try sqlInsert(row, evidence, transaction)
    return try stands.checked(row.purchaseKey)
  }

  mutating func ledgerRow(
    _ key: Text, _ transaction: DatabaseStep.Transaction? = nil
  ) throws(LedgerSuspension) -> LedgerRow? {
    let row = isDynamo ? try dynamoLedgerRow(key) : try sqlLedgerRow(key, transaction)
    return try row?.checked(key)
  }

  /// Takes over a claimed row of the same owner whose lease has expired. Returns the row as stored
  /// afterwards.
  ///
  /// - Parameter purchase: The purchase with which the row is claimed now; `nil` if the row keeps
  ///   its evidence.
  mutating func takeOver(
    _ row: LedgerRow, _ request: ClaimRequest, _ purchase: LedgerPurchase?,
    _ transaction: DatabaseStep.Transaction? = nil
  ) throws(LedgerSuspension) -> LedgerRow? {
    let (key, evidence) = (row.purchaseKey, purchase?.evidence)
    // The time of the newest evidence seen is kept (STO-33).
    let asOfMs = purchase?.stateToldMs ?? 0
    if isDynamo {
      return try dynamoTakeOver(row, request, evidence, asOfMs: asOfMs)?.checked(key)
    }
    let arguments: Arguments = [
      ("purchase_key", .text(key)), ("owner", .text(row.owner)),
      ("attempt_id", .text(request.attemptId)),
      ("lease_expires_at_ms", .integer(request.leaseExpiresAtMs)),
      ("now_ms", .integer(context.nowMs)), ("evidence", DatabaseValue(evidence?.sha256)),
      ("as_of_ms", .integer(asOfMs)), ("handed", .integer(request.handsOut ? 1 : 0)),
      ("repeats_cap", .integer(request.repeatsCap)),
    ]
    return try sqlChange(.ledgerTakeOver, key, transaction, keeping: evidence) { arguments }?
      .checked(key)
  }

  /// Hands out a row that an interrupted transaction on DynamoDB has left claimed, under a larger
  /// fencing token: if that transaction is still alive, its grant fails because the row has changed
  /// (STO-37). Returns the row as stored afterwards.
  mutating func handOut(_ row: LedgerRow, _ request: ClaimRequest) throws(LedgerSuspension)
    -> LedgerRow?
  {
    guard isDynamo, request.handsOut, row.repeats == 0 else { return row }
    var next = row
    next.repeats = 1
    next.fencingToken &+= 1
    return try dynamoPut(next, over: row)?.checked(row.purchaseKey)
  }

  /// Gives a row without owner to its first claimant (STO-34). Returns the row as stored
  /// afterwards.
  mutating func adopt(
    _ row: LedgerRow, _ request: ClaimRequest, _ account: Text, _ purchase: LedgerPurchase,
    _ transaction: DatabaseStep.Transaction? = nil
  ) throws(LedgerSuspension) -> LedgerRow? {
    var next = row
    next.owner = account
    next.attemptId = request.attemptId
    next.fencingToken = 1
    next.repeats = request.handsOut ? 1 : 0
    next.leaseMs = request.leaseExpiresAtMs
    next.claimedAtMs = context.nowMs
    next.product = purchase.product?.id ?? row.product
    next.quantity = purchase.quantity
    next.units = purchase.units
    next.evidence = purchase.evidence.sha256
    next.asOfMs = max(row.asOfMs, purchase.stateToldMs ?? 0)
    if isDynamo {
      return try dynamoPut(next, over: row, purchase.evidence)?.checked(row.purchaseKey)
    }
    let nowMs = context.nowMs
    return try sqlChange(
      .ledgerAdopt, row.purchaseKey, transaction, keeping: purchase.evidence
    ) { next.arguments + [("now_ms", .integer(nowMs))] }?.checked(row.purchaseKey)
  }

  /// Frees a revoked row without owner that newer evidence reports in force again: its first
  /// claimant gets it (STO-34).
  mutating func free(_ row: LedgerRow, _ purchase: LedgerPurchase) throws(LedgerSuspension) {
    var next = row
    next.state = .claimed
    next.attemptId = ""
    next.fencingToken = 0
    next.repeats = 0
    next.leaseMs = LedgerRow.noLease
    next.asOfMs = purchase.facts.asOfMs
    next.evidence = purchase.evidence.sha256
    next.revokedAtMs = nil
    next.revokedShare = nil
    if isDynamo {
      _ = try dynamoPut(next, over: row, purchase.evidence)
      return
    }
    _ = try sqlChange(.ledgerFree, row.purchaseKey, nil, keeping: purchase.evidence) {
      next.arguments
    }
  }

  /// Reverses the revocation of a row, under another grant id (RFD-2).
  ///
  /// - Parameter next: The row to store; its generation is one more than that of the row read.
  mutating func reverse(
    _ next: LedgerRow, _ evidence: StoredEvidence, _ transaction: DatabaseStep.Transaction? = nil
  ) throws(LedgerSuspension) -> LedgerRow? {
    if isDynamo { return try dynamoReverse(next, evidence)?.checked(next.purchaseKey) }
    let (key, nowMs) = (next.purchaseKey, context.nowMs)
    return try sqlChange(.ledgerReverse, key, transaction, keeping: evidence) {
      var arguments = next.arguments
      arguments.removeAll { $0.name.hasSameBytes(as: "generation") }
      arguments.append(("generation", .integer(next.generation &- 1)))
      arguments.append(("now_ms", .integer(nowMs)))
      return arguments
    }?.checked(key)
  }

  /// Raises `asOfMs` of a row that is not revoked to the time of newer evidence without a
  /// revocation, so that an older revocation is `stale` from then on (STO-33). Returns the row as
  /// stored afterwards.
  mutating func raised(
    _ row: LedgerRow, _ purchase: LedgerPurchase?, _ transaction: DatabaseStep.Transaction? = nil
  ) throws(LedgerSuspension) -> LedgerRow {
    guard let purchase, let asOfMs = purchase.stateToldMs, asOfMs > row.asOfMs else { return row }
    let key = row.purchaseKey
    if isDynamo {
      return try dynamoRaise(row, purchase.evidence, toMs: asOfMs)?.checked(key) ?? row
    }
    let arguments: Arguments = [
      ("purchase_key", .text(key)), ("as_of_ms", .integer(asOfMs)),
      ("evidence", .text(purchase.evidence.sha256)),
    ]
    let raised = try sqlChange(.ledgerRaise, key, transaction, keeping: purchase.evidence) {
      arguments
    }
    guard let raised else { throw .rowMissing }
    return try raised.checked(key)
  }

  /// Records that the host has taken back what `take` names, unless the row has a larger fencing
  /// token (STO-35). Returns the row as stored afterwards.
  mutating func taken(
    _ key: Text, _ take: TakeBackId, fencingToken: Int64
  ) throws(LedgerSuspension) -> LedgerRow? {
    if isDynamo { return try dynamoTaken(key, take, fencingToken: fencingToken)?.checked(key) }
    let arguments: Arguments = [
      ("purchase_key", .text(key)), ("grant_id", .text(take.grantId)),
      ("fencing_token", .integer(fencingToken)),
      ("granted_units", .integer(take.target)),
    ]
    return try sqlChange(.ledgerTaken, key, nil) { arguments }?.checked(key)
  }

  /// Marks a claimed row of that grant id as granted, unless the row has a larger fencing token
  /// (STO-26).
  ///
  /// - Returns: The row as stored afterwards, and whether it was claimed before; always `false` in
  ///   a transaction, where the row is locked.
  mutating func complete(
    _ key: Text, owner: Text, grantId: Text, fencingToken: Int64, note: Text?,
    _ transaction: DatabaseStep.Transaction? = nil
  ) throws(LedgerSuspension) -> (row: LedgerRow?, isMade: Bool) {
    if isDynamo {
      let (row, isMade) = try dynamoComplete(
        key, owner: owner, grantId: grantId, fencingToken: fencingToken, note: note)
      return (try row?.checked(key), isMade)
    }
    let arguments: Arguments = [
      ("purchase_key", .text(key)), ("owner", .text(owner)), ("grant_id", .text(grantId)),
      ("fencing_token", .integer(fencingToken)), ("now_ms", .integer(context.nowMs)),
      ("note", DatabaseValue(note)),
    ]
    let before: [(SQLStatement, Arguments)] =
      transaction == nil ? [(.ledgerRead, [("purchase_key", .text(key))])] : []
    let results = try sql(transaction) {
      before + [
        (.subscriptionOfCompleted, arguments), (.ledgerComplete, arguments),
        (.ledgerRead, arguments),
      ]
    }
    guard let row = try results.rowIfAny(results.count &- 1) else { return (nil, false) }
    let first = before.isEmpty ? nil : try results.rowIfAny(0)
    let wasClaimed = try first.map { row throws(LedgerSuspension) in
      try LedgerRow(row).state == .claimed
    }
    return (try LedgerRow(row).checked(key), wasClaimed ?? false)
  }

  /// Takes over the rows of a state whose lease ended at `beforeMs` or earlier; at most 25 (STO-30,
  /// STO-35).
  mutating func takeDue(
    _ state: LedgerRow.State, attemptId: Text, leaseMs: Int64, beforeMs: Int64
  ) throws(LedgerSuspension) -> [LedgerRow] {
    isDynamo
      ? try dynamoDue(state, attemptId: attemptId, leaseMs: leaseMs, beforeMs: beforeMs)
      : try sqlDue(state, attemptId: attemptId, leaseMs: leaseMs, beforeMs: beforeMs)
  }

  /// Returns the claims whose lease ended at `beforeMs` or earlier, and leaves them as they are
  /// (STO-27).
  mutating func heldClaims(beforeMs: Int64) throws(LedgerSuspension) -> [LedgerRow] {
    if isDynamo { return try dynamoHeldClaims(beforeMs: beforeMs) }
    let results = try sql {
      [(.claimsHeld, [("state", .text("claimed")), ("before_ms", .integer(beforeMs))])]
    }
    return try ledgerRows(results, 0)
  }

  /// Returns the newest 50 rows of an account.
  mutating func ledger(of account: Text) throws(LedgerSuspension) -> [LedgerRow] {
    let rows = isDynamo ? try dynamoLedger(of: account) : try sqlLedger(of: account)
    for row in rows where row.owner != account { throw .shape("owner") }
    return rows
  }

  private mutating func sqlLedger(of account: Text) throws(LedgerSuspension) -> [LedgerRow] {
    let results = try sql { [(.ledgerOfAccount, [("owner", .text(account))])] }
    return try ledgerRows(results, 0)
  }

  func ledgerRows(_ results: [DatabaseResult], _ place: Int) throws(LedgerSuspension) -> [LedgerRow]
  {
    var rows: [LedgerRow] = []
    for row in try results.rows(place) { rows.append(try LedgerRow(row)) }
    return rows
  }
}
