/// The operation `forget-account`: deletes an account; its purchases stay granted (STO-93, STO-94).
struct ForgetAccount: LedgerOperation {
  let account: Text
  let attemptId: Text
  /// The owner that replaces the account in its rows: `forgotten:` and a keyed hash.
  let hash: Text

  /// - Throws: `config.ledger.forget-key`, `misuse.exchange.request`, `misuse.ledger.account`,
  ///   `.attempt-id`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    account = try parameters.account("account")
    attemptId = try parameters.attemptId()
    _ = try parameters.reason()
    guard let key = parameters.context.policy.forgetKey else {
      throw Refusal(.configLedgerForgetKey, "STO-93", at: "ledger.forgetKey")
    }
    let code = MessageCode.of(key: key, head: "", account.utf8[...])
    hash = Text(Text("forgotten:").utf8 + Hex.encode(code))
  }

  var jitterSeed: Text { attemptId }

  func run(_ session: inout LedgerSession) throws(LedgerSuspension) -> OperationResult {
    if session.context.engine == .dynamodb { return try session.dynamoForget(self) }
    let (counts, joined) = try session.forget(self)
    return done(counts, joined: joined, more: joined >= ForgetAccount.joinedCap)
  }

  /// The largest number of merged accounts that one exchange forgets.
  static let joinedCap = 25

  /// - Parameter joined: The number of accounts that were forgotten with this one.
  func done(_ counts: MergeAccounts.Moved, joined: Int, more: Bool) -> OperationResult {
    let isSomething = counts.isSomething || joined > 0
    return OperationResult { writer in
      writer.member("outcome", isSomething ? "forgotten" : "already")
      writer.name("forgotten")
      counts.write(&writer)
      writer.member("hasMore", boolean: more)
      writer.member("changed", boolean: isSomething)
    }
  }
}

extension LedgerSession {
  /// Forgets the account and those merged into it, table by table in the lock order (STM-9). The
  /// link row is locked first, so that no account is merged into this one meanwhile.
  fileprivate mutating func forget(
    _ operation: ForgetAccount
  ) throws(LedgerSuspension) -> (counts: MergeAccounts.Moved, joined: Int) {
    let account = operation.account
    let locking = locks(of: [account], try joined(to: account), operation.attemptId)
    let results = try sql(.within) { locking + [(.linkJoined, [("id", .text(account))])] }
    let joined = try joined(results, results.count &- 1)
    let accounts = [account] + joined
    var counts = MergeAccounts.Moved()
    let counted = try sql(.within) {
      accounts.map { account in
        let arguments: Arguments = [
          ("from", .text(account)), ("from_scope", .text(MeterScope.account(account))),
        ]
        return (.linkCounts, arguments)
      }
    }
    for place in counted.indices {
      counts.add(try MergeAccounts.Moved(try counted.row(place)))
    }
    let statements: [SQLStatement] = [
      .forgetLink, .forgetSubscriptions, .forgetLedger, .forgetKeys, .forgetQuota,
      .forgetChallenges,
      .forgetAuditOwner, .forgetAuditOther,
    ]
    var last: [SQLStatement] = [.forgetAudit]
    if context.policy.keepEvidence { last.append(.forgetEvidence) }
    let nowMs = context.nowMs
    _ = try sql(.commit) {
      let own: Arguments = [
        ("hash", .text(operation.hash)), ("now_ms", .integer(nowMs)),
        ("id", .text(Text(Text("forget#").utf8 + operation.hash.utf8.suffix(64)))),
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
    return (counts, joined.count)
  }
}
