/// Grants and take-backs in the transaction of their row (STO-21, STO-35).
extension SQLDatabase {
  func grant(
    _ key: Text, _ new: LedgerRow?, _ request: ClaimRequest, _ purchase: LedgerPurchase,
    note: Text?
  ) throws(LedgerSuspension) -> Claim {
    let row: LedgerRow?
    if let new {
      row = try insert(new, purchase.evidence)
    } else {
      row = try ledgerRow(key)
    }
    guard let row else {
      try close()
      return Claim(purchase, request.outcomeWithoutRow)
    }
    return try payOut(row, request, purchase, note: note)
  }

  func grantReversed(
    _ key: Text, _ request: ClaimRequest, _ purchase: LedgerPurchase
  ) throws(LedgerSuspension) -> Claim {
    transaction = .begin
    guard let locked = try ledgerRow(key) else { throw .rowMissing }
    transaction = .within
    return try payOut(locked, request, purchase, note: nil)
  }

  /// Lets the host grant the row if this attempt claims it, and marks the row as granted in the
  /// same transaction. Any other claim only ends the transaction.
  private func payOut(
    _ row: LedgerRow, _ request: ClaimRequest, _ purchase: LedgerPurchase, note: Text?
  ) throws(LedgerSuspension) -> Claim {
    var claim = try ClaimEvaluation(request: request, purchase: purchase, database: self).claim(row)
    guard claim.outcome.needsGrant, let row = claim.row else {
      try close()
      return claim
    }
    let (key, units) = (row.purchaseKey, row.unitsToGive)
    try session.grant { GrantStep(row, units: units, isRepeated: claim.isRepeated) }
    let results = try run(.commit) {
      completing(
        key, owner: row.owner, grantId: row.grantId, fencingToken: row.fencingToken, note: note)
    }
    transaction = nil
    guard let stored = try results.rowIfAny(results.count &- 1) else { throw .rowMissing }
    let granted = try LedgerRow(stored).checked(key)
    guard granted.state == .granted else { throw .rowMissing }
    claim.row = granted
    claim.units = units
    claim.isGranted = true
    return claim
  }

  /// Commits a transaction that grants nothing, so that the purchase keys it stored are kept.
  private func close() throws(LedgerSuspension) {
    _ = try session.run { DatabaseStep(calls: [], transaction: .commit) }
    transaction = nil
  }

  func revoke(
    _ tombstone: LedgerRow, _ purchase: LedgerPurchase, _ revoker: Revoker, _ revokedAtMs: Int64
  ) throws(LedgerSuspension) -> Revocation {
    let key = tombstone.purchaseKey
    let named: Arguments = [("purchase_key", .text(key))]
    // A missing row cannot be locked: the tombstone is inserted first.
    let results = try run(.begin) {
      [(.ledgerRead, named), (.ledgerInsert, tombstone.arguments), (.ledgerLock, named)]
    }
    let wasThere = try results.rowIfAny(0) != nil
    let standing = try LedgerRow(try results.row(2)).checked(key)
    let isOurs = standing.attemptId == tombstone.attemptId
    let isNew = !wasThere && isOurs && standing.state == .revoked && standing.owner.isEmpty
    let evaluation =
      isNew
      ? Revoker.Evaluation(outcome: .unclaimed)
      : revoker.evaluate(standing, purchase, revokedAtMs: revokedAtMs)
    if revoker.mode == .transaction, let take = evaluation.take {
      try session.grant { GrantStep(take) }
    }
    let kept = isNew || evaluation.next != nil ? keeping(purchase.evidence, of: key) : []
    let after = try run(.commit) {
      var calls: [(SQLStatement, Arguments)] = []
      if let next = evaluation.next { calls.append((.ledgerRevoke, next.arguments)) }
      return calls + kept + [(.ledgerRead, named)]
    }
    let row = try LedgerRow(try after.row(after.count &- 1)).checked(key)
    return Revocation(
      purchase: purchase, outcome: evaluation.outcome, row: row, take: evaluation.take)
  }
}
