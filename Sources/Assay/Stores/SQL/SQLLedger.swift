/// The ledger on SQL engines (docs/spec/store-statements.md §2, "Names and ledger").
extension StoreTalk {
  typealias Arguments = [(name: StaticString, value: StoreValue)]

  /// One step of statements.
  mutating func sql(
    _ transaction: StoreStep.Transaction? = nil, isOnce: Bool = false,
    needsOneConnection: Bool = false,
    _ calls: () -> [(SQLStatement, Arguments)]
  ) throws(StoreStop) -> [StoreResult] {
    try run {
      StoreStep(
        calls: calls().map { .sql($0.0, $0.1) }, isOnce: isOnce,
        needsOneConnection: needsOneConnection, transaction: transaction)
    }
  }

  /// STO-11: both keys of a purchase lead to one row.
  mutating func sqlCanonicalKey(_ keys: PurchaseKeys) throws(StoreStop) -> Text {
    let results = try sql(.whole) { keys.naming + [(.nameCanonical, keys.arguments)] }
    var row = try results.row(results.count &- 1)
    let key = try row.text()
    try row.end()
    return key
  }

  /// The same for a purchase whose keys are one, which no line has: each statement is a round
  /// trip to the server.
  mutating func sqlTakeName(
    _ keys: PurchaseKeys, _ transaction: StoreStep.Transaction?
  ) throws(StoreStop) -> Text {
    let results = try sql(transaction) { [(.nameTake, keys.arguments)] }
    var row = try results.row(0)
    let target = try row.text()
    try row.end()
    if target == keys.purchase { return target }
    // Another purchase key was remembered first, and may lead on to a third.
    let found = try sql(transaction == nil ? nil : .inside) {
      [(.nameCanonical, keys.arguments)]
    }
    var canonical = try found.row(0)
    return try canonical.text()
  }

  /// The same, and in the same look whose line the purchase stands in (RPL-2).
  mutating func sqlCanonicalKey(
    _ keys: PurchaseKeys, inLineOf facts: PurchaseFacts, _ shown: ShownLine?,
    _ transaction: StoreStep.Transaction?
  ) throws(StoreStop) -> (key: Text, lineOwner: Text?) {
    let line = showing(shown)
    // The line stays as it was shown until its owner is read.
    let whole: StoreStep.Transaction? = shown == nil ? nil : .whole
    let results = try sql(transaction ?? whole) { keys.naming(inLineOf: facts, line) }
    return try results.nameAndOwner(results.count &- 1)
  }

  /// The statements that show a line, as `subscription.apply` does.
  private func showing(_ line: ShownLine?) -> [(SQLStatement, Arguments)] {
    guard let line else { return [] }
    return applying(line.row, line.evidence)
  }

  /// All of a claim in one step, which waits for the disk once: names and line as above, and
  /// the row of the purchase key, where both keys lead to that at once.
  ///
  /// - Parameter new: put there unless the line is somebody else's; nil: nothing is put there.
  mutating func sqlClaim(
    _ keys: PurchaseKeys, of purchase: StorePurchase, _ shown: ShownLine?,
    _ new: () -> LedgerRow?
  ) throws(StoreStop) -> (key: Text, lineOwner: Text?, row: LedgerRow?) {
    let (kept, line) = (keeping(purchase.evidence, of: keys.purchase), showing(shown))
    let results = try sql(.whole) {
      var calls = keys.naming(inLineOf: purchase.facts, line)
      if let new = new() {
        calls.append((.claimInsert, [("tkey", .text(keys.transaction))] + new.arguments))
        calls += kept
      }
      calls.append((.ledgerRead, keys.arguments))
      return calls
    }
    let (key, lineOwner) = try results.nameAndOwner(keys.namingCount &+ line.count)
    let row = try results.rowIfAny(results.count &- 1)
    guard key == keys.purchase, let row else { return (key, lineOwner, nil) }
    return (key, lineOwner, try LedgerRow(row).checked(key))
  }

  /// The key that both lead to, without remembering them.
  mutating func sqlKnownKey(_ transactionKey: Text) throws(StoreStop) -> Text? {
    let results = try sql { [(.nameCanonical, [("tkey", .text(transactionKey))])] }
    guard var row = try results.rowIfAny(0) else { return nil }
    let key = try row.text()
    try row.end()
    return key
  }

