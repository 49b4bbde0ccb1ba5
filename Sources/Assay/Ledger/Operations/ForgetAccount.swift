/// The operation `forget-account`: deletes an account; its purchases stay granted (STO-93, STO-94).
struct ForgetAccount: DurableOperation {
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
    hash = ForgetAccount.hash(account, try ForgetAccount.key(parameters.context))
  }

  /// Creates the part of `forget-customer` that forgets one account.
  init(_ account: Text, attemptId: Text, _ key: SecretBytes) {
    self.account = account
    self.attemptId = attemptId
    hash = ForgetAccount.hash(account, key)
  }

  /// - Throws: `config.ledger.forget-key`.
  static func key(_ context: LedgerContext) throws(Refusal) -> SecretBytes {
    guard let key = context.policy.forgetKey else {
      throw Refusal(.configLedgerForgetKey, "STO-93", at: "ledger.forgetKey")
    }
    return key
  }

  private static func hash(_ account: Text, _ key: SecretBytes) -> Text {
    let code = MessageCode.of(key: key, head: "", account.utf8[...])
    return Text(Text("forgotten:").utf8 + Hex.encode(code))
  }

  /// The id of the audit row.
  var auditId: Text { Text("forget#".utf8 + hash.utf8.suffix(64)) }

  var jitterSeed: Text { attemptId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    try database.forget(self)
  }

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
