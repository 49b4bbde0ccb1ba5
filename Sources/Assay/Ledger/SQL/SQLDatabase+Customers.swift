/// The index of customers (docs/spec/ledger-statements.md §2, "Customers").
extension SQLDatabase {
  /// Joins in one transaction, which takes the rows of the downloads first: a withdrawal of consent
  /// that comes meanwhile waits and then finds the account, or has come and is found (CUS-60).
  func join(
    _ entries: [CustomerEntry], to account: Text
  ) throws(LedgerSuspension) -> [Restriction] {
    let nowMs = context.nowMs
    let results = try run(.single) {
      let owner: Arguments = [("account", .text(account))]
      let downloads = entries.filter { $0.key.isDownload }.map { SQLDatabase.key($0.key.text) }
      var calls: [(SQLStatement, Arguments)] = downloads.map { (.downloadTake, $0) }
      calls += entries.compactMap { $0.download }.map { (.downloadShow, $0.arguments) }
      for entry in entries {
        let row = CustomerRow(entry, of: account, nowMs: nowMs).arguments
        let fresh: Arguments = [("before_ms", .integer(nowMs &- CustomerRow.freshMs))]
        calls += [(.customerInsert, row), (.customerSee, row + fresh)]
      }
      calls += downloads.map { (.restrictionOfDownload, $0 + owner) }
      return calls + [(.restrictionsOfAccount, owner)]
    }
    return try results.restrictions(results.count &- 1, of: account)
  }

  func downloadsLeft(
    in environment: Text, of bundleId: Text, beforeMs: Int64
  ) throws(LedgerSuspension) -> [DownloadRow] {
    let results = try run {
      let arguments: Arguments = [
        ("environment", .text(environment)), ("bundle_id", .text(bundleId)),
        ("before_ms", .integer(beforeMs)),
      ]
      return [(.downloadsLeft, arguments)]
    }
    return try results.rows(0).map { row throws(LedgerSuspension) in try DownloadRow(row) }
  }

  func store(_ next: DownloadRow, over read: DownloadRow) throws(LedgerSuspension) {
    _ = try run {
      [(.downloadAsked, next.arguments + [("read_asked_at_ms", .integer(read.askedAtMs))])]
    }
  }

  private static func key(_ id: Text) -> Arguments { [("id", .text(id))] }

  func rescind(
    _ rescission: Rescission
  ) throws(LedgerSuspension) -> (accounts: [RestrictedAccount], hasMore: Bool) {
    let key = SQLDatabase.key(rescission.download)
    let results = try run(.single) {
      [
        (.downloadTake, key), (.customersRestricted, key),
        (.downloadRescind, key + [("at_ms", .integer(rescission.atMs))]),
        (.restrictionsOfDownload, key), (.customersRestricted, key),
      ]
    }
    var restricted: [Text] = []
    for row in try results.rows(1) {
      let (account, _, atMs) = try SQLDatabase.standing(row)
      if atMs != nil { restricted.append(account) }
    }
    let rows = try results.rows(4)
    var accounts: [RestrictedAccount] = []
    for row in rows {
      let (account, role, atMs) = try SQLDatabase.standing(row)
      // Consent was given again since: the account is not restricted by this download.
      guard let atMs else { continue }
      accounts.append(
        RestrictedAccount(
          account: account, role: role, restrictedAtMs: atMs,
          changed: !restricted.contains(account)))
    }
    let listed = Array(accounts.prefix(Rescission.accountCap))
    return (listed, rows.count > Rescission.accountCap)
  }

  /// Reads an account at a download: its role, and since when it is restricted by that.
  private static func standing(
    _ row: DatabaseRow
  ) throws(LedgerSuspension) -> (account: Text, role: CustomerRole, restrictedAtMs: Int64?) {
    var row = row
    let account = try row.text()
    guard let role = CustomerRole(rawValue: try row.integer()) else { throw .shape("role") }
    let atMs = try row.integerIfAny()
    try row.end()
    return (account, role, atMs)
  }

  func restrict(
    _ restriction: Restriction
  ) throws(LedgerSuspension) -> (restriction: Restriction, isMade: Bool) {
    let (account, source) = (restriction.account, restriction.source)
    let results = try run(.single) {
      let read = (SQLStatement.restrictionsOfAccount, restriction.arguments)
      return [read, (.restrictionInsert, restriction.arguments), read]
    }
    let before = try results.restrictions(0, of: account)
    let after = try results.restrictions(2, of: account)
    return (
      after.first { $0.source == source } ?? restriction,
      !before.contains { $0.source == source }
    )
  }

