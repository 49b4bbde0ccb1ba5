/// Purchases and their keys (docs/spec/ledger-statements.md §2, "Names and ledger").
extension SQLDatabase {
  // MARK: keys

  func canonicalKey(_ keys: PurchaseKeys) throws(LedgerSuspension) -> Text {
    let results = try run(.single) { keys.naming + [(.nameCanonical, keys.arguments)] }
    return try results.row(results.count &- 1).onlyText()
  }

  func knownKey(_ transactionKey: Text) throws(LedgerSuspension) -> Text? {
    let results = try run { [(.nameCanonical, [("transaction_key", .text(transactionKey))])] }
    return try results.rowIfAny(0)?.onlyText()
  }

  func resolve(
    _ keys: PurchaseKeys, of purchase: LedgerPurchase, _ shown: SubscriptionUpdate?,
    inTransaction: Bool, _ new: () -> LedgerRow?
  ) throws(LedgerSuspension) -> (key: Text, subscriptionOwner: Text?, row: LedgerRow?) {
    if context.engine == .sqlite && !inTransaction {
      return try claim(keys, of: purchase, shown, new)
    }
    transaction = inTransaction ? .begin : nil
    defer { if inTransaction { transaction = .within } }
    if context.engine.isSQLServer && purchase.product?.type == .consumable && keys.areOne {
      if context.engine == .postgres && !inTransaction, let new = new(),
        let row = try take(new, keys, purchase.evidence)
      {
        return (keys.purchase, nil, row)
      }
      return (try takeName(keys), nil, nil)
    }
    let subscription = showing(shown)
    // The transaction keeps the subscription as it was stored until its owner is read.
    let results = try run(transaction ?? (shown == nil ? nil : .single)) {
      keys.naming(inSubscriptionOf: purchase.facts, subscription)
    }
    let (key, subscriptionOwner) = try results.nameAndOwner(results.count &- 1)
    return (key, subscriptionOwner, nil)
  }

  /// Stores the key and the row of a purchase without subscription whose two keys are equal by one
  /// statement, which under a lease is all of the claim on PostgreSQL.
  ///
  /// - Returns: The row that stands there; `nil` if the key leads to another row, or if another
  ///   client stored one of both while the statement ran, which then does not see it.
  private func take(
    _ new: LedgerRow, _ keys: PurchaseKeys, _ evidence: StoredEvidence
  ) throws(LedgerSuspension) -> LedgerRow? {
    let kept = keeping(evidence, of: keys.purchase)
    let results = try run(kept.isEmpty ? nil : .single) {
      [(.claimTake, [("transaction_key", .text(keys.transaction))] + new.arguments)] + kept
    }
    return try results.rowIfAny(0).map { row throws(LedgerSuspension) in
      try LedgerRow(row).checked(keys.purchase)
    }
  }

  /// Returns the canonical key of a purchase without subscription whose two keys are equal, mostly
  /// by one statement: each is a round trip to the server.
  private func takeName(_ keys: PurchaseKeys) throws(LedgerSuspension) -> Text {
    let target = try run(transaction) { [(.nameTake, keys.arguments)] }.rowIfAny(0)?.onlyText()
    if target == keys.purchase { return keys.purchase }
    // The transaction key was stored before with another purchase key, which may lead to a third,
    // or while the statement ran, which then does not see it.
    let found = try run(transaction == nil ? nil : .within) { [(.nameCanonical, keys.arguments)] }
    return try found.row(0).onlyText()
  }

