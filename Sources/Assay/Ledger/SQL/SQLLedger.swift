/// The ledger on SQL engines (docs/spec/ledger-statements.md §2, "Names and ledger").
extension LedgerSession {
  typealias Arguments = [(name: StaticString, value: DatabaseValue)]

  /// Executes statements in one step.
  mutating func sql(
    _ transaction: DatabaseStep.Transaction? = nil, isOnce: Bool = false,
    needsOneConnection: Bool = false,
    _ calls: () -> [(SQLStatement, Arguments)]
  ) throws(LedgerSuspension) -> [DatabaseResult] {
    try run {
      DatabaseStep(
        calls: calls().map { .sql($0.0, $0.1) }, isOnce: isOnce,
        needsOneConnection: needsOneConnection, transaction: transaction)
    }
  }

  /// Returns the key of the one row to which both keys of a purchase lead (STO-11).
  mutating func sqlCanonicalKey(_ keys: PurchaseKeys) throws(LedgerSuspension) -> Text {
    let results = try sql(.single) { keys.naming + [(.nameCanonical, keys.arguments)] }
    var row = try results.row(results.count &- 1)
    let key = try row.text()
    try row.end()
    return key
  }

  /// Returns the canonical key of a purchase without subscription whose two keys are equal, mostly
  /// by one statement: each is a round trip to the server.
  mutating func sqlTakeName(
    _ keys: PurchaseKeys, _ transaction: DatabaseStep.Transaction?
  ) throws(LedgerSuspension) -> Text {
    let results = try sql(transaction) { [(.nameTake, keys.arguments)] }
    var row = try results.row(0)
    let target = try row.text()
    try row.end()
    if target == keys.purchase { return target }
    // The transaction key was stored before with another purchase key, which may lead to a third.
    let found = try sql(transaction == nil ? nil : .within) {
      [(.nameCanonical, keys.arguments)]
    }
    var canonical = try found.row(0)
    return try canonical.text()
  }

  /// Returns the canonical key and, read by the same statement, the owner of the purchase's
  /// subscription (RPL-2).
  mutating func sqlCanonicalKey(
    _ keys: PurchaseKeys, inSubscriptionOf facts: PurchaseFacts, _ shown: SubscriptionUpdate?,
    _ transaction: DatabaseStep.Transaction?
  ) throws(LedgerSuspension) -> (key: Text, subscriptionOwner: Text?) {
    let subscription = showing(shown)
    // The transaction keeps the subscription as it was stored until its owner is read.
    let whole: DatabaseStep.Transaction? = shown == nil ? nil : .single
    let results = try sql(transaction ?? whole) {
      keys.naming(inSubscriptionOf: facts, subscription)
    }
    return try results.nameAndOwner(results.count &- 1)
  }

  /// Returns the statements that store a subscription as `update-subscriptions` does.
  private func showing(_ subscription: SubscriptionUpdate?) -> [(SQLStatement, Arguments)] {
    guard let subscription else { return [] }
    return applying(subscription.row, subscription.evidence)
  }

