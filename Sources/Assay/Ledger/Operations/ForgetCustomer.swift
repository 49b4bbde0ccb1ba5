/// The operation `forget-customer`: restricts every account at the download of a notification
/// RESCIND_CONSENT, and then forgets one after the other (CUS-24).
struct ForgetCustomer: DurableOperation {
  private let rescission: Rescission
  private let attemptId: Text
  private let context: LedgerContext
  private let forgetKey: SecretBytes

  /// The largest number of accounts that one exchange forgets.
  private static let accountCap = 5

  /// - Throws: `config.ledger.customer-key`, `config.ledger.forget-key`, `misuse.exchange.request`,
  ///   `misuse.ledger.attempt-id`, `misuse.exchange.evidence`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let key = try parameters.customerKey()
    context = parameters.context
    attemptId = try parameters.attemptId()
    forgetKey = try ForgetAccount.key(context)
    guard let evidence = parameters.evidence.first else {
      throw Refusal(.misuseExchangeEvidence, "CUS-20", at: "evidence")
    }
    rescission = try Rescission.needed(evidence, key)
  }

  var jitterSeed: Text { attemptId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    // Killed after this, the accounts are restricted, and the repetition forgets them.
    let (accounts, more) = try rescission.apply(database)
    var forgotten: [(account: Text, result: OperationResult)] = []
    for account in accounts.prefix(Self.accountCap) {
      let operation = ForgetAccount(account.account, attemptId: attemptId, forgetKey)
      forgotten.append((account.account, try database.forget(operation)))
    }
    let hasMore = more || accounts.count > forgotten.count
    return OperationResult { writer in
      writer.name("accounts")
      writer.beginArray()
      for (account, result) in forgotten {
        writer.beginObject()
        writer.member("account", account)
        result.write(&writer)
        writer.endObject()
      }
      writer.endArray()
      writer.member("hasMore", boolean: hasMore)
      writer.member("changed", boolean: !forgotten.isEmpty)
    }
  }
}