  /// Executes all of a claim in one step, since on SQLite each commit waits for the disk: keys,
  /// subscription, and the row of the purchase key, if both keys lead to that at once.
  private func claim(
    _ keys: PurchaseKeys, of purchase: LedgerPurchase, _ shown: SubscriptionUpdate?,
    _ new: () -> LedgerRow?
  ) throws(LedgerSuspension) -> (key: Text, subscriptionOwner: Text?, row: LedgerRow?) {
    let (kept, subscription) = (keeping(purchase.evidence, of: keys.purchase), showing(shown))
    let results = try run(.single) {
      var calls = keys.naming(inSubscriptionOf: purchase.facts, subscription)
      if let new = new() {
        calls.append((.claimInsert, [("transaction_key", .text(keys.transaction))] + new.arguments))
        calls += kept
      }
      calls.append((.ledgerRead, keys.arguments))
      return calls
    }
    let (key, subscriptionOwner) = try results.nameAndOwner(keys.namingCount &+ subscription.count)
    let row = try results.rowIfAny(results.count &- 1)
    guard key == keys.purchase, let row else { return (key, subscriptionOwner, nil) }
    return (key, subscriptionOwner, try LedgerRow(row).checked(key))
  }

  /// Returns the statements that store a subscription as `update-subscriptions` does.
  private func showing(_ subscription: SubscriptionUpdate?) -> [(SQLStatement, Arguments)] {
    guard let subscription else { return [] }
    return applying(subscription.row, subscription.evidence)
  }

  // MARK: one row

  func ledgerRow(_ key: Text) throws(LedgerSuspension) -> LedgerRow? {
    let results = try run(transaction) { [(ledgerRead, [("purchase_key", .text(key))])] }
    guard let row = try results.rowIfAny(0) else { return nil }
    return try LedgerRow(row).checked(key)
  }

  func insert(_ row: LedgerRow, _ evidence: StoredEvidence) throws(LedgerSuspension) -> LedgerRow {
    let key = row.purchaseKey
    if context.engine.isSQLServer {
      let kept = keeping(evidence, of: key)
      // PostgreSQL writes a row that it locks: under a lease a repeated purchase writes nothing.
      let locks = transaction != nil || isMariaDB
      let results = try run(transaction ?? (kept.isEmpty ? nil : .single)) {
        [(locks ? .ledgerTake : .ledgerTakeUnlocked, row.arguments)] + kept
      }
      // Only `ledgerTakeUnlocked` may miss a row: one that was stored while it ran.
      guard let stands = try results.rowIfAny(0) else {
        guard let later = try ledgerRow(key) else { throw .rowMissing }
        return later
      }
      return try LedgerRow(stands).checked(key)
    }
    let stands = try change(.ledgerInsert, key, keeping: evidence, ledgerRead) { row.arguments }
    guard let stands else { throw .rowMissing }
    return try stands.checked(key)
  }

  func takeOver(
    _ row: LedgerRow, _ request: ClaimRequest, _ purchase: LedgerPurchase?
  ) throws(LedgerSuspension) -> LedgerRow? {
    let (key, evidence) = (row.purchaseKey, purchase?.evidence)
    let arguments: Arguments = [
      ("purchase_key", .text(key)), ("owner", .text(row.owner)),
      ("attempt_id", .text(request.attemptId)),
      ("lease_expires_at_ms", .integer(request.leaseExpiresAtMs)),
      ("now_ms", .integer(context.nowMs)), ("evidence", DatabaseValue(evidence?.sha256)),
      // The time of the newest evidence seen is kept (STO-33).
      ("as_of_ms", .integer(purchase?.stateToldMs ?? 0)),
      ("handed", .integer(request.handsOut ? 1 : 0)),
      ("repeats_cap", .integer(request.repeatsCap)),
    ]
    return try change(.ledgerTakeOver, key, keeping: evidence) { arguments }?.checked(key)
  }

  func handOut(
    _ row: LedgerRow, _ request: ClaimRequest
  ) throws(LedgerSuspension) -> LedgerRow? { row }

  func adopt(
    _ next: LedgerRow, over row: LedgerRow, _ evidence: StoredEvidence
  ) throws(LedgerSuspension) -> LedgerRow? {
    let (key, nowMs) = (row.purchaseKey, context.nowMs)
    return try change(.ledgerAdopt, key, keeping: evidence) {
      next.arguments + [("now_ms", .integer(nowMs))]
    }?.checked(key)
  }

