/// The ledger, whatever the engine. Each of these is one conditional change or one read;
/// what it means is the operations'.
extension StoreTalk {
  private var isDynamo: Bool { context.dialect == .dynamodb }

  /// STO-11: the key of the one row that both keys of a purchase lead to.
  mutating func canonicalKey(_ keys: PurchaseKeys) throws(StoreStop) -> Text {
    isDynamo ? try dynamoCanonicalKey(keys) : try sqlCanonicalKey(keys)
  }

  /// The same, and whose line the purchase stands in once it was shown; nil: there is no such
  /// line, as there is none of consumables.
  ///
  /// - Parameter shown: the line as the evidence shows it (RPL-2); nil: it is only looked at.
  mutating func canonicalKey(
    _ keys: PurchaseKeys, of purchase: StorePurchase, _ shown: ShownLine?,
    _ transaction: StoreStep.Transaction?
  ) throws(StoreStop) -> (key: Text, lineOwner: Text?) {
    let facts = purchase.facts
    let isConsumable = purchase.product?.type == .consumable
    if isConsumable && context.dialect.isSQLServer && keys.areOne {
      return (try sqlTakeName(keys, transaction), nil)
    }
    guard isDynamo else { return try sqlCanonicalKey(keys, inLineOf: facts, shown, transaction) }
    let key = try dynamoCanonicalKey(keys)
    if isConsumable { return (key, nil) }
    if let shown { return (key, try dynamoShow(shown).owner) }
    let line = try dynamoLine(
      environment: Text(stringLiteral: facts.environment.name), facts.originalTransactionId)
    return (key, line?.owner)
  }

  /// The same for a purchase that may be unknown.
  mutating func knownKey(_ transactionKey: Text) throws(StoreStop) -> Text? {
    isDynamo ? try dynamoKnownKey(transactionKey) : try sqlKnownKey(transactionKey)
  }

  /// Puts the row there if there is none. The row that stands there then.
  mutating func insert(
    _ row: LedgerRow, _ evidence: StoreEvidence, _ transaction: StoreStep.Transaction? = nil
  ) throws(StoreStop) -> LedgerRow {
    let stands =
      isDynamo ? try dynamoInsert(row, evidence) : try sqlInsert(row, evidence, transaction)
    return try stands.checked(row.purchaseKey)
  }

  mutating func ledgerRow(
    _ key: Text, _ transaction: StoreStep.Transaction? = nil
  ) throws(StoreStop) -> LedgerRow? {
    let row = isDynamo ? try dynamoLedgerRow(key) : try sqlLedgerRow(key, transaction)
    return try row?.checked(key)
  }

  /// A claimed row of that owner whose lease is over becomes ours. The row after it.
  ///
  /// - Parameter purchase: what it is claimed with now; nil: with what it was before.
  mutating func takeOver(
    _ row: LedgerRow, _ claimant: Claimant, _ purchase: StorePurchase?,
    _ transaction: StoreStep.Transaction? = nil
  ) throws(StoreStop) -> LedgerRow? {
    let (key, evidence) = (row.purchaseKey, purchase?.evidence)
    // STO-33: the newest of all that was seen.
    let asOfMs = purchase?.stateToldMs ?? 0
    if isDynamo {
      return try dynamoTakeOver(row, claimant, evidence, asOfMs: asOfMs)?.checked(key)
    }
    let arguments: Arguments = [
      ("pkey", .text(key)), ("owner", .text(row.owner)),
      ("attempt", .text(claimant.attempt)), ("lease_ms", .integer(claimant.leaseUntilMs)),
      ("now_ms", .integer(context.nowMs)), ("evidence", StoreValue(evidence?.sha256)),
      ("asof_ms", .integer(asOfMs)), ("handed", .integer(claimant.handsOut ? 1 : 0)),
      ("repeats_cap", .integer(claimant.repeatsCap)),
    ]
    return try sqlChange(.ledgerTakeOver, key, transaction, keeping: evidence) { arguments }?
      .checked(key)
  }

