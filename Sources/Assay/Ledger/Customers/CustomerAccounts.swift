/// The accounts that a question about a customer has found, with how they were found (CUS-31).
struct CustomerAccounts {
  /// How an account was found, the surest first.
  enum Way: Int, CaseIterable {
    case ledger, subscription, token, download

    var name: StaticString {
      switch self {
      case .ledger: return "ledger"
      case .subscription: return "subscription"
      case .token: return "token"
      case .download: return "download"
      }
    }
  }

  struct Account {
    let account: Text
    var ways: [Way] = []
    var role: CustomerRole? = nil
    var firstSeenAtMs: Int64? = nil
    var lastSeenAtMs: Int64? = nil

    func write(isRestricted: Bool, _ writer: inout JSONWriter) {
      writer.beginObject()
      writer.member("account", account)
      writer.name("by")
      writer.beginArray()
      for way in Way.allCases where ways.contains(way) { writer.string(way.name) }
      writer.endArray()
      writer.member("role", role.map { Text(stringLiteral: $0.name) })
      writer.member("firstSeenAtMs", integer: firstSeenAtMs)
      writer.member("lastSeenAtMs", integer: lastSeenAtMs)
      writer.member("isRestricted", boolean: isRestricted)
      writer.endObject()
    }

    /// The surest way by which the account was found.
    fileprivate var rank: Int { ways.map { $0.rawValue }.min() ?? Way.allCases.count }
  }

  private(set) var accounts: [Account] = []
  var downloads = 0
  /// Whether there are more accounts or keys than were read.
  var isCapped = false
  /// Whether an index was read that may lack the newest row.
  var isEventual = false

  /// Adds an account; one without name is nobody's purchase.
  mutating func add(_ name: Text, by way: Way) {
    guard !name.isEmpty else { return }
    let place = place(of: name)
    if !accounts[place].ways.contains(way) { accounts[place].ways.append(way) }
  }

  /// Adds the owner of a purchase.
  mutating func add(_ row: LedgerRow) { add(row.owner, by: .ledger) }

  /// Adds the accounts at one key.
  mutating func add(_ rows: [CustomerRow]) {
    if rows.count >= CustomerRow.cap { isCapped = true }
    for row in rows.prefix(CustomerRow.cap &- 1) {
      add(row.account, by: CustomerKey.isDownload(row.id) ? .download : .token)
      let place = place(of: row.account)
      var known = accounts[place]
      if known.role.map({ $0.rawValue < row.role.rawValue }) ?? true { known.role = row.role }
      known.firstSeenAtMs = min(known.firstSeenAtMs ?? row.firstSeenAtMs, row.firstSeenAtMs)
      known.lastSeenAtMs = max(known.lastSeenAtMs ?? row.lastSeenAtMs, row.lastSeenAtMs)
      accounts[place] = known
    }
  }

  private mutating func place(of name: Text) -> Int {
    if let place = accounts.firstIndex(where: { $0.account == name }) { return place }
    accounts.append(Account(account: name))
    return accounts.count &- 1
  }

  /// The accounts, the surest first, then those seen last.
  var ordered: [Account] {
    accounts.ordered { left, right in
      left.rank != right.rank
        ? left.rank < right.rank : left.lastSeenAtMs ?? 0 > right.lastSeenAtMs ?? 0
    }
  }
}