  func free(
    _ next: LedgerRow, over row: LedgerRow, _ evidence: StoredEvidence
  ) throws(LedgerSuspension) {
    _ = try change(.ledgerFree, row.purchaseKey, keeping: evidence) { next.arguments }
  }

  func reverse(
    _ next: LedgerRow, _ evidence: StoredEvidence
  ) throws(LedgerSuspension) -> LedgerRow? {
    let (key, nowMs) = (next.purchaseKey, context.nowMs)
    return try change(.ledgerReverse, key, keeping: evidence) {
      var arguments = next.arguments
      arguments.removeAll { $0.name.hasSameBytes(as: "generation") }
      arguments.append(("generation", .integer(next.generation &- 1)))
      arguments.append(("now_ms", .integer(nowMs)))
      return arguments
    }?.checked(key)
  }

  func raise(
    _ row: LedgerRow, _ evidence: StoredEvidence, toMs asOfMs: Int64
  ) throws(LedgerSuspension) -> LedgerRow {
    let key = row.purchaseKey
    let raised = try change(.ledgerRaise, key, keeping: evidence) {
      [
        ("purchase_key", .text(key)), ("as_of_ms", .integer(asOfMs)),
        ("evidence", .text(evidence.sha256)),
      ]
    }
    guard let raised else { throw .rowMissing }
    return try raised.checked(key)
  }

  func complete(
    _ key: Text, owner: Text, grantId: Text, fencingToken: Int64, note: Text?
  ) throws(LedgerSuspension) -> (row: LedgerRow?, isMade: Bool) {
    let results = try run {
      [(.ledgerRead, [("purchase_key", .text(key))])]
        + completing(key, owner: owner, grantId: grantId, fencingToken: fencingToken, note: note)
    }
    guard let row = try results.rowIfAny(results.count &- 1) else { return (nil, false) }
    let before = try results.rowIfAny(0).map { row throws(LedgerSuspension) in
      try LedgerRow(row).state
    }
    return (try LedgerRow(row).checked(key), before == .claimed)
  }

  /// Returns the statements that mark a claimed row as granted, bind its subscription, and read the
  /// row.
  func completing(
    _ key: Text, owner: Text, grantId: Text, fencingToken: Int64, note: Text?
  ) -> [(SQLStatement, Arguments)] {
    let arguments: Arguments = [
      ("purchase_key", .text(key)), ("owner", .text(owner)), ("grant_id", .text(grantId)),
      ("fencing_token", .integer(fencingToken)), ("now_ms", .integer(context.nowMs)),
      ("note", DatabaseValue(note)),
    ]
    return [
      (.subscriptionOfCompleted, arguments), (.ledgerComplete, arguments), (.ledgerRead, arguments),
    ]
  }

  func taken(
    _ key: Text, _ take: TakeBackId, fencingToken: Int64
  ) throws(LedgerSuspension) -> LedgerRow? {
    try change(.ledgerTaken, key) {
      [
        ("purchase_key", .text(key)), ("grant_id", .text(take.grantId)),
        ("fencing_token", .integer(fencingToken)), ("granted_units", .integer(take.target)),
      ]
    }?.checked(key)
  }

  /// Changes a row, and returns it as stored afterwards.
  ///
  /// - Parameter evidence: The evidence to keep with the row; `nil` if none is kept.
  private func change(
    _ statement: SQLStatement, _ key: Text, keeping evidence: StoredEvidence? = nil,
    _ read: SQLStatement = .ledgerRead, _ arguments: () -> Arguments
  ) throws(LedgerSuspension) -> LedgerRow? {
    let kept = evidence.map { keeping($0, of: key) } ?? []
    let results = try run(transaction ?? (kept.isEmpty ? nil : .single)) {
      [(statement, arguments())] + kept + [(read, [("purchase_key", .text(key))])]
    }
    guard let row = try results.rowIfAny(results.count &- 1) else { return nil }
    return try LedgerRow(row)
  }