  /// STO-37: what a transaction left there that died between its halves, on DynamoDB alone, is
  /// handed out from now on, under a new fence: should the transaction be alive, its grant
  /// meets another row than it read. The row after it.
  mutating func handOut(_ row: LedgerRow, _ claimant: Claimant) throws(StoreStop) -> LedgerRow? {
    guard isDynamo, claimant.handsOut, row.repeats == 0 else { return row }
    var next = row
    next.repeats = 1
    next.tries &+= 1
    return try dynamoPut(next, over: row)?.checked(row.purchaseKey)
  }

  /// STO-34: a row that is nobody's becomes its first claimant's. The row after it.
  mutating func adopt(
    _ row: LedgerRow, _ claimant: Claimant, _ account: Text, _ purchase: StorePurchase,
    _ transaction: StoreStep.Transaction? = nil
  ) throws(StoreStop) -> LedgerRow? {
    var next = row
    next.owner = account
    next.attempt = claimant.attempt
    next.tries = 1
    next.repeats = claimant.handsOut ? 1 : 0
    next.leaseMs = claimant.leaseUntilMs
    next.claimedMs = context.nowMs
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

  /// STO-34: what nobody has claimed is in force again; its first claimant has it.
  mutating func free(_ row: LedgerRow, _ purchase: StorePurchase) throws(StoreStop) {
    var next = row
    next.state = .claimed
    next.attempt = ""
    next.tries = 0
    next.repeats = 0
    next.leaseMs = LedgerRow.noLease
    next.asOfMs = purchase.facts.asOf
    next.evidence = purchase.evidence.sha256
    next.revokedMs = nil
    next.revokedShare = nil
    if isDynamo {
      _ = try dynamoPut(next, over: row, purchase.evidence)
      return
    }
    _ = try sqlChange(.ledgerFree, row.purchaseKey, nil, keeping: purchase.evidence) {
      next.arguments
    }
  }

  /// A revoked row goes back to claimed, under another grant id (RFD-2). `next` is the row
  /// as it shall be; its generation is one more than that of the row read.
  mutating func reverse(
    _ next: LedgerRow, _ evidence: StoreEvidence, _ transaction: StoreStep.Transaction? = nil
  ) throws(StoreStop) -> LedgerRow? {
    if isDynamo { return try dynamoReverse(next, evidence)?.checked(next.purchaseKey) }
    let (key, nowMs) = (next.purchaseKey, context.nowMs)
    return try sqlChange(.ledgerReverse, key, transaction, keeping: evidence) {
      var arguments = next.arguments
      arguments.removeAll { $0.name.hasSameBytes(as: "gen") }
      arguments.append(("gen", .integer(next.generation &- 1)))
      arguments.append(("now_ms", .integer(nowMs)))
      return arguments
    }?.checked(key)
  }

  /// STO-33: newer evidence without a revocation was shown for a row that is not revoked; an
  /// older revocation is `stale` from then on. The row after it.
  mutating func raised(
    _ row: LedgerRow, _ purchase: StorePurchase?, _ transaction: StoreStep.Transaction? = nil
  ) throws(StoreStop) -> LedgerRow {
    guard let purchase, let asOfMs = purchase.stateToldMs, asOfMs > row.asOfMs else { return row }
    let key = row.purchaseKey
    if isDynamo {
      return try dynamoRaise(row, purchase.evidence, toMs: asOfMs)?.checked(key) ?? row
    }
    let arguments: Arguments = [
      ("pkey", .text(key)), ("asof_ms", .integer(asOfMs)),
      ("evidence", .text(purchase.evidence.sha256)),
    ]
    let raised = try sqlChange(.ledgerRaise, key, transaction, keeping: purchase.evidence) {
      arguments
    }
    guard let raised else { throw .rowMissing }
    return try raised.checked(key)
  }

  /// STO-35: what was handed out under that id is taken back, unless its fence is larger. The
  /// row after it.
  mutating func taken(
    _ key: Text, _ take: TakeBackId, fence: Int64
  ) throws(StoreStop) -> LedgerRow? {
    if isDynamo { return try dynamoTaken(key, take, fence: fence)?.checked(key) }
    let arguments: Arguments = [
      ("pkey", .text(key)), ("grant_id", .text(take.grantId)), ("fence", .integer(fence)),
      ("out_n", .integer(take.target)),
    ]
    return try sqlChange(.ledgerTaken, key, nil) { arguments }?.checked(key)
  }

  /// A claimed row of that grant id becomes granted, unless its fence is larger (STO-26).
  ///
  /// - Returns: the row after it, and whether it was another before. In a transaction, where the
  ///   row stands locked, that is not asked.
  mutating func complete(
    _ key: Text, owner: Text, grantId: Text, fence: Int64, note: Text?,
    _ transaction: StoreStep.Transaction? = nil
  ) throws(StoreStop) -> (row: LedgerRow?, isMade: Bool) {
    if isDynamo {
      let (row, isMade) = try dynamoComplete(
        key, owner: owner, grantId: grantId, fence: fence, note: note)
      return (try row?.checked(key), isMade)
    }
    let arguments: Arguments = [
      ("pkey", .text(key)), ("owner", .text(owner)), ("grant_id", .text(grantId)),
      ("fence", .integer(fence)), ("now_ms", .integer(context.nowMs)), ("note", StoreValue(note)),
    ]
    let before: [(SQLStatement, Arguments)] =
      transaction == nil ? [(.ledgerRead, [("pkey", .text(key))])] : []
    let results = try sql(transaction) {
      before + [
        (.lineOfCompleted, arguments), (.ledgerComplete, arguments), (.ledgerRead, arguments),
      ]
    }
    guard let row = try results.rowIfAny(results.count &- 1) else { return (nil, false) }
    let first = before.isEmpty ? nil : try results.rowIfAny(0)
    let wasClaimed = try first.map { row throws(StoreStop) in
      try LedgerRow(row).state == .claimed
    }
    return (try LedgerRow(row).checked(key), wasClaimed ?? false)
  }

  /// STO-30, STO-35: rows of that state whose lease ended at least so long ago, now ours; at
  /// most 25.
  mutating func takeDue(
    _ state: LedgerRow.State, attempt: Text, leaseMs: Int64, beforeMs: Int64
  ) throws(StoreStop) -> [LedgerRow] {
    isDynamo
      ? try dynamoDue(state, attempt: attempt, leaseMs: leaseMs, beforeMs: beforeMs)
      : try sqlDue(state, attempt: attempt, leaseMs: leaseMs, beforeMs: beforeMs)
  }

  /// The same rows, left as they are (STO-27).
  mutating func heldClaims(beforeMs: Int64) throws(StoreStop) -> [LedgerRow] {
    if isDynamo { return try dynamoHeldClaims(beforeMs: beforeMs) }
    let results = try sql {
      [(.claimsHeld, [("state", .text("claimed")), ("before_ms", .integer(beforeMs))])]
    }
    return try ledgerRows(results, 0)
  }

  /// The newest 50 of an account.
  mutating func ledger(of account: Text) throws(StoreStop) -> [LedgerRow] {
    let rows = isDynamo ? try dynamoLedger(of: account) : try sqlLedger(of: account)
    for row in rows where row.owner != account { throw .shape("owner") }
    return rows
  }

  private mutating func sqlLedger(of account: Text) throws(StoreStop) -> [LedgerRow] {
    let results = try sql { [(.ledgerOfAccount, [("owner", .text(account))])] }
    return try ledgerRows(results, 0)
  }

  func ledgerRows(_ results: [StoreResult], _ place: Int) throws(StoreStop) -> [LedgerRow] {
    var rows: [LedgerRow] = []
    for row in try results.rows(place) { rows.append(try LedgerRow(row)) }
    return rows
  }
}
