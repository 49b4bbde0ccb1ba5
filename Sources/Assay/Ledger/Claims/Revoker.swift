/// A request to revoke: the attempt, and how the host takes back (STO-35).
struct Revoker {
  enum Mode {
    /// A take-back at once and at the host's own risk: reported once, and never again.
    case none
    /// A take-back under a lease, which the host confirms with `complete-revocation`.
    case lease
    /// A take-back in the transaction of the row.
    case transaction
  }

  /// The attempt id; `nil` if the host gave none: then a repeated call cannot be distinguished from
  /// another delivery.
  let attemptId: Text?
  let mode: Mode
  /// The end of the lease, in milliseconds since 1970 UTC.
  let leaseExpiresAtMs: Int64
  let nowMs: Int64
  /// Whether a repeated call has the outcome of the first one. Otherwise it is `already`, because
  /// nobody waits for the lost reply, and what was done is counted once.
  private let repeatsOutcome: Bool

  /// The effect of a revocation on a row that was read under its lock.
  struct Evaluation {
    let outcome: Revocation.Outcome
    /// The row to store; `nil` if the stored one stays.
    var next: LedgerRow? = nil
    var take: TakeBack? = nil
  }

  /// Creates a request whose take-backs are handed out by `resume-expired-revocations`: under a
  /// lease that has expired.
  init(sweptBy attemptId: Text, nowMs: Int64) {
    self.attemptId = attemptId
    mode = .lease
    leaseExpiresAtMs = nowMs
    self.nowMs = nowMs
    repeatsOutcome = false
  }

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.attempt-id`, `.lease`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let modes: [(StaticString, Mode)] = [
      ("none", .none), ("lease", .lease), ("transaction", .transaction),
    ]
    let given = try parameters["grantMode"]?.choice(modes.map { $0.0 }) ?? 0
    mode = modes[given].1
    attemptId = try mode == .none && parameters["attemptId"] == nil ? nil : parameters.attemptId()
    leaseExpiresAtMs = try parameters.leaseUntil()
    nowMs = parameters.context.nowMs
    repeatsOutcome = true
  }

  /// Revokes a purchase, if the evidence contains its revocation.
  func revoke(
    _ purchase: LedgerPurchase, on database: any DurableDatabase
  ) throws(LedgerSuspension) -> Revocation {
    guard let revokedAtMs = purchase.facts.revokedAtMs else {
      return Revocation(purchase: purchase, outcome: .notRevoked)
    }
    guard let keys = PurchaseKeys(purchase) else {
      return Revocation(purchase: purchase, outcome: .refused)
    }
    let key = try database.canonicalKey(keys)
    let tombstone = tombstone(key, purchase, revokedAtMs: revokedAtMs)
    return try database.revoke(tombstone, purchase, self, revokedAtMs)
  }

  /// Returns the row to insert for a purchase that no account has claimed.
  func tombstone(_ key: Text, _ purchase: LedgerPurchase, revokedAtMs: Int64) -> LedgerRow {
    LedgerRow(
      purchaseKey: key, environment: Text(stringLiteral: purchase.facts.environment.name),
      transactionId: purchase.facts.transactionId,
      originalTransactionId: purchase.facts.originalTransactionId, state: .revoked, owner: "",
      product: purchase.facts.productId, quantity: purchase.quantity,
      purchasedAtMs: purchase.purchasedAtMs, asOfMs: purchase.facts.asOfMs,
      evidence: purchase.evidence.sha256, generation: 0,
      grantId: LedgerRow.grantId(key, generation: 0), attemptId: attemptId ?? "", fencingToken: 0,
      claimedAtMs: nowMs, leaseMs: LedgerRow.noLease, revokedAtMs: revokedAtMs,
      units: purchase.units, revokedShare: purchase.revokedShare, repeats: 0)
  }

  /// Evaluates a revocation.
  ///
  /// - Parameter row: The row as read under the lock, or as this call inserted it.
  func evaluate(_ row: LedgerRow, _ purchase: LedgerPurchase, revokedAtMs: Int64) -> Evaluation {
    guard row.state == .revoked else {
      // The newest signed state wins (RFD-2).
      guard row.asOfMs <= purchase.facts.asOfMs else { return Evaluation(outcome: .stale) }
      let outcome: Revocation.Outcome =
        row.state == .granted ? .wasGranted : row.owner.isEmpty ? .unclaimed : .wasClaimed
      return taking(row, purchase, revokedAtMs, purchase.revokedShare, outcome)
    }
    if let attemptId, row.attemptId == attemptId { return ours(row) }
    guard row.asOfMs <= purchase.facts.asOfMs else { return pending(row, row) }
    // A later refund of a larger share takes back the rest; a smaller one gives nothing back
    // (STO-35, RFA-45).
    let share = max(row.revokedShare ?? 0, purchase.revokedShare)
    if row.isTakeBackPending {
      guard row.revokedShare == share else { return Evaluation(outcome: .inProgress) }
      var next = row
      next.asOfMs = purchase.facts.asOfMs
      next.evidence = purchase.evidence.sha256
      return pending(row, next)
    }
    return taking(row, purchase, revokedAtMs, share, .already)
  }

  /// Returns the effect of a revocation that this attempt has made already and whose reply was
  /// lost.
  private func ours(_ row: LedgerRow) -> Evaluation {
    guard repeatsOutcome else { return Evaluation(outcome: .already) }
    let target = row.target
    let outcome: Revocation.Outcome =
      row.grantedAtMs != nil ? .wasGranted : row.owner.isEmpty ? .unclaimed : .wasClaimed
    var take: TakeBack? = nil
    switch mode {
    case .none where row.grantedAtMs != nil: take = TakeBack(row, out: row.units, target: target)
    case .lease where row.isTakeBackPending:
      take = TakeBack(row, out: row.outCount, target: target)
    case .none, .lease, .transaction: break
    }
    return Evaluation(outcome: outcome, take: take)
  }

  /// Returns the effect on a row whose take-back another delivery received: this attempt takes it
  /// over if its lease has expired.
  ///
  /// - Parameter next: The row to store in the other case, if its evidence is newer.
  private func pending(_ row: LedgerRow, _ next: LedgerRow) -> Evaluation {
    guard mode == .lease, row.isTakeBackPending, row.leaseMs <= nowMs else {
      return Evaluation(outcome: .already, next: next.asOfMs > row.asOfMs ? next : nil)
    }
    var next = next
    hold(&next)
    return Evaluation(
      outcome: .already, next: next,
      take: TakeBack(next, out: row.outCount, target: row.target))
  }

  private func taking(
    _ row: LedgerRow, _ purchase: LedgerPurchase, _ revokedAtMs: Int64, _ share: Int64,
    _ outcome: Revocation.Outcome
  ) -> Evaluation {
    var next = row
    next.state = .revoked
    next.revokedAtMs = revokedAtMs
    next.revokedShare = share
    next.asOfMs = purchase.facts.asOfMs
    next.evidence = purchase.evidence.sha256
    next.leaseMs = LedgerRow.noLease
    let target = next.target
    guard TakeBack(next, out: row.outCount, target: target) != nil else {
      // The attempt that received an earlier take-back keeps the row, and finds it when it retries.
      if outcome != .already, let attemptId { next.attemptId = attemptId }
      return Evaluation(outcome: outcome, next: next)
    }
    if let attemptId { next.attemptId = attemptId }
    if mode == .lease {
      hold(&next)
    } else {
      next.outCount = target
    }
    return Evaluation(
      outcome: outcome, next: next, take: TakeBack(next, out: row.outCount, target: target))
  }

  private func hold(_ row: inout LedgerRow) {
    if let attemptId { row.attemptId = attemptId }
    row.leaseMs = leaseExpiresAtMs
    row.fencingToken &+= 1
  }
}
