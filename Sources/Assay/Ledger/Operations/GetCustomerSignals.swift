/// The operation `get-customer-signals`: counts what may show abuse, each to a bound (CUS-40).
struct GetCustomerSignals: DurableOperation {
  private let account: Text
  private let nowMs: Int64

  /// The largest number of the account's ids of which accounts are counted.
  private static let keyCap = 20
  /// The largest number of accounts whose purchases are counted, the account itself included.
  private static let accountCap = 10

  /// - Throws: `config.ledger.customer-key`, `misuse.exchange.request`, `misuse.ledger.account`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    _ = try parameters.customerKey()
    account = try parameters.account("account")
    nowMs = parameters.context.nowMs
  }

  var jitterSeed: Text { account }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let (rows, isEventual) = try database.customers(of: account)
    let keys = rows.prefix(Self.keyCap).map { $0.id }
    let shared = try database.customers(at: keys)
    var (accountsPerDownload, accountsPerToken) = (0, 0)
    var accounts = [account]
    for (id, rows) in zip(keys, shared) {
      guard CustomerKey.isDownload(id) else {
        accountsPerToken = max(accountsPerToken, rows.count)
        continue
      }
      accountsPerDownload = max(accountsPerDownload, rows.count)
      for row in rows
      where accounts.count < Self.accountCap && !accounts.contains(row.account) {
        accounts.append(row.account)
      }
    }
    let counts = try database.purchaseCounts(
      of: accounts, sinceMs: nowMs &- 365 &* Milliseconds.day)
    let deviceKeys = try database.deviceKeys(of: account)
    let (subscriptions, restrictions) = try database.standing(of: account)
    let downloads = rows.count { CustomerKey.isDownload($0.id) }
    let monthMs = nowMs &- 30 &* Milliseconds.day
    var transfers: Int64 = 0
    for row in subscriptions { transfers &+= min(max(0, row.moves), MemberNode.exactInteger >> 8) }
    return OperationResult { writer in
      writer.name("signals")
      writer.beginObject()
      writer.member("accountsPerDownload", integer: Int64(accountsPerDownload))
      writer.member("downloadCount", integer: Int64(downloads))
      writer.member("accountsPerToken", integer: Int64(accountsPerToken))
      writer.member("purchases", integer: counts.first?.purchases ?? 0)
      writer.member("refunds", integer: counts.first?.refunds ?? 0)
      writer.member("downloadPurchases", integer: counts.reduce(0) { $0 &+ $1.purchases })
      writer.member("downloadRefunds", integer: counts.reduce(0) { $0 &+ $1.refunds })
      writer.member("newKeys", integer: Int64(deviceKeys.count { $0.createdAtMs >= monthMs }))
      writer.member("activeKeys", integer: Int64(deviceKeys.count { $0.isActive }))
      writer.member("deviceRisk", integer: deviceKeys.first { $0.risk != nil }?.risk)
      writer.member("transfers", integer: transfers)
      writer.member("isRestricted", boolean: !restrictions.isEmpty)
      writer.endObject()
      writer.member("eventual", boolean: isEventual)
    }
  }
}
