/// Who revokes, and how the host takes back (STO-35).
struct Revoker {
  enum Mode {
    /// At once and at the host's own risk: what it is told once, it is not told again.
    case none
    /// The host takes back, and `revoke.complete` confirms it.
    case lease
    /// In the transaction of the row.
    case transaction
  }

  /// nil: the host gave none: a repeated call is not told from another delivery.
  let attempt: Text?
  let mode: Mode
  /// Milliseconds since 1970 UTC: the end of the lease.
  let leaseUntilMs: Int64
  let nowMs: Int64

  /// What a revocation does to a row that was read under its lock.
  struct Judgement {
    let outcome: Revocation.Outcome
    /// The row as it shall be; nil: it stays.
    var next: LedgerRow? = nil
    var take: TakeBack? = nil
  }

  /// - Throws: `misuse.exchange.request`, `misuse.store.attempt`, `.lease`.
  init(_ parameters: StoreParameters) throws(Refusal) {
    let modes: [(StaticString, Mode)] = [
      ("none", .none), ("lease", .lease), ("transaction", .transaction),
    ]
    let given = try parameters["mode"]?.choice(modes.map { $0.0 }) ?? 0
    mode = modes[given].1
    attempt = try mode == .none && parameters["attempt"] == nil ? nil : parameters.attempt()
    leaseUntilMs = try parameters.leaseUntil()
    nowMs = parameters.context.nowMs
  }

  /// The row of a purchase that nobody has claimed.
  func tombstone(_ key: Text, _ purchase: StorePurchase, revokedMs: Int64) -> LedgerRow {
    LedgerRow(
      purchaseKey: key, environment: Text(stringLiteral: purchase.facts.environment.name),
      transactionId: purchase.facts.transactionId,
      originalTransactionId: purchase.facts.originalTransactionId, state: .revoked, owner: "",
      product: purchase.facts.productId, quantity: purchase.quantity,
      purchasedMs: purchase.purchasedMs, asOfMs: purchase.facts.asOf,
      evidence: purchase.evidence.sha256, generation: 0,
      grantId: LedgerRow.grantId(key, generation: 0), attempt: attempt ?? "", tries: 0,
      claimedMs: nowMs, leaseMs: LedgerRow.noLease, revokedMs: revokedMs,
      units: purchase.units, revokedShare: purchase.revokedShare, repeats: 0)
  }

  /// - Parameter row: as it stands under the lock, or as this call itself put it there.
  func judge(_ row: LedgerRow, _ purchase: StorePurchase, revokedMs: Int64) -> Judgement {
    guard row.state == .revoked else {
      // RFD-2: the newest signed state stands.
      guard row.asOfMs <= purchase.facts.asOf else { return Judgement(outcome: .stale) }
      let outcome: Revocation.Outcome =
        row.state == .granted ? .wasGranted : row.owner.isEmpty ? .unclaimed : .wasClaimed
      return taking(row, purchase, revokedMs, purchase.revokedShare, outcome)
    }
    if let attempt, row.attempt == attempt, row.evidence == purchase.evidence.sha256 {
      return ours(row, purchase)
    }
    guard row.asOfMs <= purchase.facts.asOf else { return pending(row, purchase) }
    // A later refund of more takes the rest; one of less gives nothing back (STO-35).
    let share = max(row.revokedShare ?? 0, purchase.revokedShare)
    if row.isTakeBackPending {
      guard row.revokedShare == share else { return Judgement(outcome: .inProgress) }
      return pending(row, purchase)
    }
    return taking(row, purchase, revokedMs, share, .already)
  }

  /// The revocation is this attempt's own work, whose answer was lost.
  private func ours(_ row: LedgerRow, _ purchase: StorePurchase) -> Judgement {
    let target = row.target
    let outcome: Revocation.Outcome =
      row.grantedMs != nil ? .wasGranted : row.owner.isEmpty ? .unclaimed : .wasClaimed
    var take: TakeBack? = nil
    switch mode {
    case .none where row.grantedMs != nil: take = TakeBack(row, out: row.units, target: target)
    case .lease where row.isTakeBackPending:
      take = TakeBack(row, out: row.outCount, target: target)
    case .none, .lease, .transaction: break
    }
    return Judgement(outcome: outcome, take: take)
  }

  /// A take-back that another delivery was handed: ours when its lease is over.
  private func pending(_ row: LedgerRow, _ purchase: StorePurchase) -> Judgement {
    guard mode == .lease, row.isTakeBackPending, row.leaseMs <= nowMs else {
      return Judgement(outcome: .already)
    }
    var next = row
    hold(&next)
    return Judgement(
      outcome: .already, next: next,
      take: TakeBack(next, out: row.outCount, target: row.target))
  }

  private func taking(
    _ row: LedgerRow, _ purchase: StorePurchase, _ revokedMs: Int64, _ share: Int64,
    _ outcome: Revocation.Outcome
  ) -> Judgement {
    var next = row
    next.state = .revoked
    next.revokedMs = revokedMs
    next.revokedShare = share
    next.asOfMs = purchase.facts.asOf
    next.evidence = purchase.evidence.sha256
    if let attempt { next.attempt = attempt }
    next.leaseMs = LedgerRow.noLease
    let target = next.target
    guard TakeBack(next, out: row.outCount, target: target) != nil else {
      return Judgement(outcome: outcome, next: next)
    }
    if mode == .lease {
      hold(&next)
    } else {
      next.outCount = target
    }
    return Judgement(
      outcome: outcome, next: next, take: TakeBack(next, out: row.outCount, target: target))
  }

  private func hold(_ row: inout LedgerRow) {
    if let attempt { row.attempt = attempt }
    row.leaseMs = leaseUntilMs
    row.tries &+= 1
  }
}
