/// The end of a claim in the transaction of its row (STO-21).
extension LedgerSession {
  /// Lets the host grant a claim of this attempt, and marks the row as granted in the same
  /// transaction. Any other claim only ends the transaction.
  mutating func payOut(_ claim: Claim, note: Text? = nil) throws(LedgerSuspension) -> Claim {
    guard claim.outcome.needsGrant, let row = claim.row else {
      try close()
      return claim
    }
    let units = row.unitsToGive
    try grant { GrantStep(row, units: units, isRepeated: claim.isRepeated) }
    let granted = try complete(
      row.purchaseKey, owner: row.owner, grantId: row.grantId, fencingToken: row.fencingToken,
      note: note,
      .commit
    ).row
    guard let granted, granted.state == .granted else { throw .rowMissing }
    var claim = claim
    claim.row = granted
    claim.units = units
    claim.isGranted = true
    return claim
  }

  /// Commits a transaction that grants nothing, so that the purchase keys it stored are kept.
  mutating func close() throws(LedgerSuspension) {
    _ = try run { DatabaseStep(calls: [], transaction: .commit) }
  }
}
