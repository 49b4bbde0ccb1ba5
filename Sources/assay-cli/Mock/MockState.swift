import AssayAuthority

/// The state that changes while the mock runs.
struct MockState: Sendable {
  let authority: MockAuthority
  var clock: MockClock
  var script = MockScript()
  var purchases: [MockPurchase]
  var sequence: Int64
  var devices: [String: MockDevice] = [:]
  var notifications: [MockNotification] = []
  /// The address for test notifications; `nil` if none is set.
  var notificationURL: String?
  var extensions: [String: JSONText] = [:]
  var massExtensions: [String: JSONText] = [:]
  /// Retention messaging, by environment.
  var messaging: [String: MockMessaging] = [:]
  /// The ids of requests of Advanced Commerce that were executed.
  var references: Set<String> = []
  /// Reports about external purchases by environment and id, and the ids of their line items.
  var reports: [String: [UInt8]] = [:]
  var lineItems: Set<String> = []
  var codes: [String: MockAppleCode] = [:]
  /// The risk metric of new receipts of App Attest.
  var risk = 2
  var rings: [String: KeyRing]
  var log: [MockLogEntry] = []
  /// Counts the names given, so that every run gives the same ones.
  private var names: Int64 = 0
  /// The file of the purchases; `nil` if they are not stored.
  let file: String?

  /// The largest number from which new ones are counted.
  private static let numberCap: Int64 = 1_000_000_000_000_000_000

  /// The issuers of mock tokens.
  static let issuers = [TokenAuthority.pool, TokenAuthority.ellipticIssuer, TokenAuthority.apple]

  init(_ authority: MockAuthority, clock: MockClock, file: String?) throws {
    self.authority = authority
    self.clock = clock
    self.file = file
    rings = [
      TokenAuthority.pool: KeyRing(authority.rsaKeys, isElliptic: false),
      TokenAuthority.ellipticIssuer: KeyRing(authority.ellipticKeys, isElliptic: true),
      TokenAuthority.apple: KeyRing(authority.rsaKeys.reversed(), isElliptic: false),
    ]
    if let file, FileSystem.exists(file) {
      purchases = try MockState.read(file, authority.app, clock.now)
    } else {
      purchases = MockState.samples(authority.app, clock.now)
    }
    sequence = purchases.map(\.sequence).max() ?? 0
    for place in purchases.indices where purchases[place].sequence == 0 {
      sequence += 1
      purchases[place].sequence = sequence
    }
  }

  private static func read(
    _ file: String, _ app: MockAuthority.App, _ now: Int64
  ) throws -> [MockPurchase] {
    guard let json = JSONTree(try FileSystem.read(file)), case .array(let list)? = json["purchases"]
    else { throw Problem("\(file) is not {\"purchases\":[…]}") }
    return try list.enumerated().map {
      try MockPurchase($0.element, at: "purchases[\($0.offset)]", app: app, now: now)
    }
  }

  /// Returns a subscription, a non-consumable and a consumable for each environment.
  private static func samples(_ app: MockAuthority.App, _ now: Int64) -> [MockPurchase] {
    [("Sandbox", Int64(2_000_000_900_000_001)), ("Production", 180_000_900_000_001)].flatMap {
      environment, first in
      let kinds: [(String, Purchase.ProductType)] = [
        ("com.example.app.premium.monthly", .autoRenewable),
        ("com.example.app.lifetime", .nonConsumable), ("com.example.app.coins100", .consumable),
      ]
      return kinds.enumerated().map { place, kind in
        var bought = Purchase(now: now).of(kind.0, kind.1)
        bought.environment = environment
        bought.bundleId = app.bundleId
        bought.appAppleId = app.appAppleId
        bought.transactionId = String(first + Int64(place))
        bought.originalTransactionId = bought.transactionId
        return MockPurchase(bought)
      }
    }
  }

  /// Stores the purchases in their file.
  func keep() throws {
    guard let file else { return }
    let json: JSONText = ["purchases": .array(purchases.map(\.json))]
    try OutputFile.write(json.bytes + [0x0a], to: file)
  }

  // MARK: purchases

  /// Returns the index of a subscription's newest transaction; `nil` if there is none.
  func newest(ofLine id: String, environment: String? = nil) -> Int? {
    purchases.indices.filter {
      purchases[$0].purchase.originalTransactionId == id
        && (environment == nil || purchases[$0].purchase.environment == environment)
    }.max {
      (purchases[$0].purchase.purchaseDate, $0) < (purchases[$1].purchase.purchaseDate, $1)
    }
  }

  func place(of id: String) -> Int? {
    purchases.indices.first { purchases[$0].purchase.transactionId == id }
  }

  /// Records that a purchase was changed.
  mutating func touch(_ place: Int) {
    sequence += 1
    purchases[place].sequence = sequence
  }

  /// Adds the next period of a subscription, paid now and after the current one. Returns its index.
  mutating func renew(_ place: Int) -> Int {
    var next = purchases[place]
    let end = next.purchase.expiresDate ?? clock.now
    func following(_ ids: [String?]) -> String {
      let numbers = ids.compactMap { $0.flatMap { Int64($0) } }
      return String((numbers.filter { $0 < MockState.numberCap }.max() ?? 0) + 1)
    }
    next.purchase.transactionId = following(purchases.map(\.purchase.transactionId))
    next.purchase.webOrderLineItemId = following(purchases.map(\.purchase.webOrderLineItemId))
    next.purchase.purchaseDate = clock.now
    next.purchase.expiresDate = min(
      max(end, clock.now) + next.periodMs, MintedValues.dates.upperBound)
    next.purchase.revocationDate = nil
    next.purchase.revocationReason = nil
    next.purchase.revocationType = nil
    next.purchase.isInBillingRetryPeriod = nil
    next.purchase.gracePeriodExpiresDate = nil
    next.purchase.expirationIntent = nil
    next.purchase.offerType = nil
    next.purchase.offerDiscountType = nil
    next.purchase.autoRenewStatus = 1
    next.orderId = "M" + next.purchase.transactionId.suffix(9)
    next.isFinished = false
    purchases.append(next)
    touch(purchases.count - 1)
    return purchases.count - 1
  }

  /// Lets the paid period end a moment ago.
  mutating func end(_ place: Int) {
    let end = clock.now - 1
    purchases[place].purchase.expiresDate = end
    purchases[place].purchase.purchaseDate = min(
      purchases[place].purchase.purchaseDate, end - 1)
  }

  // MARK: names

  /// Returns a new text each time, with the same sequence in every run.
  mutating func name(_ kind: String) -> String {
    names += 1
    return AttestDigest.hex(AttestDigest.sha256(Array("\(kind) \(names)".utf8)))
  }

  /// Returns a new UUID each time, with the same sequence in every run.
  mutating func uuid(_ kind: String) -> String {
    let digits = Array(name(kind))
    let groups = [digits[0..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20..<32]]
    return groups.map { String($0) }.joined(separator: "-")
  }

  /// Records a request, and drops the oldest ones beyond a limit.
  mutating func note(_ request: HTTPRequest, status: Int) {
    if log.count >= 10_000 { log.removeFirst(1000) }
    log.append(
      MockLogEntry(
        method: request.method, host: request.host, path: request.path, status: status,
        atMs: clock.now))
  }
}
