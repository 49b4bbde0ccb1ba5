/// An id of Apple's that an account has shown, to be joined to the account.
struct CustomerEntry: Sendable {
  let key: CustomerKey
  var role: CustomerRole
  /// The download by which Apple can be asked; `nil` if the id is none, or no transaction is known.
  var download: DownloadRow? = nil

  /// The largest number of downloads of one exchange, and of tokens.
  private static let cap = 4

  /// Returns the entries of purchases that belong to an account: of the newest evidence the first
  /// four downloads and tokens, each once with its strongest role, in the byte order of their keys,
  /// so that two joins lock rows in one order (STM-9).
  static func all(_ purchases: [LedgerPurchase], _ key: SecretBytes) -> [CustomerEntry] {
    var downloads: [CustomerEntry] = []
    var tokens: [CustomerEntry] = []
    let newest = Ordering.places(purchases.count) { left, right in
      purchases[left].facts.asOfMs > purchases[right].facts.asOfMs
    }
    for place in newest {
      let purchase = purchases[place]
      let role = CustomerRole(ownership: purchase.facts.ownership)
      if let id = purchase.facts.downloadId {
        let key = CustomerKey(download: id, in: purchase.facts.environment, key)
        add(key, role, DownloadRow(purchase, key), to: &downloads)
      }
      if let token = purchase.accountToken {
        add(CustomerKey(token: token, key), role, nil, to: &tokens)
      }
    }
    return (downloads + tokens).ordered { Text.precedes($0.key.text, $1.key.text) }
  }

  private static func add(
    _ key: CustomerKey, _ role: CustomerRole, _ download: DownloadRow?,
    to entries: inout [CustomerEntry]
  ) {
    if let place = entries.firstIndex(where: { $0.key == key }) {
      if entries[place].role.rawValue < role.rawValue { entries[place].role = role }
    } else if entries.count < cap {
      entries.append(CustomerEntry(key: key, role: role, download: download))
    }
  }
}
