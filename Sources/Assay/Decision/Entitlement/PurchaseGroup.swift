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
  /// Milliseconds since 1970 UTC. nil: the evidence does not tell, and a period
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

/// Transactions of which one represents all (DCD-4).
struct PurchaseGroup: Sendable {
  /// Auto-renewable subscriptions of one subscription group exclude each other.
  /// Other types do not, whatever group the catalogue gives them: non-renewing
  /// periods of one plan follow each other, and every other product stands for
  /// itself, so that one purchase never hides another.
  struct Key: Sendable {
    var environment: Environment
    var type: ProductType
    var group: Text
    var product: Text?
    var plan: Int?

    init(_ candidate: Candidate) {
      let (facts, product) = (candidate.facts, candidate.product)
      environment = facts.environment
      type = product.type
      group = facts.group ?? product.group ?? product.id
      switch product.type {
      case .autoRenewable: break
      case .nonRenewing: plan = product.plan
      case .nonConsumable, .consumable: self.product = product.id
      }
    }
  }

  var key: Key
  /// Never empty; sorted as the merged evidence is.
  var members: [Candidate]

  /// The transactions of known products in their groups, in a fixed order.
  static func groups(of candidates: [Candidate]) -> [PurchaseGroup] {
    let keys = candidates.map { Key($0) }
    return Runs.of(keys, by: Key.precedes).compactMap { run in
      guard let first = run.first else { return nil }
      return PurchaseGroup(key: keys[first], members: run.map { candidates[$0] })
    }
  }

  /// DEC-22, DCD-28: live purchases of products with `stack` that policy allows
  /// follow each other, each from its own date or from the end of the one before,
  /// whichever is later; one of quantity n counts n times.
  mutating func stackPeriods(_ policy: Configuration.DecidePolicy) {
    guard key.type == .nonRenewing else { return }
    members.sort(by: Candidate.isLesser)
    var reached: Int64? = nil
    for place in members.indices {
      let member = members[place]
      guard member.product.stack, member.isLive, !policy.denies(member.facts),
        let start = member.start, let duration = member.product.duration
      else { continue }
      let end = duration.end(startMs: max(start, reached ?? start), times: member.facts.quantity)
      members[place].end = end
      reached = end
    }
  }

  /// nil: nothing was compared.
  var binding: AccountBinding? {
    var all: AccountBinding? = nil
    for member in members {
      guard let binding = member.binding else { continue }
      if binding == .unproven { return .unproven }
      all = binding
    }
    return all
  }
}

extension PurchaseGroup.Key {
  fileprivate static func precedes(_ left: Self, _ right: Self) -> Bool {
    if left.environment != right.environment {
      return left.environment.rank < right.environment.rank
    }
    if left.type != right.type { return left.type.rank < right.type.rank }
    if left.group != right.group { return Text.precedes(left.group, right.group) }
    if left.plan != right.plan { return (left.plan ?? -1) < (right.plan ?? -1) }
    guard let product = left.product, let other = right.product else { return false }
    return Text.precedes(product, other)
  }
}

extension ProductType {
  fileprivate var rank: Int {
    switch self {
    case .autoRenewable: return 0
    case .nonRenewing: return 1
    case .nonConsumable: return 2
    case .consumable: return 3
    }
  }
}

extension Configuration.DecidePolicy {
  /// Under `decide.family:"deny"` a family share is denied, and so is an
  /// ownership that Assay does not know (DCD-11, DCD-12).
  func denies(_ facts: PurchaseFacts) -> Bool {
    guard !familyAllowed, let ownership = facts.ownership else { return false }
    return ownership != Ownership.purchased && ownership != Ownership.assigned
  }
}
