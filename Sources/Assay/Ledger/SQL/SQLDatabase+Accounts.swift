/// Merged and forgotten accounts (docs/spec/ledger-statements.md §2, STO-92, STO-93).
extension SQLDatabase {
  func insert(_ rows: [AuditRow]) throws(LedgerSuspension) {
    guard !rows.isEmpty else { return }
    _ = try run { rows.map { (.auditInsert, $0.arguments) } }
  }

  // MARK: merge

  func merge(_ operation: MergeAccounts) throws(LedgerSuspension) -> OperationResult {
    let (targets, moved) = try lockLinks(operation)
    if let refused = operation.evaluate(targets) { return refused }
    return operation.done(targets, moved, more: try moveAccount(operation))
  }

  /// Locks the link rows in the byte order of their ids, so that two opposite merges meet and no
  /// transactions wait for each other in a circle (STM-9): those of both accounts, and those of the
  /// accounts merged into `from` before, which follow.
  private func lockLinks(
    _ link: MergeAccounts
  ) throws(LedgerSuspension) -> (targets: (from: Text, to: Text), moved: MergeAccounts.Moved) {
    let both = [link.from, link.to]
    let locking = locks(of: both, try joined(to: link.from), link.attemptId)
    let results = try run(.within) {
      locking + both.map { (.linkRead, [("id", .text($0))]) } + [counting(link.from)]
    }
    let last = results.count &- 1
    let targets = (from: try target(results, last &- 2), to: try target(results, last &- 1))
    return (targets, try MergeAccounts.Moved(try results.row(last)))
  }

  private func target(_ results: [DatabaseResult], _ place: Int) throws(LedgerSuspension) -> Text {
    var row = try results.row(place)
    _ = try row.text()
    return try row.text()
  }

  private func moveAccount(_ link: MergeAccounts) throws(LedgerSuspension) -> Bool {
    let arguments: Arguments = [
      ("from", .text(link.from)), ("to", .text(link.to)), ("attempt_id", .text(link.attemptId)),
      ("now_ms", .integer(context.nowMs)), ("note", DatabaseValue(link.reason)),
      ("from_scope", .text(MeterScope.account(link.from))),
      ("to_scope", .text(MeterScope.account(link.to))),
      ("id", .text(AuditRow.id("merge", link.attemptId))),
    ]
    let statements: [SQLStatement] = [
      .linkTarget, .linkFollow, .linkSubscriptions, .linkLedger, .linkKeys,
    ]
    let owners = statements.map { ($0, arguments) } + movingCustomers(arguments)
    guard isMariaDB else {
      let quota: [SQLStatement] =
        context.engine == .sqlite ? [.linkQuota, .linkQuotaClear] : [.linkQuota]
      _ = try run(.commit) { owners + (quota + [.linkAudit]).map { ($0, arguments) } }
      return false
    }
    // MariaDB reads the counters under a lock, and then moves them one by one.
    let results = try run(.within) { owners + [(.linkQuotaLock, arguments)] }
    let rows = try results.rows(owners.count)
    var quota: [(SQLStatement, Arguments)] = []
    for row in rows { quota += try moving(row, arguments) }
    _ = try run(.commit) { quota + [(.linkAudit, arguments)] }
    return rows.count >= Self.counterCap
  }

  /// The largest number of counters that one merge moves on MariaDB.
  private static let counterCap = 200

  /// Returns the statements that add one counter to that of `to`, and delete it by its locked key.
  private func moving(
    _ row: DatabaseRow, _ arguments: Arguments
  ) throws(LedgerSuspension) -> [(SQLStatement, Arguments)] {
    var row = row
    let key: Arguments = [("bucket", .text(try row.text())), ("meter", .text(try row.text()))]
    let counted: Arguments = [
      ("used", .integer(try row.integer())), ("delete_after_ms", .integer(try row.integer())),
    ]
    try row.end()
    return [(.linkQuotaAdd, arguments + key + counted), (.linkQuotaRemove, arguments + key)]
  }

  // MARK: forget

  /// The largest number of merged accounts that one exchange forgets.
  private static let joinedCap = 25

  /// Forgets table by table in the lock order (STM-9). The link row is locked first, so that no
  /// account is merged into this one meanwhile.
  func forget(_ operation: ForgetAccount) throws(LedgerSuspension) -> OperationResult {
    let account = operation.account
    let locking = locks(of: [account], try joined(to: account), operation.attemptId)
    let results = try run(.within) { locking + [(.linkJoined, [("id", .text(account))])] }
    let joined = try joined(results, results.count &- 1)
    let accounts = [account] + joined
    var counts = MergeAccounts.Moved()
    let counted = try run(.within) { accounts.map { counting($0) } }
    for place in counted.indices {
      counts.add(try MergeAccounts.Moved(try counted.row(place)))
    }
    let customers: [SQLStatement] =
      context.policy.customerKey == nil ? [] : [.forgetCustomers, .forgetRestrictions]
    let statements: [SQLStatement] =
      [.forgetLink, .forgetSubscriptions, .forgetLedger, .forgetKeys] + customers + [
        .forgetQuota, .forgetChallenges, .forgetAuditOwner, .forgetAuditOther,
      ]
    var last: [SQLStatement] = [.forgetAudit]
    if context.policy.keepEvidence { last.append(.forgetEvidence) }
    let nowMs = context.nowMs
    _ = try run(.commit) {
      let own: Arguments = [
        ("hash", .text(operation.hash)), ("now_ms", .integer(nowMs)),
        ("id", .text(operation.auditId)),
      ]
      var calls: [(SQLStatement, Arguments)] = []
      for statement in statements {
        for account in accounts {
          let arguments: Arguments = [
            ("owner", .text(account)), ("scope", .text(MeterScope.account(account))),
          ]
          calls.append((statement, own + arguments))
        }
      }
      return calls + last.map { ($0, own) }
    }
    return operation.done(counts, joined: joined.count, more: joined.count >= Self.joinedCap)
  }

  /// Returns the statement that counts the rows of an account.
  private func counting(_ account: Text) -> (SQLStatement, Arguments) {
    let arguments: Arguments = [
      ("from", .text(account)), ("from_scope", .text(MeterScope.account(account))),
    ]
    return (.linkCounts, arguments)
  }

  // MARK: link rows

  /// Begins the transaction, and returns at most 25 accounts that were merged into this one.
  private func joined(to account: Text) throws(LedgerSuspension) -> [Text] {
    try joined(try run(.begin) { [(.linkJoined, [("id", .text(account))])] }, 0)
  }

  private func joined(
    _ results: [DatabaseResult], _ place: Int
  ) throws(LedgerSuspension) -> [Text] {
    try results.rows(place).map { row throws(LedgerSuspension) in try row.onlyText() }
  }

  /// Returns the statements that lock the link rows of these accounts, inserting missing ones, and
  /// of those merged into them: each once, in the byte order of the ids.
  private func locks(
    of accounts: [Text], _ joined: [Text], _ attemptId: Text
  ) -> [(SQLStatement, Arguments)] {
    let others = joined.filter { !accounts.contains($0) }
    return (accounts + others).ordered(by: Text.precedes).map { id in
      guard accounts.contains(id) else { return (.linkHold, [("id", .text(id))]) }
      let arguments: Arguments = [
        ("id", .text(id)), ("now_ms", .integer(context.nowMs)), ("attempt_id", .text(attemptId)),
      ]
      return (.linkLock, arguments)
    }
  }
}
