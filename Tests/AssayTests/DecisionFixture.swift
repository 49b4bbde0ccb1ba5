@testable import Assay

/// Moments and products that the decision tests share. `now` is 2025-06-15T12:00:00Z.
enum At {
  static let now: Int64 = 1_749_988_800_000
  static let minute: Int64 = 60_000
  static let hour: Int64 = 3_600_000
  static let day: Int64 = 86_400_000
  static let skew: Int64 = 60_000
  static let start = now - 10 * day
  static let end = now + 20 * day
}

enum ProductId {
  static let basic: Text = "com.example.basic.monthly"
  static let pro: Text = "com.example.pro.monthly"
  static let pass: Text = "com.example.pass"
  static let stackedPass: Text = "com.example.pass.stacked"
  static let yearPass: Text = "com.example.pass.year"
  static let lifetime: Text = "com.example.lifetime"
  static let theme: Text = "com.example.theme"
  static let coins: Text = "com.example.coins"
}

/// Returns a configuration with plans free < basic < pro, and products of each type.
func decisionConfiguration(
  _ change: (inout Configuration) -> Void = { _ in }
) -> Configuration {
  var configuration = Configuration()
  configuration.environments = [.production, .sandbox]
  configuration.plans = ["free", "basic", "pro"]
  let products: [Catalogue.Product] = [
    .init(id: ProductId.basic, plan: 1, type: .autoRenewable, group: "subscriptions"),
    .init(id: ProductId.pro, plan: 2, type: .autoRenewable, group: "subscriptions"),
    .init(
      id: ProductId.pass, plan: 1, type: .nonRenewing, group: nil,
      duration: CalendarDuration(count: 30, unit: .day)),
    .init(
      id: ProductId.stackedPass, plan: 1, type: .nonRenewing, group: "passes",
      duration: CalendarDuration(count: 30, unit: .day), stack: true),
    .init(
      id: ProductId.yearPass, plan: 1, type: .nonRenewing, group: "passes",
      duration: CalendarDuration(count: 1, unit: .year), stack: true),
    .init(id: ProductId.lifetime, plan: 2, type: .nonConsumable, group: nil),
    .init(id: ProductId.theme, plan: nil, type: .nonConsumable, group: nil),
    .init(id: ProductId.coins, plan: nil, type: .consumable, group: nil),
  ]
  for product in products { configuration.products.add(product) }
  change(&configuration)
  return configuration
}

/// Returns an active monthly subscription to pro; `change` makes it another purchase.
func subscription(
  _ id: Text = "2000000000000001", _ change: (inout PurchaseFacts) -> Void = { _ in }
) -> PurchaseFacts {
  var facts = PurchaseFacts(
    environment: .production, transactionId: id, originalTransactionId: "2000000000000001",
    productId: ProductId.pro, asOfMs: At.start)
  facts.webOrderLineItemId = id
  facts.group = "20600001"
  facts.type = .autoRenewable
  facts.start = At.start
  facts.end = At.end
  facts.ownership = "PURCHASED"
  change(&facts)
  return facts
}

/// Returns the subscription with its end at `now`.
func endedSubscription(
  _ change: (inout PurchaseFacts) -> Void = { _ in }
) -> PurchaseFacts {
  subscription {
    $0.start = At.now - 30 * At.day
    $0.asOfMs = At.now - 30 * At.day
    $0.end = At.now
    change(&$0)
  }
}

/// Returns a purchase of another type than a subscription, made at `At.start`.
func purchase(
  _ product: Text, _ type: ProductType, _ id: Text = "2000000000000077",
  _ change: (inout PurchaseFacts) -> Void = { _ in }
) -> PurchaseFacts {
  var facts = PurchaseFacts(
    environment: .production, transactionId: id, originalTransactionId: id,
    productId: product, asOfMs: At.start)
  facts.type = type
  facts.start = At.start
  facts.ownership = "PURCHASED"
  change(&facts)
  return facts
}

/// Returns the renewal info of `subscription()`: renewing into the same product.
func renewal(_ change: (inout RenewalFacts) -> Void = { _ in }) -> RenewalFacts {
  var facts = RenewalFacts(
    environment: .production, originalTransactionId: "2000000000000001", asOfMs: At.start)
  facts.productId = ProductId.pro
  facts.autoRenewProductId = ProductId.pro
  facts.autoRenewStatus = 1
  change(&facts)
  return facts
}

func transactionDocument(_ facts: PurchaseFacts) -> PurchaseEvidence {
  PurchaseEvidence(kind: "transaction", purchases: [facts], renewals: [])
}

func renewalDocument(_ facts: RenewalFacts) -> PurchaseEvidence {
  PurchaseEvidence(kind: "renewal-info", purchases: [], renewals: [facts])
}

func documents(
  _ purchases: [PurchaseFacts], _ renewals: [RenewalFacts] = []
) -> [PurchaseEvidence] {
  purchases.map(transactionDocument) + renewals.map(renewalDocument)
}

/// Returns the decision on these purchases and renewal infos, each in a document of its own.
func decided(
  _ purchases: [PurchaseFacts], _ renewals: [RenewalFacts] = [],
  by configuration: Configuration = decisionConfiguration(), account: Text? = nil,
  at now: Int64 = At.now
) throws -> Decision {
  try configuration.decide(
    documents(purchases, renewals), account: account, nowMs: now)
}

extension Decision {
  var json: String {
    var writer = JSONWriter()
    write(&writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  var row: String { groups.first.map { "\($0.outcome.row)" } ?? "DEC-2" }
  var flags: [String] { (groups.first?.outcome.flags ?? []).map { "\($0.name)" } }
  var stateName: String { "\((outcome?.state ?? EntitlementState.none).name)" }
  var outcome: TableOutcome? { groups.first?.outcome }
  var chosenId: String? { groups.first?.chosen.facts.transactionId.string }
  var warningTexts: [String] { warnings.map { "\($0.id) \($0.at.string)" } }
}

/// Returns all orders of a list.
func permutations<Element>(_ list: [Element]) -> [[Element]] {
  guard list.count > 1 else { return [list] }
  var result: [[Element]] = []
  for place in list.indices {
    var rest = list
    let first = rest.remove(at: place)
    for tail in permutations(rest) { result.append([first] + tail) }
  }
  return result
}