  /// Executes all of a claim in one step, which waits for the disk once: keys, subscription, and
  /// the row of the purchase key, if both keys lead to that at once.
  ///
  /// - Parameter new: Returns the row to insert, unless another account owns the subscription;
  ///   `nil` if none is inserted.
  mutating func sqlClaim(
    _ keys: PurchaseKeys, of purchase: LedgerPurchase, _ shown: SubscriptionUpdate?,
    _ new: () -> LedgerRow?
  ) throws(LedgerSuspension) -> (key: Text, subscriptionOwner: Text?, row: LedgerRow?) {
    let (kept, subscription) = (keeping(purchase.evidence, of: keys.purchase), showing(shown))
    let results = try sql(.single) {
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

  /// Returns the canonical key of a transaction without storing its keys; `nil` if it is unknown.
  mutating func sqlKnownKey(_ transactionKey: Text) throws(LedgerSuspension) -> Text? {
    let results = try sql { [(.nameCanonical, [("transaction_key", .text(transactionKey))])] }
    guard var row = try results.rowIfAny(0) else { return nil }
    let key = try row.text()
    try row.end()
    return key
  }

  mutating func sqlInsert(
    _ row: LedgerRow, _ evidence: StoredEvidence, _ transaction: DatabaseStep.Transaction?
  ) throws(LedgerSuspension) -> LedgerRow {
    if context.engine.isSQLServer {
      let kept = keeping(evidence, of: row.purchaseKey)
      let results = try sql(transaction ?? (kept.isEmpty ? nil : .single)) {
        [(.ledgerTake, row.arguments)] + kept
      }
      return try LedgerRow(try results.row(0))
    }
    let row = try sqlChange(
      .ledgerInsert, row.purchaseKey, transaction, keeping: evidence,
      SQLStatement.ledgerRead(for: transaction)
    ) { row.arguments }
    guard let row else { throw .rowMissing }
    return row
  }

  /// Returns the statement that keeps the evidence's text. It follows the change of the row, and
  /// writes only if the row names the text (STM-2).
  func keeping(_ evidence: StoredEvidence, of key: Text) -> [(SQLStatement, Arguments)] {
    guard context.policy.keepEvidence else { return [] }
    return [(.ledgerEvidence, arguments(of: evidence) + [("purchase_key", .text(key))])]
  }

  func arguments(of evidence: StoredEvidence) -> Arguments {
    [
      ("digest", .text(evidence.sha256)), ("body", .text(evidence.body)),
      ("now_ms", .integer(context.nowMs)),
    ]
  }

  mutating func sqlLedgerRow(
    _ key: Text, _ transaction: DatabaseStep.Transaction?
  ) throws(LedgerSuspension) -> LedgerRow? {
    let read = SQLStatement.ledgerRead(for: transaction)
    let results = try sql(transaction) { [(read, [("purchase_key", .text(key))])] }
    guard let row = try results.rowIfAny(0) else { return nil }
    return try LedgerRow(row)
  }

  /// Changes a row, and returns it as stored afterwards.
  ///
  /// - Parameter evidence: The evidence to keep with the row; `nil` if none is kept.
  mutating func sqlChange(
    _ statement: SQLStatement, _ key: Text, _ transaction: DatabaseStep.Transaction?,
    keeping evidence: StoredEvidence? = nil, _ read: SQLStatement = .ledgerRead,
    _ arguments: () -> Arguments
  ) throws(LedgerSuspension) -> LedgerRow? {
    let kept = evidence.map { keeping($0, of: key) } ?? []
    let results = try sql(transaction ?? (kept.isEmpty ? nil : .single)) {
      [(statement, arguments())] + kept + [(read, [("purchase_key", .text(key))])]
    }
    guard let row = try results.rowIfAny(results.count &- 1) else { return nil }
    return try LedgerRow(row)
  }
}

extension PurchaseKeys {
  fileprivate var arguments: LedgerSession.Arguments {
    [("transaction_key", .text(transaction)), ("purchase_key", .text(purchase))]
  }

  /// Whether both keys are equal, as for consumables.
  var areOne: Bool { transaction == purchase }

  /// The statements that store both keys, or one statement if they are equal.
  fileprivate var naming: [(SQLStatement, LedgerSession.Arguments)] {
    let statements: [SQLStatement] = [.nameTransaction, .namePurchase]
    return statements.prefix(namingCount).map { ($0, arguments) }
  }

  fileprivate var namingCount: Int { areOne ? 1 : 2 }

  /// Returns the statements that store the keys, those for the subscription, and one that reads the
  /// canonical key and the subscription's owner.
  @inline(never)
  fileprivate func naming(
    inSubscriptionOf facts: PurchaseFacts, _ subscription: [(SQLStatement, LedgerSession.Arguments)]
  ) -> [(SQLStatement, LedgerSession.Arguments)] {
    let key: LedgerSession.Arguments = [
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
}

extension SQLStatement {
  /// Returns the statement that reads a row; in a transaction it locks the row, which then stays as
  /// it was read while the host grants (STO-21).
  fileprivate static func ledgerRead(for transaction: DatabaseStep.Transaction?) -> SQLStatement {
    transaction == nil ? .ledgerRead : .ledgerLock
  }
}
