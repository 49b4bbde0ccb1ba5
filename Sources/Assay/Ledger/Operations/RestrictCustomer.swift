/// The operation `restrict-customer`: restricts an account for a person, or every account at the
/// download of a notification RESCIND_CONSENT (CUS-20, CUS-23).
struct RestrictCustomer: DurableOperation {
  private enum Subject {
    case download(Rescission)
    case account(Restriction, note: Text?)
  }

  private let subject: Subject
  private let attemptId: Text

  /// - Throws: `config.ledger.customer-key`, `misuse.exchange.request`, `misuse.ledger.account`,
  ///   `.attempt-id`, `misuse.exchange.evidence`, `malformed.ledger.text`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let key = try parameters.customerKey()
    attemptId = try parameters.attemptId()
    if let evidence = parameters.evidence.first {
      try parameters.refuse(["account", "reason", "note"])
      subject = .download(try Rescission.needed(evidence, key))
      return
    }
    let account = try parameters.account("account")
    // Consent is withdrawn by Apple's word alone.
    let reasons = Restriction.reasons.dropFirst()
    let place = try parameters.needed("reason").choice(Array(reasons))
    let reason = Text(stringLiteral: Restriction.reasons[place &+ 1])
    let note = try parameters["note"].map { node throws(Refusal) in
      try OperationParameters.clientText(node, 1...255)
    }
    subject = .account(
      Restriction(
        account: account, source: reason, reason: reason,
        restrictedAtMs: parameters.context.nowMs), note: note)
  }

  var jitterSeed: Text { attemptId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let accounts: [RestrictedAccount]
    var hasMore = false
    switch subject {
    case .download(let rescission): (accounts, hasMore) = try rescission.apply(database)
    case .account(let restriction, let note):
      accounts = [try restrict(restriction, note, database)]
    }
    return OperationResult { writer in
      writer.name("restricted")
      writer.beginArray()
      for account in accounts { account.write(&writer) }
      writer.endArray()
      writer.member("hasMore", boolean: hasMore)
      writer.member("changed", boolean: accounts.contains { $0.changed })
    }
  }

  private func restrict(
    _ restriction: Restriction, _ note: Text?, _ database: any DurableDatabase
  ) throws(LedgerSuspension) -> RestrictedAccount {
    let (stored, isMade) = try database.restrict(restriction)
    // Written also for a restriction that is there: an exchange that was killed has no audit row.
    try database.insert([
      AuditRow(
        "restrict", stored.auditId(Text(String(stored.restrictedAtMs))), owner: stored.account,
        other: "", note: note ?? stored.reason, database.session.context)
    ])
    return RestrictedAccount(
      account: stored.account, role: nil, restrictedAtMs: stored.restrictedAtMs,
      changed: database.session.isOurs(isMade, at: stored.restrictedAtMs))
  }
}
