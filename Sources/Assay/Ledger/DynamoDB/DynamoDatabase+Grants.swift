/// Grants and take-backs in a transaction, and revocations. The change of the row is the first
/// element of the host's own TransactWriteItems, so that claim and grant are committed together or
/// not at all (STO-21).
extension DynamoDatabase {
  /// The number of rounds: a row that another process inserted in between is evaluated once more.
  private static let grantRounds = 2

  /// The number of evaluations of a revoked row that other processes change at the same time.
  private static let revokeRounds = 4

  func grant(
    _ key: Text, _ new: LedgerRow?, _ request: ClaimRequest, _ purchase: LedgerPurchase,
    note: Text?
  ) throws(LedgerSuspension) -> Claim {
    var standing = try ledgerRow(key)
    for _ in 0..<Self.grantRounds {
      var claim: Claim
      if let standing {
        claim = try ClaimEvaluation(request: request, purchase: purchase, database: self)
          .claim(standing)
      } else if let new {
        claim = Claim(new, .new)
      } else {
        return Claim(purchase, request.outcomeWithoutRow)
      }
      guard claim.outcome.needsGrant, var row = claim.row else { return claim }
      // The text is kept beforehand: the host's transaction has no room for it.
      if standing == nil { try keep(purchase.evidence, of: row) }
      let units = row.unitsToGive
      row.state = .granted
      row.grantedAtMs = context.nowMs
      row.outCount = row.units
      if let note { row.note = note }
      let change =
        standing == nil
        ? DynamoRequest.insert(row.dynamoKey, row.attributes) : grantOfClaimed(row)
      let (isMade, item) = try handOutGrant(change) { item in
        GrantStep(row, units: units, isRepeated: row.isRepeated(by: request), item: item)
      }
      claim.units = units
      guard !isMade else {
        claim.row = row
        claim.isGranted = true
        return claim
      }
      guard let item else { throw .shape("results[0].reasons[0].item") }
      let met = try LedgerRow(item).checked(key)
      // This attempt has granted the row, in a call that the client library repeated (STO-72).
      if met.state == .granted && met.attemptId == row.attemptId
        && met.grantedAtMs == row.grantedAtMs
      {
        claim.row = met
        claim.isGranted = true
        return claim
      }
      standing = met
    }
    guard let standing else { throw .rowMissing }
    return Claim(standing, standing.owner == request.account ? .inProgress : .otherAccount)
  }

  func grantReversed(
    _ key: Text, _ request: ClaimRequest, _ purchase: LedgerPurchase
  ) throws(LedgerSuspension) -> Claim {
    try grant(key, nil, request, purchase, note: nil)
  }

  /// Returns the update that grants a row of this attempt as it was read. If the row was handed out
  /// under a lease since, even to this attempt, it has another fencing token (STO-37).
  private func grantOfClaimed(_ row: LedgerRow) -> DynamoRequest {
    var request = DynamoRequest.update(
      row.dynamoKey,
      if: """
        #state = :claimed AND #attempt_id = :attempt_id AND #grant_id = :grant_id \
        AND #fencing_token = :read_fencing_token
        """,
      [
        ("claimed", .text("claimed")), ("attempt_id", .text(row.attemptId)),
        ("grant_id", .text(row.grantId)), ("read_fencing_token", .integer(row.fencingToken)),
      ])
    request.set([
      ("state", .text("granted")), ("granted_at_ms", DatabaseValue(row.grantedAtMs)),
      ("note", DatabaseValue(row.note)), ("units", .integer(row.units)),
      ("granted_units", .integer(row.outCount)), ("due_pk", .null), ("due_at_ms", .null),
    ])
    return request
  }

  /// Hands out the grant step with the change as its item. Returns whether the host's transaction
  /// was committed; if not, the row that failed the item's condition.
  private func handOutGrant(
    _ change: DynamoRequest, _ handed: ([UInt8]) -> GrantStep
  ) throws(LedgerSuspension) -> (isMade: Bool, row: DynamoItem?) {
    let result = try session.grant {
      var writer = JSONWriter(capacity: 2048)
      change.writeElement(table, &writer)
      return handed(writer.bytes)
    }
    guard let reasons = try [result].cancellation(0) else { return (true, nil) }
    guard let ours = reasons.first, ours.isRefused else {
      // A condition of the host's own has failed.
      throw .refused(Refusal(.unavailableClaimInProgress, "STO-32", at: "grant"))
    }
    return (false, ours.row)
  }

  // MARK: revocations

  func revoke(
    _ tombstone: LedgerRow, _ purchase: LedgerPurchase, _ revoker: Revoker, _ revokedAtMs: Int64
  ) throws(LedgerSuspension) -> Revocation {
    var standing = try ledgerRow(tombstone.purchaseKey)
    for _ in 0..<Self.revokeRounds {
      let evaluation =
        standing.map { revoker.evaluate($0, purchase, revokedAtMs: revokedAtMs) }
        ?? Revoker.Evaluation(outcome: .unclaimed, next: tombstone)
      var found = Revocation(
        purchase: purchase, outcome: evaluation.outcome, row: standing, take: evaluation.take)
      guard let next = evaluation.next else { return found }
      let change =
        standing.map { next.change(from: $0) } ?? .insert(next.dynamoKey, next.attributes)
      let (isMade, met) = try revoke(change, evaluation.take, revoker.mode)
      if isMade {
        found.row = next
        try keep(purchase.evidence, of: next)
        return found
      }
      guard let met else { throw .shape("item") }
      standing = try LedgerRow(met).checked(tombstone.purchaseKey)
    }
    throw .refused(Refusal(.unavailableDatabaseContention, "STO-70", at: "revocations"))
  }

  /// Makes the change by itself, or at the head of the host's transaction.
  private func revoke(
    _ change: DynamoRequest, _ take: TakeBack?, _ mode: Revoker.Mode
  ) throws(LedgerSuspension) -> (isMade: Bool, row: DynamoItem?) {
    guard mode == .transaction, let take else { return try self.change(change) }
    return try handOutGrant(change) { item in GrantStep(take, item: item) }
  }
}
