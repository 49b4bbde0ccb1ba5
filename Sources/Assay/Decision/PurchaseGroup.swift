/// One transaction of a configured product, with the period that it pays for.
struct Candidate: Sendable {
  var facts: PurchaseFacts
  var product: Catalogue.Product
  var kind: StaticString
  /// Milliseconds since 1970 UTC. nil: the evidence does not tell, and a period
  /// that is not known to run never covers anything.
  var start: Int64?
  /// The first moment after the period.
  var end: Int64?

  init(_ statement: Statement<PurchaseFacts>, _ product: Catalogue.Product) {
    facts = statement.facts
    kind = statement.kind
    self.product = product
    switch product.type {
    case .autoRenewable:
      start = facts.start
      end = facts.end
    case .nonRenewing:
      start = facts.start
      end = facts.start.flatMap { start in product.duration?.end(startMs: start) }
    case .nonConsumable, .consumable:
      start = .min
      end = .max
    }
  }

  var isLive: Bool { facts.revokedAt == nil && !facts.isUpgraded }

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
}

/// Transactions of which one stands for all (DCD-4).
struct PurchaseGroup: Sendable {
  /// Auto-renewable subscriptions of one subscription group exclude each other.
  /// Other types do not, whatever group the catalogue gives them: non-renewing
  /// periods of one plan follow each other, and every other product stands for
  /// itself, so that one purchase never hides another.
  struct Key: Hashable, Sendable {
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
    var groups: [PurchaseGroup] = []
    var places: [Key: Int] = [:]
    for candidate in candidates {
      let key = Key(candidate)
      if let place = places[key], place < groups.count {
        groups[place].members.append(candidate)
      } else {
        places[key] = groups.count
        groups.append(PurchaseGroup(key: key, members: [candidate]))
      }
    }
    return groups
  }

  /// DEC-22: live purchases of products with `stack` follow each other, each
  /// from its own date or from the end of the one before, whichever is later.
  mutating func stackPeriods() {
    guard key.type == .nonRenewing else { return }
    members.sort(by: Candidate.isLesser)
    var reached: Int64? = nil
    for place in members.indices {
      let member = members[place]
      guard member.product.stack, member.isLive, let start = member.start,
        let duration = member.product.duration
      else { continue }
      let end = duration.end(startMs: max(start, reached ?? start))
      members[place].end = end
      reached = end
    }
  }

  /// T of DCD-6 among `members`; nil when there are none.
  static func choose(
    _ members: [Candidate], now: Int64, skew: Int64
  ) -> Candidate? {
    let notReplaced = members.filter { !$0.facts.isUpgraded }
    let live = notReplaced.filter { $0.isLive }
    return live.filter { $0.covers(now, skew: skew) }.max(by: Candidate.endsEarlier)
      ?? live.filter { $0.isAhead(of: now, skew: skew) }.max(by: startsLater)
      ?? notReplaced.max(by: Candidate.endsEarlier)
      ?? members.max(by: Candidate.endsEarlier)
  }

  private static func startsLater(_ left: Candidate, _ right: Candidate) -> Bool {
    let (leftStart, rightStart) = (left.start ?? .max, right.start ?? .max)
    if leftStart != rightStart { return leftStart > rightStart }
    return Candidate.endsEarlier(left, right)
  }
}

/// A paid period or a lasting product can show under several transaction ids
/// (restores, other devices). A refund shown under one of them holds for those
/// that were last shown no later than it (DCD-3, RPL-4).
struct RevokedPurchases: Sendable {
  private struct Purchase: Hashable, Sendable {
    var key: Text
    var end: Int64?
  }

  private var revoked: [Purchase: PurchaseFacts] = [:]

  init(_ candidates: [Candidate]) {
    for candidate in candidates where candidate.facts.revokedAt != nil {
      guard let purchase = Self.purchase(candidate) else { continue }
      if let known = revoked[purchase], known.asOf >= candidate.facts.asOf { continue }
      revoked[purchase] = candidate.facts
    }
  }

  /// The candidate as it stands after the refunds of the same purchase.
  func applied(to candidate: Candidate) -> Candidate {
    guard candidate.facts.revokedAt == nil, let purchase = Self.purchase(candidate),
      let refund = revoked[purchase],
      candidate.facts.asOf <= refund.asOf || !candidate.facts.showsRevocation
    else { return candidate }
    var changed = candidate
    changed.facts.revokedAt = refund.revokedAt
    changed.facts.revocationReason = refund.revocationReason
    changed.facts.revocationType = refund.revocationType
    changed.facts.revocationPercentage = refund.revocationPercentage
    return changed
  }

  private static func purchase(_ candidate: Candidate) -> Purchase? {
    guard let key = candidate.purchaseKey else { return nil }
    return Purchase(key: key, end: candidate.end)
  }
}
