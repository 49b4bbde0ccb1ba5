/// The operation `find-customer`: finds the accounts of a customer by evidence, by an id of Apple's
/// or by one of the accounts, for support and for what a notification is about (CUS-30).
struct FindCustomer: DurableOperation {
  /// The keys that the question is about.
  private let keys: [Text]
  private let purchases: [LedgerPurchase]
  /// The transaction key of a transaction that the request names; `nil` without one.
  private let transactionKey: Text?
  /// Whether the question is the account: its keys are read first.
  private let isOfAccount: Bool
  /// The account that is asked about, or that is compared; `nil` if the request names none.
  private let account: Text?
  private let isOperator: Bool

  /// The largest number of keys of a question, and of accounts of a result.
  private static let keyCap = 64
  private static let accountCap = 50

  /// - Throws: `config.ledger.customer-key`, `misuse.exchange.request` unless it is about exactly
  ///   one thing, `misuse.ledger.account`, `misuse.exchange.evidence`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let key = try parameters.customerKey()
    let evidence = parameters.evidence
    isOperator = try parameters["operatorView"]?.boolean() ?? false
    account = try parameters.accountIfAny("account")
    if !evidence.isEmpty {
      try parameters.refuse([
        "environment", "appTransactionId", "appAccountToken", "transactionId",
      ])
      purchases = try LedgerPurchase.all(
        evidence.filter { $0.purchaseSource != nil }, parameters.context.configuration.products)
      keys = FindCustomer.keys(evidence, purchases, key)
      (transactionKey, isOfAccount) = (nil, false)
      return
    }
    purchases = []
    if let node = parameters["appTransactionId"] {
      try parameters.refuse(["appAccountToken", "transactionId"])
      let id = try node.text(1...64)
      let environment = try FindPurchases.environment(try parameters.needed("environment"))
      keys = [CustomerKey(download: id, in: environment, key).text]
      (transactionKey, isOfAccount) = (nil, false)
    } else if let node = parameters["appAccountToken"] {
      try parameters.refuse(["environment", "transactionId"])
      let token = try node.text()
      try require(token.isUUID, node)
      keys = [CustomerKey(token: token, key).text]
      (transactionKey, isOfAccount) = (nil, false)
    } else if let node = parameters["transactionId"] {
      transactionKey = try FindPurchases.transactionKey(node, parameters)
      (keys, isOfAccount) = ([], false)
    } else {
      try parameters.refuse(["environment"])
      _ = try parameters.needed("account")
      (keys, transactionKey, isOfAccount) = ([], nil, true)
    }
  }

  /// Returns the keys of all ids in the evidence, each once.
  private static func keys(
    _ evidence: [VerifiedEvidence], _ purchases: [LedgerPurchase], _ key: SecretBytes
  ) -> [Text] {
    var keys: [Text] = []
    func add(_ new: CustomerKey) {
      if keys.count < keyCap && !keys.contains(new.text) { keys.append(new.text) }
    }
    for case .storeKit(let payload) in evidence {
      for part in [payload] + (payload.notification?.nested ?? []).map({ $0.payload }) {
        if let id = part.downloadId {
          add(CustomerKey(download: id, in: part.identity.environment, key))
        }
      }
    }
    for purchase in purchases {
      if let token = purchase.accountToken { add(CustomerKey(token: token, key)) }
    }
    return keys
  }

  var jitterSeed: Text { account ?? "" }

  var size: (purchases: Int, subscriptions: Int) { (purchases.count, 0) }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    var found = CustomerAccounts()
    var keys = keys
    if isOfAccount, let account {
      let (rows, isEventual) = try database.customers(of: account)
      found.isEventual = isEventual
      found.isCapped = rows.count >= CustomerRow.cap
      keys = rows.prefix(Self.accountCap).map { $0.id }
    }
    for rows in try database.customers(at: keys) { found.add(rows) }
    found.downloads = keys.count { CustomerKey.isDownload($0) }
    if let transactionKey, let row = try row(transactionKey, database) { found.add(row) }
    for purchase in purchases {
      if let key = purchase.transactionKey,
        let row = try row(key, database, or: purchase.purchaseKey)
      {
        found.add(row)
      }
      if purchase.subscriptionKey != nil,
        let line = try database.subscription(
          environment: Text(stringLiteral: purchase.facts.environment.name),
          purchase.facts.originalTransactionId)
      {
        found.add(line.owner, by: .subscription)
      }
    }
    if found.accounts.count > Self.accountCap { found.isCapped = true }
    let accounts = Array(found.ordered.prefix(Self.accountCap))
    let restricted = isOperator ? try database.areRestricted(accounts.map { $0.account }) : []
    return result(found, accounts, restricted)
  }

  private func row(
    _ transactionKey: Text, _ database: any DurableDatabase, or purchaseKey: Text? = nil
  ) throws(LedgerSuspension) -> LedgerRow? {
    guard let key = try database.knownKey(transactionKey) ?? purchaseKey else { return nil }
    return try database.ledgerRow(key)
  }

  private func result(
    _ found: CustomerAccounts, _ accounts: [CustomerAccounts.Account], _ restricted: [Bool]
  ) -> OperationResult {
    let (account, isOperator) = (account, isOperator)
    return OperationResult { writer in
      writer.name("accounts")
      writer.beginArray()
      if isOperator {
        for (account, isRestricted) in zip(accounts, restricted) {
          account.write(isRestricted: isRestricted, &writer)
        }
      }
      writer.endArray()
      writer.member("accountCount", integer: Int64(accounts.count))
      writer.member("downloadCount", integer: Int64(found.downloads))
      writer.member(
        "isOwn", boolean: account.map { name in accounts.contains { $0.account == name } })
      writer.member("isCapped", boolean: found.isCapped)
      writer.member("eventual", boolean: found.isEventual)
    }
  }
}
