/// Whether a purchase or a subscription differs from what Apple says (docs/spec/reconcile.md
/// RCN-20).
enum DifferenceJudgement: Sendable {
  case differs(DifferenceKind)
  case inOrder
  /// The row alone does not say: an open difference stays as it is.
  case undecided

  var isPaidNotGranted: Bool {
    if case .differs(.paidNotGranted) = self { return true }
    return false
  }

  /// Judges the row of a purchase alone.
  ///
  /// - Parameter nowMs: The current time in milliseconds since 1970 UTC.
  init(_ row: LedgerRow?, nowMs: Int64) {
    guard let row else {
      self = .undecided
      return
    }
    switch row.state {
    case .granted: self = .inOrder
    case .revoked:
      guard row.isTakeBackPending else {
        self = .inOrder
        return
      }
      self = row.leaseMs <= nowMs ? .differs(.refundNotTakenBack) : .undecided
    case .claimed:
      if row.owner.isEmpty {
        self = .undecided
      } else if row.generation > 0 && row.leaseMs <= nowMs {
        self = .differs(.reversalNotGivenBack)
      } else if row.leaseMs <= nowMs &- RunPlan.staleMs {
        self = .differs(.claimLeftBehind)
      } else {
        self = .undecided
      }
    }
  }

  /// Judges the row of a purchase of which newer evidence was shown.
  init(_ row: LedgerRow?, _ purchase: LedgerPurchase, _ context: LedgerContext) {
    if purchase.isShareUnknown, row?.keepsAll == true {
      self = .differs(.refundShareUnknown)
      return
    }
    let isUnclaimed = row.map { $0.state == .claimed && $0.owner.isEmpty } ?? true
    guard isUnclaimed, purchase.facts.revokedAtMs == nil else {
      self.init(row, nowMs: context.nowMs)
      return
    }
    guard !purchase.isOwedToNobody(context.configuration.decision) else {
      self = .inOrder
      return
    }
    guard let product = purchase.product else {
      self = .differs(.unknownProduct)
      return
    }
    // A subscription or an unlock is owed by its own row.
    guard product.type == .consumable else {
      self = .inOrder
      return
    }
    let isOnItsWay = purchase.purchasedAtMs > context.nowMs &- RunPlan.staleMs
    self = isOnItsWay ? .undecided : .differs(.paidNotGranted)
  }

  /// Judges the row of a subscription or an unlock.
  init(_ row: SubscriptionRow?, nowMs: Int64) {
    guard let row else {
      self = .undecided
      return
    }
    let endMs = row.expiresAtMs.map { max($0, row.graceExpiresAtMs ?? 0) } ?? .max
    guard row.owner.isEmpty, row.revokedAtMs == nil, endMs > nowMs else {
      self = .inOrder
      return
    }
    let isOnItsWay = row.purchasedAtMs > nowMs &- RunPlan.staleMs
    self = isOnItsWay ? .undecided : .differs(.subscriptionUnowned)
  }
}

extension LedgerRow {
  /// Whether the row is revoked and leaves the customer everything.
  fileprivate var keepsAll: Bool { state == .revoked && !owner.isEmpty && target == units }
}

extension LedgerPurchase {
  /// Whether the purchase gives nothing to anybody: upgraded, denied by the policy, or of Sandbox
  /// where that counts for nothing (RCN-23).
  fileprivate func isOwedToNobody(_ policy: Configuration.DecisionPolicy) -> Bool {
    facts.isUpgraded || policy.denies(facts)
      || facts.environment != .production && policy.sandbox == .never
  }
}
