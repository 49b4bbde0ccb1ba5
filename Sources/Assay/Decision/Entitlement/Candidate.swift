/// One transaction of a configured product, with the period that it pays for.
struct Candidate: Sendable {
  var facts: PurchaseFacts
  var product: Catalogue.Product
  var kind: StaticString
  /// The index of its document in the evidence, used only for refusals.
  var document: Int
  /// The newest account token reported for the transaction.
  var account: StatedAccount?
  /// The result of comparing accounts; `nil` if none was given or none is compared.
  var binding: AccountBinding? = nil
  /// The start of the period, in milliseconds since 1970 UTC; `nil` if the evidence has none, in
  /// which case the period never covers any moment.
  var start: Int64?
  /// The first moment after the period.
  var end: Int64?
  /// When a subscription's period began, taking into account all copies: `start` of a restored
  /// copy is later. `nil` for other products.
  var began: Int64? = nil
  /// Whether an upgrade, or a later period of the subscription that has begun, replaces the
  /// transaction (DCD-22).
  var isReplaced: Bool

  init(_ statement: StatedFacts<PurchaseFacts>, _ product: Catalogue.Product) {
    facts = statement.facts
    kind = statement.kind
    document = statement.document
    account = statement.account
    isReplaced = facts.isUpgraded
    self.product = product
    switch product.type {
    case .autoRenewable:
      start = facts.start
      end = facts.end
      began = facts.start
    case .nonRenewing:
      start = facts.start
      end = facts.start.flatMap { start in product.duration?.end(startMs: start) }
    case .nonConsumable, .consumable:
      start = .min
      end = .max
    }
  }

  var isLive: Bool { facts.revokedAtMs == nil && !isReplaced }

  /// The index of the plan in the configured order; -1 without a plan.
  var rank: Int { product.plan ?? -1 }

  /// Whether the period contains `now` (DCD-5); its end is exclusive (DCD-14), and `skew` applies
  /// to the start only (DCD-15).
  func covers(_ now: Int64, skew: Int64) -> Bool {
    guard let start, let end else { return false }
    return start <= Milliseconds.sum(now, skew) && now < end
  }

  /// Whether both start and end are in the future (DEC-7).
  func isAhead(of now: Int64, skew: Int64) -> Bool {
    guard let start, let end else { return false }
    return start > Milliseconds.sum(now, skew) && end > now
  }

  /// The purchase's idempotency key, which depends on the product's type (JWS-94).
  var purchaseKey: Text? {
    ReplayKeys.purchase(
      environment: facts.environment, type: product.type,
      transactionId: facts.transactionId,
      originalTransactionId: facts.originalTransactionId,
      webOrderLineItemId: facts.webOrderLineItemId, purchaseDate: facts.start)
  }

  /// Orders candidates that are otherwise equal (DCD-6): by start, `asOfMs`, and transaction id.
  static func isLesser(_ left: Candidate, _ right: Candidate) -> Bool {
    let (leftStart, rightStart) = (left.facts.start ?? .min, right.facts.start ?? .min)
    if leftStart != rightStart { return leftStart < rightStart }
    if left.facts.asOfMs != right.facts.asOfMs { return left.facts.asOfMs < right.facts.asOfMs }
    return Text.precedesAsNumber(left.facts.transactionId, right.facts.transactionId)
  }

  static func endsEarlier(_ left: Candidate, _ right: Candidate) -> Bool {
    let (leftEnd, rightEnd) = (left.end ?? .min, right.end ?? .min)
    if leftEnd != rightEnd { return leftEnd < rightEnd }
    return isLesser(left, right)
  }

  /// Orders candidates by plan, and those of one plan by end.
  static func givesLess(_ left: Candidate, _ right: Candidate) -> Bool {
    if left.rank != right.rank { return left.rank < right.rank }
    return endsEarlier(left, right)
  }

  static func startsLater(_ left: Candidate, _ right: Candidate) -> Bool {
    let (leftStart, rightStart) = (left.start ?? .max, right.start ?? .max)
    if leftStart != rightStart { return leftStart > rightStart }
    return endsEarlier(left, right)
  }
}
