/// `account.forget`: an account is deleted; its purchases stay paid out (STO-93, STO-94).
struct AccountForget: StoreOperation {
  let account: Text
  let attempt: Text
  /// The owner that stands in its place.
  let hash: Text

  /// - Throws: `config.store.forget-key`, `misuse.exchange.request`, `misuse.store.account`,
  ///   `.attempt`.
  init(_ parameters: StoreParameters) throws(Refusal) {
    account = try parameters.account("account")
    attempt = try parameters.attempt()
    _ = try parameters.note("reason")
    guard let key = parameters.context.policy.forgetKey else {
      throw Refusal(.configStoreForgetKey, "STO-93", at: "stores.forgetKey")
    }
    let code = MessageCode.of(key: key, head: "", account.utf8[...])
    hash = Text(Text("forgotten:").utf8 + Hex.encode(code))
  }

  var seed: Text { attempt }

  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    if talk.context.dialect == .dynamodb { return try talk.dynamoForget(self) }
    return done(try talk.forget(self), more: false)
  }

  func done(_ counts: AccountLink.Moved, more: Bool) -> StoreOutcome {
    StoreOutcome { writer in
      writer.member("outcome", counts.isSomething ? "forgotten" : "already")
      writer.name("forgotten")
      counts.write(&writer)
      writer.member("more", boolean: more)
      writer.member("changed", boolean: counts.isSomething)
    }
  }
}

extension StoreTalk {
  fileprivate mutating func forget(
    _ operation: AccountForget
  ) throws(StoreStop) -> AccountLink.Moved {
    let (account, nowMs) = (operation.account, context.nowMs)
    let results = try sql(.begin) {
      let arguments: Arguments = [
        ("from", .text(account)), ("from_scope", .text(MeterScope.account(account))),
      ]
      return [(.linkCounts, arguments)]
    }
    let counts = try AccountLink.Moved(try results.row(0))
    let keeps = context.policy.keepEvidence
    _ = try sql(.commit) {
      let arguments: Arguments = [
        ("owner", .text(account)), ("hash", .text(operation.hash)), ("now_ms", .integer(nowMs)),
        ("scope", .text(MeterScope.account(account))),
        ("id", .text(Text(Text("forget#").utf8 + operation.hash.utf8.suffix(64)))),
      ]
      var statements: [SQLStatement] = [
        .forgetLedger, .forgetLines, .forgetKeys, .forgetQuota, .forgetChallenges, .forgetLinks,
      ]
      if keeps { statements.append(.forgetEvidence) }
      statements += [.forgetAuditOwner, .forgetAuditOther, .forgetAudit]
      return statements.map { ($0, arguments) }
    }
    return counts
  }
}
