/// Transactions of which one represents all (DCD-4).
struct PurchaseGroup: Sendable {
  /// The properties that all transactions of a group share. Auto-renewable subscriptions of one
  /// subscription group exclude each other. Other types do not, whatever group the catalogue has:
  /// non-renewing periods of one plan follow each other, and any other product is a group of its
  /// own, so that no purchase hides another.
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
  /// The transactions, never empty, in the order of the merged evidence.
  var members: [Candidate]

  /// Returns the candidates in their groups, in a fixed order.
  static func groups(of candidates: [Candidate]) -> [PurchaseGroup] {
    let keys = candidates.map { Key($0) }
    return EqualRuns.of(keys, by: Key.precedes).compactMap { run in
      guard let first = run.first else { return nil }
      return PurchaseGroup(key: keys[first], members: run.map { candidates[$0] })
    }
  }

  /// Lets the periods of non-renewing products with `stack` follow each other (DEC-22, DCD-28):
  /// each live purchase that the policy allows starts at its own date or at the end of the
  /// previous one, whichever is later, and counts as often as its quantity.
  mutating func stackPeriods(_ policy: Configuration.DecisionPolicy) {
    guard key.type == .nonRenewing else { return }
    members = members.ordered(by: Candidate.isLesser)
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

  /// The weakest result of comparing accounts; `nil` if none was compared.
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

extension Configuration.DecisionPolicy {
  /// Whether `decision.familySharing:"deny"` excludes the purchase: a family-shared one (DCD-12) or
  /// one whose ownership is unknown (DCD-11).
  func denies(_ facts: PurchaseFacts) -> Bool {
    guard !familySharingAllowed, let ownership = facts.ownership else { return false }
    return ownership != Ownership.purchased && ownership != Ownership.assigned
  }
}
