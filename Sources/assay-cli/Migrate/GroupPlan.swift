@_spi(AssayMigrate) import Assay

/// What a run does about one group: whose it is, and what each of its purchases comes to
/// (MIG-24 … 27).
struct GroupPlan {
  /// What a purchase comes to. Each purchase is counted in one.
  enum Outcome: String, CaseIterable {
    case conflict, unknownProduct, excluded, ownerless, present, pending, stale
    case granted, owed, revoked, expired, live
  }

  struct Item {
    let purchase: MigrateGroup.Purchase
    var outcome: Outcome
    /// Whether the shop has delivered it, by its rows.
    let isGranted: Bool
    /// Whether Apple took back what was delivered.
    var isTakenBack = false
  }

  /// Two accounts that claim the same.
  struct Conflict {
    enum Kind: String { case accounts, owner, token }
    let kind: Kind
    /// Whether `--conflict earliest` decided it.
    var isSettled = false
  }

  let group: MigrateGroup
  /// The owner; `nil` if no row names one, or if two are named.
  let account: String?
  var conflict: Conflict?
  var items: [Item]
  /// The index of the subscription's latest period, which is its state; `nil` for a purchase that
  /// is no subscription.
  let latest: Int?

  /// Whether nothing of the group is written.
  var isHeld: Bool { conflict.map { !$0.isSettled } ?? false }

  init(_ group: MigrateGroup, _ options: MigrateOptions, nowMs: Int64) {
    self.group = group
    (account, conflict) = GroupPlan.owner(of: group, options)
    let isHeld = conflict.map { !$0.isSettled } ?? false
    let account = account
    var latest: Int?
    for (place, purchase) in group.purchases.enumerated()
    where purchase.newest.kind.isSubscription && !purchase.newest.isExcluded {
      if latest.map({ purchase.follows(group.purchases[$0]) }) ?? true { latest = place }
    }
    self.latest = latest
    items = group.purchases.enumerated().map { place, purchase in
      let isGranted =
        purchase.grantedTo.contains("") || account.map(purchase.grantedTo.contains) ?? false
      let outcome =
        isHeld
        ? .conflict
        : GroupPlan.outcome(
          purchase, isLatest: place == latest, isGranted, hasOwner: account != nil,
          graceExpiresAtMs: group.renewal?.graceExpiresAtMs, options, nowMs)
      return Item(purchase: purchase, outcome: outcome, isGranted: isGranted)
    }
  }

  /// Returns whose the group is, by what the rows and the signed account tokens say.
  private static func owner(
    of group: MigrateGroup, _ options: MigrateOptions
  ) -> (String?, Conflict?) {
    let named = group.accounts
    if let token = group.tokenAccounts.min() {
      let others = named.keys.contains { $0 != token } || group.tokenAccounts.count > 1
      return others || group.moreAccounts > 0
        ? (nil, Conflict(kind: .token)) : (token, nil)
    }
    if named.count == 1, group.moreAccounts == 0 { return (named.first?.key, nil) }
    guard !named.isEmpty, !group.purchases.isEmpty else { return (nil, nil) }
    let isDated = group.moreAccounts == 0 && named.values.allSatisfy { !$0.hasUndatedRow }
    let first = named.values.compactMap(\.firstMs).min()
    let earliest = named.filter { $0.value.firstMs == first }
    guard options.conflict == .earliest, isDated, earliest.count == 1 else {
      return (nil, Conflict(kind: .accounts))
    }
    return (earliest.first?.key, Conflict(kind: .accounts, isSettled: true))
  }

  private static func outcome(
    _ purchase: MigrateGroup.Purchase, isLatest: Bool, _ isGranted: Bool, hasOwner: Bool,
    graceExpiresAtMs: Int64?, _ options: MigrateOptions, _ nowMs: Int64
  ) -> Outcome {
    let fact = purchase.newest
    if fact.kind == .unknown { return .unknownProduct }
    if fact.isExcluded { return .excluded }
    let isOnce = options.isOnce(fact.kind)
    if isOnce, !hasOwner { return .ownerless }
    if purchase.revokedAtMs != nil { return .revoked }
    if purchase.isUpgraded { return .expired }
    if isOnce { return isGranted ? .granted : .owed }
    let end = max(fact.expiresAtMs ?? 0, isLatest ? graceExpiresAtMs ?? 0 : 0)
    return isLatest && nowMs < end ? .live : .expired
  }

  /// Why Apple must be asked about the group; `nil` if verified evidence says as much (MIG-22).
  func question(nowMs: Int64) -> String? {
    let purchases = group.purchases
    if let hearsay = group.hearsay {
      if purchases.isEmpty { return "hearsay" }
      if hearsay.isRevoked, !purchases.contains(where: { $0.revokedAtMs != nil }) {
        return "refund-told"
      }
      let end = purchases.compactMap(\.newest.expiresAtMs).max() ?? .max
      if let told = hearsay.expiresAtMs, told > end { return "hearsay" }
    }
    guard let latest, group.renewal == nil else { return nil }
    let (item, fact) = (items[latest], purchases[latest].newest)
    let isOver = (fact.expiresAtMs ?? 0) <= nowMs && item.purchase.revokedAtMs == nil
    return fact.kind == .autoRenewable && isOver ? "stale-subscription" : nil
  }

  /// The texts that must be verified again before the group is written.
  func evidence(_ options: MigrateOptions) -> Set<EvidencePlace> {
    guard !isHeld else { return [] }
    var places = Set(subscriptionEvidence)
    for item in items where item.need(options) != nil { places.formUnion(item.purchase.evidence) }
    return places
  }

  /// The texts from which the state of the subscription follows.
  var subscriptionEvidence: [EvidencePlace] {
    guard let latest else { return [] }
    let evidence = group.purchases[latest].evidence
    guard let renewal = group.renewal?.place, !evidence.contains(renewal) else { return evidence }
    return evidence + [renewal]
  }
}

extension GroupPlan.Item {
  /// The operation of the ledger that a purchase needs.
  enum Need { case claim, revoke, find }

  /// Returns what the purchase itself needs, beside its subscription; `nil` for nothing.
  func need(_ options: MigrateOptions) -> Need? {
    guard options.isOnce(purchase.newest.kind) else { return nil }
    return switch outcome {
    case .granted: .claim
    case .revoked: .revoke
    case .owed: options.owed == .claim ? .claim : .find
    default: nil
    }
  }
}
