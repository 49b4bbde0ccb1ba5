import AssayAuthority

/// Transactions, their history, refunds and orders.
struct StoreHistory {
  let store: MockStore

  private static let page = 20
  private static let types: [String: Purchase.ProductType] = [
    "AUTO_RENEWABLE": .autoRenewable, "NON_RENEWABLE": .nonRenewing, "CONSUMABLE": .consumable,
    "NON_CONSUMABLE": .nonConsumable,
  ]

  func transaction(_ id: String, _ state: MockState) throws -> HTTPResponse {
    if store.purchases(state).contains(where: { $0.purchase.appTransactionId == id }) {
      throw StoreError(4_000_048)
    }
    let place = try store.place(of: id, state)
    return .json(["signedTransactionInfo": try signed(state.purchases[place], state)])
  }

  func appTransaction(_ id: String, _ state: MockState) throws -> HTTPResponse {
    guard let one = try store.customer(id, state).first, one.purchase.appTransactionId != nil
    else { throw StoreError(4_040_019) }
    let purchase = one.signed(at: state.clock.now)
    return .json(["signedAppTransactionInfo": try store.signer.appTransaction(purchase)])
  }

  func order(_ id: String, _ state: MockState) throws -> HTTPResponse {
    let found = store.purchases(state).filter {
      $0.orderId == id && store.environment == "Production"
    }
    return .json([
      "status": found.isEmpty ? 1 : 0,
      "signedTransactions": .array(try found.map { try signed($0, state) }),
    ])
  }

  func list(_ id: String, _ version: String, _ state: MockState) throws -> HTTPResponse {
    guard version == "v1" || version == "v2" else { return .empty(404) }
    let all = try filtered(store.customer(id, state))
    let shown = version == "v2" ? all : all.filter { !isGone($0) }
    let (list, revision, hasMore) = try page(shown, of: id)
    var json: JSONText = [
      "revision": .string(revision), "hasMore": .boolean(hasMore),
    ]
    json = json.setting(store.app)
    return .json(
      json.appending("signedTransactions", .array(try list.map { try signed($0, state) })))
  }

  func refunds(_ id: String, _ state: MockState) throws -> HTTPResponse {
    let all = try store.customer(id, state).filter { $0.purchase.revocationDate != nil }
    let (list, revision, hasMore) = try page(all, of: id)
    return .json([
      "signedTransactions": .array(try list.map { try signed($0, state) }),
      "revision": .string(revision), "hasMore": .boolean(hasMore),
    ])
  }

  private func signed(_ purchase: MockPurchase, _ state: MockState) throws -> JSONText {
    try store.signer.transaction(purchase.signed(at: state.clock.now))
  }

  /// Whether the older history omits a purchase: a finished consumable.
  private func isGone(_ purchase: MockPurchase) -> Bool {
    purchase.purchase.type == .consumable && purchase.isFinished
  }

  // MARK: filters

  private func filtered(_ all: [MockPurchase]) throws -> [MockPurchase] {
    let request = store.request
    let start = try date("startDate", 4_000_015)
    let end = try date("endDate", 4_000_016)
    if let start, let end, start >= end { throw StoreError(4_000_013) }
    let types = try request.all("productType").map { word in
      guard let type = Self.types[word] else { throw StoreError(4_000_022) }
      return type
    }
    let owner = try choice("inAppOwnershipType", ["PURCHASED", "FAMILY_SHARED"], 4_000_026)
    let revoked = try choice("revoked", ["true", "false"], 4_000_030)
    let products = request.all("productId")
    let groups = request.all("subscriptionGroupIdentifier")
    return all.filter { one in
      let purchase = one.purchase
      return purchase.purchaseDate >= start ?? .min && purchase.purchaseDate < end ?? .max
        && (types.isEmpty || types.contains(purchase.type))
        && (products.isEmpty || products.contains(purchase.productId))
        && (groups.isEmpty || groups.contains(purchase.group ?? ""))
        && (owner == nil || owner == purchase.ownership)
        && (revoked == nil || (revoked == "true") == (purchase.revocationDate != nil))
    }
  }

  private func date(_ name: String, _ code: Int64) throws -> Int64? {
    guard let text = store.request.one(name) else { return nil }
    guard let date = Int64(text), MintedValues.dates.contains(date) else { throw StoreError(code) }
    return date
  }

  private func choice(_ name: String, _ choices: [String], _ code: Int64) throws -> String? {
    guard let text = store.request.one(name) else { return nil }
    guard choices.contains(text) else { throw StoreError(code) }
    return text
  }

  // MARK: pages

  /// Returns twenty purchases after those of `revision`, in the order of their last change.
  private func page(
    _ all: [MockPurchase], of id: String
  ) throws -> ([MockPurchase], revision: String, hasMore: Bool) {
    let sort = try choice("sort", ["ASCENDING", "DESCENDING"], 4_000_021) ?? "ASCENDING"
    let isUp = sort == "ASCENDING"
    let filter = AttestDigest.hex(Array(AttestDigest.sha256(Array(filterText(id).utf8)).prefix(8)))
    let last = try store.request.one("revision").map { try Self.sequence($0, filter) }
    let rest = all.filter {
      guard let last else { return true }
      return isUp ? $0.sequence > last : $0.sequence < last
    }.sorted { isUp ? $0.sequence < $1.sequence : $0.sequence > $1.sequence }
    let page = Array(rest.prefix(Self.page))
    let end = page.last?.sequence ?? last ?? (isUp ? 0 : Int64.max)
    return (page, "\(end)_\(filter)", rest.count > page.count)
  }

  /// Returns the text to which a revision is bound: the whole request except the revision.
  private func filterText(_ id: String) -> String {
    let query = store.request.query.filter { $0.name != "revision" }
    return ([store.request.path, id] + query.map { $0.name + "=" + $0.value }).joined(
      separator: "&")
  }

  private static func sequence(_ revision: String, _ filter: String) throws -> Int64 {
    let parts = revision.split(separator: "_")
    guard parts.count == 2, parts[1] == filter, let sequence = Int64(parts[0]) else {
      throw StoreError(4_000_005)
    }
    return sequence
  }
}
