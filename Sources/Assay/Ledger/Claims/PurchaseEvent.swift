/// What Apple says of a purchase, applied to its ledger row: a notification, or a page of Apple's
/// history (STO-34, docs/spec/reconcile.md §3). In any order the row ends as the newest signed state
/// leaves it (RFA-46).
struct PurchaseEvent {
  /// The effect on the ledger row of one purchase.
  struct Effect {
    var take: TakeBack? = nil
    var give: Claim? = nil
    var refusal: Refusal? = nil
    var changed = false
    /// Whether a pending take-back has to be confirmed before this event takes effect (STO-35).
    var isWaiting = false
    /// The key of the purchase's row; `nil` if its ids cannot be a key.
    var key: Text? = nil
    /// The row afterwards; `nil` if there is none.
    var row: LedgerRow? = nil
    /// Whether a row without owner, which was revoked, is its first claimant's now.
    var isFreed = false
  }

  let request: ClaimRequest
  let revoker: Revoker
  /// Whether the host grants a reversed purchase in a transaction of this exchange.
  let grantsHere: Bool
  /// Whether Apple reports a reversed refund.
  let isReversal: Bool

  func apply(
    _ purchase: LedgerPurchase, _ database: any DurableDatabase
  ) throws(LedgerSuspension) -> Effect {
    if purchase.facts.revokedAtMs != nil {
      let revocation = try revoker.revoke(purchase, on: database)
      var effect = Effect(
        take: revocation.take, changed: revocation.changed, key: revocation.row?.purchaseKey,
        row: revocation.row)
      effect.isWaiting = revocation.outcome == .inProgress
      if revocation.outcome == .refused { effect.refusal = ClaimOutcome.refused.refusal }
      return effect
    }
    guard let keys = PurchaseKeys(purchase) else {
      return Effect(refusal: ClaimOutcome.refused.refusal)
    }
    let key = try database.canonicalKey(keys)
    let evaluation = ClaimEvaluation(request: request, purchase: purchase, database: database)
    guard var row = try standing(key, purchase, database) else { return Effect(key: key) }
    if row.state != .revoked {
      // A refund may have been faster; then the row that it left is evaluated.
      row = try evaluation.raised(row)
      guard row.state == .revoked else { return Effect(key: key, row: row) }
    }
    guard let toldMs = purchase.stateToldMs, toldMs > row.asOfMs else {
      return Effect(key: key, row: row)
    }
    guard !row.owner.isEmpty else {
      let freed = try free(row, purchase, database)
      return Effect(key: key, row: freed, isFreed: true)
    }
    // The catalogue decides what may be given (STO-24), never what is taken back.
    guard purchase.product != nil else {
      return Effect(refusal: ClaimOutcome.unknownProduct.refusal, key: key, row: row)
    }
    let claim =
      grantsHere
      ? try database.grantReversed(key, request, purchase) : try evaluation.claim(row)
    return effect(of: claim, row)
  }

  /// Returns the row of the purchase. A reversal that arrives before its refund inserts one without
  /// owner, so that the older refund meets newer evidence (STO-33).
  private func standing(
    _ key: Text, _ purchase: LedgerPurchase, _ database: any DurableDatabase
  ) throws(LedgerSuspension) -> LedgerRow? {
    guard isReversal, purchase.stateToldMs != nil else { return try database.ledgerRow(key) }
    var row = revoker.tombstone(key, purchase, revokedAtMs: 0)
    row.state = .claimed
    row.attemptId = ""
    row.revokedAtMs = nil
    row.revokedShare = nil
    return try database.insert(row, purchase.evidence)
  }

  private func free(
    _ row: LedgerRow, _ purchase: LedgerPurchase, _ database: any DurableDatabase
  ) throws(LedgerSuspension) -> LedgerRow {
    var next = row
    next.state = .claimed
    next.attemptId = ""
    next.fencingToken = 0
    next.repeats = 0
    next.leaseMs = LedgerRow.noLease
    next.asOfMs = purchase.facts.asOfMs
    next.evidence = purchase.evidence.sha256
    next.revokedAtMs = nil
    next.revokedShare = nil
    try database.free(next, over: row, purchase.evidence)
    return next
  }

  private func effect(of claim: Claim, _ row: LedgerRow) -> Effect {
    var effect = Effect(
      changed: claim.isGranted, key: row.purchaseKey, row: claim.row ?? row)
    if claim.outcome.needsGrant { effect.give = claim }
    effect.isWaiting = claim.outcome == .inProgress && row.state == .revoked
    return effect
  }
}
