/// One transaction of a configured product, with the period that it pays for.
struct Candidate: Sendable {
  var facts: PurchaseFacts
  var product: Catalogue.Product
  var kind: StaticString
  /// The place of its document among the evidence, for refusals alone.
  var document: Int
  /// The newest token reported for the transaction.
  var account: AccountWord?
  /// nil: no account was given, or none is compared.
  var binding: AccountBinding? = nil
  /// Milliseconds since 1970 UTC. nil: the evidence does not say, and a period
  /// that is not known to run never covers anything.
  var start: Int64?
  /// The first moment after the period.
  var end: Int64?
  /// When the period of a subscription began, by all that is known of it: `start`
  /// of a restored copy is later. nil: no such period.
  var began: Int64? = nil
  /// By an upgrade, or by a later period of the line that has begun (DCD-22).
  var isReplaced: Bool

  init(_ statement: Statement<PurchaseFacts>, _ product: Catalogue.Product) {
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

  var isLive: Bool { facts.revokedAt == nil && !isReplaced }

  /// Place of the plan in the configured order; below all of them without one.
  var rank: Int { product.plan ?? -1 }

  /// DCD-5, DCD-14, DCD-15: tolerance at the start alone.
  func covers(_ now: Int64, skew: Int64) -> Bool {
    guard let start, let end else { return false }
    return start <= Milliseconds.sum(now, skew) && now < end
  }

  /// DEC-7: start and end both lie ahead.
  func isAhead(of now: Int64, skew: Int64) -> Bool {
    guard let start, let end else { return false }
    return start > Milliseconds.sum(now, skew) && end > now
  }

  /// JWS-94, by the product's type.
  var purchaseKey: Text? {
    ReplayKeys.purchase(
      environment: facts.environment, type: product.type,
      transactionId: facts.transactionId,
      originalTransactionId: facts.originalTransactionId,
      webOrderLineItemId: facts.webOrderLineItemId, purchaseDate: facts.start)
  }

  /// The ties of DCD-6: later start, later `asOf`, larger transaction id.
  static func isLesser(_ left: Candidate, _ right: Candidate) -> Bool {
    let (leftStart, rightStart) = (left.facts.start ?? .min, right.facts.start ?? .min)
    if leftStart != rightStart { return leftStart < rightStart }
    if left.facts.asOf != right.facts.asOf { return left.facts.asOf < right.facts.asOf }
    return Text.precedesAsNumber(left.facts.transactionId, right.facts.transactionId)
  }

  static func endsEarlier(_ left: Candidate, _ right: Candidate) -> Bool {
    let (leftEnd, rightEnd) = (left.end ?? .min, right.end ?? .min)
    if leftEnd != rightEnd { return leftEnd < rightEnd }
    return isLesser(left, right)
  }

  /// The highest plan, of these the latest end.
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
