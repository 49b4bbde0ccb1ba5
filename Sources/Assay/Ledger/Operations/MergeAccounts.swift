/// The operation `merge-accounts`: merges an anonymous account into the signed-in one (STO-90 …
/// 92).
struct MergeAccounts: LedgerOperation {
  let from: Text
  let to: Text
  let attemptId: Text
  let reason: Text?
  /// Whether an operator asks, who may see other accounts.
  private let isOperator: Bool

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.account`, `.attempt-id`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    from = try parameters.account("from")
    to = try parameters.account("to")
    try require(from != to, .misuseLedgerAccount, "STO-90", at: "to")
    attemptId = try parameters.attemptId()
    reason = try parameters.reason()
    isOperator = try parameters["operatorView"]?.boolean() ?? false
  }

  var jitterSeed: Text { attemptId }

  /// The numbers of rows that were moved, or are to be moved.
  struct Moved {
    var subscriptions: Int64 = 0
    var purchases: Int64 = 0
    var keys: Int64 = 0
    var meters: Int64 = 0
  }

  func run(_ session: inout LedgerSession) throws(LedgerSuspension) -> OperationResult {
    if session.context.engine == .dynamodb { return try session.dynamoLink(self) }
    let (targets, moved) = try session.lockLinks(self)
    if let refused = evaluate(targets) { return refused }
    let more = try session.moveAccount(self)
    return done(targets, moved, more: more)
  }

  /// Returns the refusal of a merge (STO-91); `nil` if the merge is allowed.
  ///
  /// - Parameter targets: The accounts that `from` and `to` were merged into before; empty if none.
  func evaluate(_ targets: (from: Text, to: Text)) -> OperationResult? {
    if targets.to.isEmpty && (targets.from.isEmpty || targets.from == to) { return nil }
    let mergedInto = targets.from.isEmpty || targets.from == to ? targets.to : targets.from
    let isOperator = isOperator
    return OperationResult(Refusal(.rejectedAccountMerged, "STO-91", at: "to")) { writer in
      writer.member("outcome", "other-account")
      if isOperator { writer.member("mergedInto", mergedInto) }
    }
  }

  func done(_ targets: (from: Text, to: Text), _ moved: Moved, more: Bool) -> OperationResult {
    let isRepeated = targets.from == to
    return OperationResult { writer in
      writer.member("outcome", isRepeated ? "already" : "merged")
      writer.name("moved")
      moved.write(&writer)
      writer.member("hasMore", boolean: more)
      writer.member("changed", boolean: moved.isSomething || !isRepeated)
    }
  }
}

extension MergeAccounts.Moved {
  var isSomething: Bool { subscriptions > 0 || purchases > 0 || keys > 0 || meters > 0 }

  mutating func add(_ other: MergeAccounts.Moved) {
    subscriptions &+= other.subscriptions
    purchases &+= other.purchases
    keys &+= other.keys
    meters &+= other.meters
  }

  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("subscriptions", integer: subscriptions)
    writer.member("purchases", integer: purchases)
    writer.member("keys", integer: keys)
    writer.member("meters", integer: meters)
    writer.endObject()
  }

  /// Reads a row of four counts: subscriptions, purchases, device keys, meters.
  init(_ row: DatabaseRow) throws(LedgerSuspension) {
    var row = row
    subscriptions = try row.integer()
    purchases = try row.integer()
    keys = try row.integer()
    meters = try row.integer()
    try row.end()
  }
}

extension LedgerSession {
  /// Locks the link rows in the byte order of their ids, so that two opposite merges meet and no
  /// transactions wait for each other in a circle (STM-9): those of both accounts, and those of the
  /// accounts merged into `from` before, which follow.
  fileprivate mutating func lockLinks(
    _ link: MergeAccounts
  ) throws(LedgerSuspension) -> (targets: (from: Text, to: Text), moved: MergeAccounts.Moved) {
    let both = [link.from, link.to]
    let locking = locks(of: both, try joined(to: link.from), link.attemptId)
    let results = try sql(.within) {
      let counted: Arguments = [
        ("from", .text(link.from)), ("from_scope", .text(MeterScope.account(link.from))),
      ]
      return locking + both.map { (.linkRead, [("id", .text($0))]) } + [(.linkCounts, counted)]
    }
    let last = results.count &- 1
    let targets = (
      from: try target(results, last &- 2), to: try target(results, last &- 1)
    )
    return (targets, try MergeAccounts.Moved(try results.row(last)))
  }

  private func target(_ results: [DatabaseResult], _ place: Int) throws(LedgerSuspension) -> Text {
    var row = try results.row(place)
    _ = try row.text()
    return try row.text()
  }

  fileprivate mutating func moveAccount(_ link: MergeAccounts) throws(LedgerSuspension) -> Bool {
    let arguments: Arguments = [
      ("from", .text(link.from)), ("to", .text(link.to)), ("attempt_id", .text(link.attemptId)),
      ("now_ms", .integer(context.nowMs)), ("note", DatabaseValue(link.reason)),
      ("from_scope", .text(MeterScope.account(link.from))),
      ("to_scope", .text(MeterScope.account(link.to))),
      ("id", .text(AuditRow.id("merge", link.attemptId))),
    ]
    let owners: [SQLStatement] = [
      .linkTarget, .linkFollow, .linkSubscriptions, .linkLedger, .linkKeys,
    ]
    var quota: [(SQLStatement, Arguments)] = [(.linkQuota, arguments)]
    var first = owners
    var more = false
    switch context.engine {
    case .sqlite: quota.append((.linkQuotaClear, arguments))
    case .mariadb:
      // MariaDB reads the counters under a lock, and then moves them one by one.
      let results = try sql(.within) {
        (owners + [.linkQuotaLock]).map { ($0, arguments) }
      }
      let rows = try results.rows(owners.count)
      quota = []
      for row in rows { quota += try moving(row, arguments) }
      more = rows.count >= Self.counterCap
      first = []
    default: break
    }
    _ = try sql(.commit) { first.map { ($0, arguments) } + quota + [(.linkAudit, arguments)] }
    return more
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

  // MARK: link rows

  /// Begins the transaction, and returns at most 25 accounts that were merged into this one.
  mutating func joined(to account: Text) throws(LedgerSuspension) -> [Text] {
    let results = try sql(.begin) { [(.linkJoined, [("id", .text(account))])] }
    return try joined(results, 0)
  }

  func joined(_ results: [DatabaseResult], _ place: Int) throws(LedgerSuspension) -> [Text] {
    var ids: [Text] = []
    for var row in try results.rows(place) {
      ids.append(try row.text())
      try row.end()
    }
    return ids
  }

  /// Returns the statements that lock the link rows of these accounts, inserting missing ones, and
  /// of those merged into them: each once, in the byte order of the ids.
  func locks(
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
