/// `account.link`: what an anonymous account has moves once to the signed-in one (STO-90 … 92).
struct AccountLink: StoreOperation {
  let from: Text
  let to: Text
  let attempt: Text
  let reason: Text?
  /// A person asks, who may see other accounts.
  private let isOperator: Bool

  /// - Throws: `misuse.exchange.request`, `misuse.store.account`, `.attempt`.
  init(_ parameters: StoreParameters) throws(Refusal) {
    from = try parameters.account("from")
    to = try parameters.account("to")
    try require(from != to, .misuseStoreAccount, "STO-90", at: "to")
    attempt = try parameters.attempt()
    reason = try parameters.note("reason")
    isOperator = try parameters["operator"]?.boolean() ?? false
  }

  var seed: Text { attempt }

  /// What was moved, or stands to be.
  struct Moved {
    var lines: Int64 = 0
    var purchases: Int64 = 0
    var keys: Int64 = 0
    var meters: Int64 = 0
  }

  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    if talk.context.dialect == .dynamodb { return try talk.dynamoLink(self) }
    let (targets, moved) = try talk.lockLinks(self)
    if let refused = judge(targets) { return refused }
    try talk.moveAccount(self)
    return done(targets, moved, more: false)
  }

  /// STO-91, by what each account was joined to; empty: nothing.
  func judge(_ targets: (from: Text, to: Text)) -> StoreOutcome? {
    if targets.to.isEmpty && (targets.from.isEmpty || targets.from == to) { return nil }
    let linkedTo = targets.from.isEmpty || targets.from == to ? targets.to : targets.from
    let isOperator = isOperator
    return StoreOutcome(Refusal(.rejectedAccountLinked, "STO-91", at: "to")) { writer in
      writer.member("outcome", "linked")
      if isOperator { writer.member("linkedTo", linkedTo) }
    }
  }

  func done(_ targets: (from: Text, to: Text), _ moved: Moved, more: Bool) -> StoreOutcome {
    let isRepeated = targets.from == to
    return StoreOutcome { writer in
      writer.member("outcome", isRepeated ? "already" : "linked")
      writer.name("moved")
      moved.write(&writer)
      writer.member("more", boolean: more)
      writer.member("changed", boolean: moved.isSomething || !isRepeated)
    }
  }
}

extension AccountLink.Moved {
  var isSomething: Bool { lines > 0 || purchases > 0 || keys > 0 || meters > 0 }

  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("lines", integer: lines)
    writer.member("purchases", integer: purchases)
    writer.member("keys", integer: keys)
    writer.member("meters", integer: meters)
    writer.endObject()
  }

  /// A row of four counts: lines, ledger, keys, meters.
  init(_ row: StoreRow) throws(StoreStop) {
    var row = row
    lines = try row.integer()
    purchases = try row.integer()
    keys = try row.integer()
    meters = try row.integer()
    try row.end()
  }
}

extension StoreTalk {
  /// Both rows under their lock, in the byte order of the ids, so that two opposite links
  /// meet (docs/spec/store-statements.md §2, "Accounts").
  fileprivate mutating func lockLinks(
    _ link: AccountLink
  ) throws(StoreStop) -> (targets: (from: Text, to: Text), moved: AccountLink.Moved) {
    let nowMs = context.nowMs
    let results = try sql(.begin) {
      let isFirst = Text.precedes(link.from, link.to)
      let ids = isFirst ? [link.from, link.to] : [link.to, link.from]
      var calls: [(SQLStatement, Arguments)] = ids.map { id in
        let arguments: Arguments = [
          ("id", .text(id)), ("now_ms", .integer(nowMs)), ("attempt", .text(link.attempt)),
        ]
        return (.linkLock, arguments)
      }
      let counted: Arguments = [
        ("from", .text(link.from)), ("from_scope", .text(MeterScope.account(link.from))),
      ]
      calls.append((.linkRead, [("id", .text(link.from))]))
      calls.append((.linkRead, [("id", .text(link.to))]))
      calls.append((.linkCounts, counted))
      return calls
    }
    let targets = (from: try target(results, 2), to: try target(results, 3))
    return (targets, try AccountLink.Moved(try results.row(4)))
  }

  private func target(_ results: [StoreResult], _ place: Int) throws(StoreStop) -> Text {
    var row = try results.row(place)
    _ = try row.text()
    return try row.text()
  }

  fileprivate mutating func moveAccount(_ link: AccountLink) throws(StoreStop) {
    let nowMs = context.nowMs
    _ = try sql(.commit) {
      let arguments: Arguments = [
        ("from", .text(link.from)), ("to", .text(link.to)), ("attempt", .text(link.attempt)),
        ("now_ms", .integer(nowMs)), ("note", StoreValue(link.reason)),
        ("from_scope", .text(MeterScope.account(link.from))),
        ("to_scope", .text(MeterScope.account(link.to))),
        ("id", .text(AuditRow.id("link", link.attempt))),
      ]
      let statements: [SQLStatement] = [
        .linkTarget, .linkFollow, .linkLines, .linkLedger, .linkKeys, .linkQuota,
        .linkQuotaClear, .linkAudit,
      ]
      return statements.map { ($0, arguments) }
    }
  }
}
