@_spi(AssayMigrate) import Assay

/// All that the input says about one subscription, or one purchase without: what has the same
/// environment and original transaction id (MIG-31).
struct MigrateGroup {
  /// One purchase by its keys, as its newest text states it.
  struct Purchase {
    var newest: PurchaseFact
    /// The newest text that states a revocation or that there is none (RFD-5).
    var told: PurchaseFact?
    /// The accounts whose rows say that it was delivered; empty for a row without account.
    var grantedTo: Set<String> = []
    var places = RowPlaces()

    var revokedAtMs: Int64? { told?.revokedAtMs }
    var isUpgraded: Bool { newest.isUpgraded || told?.isUpgraded ?? false }

    /// The texts that an operation of the ledger needs.
    var evidence: [EvidencePlace] {
      guard let told, told.place != newest.place else { return [newest.place] }
      return [newest.place, told.place]
    }

    /// Whether this is a later period of the subscription than `other`.
    func follows(_ other: Purchase) -> Bool {
      if isUpgraded != other.isUpgraded { return other.isUpgraded }
      let (left, right) = (newest, other.newest)
      if left.purchasedAtMs != right.purchasedAtMs {
        return left.purchasedAtMs > right.purchasedAtMs
      }
      return left.asOfMs > right.asOfMs
    }
  }

  /// One account that rows name.
  struct Account {
    var firstMs: Int64?
    var hasUndatedRow = false
    var isGranted = false
    var places = RowPlaces()
  }

  /// What rows say without a signature.
  struct Hearsay {
    var isOriginal = false
    var expiresAtMs: Int64?
    var isRevoked = false
    var places = RowPlaces()
  }

  let key: String
  private(set) var purchases: [Purchase] = []
  private var byKey: [String: Int] = [:]
  private var byTransaction: [String: Int] = [:]
  private(set) var renewal: RenewalFact?
  private(set) var accounts: [String: Account] = [:]
  /// The number of accounts beyond those that are kept.
  private(set) var moreAccounts = 0
  private(set) var tokenAccounts: Set<String> = []
  private(set) var hearsay: Hearsay?

  /// The most accounts that are kept: a receipt that a cracking tool spread has any number.
  private static let accountCap = 1000

  init(_ key: String) { self.key = key }

  mutating func add(_ fact: MigrateFact) {
    switch fact {
    case .purchase(let purchase):
      add(purchase)
      add(purchase.account, purchase.place.row, at: purchase.receivedAtMs, purchase.isGranted)
    case .renewal(let fact):
      if renewal.map({ fact.asOfMs > $0.asOfMs }) ?? true { renewal = fact }
    case .hearsay(let fact):
      var merged = hearsay ?? Hearsay()
      merged.isOriginal = merged.isOriginal || fact.isOriginal
      merged.expiresAtMs = [merged.expiresAtMs, fact.expiresAtMs].compactMap(\.self).max()
      merged.isRevoked = merged.isRevoked || fact.isRevoked
      merged.places.add(fact.place)
      hearsay = merged
      add(fact.account, fact.place, at: nil, false)
    case .tokenAccount(let account): tokenAccounts.insert(account)
    }
  }

  private mutating func add(_ fact: PurchaseFact) {
    let place = byKey[fact.purchaseKey] ?? byTransaction[fact.transactionId] ?? purchases.count
    byKey[fact.purchaseKey] = place
    byTransaction[fact.transactionId] = place
    if place == purchases.count { purchases.append(Purchase(newest: fact)) }
    if fact.isNewer(than: purchases[place].newest) { purchases[place].newest = fact }
    if fact.tellsRevocation, purchases[place].told.map({ fact.isNewer(than: $0) }) ?? true {
      purchases[place].told = fact
    }
    if fact.isGranted, purchases[place].grantedTo.count < MigrateGroup.accountCap {
      purchases[place].grantedTo.insert(fact.account)
    }
    purchases[place].places.add(fact.place.row)
  }

  private mutating func add(
    _ name: String, _ place: RowPlace, at receivedAtMs: Int64?, _ isGranted: Bool
  ) {
    guard !name.isEmpty else { return }
    guard accounts[name] != nil || accounts.count < MigrateGroup.accountCap else {
      moreAccounts += 1
      return
    }
    var account = accounts[name] ?? Account()
    if let receivedAtMs {
      account.firstMs = min(account.firstMs ?? receivedAtMs, receivedAtMs)
    } else {
      account.hasUndatedRow = true
    }
    account.isGranted = account.isGranted || isGranted
    account.places.add(place)
    accounts[name] = account
  }
}
