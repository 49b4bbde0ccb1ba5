/// Revocations in the ledger, on every engine: the row is inserted or found, locked, evaluated and
/// written, so that of all deliveries of one revocation exactly one learns that the purchase was
/// granted (docs/spec/ledger.md §5.3).
extension LedgerSession {
  /// The number of evaluations of a row that other processes change at the same time.
  private static let revokeRounds = 4

  mutating func revoke(
    _ purchase: LedgerPurchase, _ revoker: Revoker
  ) throws(LedgerSuspension) -> Revocation {
    guard let revokedAtMs = purchase.facts.revokedAtMs else {
      return Revocation(purchase: purchase, outcome: .notRevoked)
    }
    guard let keys = PurchaseKeys(purchase) else {
      return Revocation(purchase: purchase, outcome: .refused)
    }
    let key = try canonicalKey(keys)
    let tombstone = revoker.tombstone(key, purchase, revokedAtMs: revokedAtMs)
    return context.engine == .dynamodb
      ? try dynamoRevoke(tombstone, purchase, revoker, revokedAtMs)
      : try sqlRevoke(tombstone, purchase, revoker, revokedAtMs)
  }

  // MARK: SQL

  private mutating func sqlRevoke(
    _ tombstone: LedgerRow, _ purchase: LedgerPurchase, _ revoker: Revoker, _ revokedAtMs: Int64
  ) throws(LedgerSuspension) -> Revocation {
    let key = tombstone.purchaseKey
    let named: Arguments = [("purchase_key", .text(key))]
    // A missing row cannot be locked: the tombstone is inserted first.
    let results = try sql(.begin) {
      [
        (.ledgerRead, named), (.ledgerInsert, tombstone.arguments), (.ledgerLock, named),
      ]
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
      try grant { GrantStep(take) }
    }
    let kept = isNew || evaluation.next != nil ? keeping(purchase.evidence, of: key) : []
    let after = try sql(.commit) {
      var calls: [(SQLStatement, Arguments)] = []
      if let next = evaluation.next { calls.append((.ledgerRevoke, next.arguments)) }
      return calls + kept + [(.ledgerRead, named)]
    }
    let row = try LedgerRow(try after.row(after.count &- 1)).checked(key)
    return Revocation(
      purchase: purchase, outcome: evaluation.outcome, row: row, take: evaluation.take)
  }

  // MARK: DynamoDB

  private mutating func dynamoRevoke(
    _ tombstone: LedgerRow, _ purchase: LedgerPurchase, _ revoker: Revoker, _ revokedAtMs: Int64
  ) throws(LedgerSuspension) -> Revocation {
    var standing = try dynamoLedgerRow(tombstone.purchaseKey)?.checked(tombstone.purchaseKey)
    for _ in 0..<Self.revokeRounds {
      let evaluation =
        standing.map { revoker.evaluate($0, purchase, revokedAtMs: revokedAtMs) }
        ?? Revoker.Evaluation(outcome: .unclaimed, next: tombstone)
      var found = Revocation(
        purchase: purchase, outcome: evaluation.outcome, row: standing, take: evaluation.take)
      guard let next = evaluation.next else { return found }
      let change =
        standing.map { next.dynamoChange(from: $0) }
        ?? .insert(next.dynamoKey, next.attributes)
      let (isMade, met) = try dynamoRevoke(change, evaluation.take, revoker.mode)
      if isMade {
        found.row = next
        try dynamoKeep(purchase.evidence, of: next)
        return found
      }
      guard let met else { throw .shape("item") }
      standing = try LedgerRow(met).checked(tombstone.purchaseKey)
    }
    throw .refused(Refusal(.unavailableDatabaseContention, "STO-70", at: "revocations"))
  }

  /// Makes the change by itself, or at the head of the host's transaction.
  private mutating func dynamoRevoke(
    _ change: DynamoRequest, _ take: TakeBack?, _ mode: Revoker.Mode
  ) throws(LedgerSuspension) -> (isMade: Bool, row: DynamoItem?) {
    guard mode == .transaction, let take else { return try dynamoChange(change) }
    return try dynamoHandOut(change) { item in GrantStep(take, item: item) }
  }
}

extension LedgerRow {
  /// Returns the request that writes all of the row, unless another process changed what was read.
  func dynamoChange(from read: LedgerRow) -> DynamoRequest {
    var request = DynamoRequest.update(
      dynamoKey,
      if: """
        #state = :read_state AND #generation = :read_generation \
        AND #fencing_token = :read_fencing_token AND #as_of_ms = :read_as_of_ms \
        AND #attempt_id = :read_attempt_id AND #lease_expires_at_ms = :read_lease_expires_at_ms
        """,
      [
        ("read_state", .text(Text(stringLiteral: read.state.name))),
        ("read_generation", .integer(read.generation)),
        ("read_fencing_token", .integer(read.fencingToken)),
        ("read_as_of_ms", .integer(read.asOfMs)), ("read_attempt_id", .text(read.attemptId)),
        ("read_lease_expires_at_ms", .integer(read.leaseMs)),
      ])
    request.set(attributes)
    return request
  }
}