  func lift(_ restrictions: [Restriction]) throws(LedgerSuspension) {
    let nowMs = context.nowMs
    _ = try run(.single) {
      var calls: [(SQLStatement, Arguments)] = []
      for restriction in restrictions where restriction.isOfConsent {
        let key = SQLDatabase.key(restriction.source)
        calls.append((.downloadConsent, key + [("now_ms", .integer(nowMs))]))
      }
      for restriction in restrictions {
        calls.append((.restrictionLift, restriction.arguments))
      }
      return calls
    }
  }

  func restrictions(of account: Text) throws(LedgerSuspension) -> [Restriction] {
    try run { [(.restrictionsOfAccount, [("account", .text(account))])] }
      .restrictions(0, of: account)
  }

  func areRestricted(_ accounts: [Text]) throws(LedgerSuspension) -> [Bool] {
    guard !accounts.isEmpty else { return [] }
    let results = try run {
      accounts.map { account in
        let arguments: Arguments = [("account", .text(account))]
        return (.restrictionsOfAccount, arguments)
      }
    }
    return try results.indices.map { place throws(LedgerSuspension) in
      !(try results.rows(place).isEmpty)
    }
  }

  func standing(
    of account: Text
  ) throws(LedgerSuspension) -> (subscriptions: [SubscriptionRow], restrictions: [Restriction]) {
    let results = try run {
      [
        (.subscriptionsOfAccount, [("owner", .text(account))]),
        (.restrictionsOfAccount, [("account", .text(account))]),
      ]
    }
    let rows = try results.rows(0).map { row throws(LedgerSuspension) in try SubscriptionRow(row) }
    return (try rows.owned(by: account), try results.restrictions(1, of: account))
  }

  func customers(at keys: [Text]) throws(LedgerSuspension) -> [[CustomerRow]] {
    guard !keys.isEmpty else { return [] }
    let results = try run { keys.map { (.customersOfKey, SQLDatabase.key($0)) } }
    return try results.indices.map { place throws(LedgerSuspension) in
      try results.customers(place)
    }
  }

  func customers(
    of account: Text
  ) throws(LedgerSuspension) -> (rows: [CustomerRow], isEventual: Bool) {
    let rows = try run { [(.customersOfAccount, [("account", .text(account))])] }.customers(0)
    for row in rows where row.account != account { throw .shape("account") }
    return (rows, false)
  }

  // MARK: signals

  func purchaseCounts(
    of accounts: [Text], sinceMs: Int64
  ) throws(LedgerSuspension) -> [PurchaseCount] {
    let results = try run {
      accounts.map { account in
        let arguments: Arguments = [("owner", .text(account)), ("since_ms", .integer(sinceMs))]
        return (.signalPurchases, arguments)
      }
    }
    return try results.indices.map { place throws(LedgerSuspension) in
      var row = try results.row(place)
      let count = try PurchaseCount(purchases: try row.integer(), refunds: try row.integer())
      try row.end()
      return count
    }
  }

  func deviceKeys(of account: Text) throws(LedgerSuspension) -> [DeviceKeySummary] {
    let results = try run { [(.signalKeys, [("owner", .text(account))])] }
    return try results.rows(0).map { row throws(LedgerSuspension) in
      var row = row
      let createdAtMs = try row.integer()
      guard let state = KeyRow.State(try row.text()) else { throw .shape("state") }
      let key = DeviceKeySummary(
        createdAtMs: createdAtMs, isActive: state == .active, risk: try row.integerIfAny())
      try row.end()
      return key
    }
  }

  // MARK: merged and forgotten accounts

  /// Returns the statements that give the rows of an account to another one (CUS-22). The first
  /// locks the downloads, so that a withdrawal of consent finds the rows before or after the move.
  func movingCustomers(_ arguments: Arguments) -> [(SQLStatement, Arguments)] {
    guard context.policy.customerKey != nil else { return [] }
    let statements: [SQLStatement] = [
      .linkDownloads, .linkCustomers, .linkCustomersClear, .linkRestrictions,
    ]
    return statements.map { ($0, arguments) }
  }
}

extension [DatabaseResult] {
  /// Returns the restrictions of an account.
  fileprivate func restrictions(
    _ place: Int, of account: Text
  ) throws(LedgerSuspension) -> [Restriction] {
    let found = try rows(place).map { row throws(LedgerSuspension) in try Restriction(row) }
    for row in found where row.account != account { throw .shape("account") }
    return found
  }

  fileprivate func customers(_ place: Int) throws(LedgerSuspension) -> [CustomerRow] {
    try rows(place).map { row throws(LedgerSuspension) in try CustomerRow(row) }
  }
}