  /// The statement that reads a row; in a transaction it locks the row, which then stays as it was
  /// read while the host grants (STO-21).
  private var ledgerRead: SQLStatement { transaction == nil ? .ledgerRead : .ledgerLock }

  // MARK: several rows

  func takeDue(
    _ state: LedgerRow.State, attemptId: Text, leaseMs: Int64, beforeMs: Int64
  ) throws(LedgerSuspension) -> [LedgerRow] {
    let arguments: Arguments = [
      ("state", .text(Text(stringLiteral: state.name))),
      ("attempt_id", .text(attemptId)), ("lease_expires_at_ms", .integer(leaseMs)),
      ("before_ms", .integer(beforeMs)),
    ]
    // Reads the rows of this attempt, also those taken by a step whose reply was lost.
    let own: (SQLStatement, Arguments) = (.claimsOwn, arguments)
    let rows: [LedgerRow]
    if isMariaDB {
      // Rows are locked, then changed one by one.
      let due = try run(.begin) { [(.claimsDueLock, arguments)] }.ledgerRows(0)
      rows = try run(.commit) {
        due.map { (.claimsDueTake, arguments + [("purchase_key", .text($0.purchaseKey))]) } + [own]
      }.ledgerRows(due.count)
    } else {
      rows = try run { [(.claimsDue, arguments), own] }.ledgerRows(1)
    }
    for row in rows where row.attemptId != attemptId { throw .shape("attempt_id") }
    return rows
  }

  func heldClaims(beforeMs: Int64) throws(LedgerSuspension) -> [LedgerRow] {
    try run {
      [(.claimsHeld, [("state", .text("claimed")), ("before_ms", .integer(beforeMs))])]
    }.ledgerRows(0)
  }

  func purchases(
    of account: Text
  ) throws(LedgerSuspension) -> (rows: [LedgerRow], isEventual: Bool) {
    let results = try run { [(.ledgerOfAccount, [("owner", .text(account))])] }
    return (try results.ledgerRows(0), false)
  }
}

extension PurchaseKeys {
  fileprivate var arguments: DatabaseCall.Arguments {
    [("transaction_key", .text(transaction)), ("purchase_key", .text(purchase))]
  }

  /// Whether both keys are equal, as for consumables.
  fileprivate var areOne: Bool { transaction == purchase }

  /// The statements that store both keys, or one statement if they are equal.
  fileprivate var naming: [(SQLStatement, DatabaseCall.Arguments)] {
    let statements: [SQLStatement] = [.nameTransaction, .namePurchase]
    return statements.prefix(namingCount).map { ($0, arguments) }
  }

  fileprivate var namingCount: Int { areOne ? 1 : 2 }

  /// Returns the statements that store the keys, those for the subscription, and one that reads the
  /// canonical key and the subscription's owner.
  @inline(never)
  fileprivate func naming(
    inSubscriptionOf facts: PurchaseFacts, _ subscription: [(SQLStatement, DatabaseCall.Arguments)]
  ) -> [(SQLStatement, DatabaseCall.Arguments)] {
    let key: DatabaseCall.Arguments = [
      ("environment", .text(Text(stringLiteral: facts.environment.name))),
      ("original_transaction_id", .text(facts.originalTransactionId)),
    ]
    return naming + subscription + [(.nameOwner, arguments + key)]
  }
}

extension [DatabaseResult] {
  /// Reads the result of the last statement of `naming(inSubscriptionOf:)`.
  @inline(never)
  fileprivate func nameAndOwner(
    _ place: Int
  ) throws(LedgerSuspension) -> (key: Text, subscriptionOwner: Text?) {
    var row = try row(place)
    let (key, owner) = (try row.text(), try row.textIfAny())
    try row.end()
    return (key, owner)
  }

  fileprivate func ledgerRows(_ place: Int) throws(LedgerSuspension) -> [LedgerRow] {
    try rows(place).map { row throws(LedgerSuspension) in try LedgerRow(row) }
  }
}
