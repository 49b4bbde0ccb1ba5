/// The operation `find`: finds purchases and whether they were used, for support
/// (docs/spec/receipts-decisions.md §8).
struct FindPurchases: DurableOperation {
  private enum Question {
    case account
    case transaction(Text)
    case purchases([LedgerPurchase])
  }

  private let question: Question
  /// The account to compare owners with; `nil` if the request names none.
  private let account: Text?
  private let isOperator: Bool

  /// - Throws: `misuse.exchange.request` unless it is about exactly one thing,
  ///   `misuse.ledger.account`, `misuse.exchange.evidence`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let evidence = parameters.evidence
    account = try parameters.accountIfAny("account")
    isOperator = try parameters["operatorView"]?.boolean() ?? false
    if !evidence.isEmpty {
      try parameters.refuse(["environment", "transactionId"])
      question = .purchases(
        try LedgerPurchase.all(evidence, parameters.context.configuration.products))
    } else if let node = parameters["transactionId"] {
      question = .transaction(try FindPurchases.transactionKey(node, parameters))
    } else {
      try parameters.refuse(["environment"])
      _ = try parameters.needed("account")
      question = .account
    }
  }

  /// Returns the key of the transaction that a request names with its environment.
  static func transactionKey(
    _ node: MemberNode, _ parameters: OperationParameters
  ) throws(Refusal) -> Text {
    let environment = try environment(try parameters.needed("environment"))
    let id = try node.text(1...64)
    guard let key = ReplayKeys.transaction(environment: environment, transactionId: id) else {
      throw node.refusal(.range)
    }
    return key
  }

  static func environment(_ node: MemberNode) throws(Refusal) -> Environment {
    let names: [StaticString] = Environment.allCases.map { $0.name }
    return Environment.allCases[try node.choice(names)]
  }

  var jitterSeed: Text { account ?? "" }

  var size: (purchases: Int, subscriptions: Int) {
    guard case .purchases(let purchases) = question else { return (0, 0) }
    return (purchases.count, 0)
  }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    var rows: [LedgerRow] = []
    var (isProven, isEventual) = (false, false)
    switch question {
    case .account:
      (rows, isEventual) = try database.purchases(of: account ?? "")
      for row in rows where row.owner != account ?? "" { throw .shape("owner") }
    case .transaction(let key): rows = try row(key, database)
    case .purchases(let purchases):
      isProven = true
      for purchase in purchases {
        guard let key = purchase.transactionKey else { continue }
        rows += try row(key, database, or: purchase.purchaseKey)
      }
    }
    return outcome(rows, isProven, isEventual)
  }

  private func row(
    _ transactionKey: Text, _ database: any DurableDatabase, or purchaseKey: Text? = nil
  ) throws(LedgerSuspension) -> [LedgerRow] {
    guard let key = try database.knownKey(transactionKey) ?? purchaseKey else { return [] }
    return try database.ledgerRow(key).map { [$0] } ?? []
  }

  private func outcome(
    _ rows: [LedgerRow], _ isProven: Bool, _ isEventual: Bool
  ) -> OperationResult {
    let (account, isOperator) = (account, isOperator)
    let first = rows.first.map { FindPurchases.word($0, account) }
    return OperationResult { writer in
      writer.member("outcome", first ?? (isProven ? "unused" : "unproven"))
      writer.member("eventual", boolean: isEventual)
      writer.name("rows")
      writer.beginArray()
      for row in rows { FindPurchases.write(row, account, isOperator, &writer) }
      writer.endArray()
    }
  }

  private static func word(_ row: LedgerRow, _ account: Text?) -> StaticString {
    if row.state == .revoked { return "refunded" }
    if row.owner.isEmpty { return "unused" }
    if let account, row.owner != account { return "used-by-other" }
    return row.state == .granted ? "already-delivered" : "resume"
  }

  private static func write(
    _ row: LedgerRow, _ account: Text?, _ isOperator: Bool, _ writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.member("purchaseKey", row.purchaseKey)
    writer.member("environment", row.environment)
    writer.member("transactionId", row.transactionId)
    writer.member("outcome", word(row, account))
    writer.member("state", row.state.name)
    writer.member("product", row.product)
    writer.member("quantity", integer: row.quantity)
    writer.member("purchasedAtMs", integer: row.purchasedAtMs)
    writer.member("claimedAtMs", integer: row.claimedAtMs)
    writer.member("grantedAtMs", integer: row.grantedAtMs)
    writer.member("revokedAtMs", integer: row.revokedAtMs)
    writer.member("isOwn", boolean: account.map { $0 == row.owner })
    let isShown = isOperator || account == row.owner
    writer.member("grantId", isShown ? row.grantId : nil)
    if isOperator {
      writer.name("operatorView")
      writer.beginObject()
      writer.member("account", row.owner)
      writer.member("note", row.note)
      writer.member("evidence", row.evidence)
      writer.member("fencingToken", integer: row.fencingToken)
      writer.member("generation", integer: row.generation)
      writer.member("leaseExpiresAtMs", integer: row.leaseMs)
      writer.endObject()
    }
    writer.endObject()
  }
}