  mutating func sqlInsert(
    _ row: LedgerRow, _ evidence: StoreEvidence, _ transaction: StoreStep.Transaction?
  ) throws(StoreStop) -> LedgerRow {
    if context.dialect.isSQLServer {
      let kept = keeping(evidence, of: row.purchaseKey)
      let results = try sql(transaction ?? (kept.isEmpty ? nil : .whole)) {
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

  /// STM-2: the text of the evidence goes after the row, and only where that names it.
  func keeping(_ evidence: StoreEvidence, of key: Text) -> [(SQLStatement, Arguments)] {
    guard context.policy.keepEvidence else { return [] }
    return [(.ledgerEvidence, arguments(of: evidence) + [("pkey", .text(key))])]
  }

  func arguments(of evidence: StoreEvidence) -> Arguments {
    [
      ("digest", .text(evidence.sha256)), ("body", .text(evidence.body)),
      ("now_ms", .integer(context.nowMs)),
    ]
  }

  mutating func sqlLedgerRow(
    _ key: Text, _ transaction: StoreStep.Transaction?
  ) throws(StoreStop) -> LedgerRow? {
    let read = SQLStatement.ledgerRead(for: transaction)
    let results = try sql(transaction) { [(read, [("pkey", .text(key))])] }
    guard let row = try results.rowIfAny(0) else { return nil }
    return try LedgerRow(row)
  }

  /// One change of a row, and the row after it.
  ///
  /// - Parameter evidence: what is kept with the row; nil: nothing is.
  mutating func sqlChange(
    _ statement: SQLStatement, _ key: Text, _ transaction: StoreStep.Transaction?,
    keeping evidence: StoreEvidence? = nil, _ read: SQLStatement = .ledgerRead,
    _ arguments: () -> Arguments
  ) throws(StoreStop) -> LedgerRow? {
    let kept = evidence.map { keeping($0, of: key) } ?? []
    let results = try sql(transaction ?? (kept.isEmpty ? nil : .whole)) {
      [(statement, arguments())] + kept + [(read, [("pkey", .text(key))])]
    }
    guard let row = try results.rowIfAny(results.count &- 1) else { return nil }
    return try LedgerRow(row)
  }
}

extension PurchaseKeys {
  fileprivate var arguments: StoreTalk.Arguments {
    [("tkey", .text(transaction)), ("pkey", .text(purchase))]
  }

  /// As of consumables.
  var areOne: Bool { transaction == purchase }

  /// The statements that remember both, or the one that both are.
  fileprivate var naming: [(SQLStatement, StoreTalk.Arguments)] {
    let statements: [SQLStatement] = [.nameTransaction, .namePurchase]
    return statements.prefix(namingCount).map { ($0, arguments) }
  }

  fileprivate var namingCount: Int { areOne ? 1 : 2 }

  /// The same, what is done with the line, and the one that tells the canonical key and whose
  /// line it is.
  @inline(never)
  fileprivate func naming(
    inLineOf facts: PurchaseFacts, _ line: [(SQLStatement, StoreTalk.Arguments)]
  ) -> [(SQLStatement, StoreTalk.Arguments)] {
    let key: StoreTalk.Arguments = [
      ("env", .text(Text(stringLiteral: facts.environment.name))),
      ("otx", .text(facts.originalTransactionId)),
    ]
    return naming + line + [(.nameOwner, arguments + key)]
  }
}

extension [StoreResult] {
  /// What the last of `naming(inLineOf:)` brought.
  @inline(never)
  fileprivate func nameAndOwner(
    _ place: Int
  ) throws(StoreStop) -> (key: Text, lineOwner: Text?) {
    var row = try row(place)
    let (key, owner) = (try row.text(), try row.textIfAny())
    try row.end()
    return (key, owner)
  }
}

extension SQLStatement {
  /// STO-21: a row for which the host grants in the same transaction stays as it was read.
  fileprivate static func ledgerRead(for transaction: StoreStep.Transaction?) -> SQLStatement {
    transaction == nil ? .ledgerRead : .ledgerLock
  }
}
