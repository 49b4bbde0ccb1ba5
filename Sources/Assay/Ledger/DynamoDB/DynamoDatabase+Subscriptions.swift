/// Subscriptions: the subscription's own row decides, and its owner's copy is read; both change in
/// one transaction.
extension DynamoDatabase {
  /// The number of evaluations of a subscription that other processes change at the same time.
  private static let applyRounds = 4

  func apply(
    _ next: SubscriptionRow, _ evidence: StoredEvidence
  ) throws(LedgerSuspension) -> (before: SubscriptionRow?, after: SubscriptionRow) {
    let standing = try subscription(environment: next.environment, next.originalTransactionId)
    let (before, after) = try change(standing, to: next, keeping: evidence)
    return (try before?.checked(next), try after.checked(next))
  }

  /// - Parameter standing: The subscription as it was read; `nil` if there was none.
  private func change(
    _ standing: SubscriptionRow?, to next: SubscriptionRow, keeping evidence: StoredEvidence
  ) throws(LedgerSuspension) -> (before: SubscriptionRow?, after: SubscriptionRow) {
    let kept = keeping(evidence, of: next)
    var before = standing
    for _ in 0..<Self.applyRounds {
      guard let change = SubscriptionChange(before, next, kept) else {
        return (before, before ?? next)
      }
      guard let reasons = try transact(change.requests) else { return (before, change.after) }
      guard let met = reasons.first?.row else { throw .rowMissing }
      before = try SubscriptionRow(met)
    }
    throw .refused(Refusal(.unavailableDatabaseContention, "STO-70", at: "subscriptions"))
  }

  /// Stores a subscription for a claim, unless the stored one is as new already (RPL-2).
  func show(_ shown: SubscriptionUpdate) throws(LedgerSuspension) -> SubscriptionRow {
    let next = shown.row
    let standing = try subscription(environment: next.environment, next.originalTransactionId)
    if let standing, standing.saysAsMuch(as: next) { return standing }
    return try change(standing, to: next, keeping: shown.evidence).after.checked(next)
  }

  /// Binds a subscription without owner to the owner of a purchase in it (RPL-2).
  func bindSubscription(of row: LedgerRow) throws(LedgerSuspension) {
    let product = context.configuration.products.product(row.product)
    guard product?.type != .consumable else { return }
    let subscription = try subscription(
      environment: row.environment, row.originalTransactionId)
    guard var subscription, subscription.owner.isEmpty else { return }
    subscription.owner = row.owner
    _ = try transact(
      SubscriptionChange.both(SubscriptionChange.binding(subscription), subscription))
  }

  func move(
    _ next: SubscriptionRow, _ evidence: StoredEvidence, from owner: Text, beforeMs: Int64
  ) throws(LedgerSuspension) -> SubscriptionRow {
    var authority = DynamoRequest.update(
      next.dynamoKey,
      if: "#owner = :old_owner AND #as_of_ms < :as_of_ms AND #transferred_at_ms <= :before_ms",
      [
        ("old_owner", .text(owner)), ("before_ms", .integer(beforeMs)), ("one", .integer(1)),
        ("now_ms", .integer(context.nowMs)),
      ])
    authority.set(next.state, ", #transferred_at_ms = :now_ms ADD #transfers :one")
    var after = next
    after.movedMs = context.nowMs
    let changes = [
      authority, .put(after.copyKey, after.arguments),
      .delete(.copy(of: owner, next.environment, next.originalTransactionId)),
    ]
    let reasons = try transact(changes + keeping(evidence, of: next))
    guard let reasons else { return after }
    guard let met = reasons.first?.row else { throw .rowMissing }
    return try SubscriptionRow(met).checked(next)
  }

  func subscriptions(of account: Text) throws(LedgerSuspension) -> [SubscriptionRow] {
    try copies(of: account).owned(by: account)
  }

  private func copies(of account: Text) throws(LedgerSuspension) -> [SubscriptionRow] {
    let query = DynamoQuery.account(account, DynamoKey.subscriptionsOfAccount)
    let rows = try run { [query.call($0)] }.items(0).map(SubscriptionRow.init)
    return rows.ordered { $0.asOfMs > $1.asOfMs }
  }

  func subscription(environment: Text, _ id: Text) throws(LedgerSuspension) -> SubscriptionRow? {
    guard let item = try read(.subscription(environment, id)) else { return nil }
    return try SubscriptionRow(item).checked(environment, id)
  }

  /// Deactivates each subscription and its copy.
  func deactivateSubscriptions(of account: Text) throws(LedgerSuspension) -> [SubscriptionRow] {
    var rows = try copies(of: account)
    let places = rows.indices.filter { rows[$0].deactivatedAtMs == nil }
    guard !places.isEmpty else { return rows }
    let nowMs = context.nowMs
    let results = try run { table in
      places.map { place in
        let requests = [rows[place].dynamoKey, rows[place].copyKey].map { key in
          DynamoRequest.update(
            key, "SET #deactivated_at_ms = :now_ms, #updated_at_ms = :now_ms",
            if: "#owner = :owner AND attribute_not_exists(#deactivated_at_ms)",
            [("now_ms", .integer(nowMs)), ("owner", .text(account))])
        }
        return DynamoTransaction(requests).call(table)
      }
    }
    for (number, place) in places.enumerated() {
      if let reasons = try results.cancellation(number) {
        // The stored row counts: it has another owner by now, or was deactivated before.
        if let met = reasons.first?.row { rows[place] = try SubscriptionRow(met) }
      } else {
        rows[place].deactivatedAtMs = nowMs
        rows[place].updatedMs = nowMs
      }
    }
    return rows.filter { $0.owner == account }
  }

  // MARK: due

  func leaseDueSubscriptions(leaseMs: Int64) throws(LedgerSuspension) -> [SubscriptionRow] {
    let values: DynamoRequest.Values = [
      ("lease_expires_at_ms", .integer(leaseMs)), ("now_ms", .integer(context.nowMs)),
    ]
    // After a lost reply the rows are due again when the lease is over (STO-48).
    let items = try takeDue(
      "SUBSCRIPTION#", beforeMs: context.nowMs,
      { key in
        .update(
          key, "SET #due_at_ms = :lease_expires_at_ms, #next_check_at_ms = :lease_expires_at_ms",
          if: "#due_at_ms <= :now_ms", values)
      }, isOurs: { _ in false })
    return try items.map(SubscriptionRow.init)
  }

  func scheduleNextChecks(_ rows: [SubscriptionRow], leaseMs: Int64) throws(LedgerSuspension) {
    let nowMs = context.nowMs
    _ = try run { table in
      rows.map { row in
        var next = row
        next.nextCheckAtMs = row.nextCheck(nowMs: nowMs)
        var request = DynamoRequest.update(
          row.dynamoKey, if: "#due_at_ms = :lease_expires_at_ms",
          [("lease_expires_at_ms", .integer(leaseMs))])
        request.set([("next_check_at_ms", DatabaseValue(next.nextCheckAtMs))] + next.due)
        return request.call(table)
      }
    }
  }
}

/// The effect of evidence on a subscription that was read (STO-40), by the rules of the SQL
/// statements.
private struct SubscriptionChange {
  let requests: [DynamoRequest]
  let after: SubscriptionRow

  /// Creates the change; `nil` if nothing changes: another account owns the subscription, or a
  /// newer state is stored.
  ///
  /// - Parameter kept: The requests that keep the text that `next` names; sent only if the
  ///   subscription then names it (STM-2).
  init?(_ before: SubscriptionRow?, _ next: SubscriptionRow, _ kept: [DynamoRequest]) {
    guard let before else {
      after = next
      let subscription = DynamoRequest.insert(next.dynamoKey, next.arguments + next.due)
      requests = SubscriptionChange.both(subscription, next) + kept
      return
    }
    let isAnothers = !next.owner.isEmpty && !before.owner.isEmpty && before.owner != next.owner
    if isAnothers { return nil }
    var row = next
    row.owner = next.owner.isEmpty ? before.owner : next.owner
    row.moves = before.moves
    row.movedMs = before.movedMs
    if before.gives(way: next) {
      after = row
      requests =
        SubscriptionChange.both(SubscriptionChange.overwriting(row, owner: before.owner), row)
        + kept
    } else if before.owner != row.owner {
      var bound = before
      bound.owner = row.owner
      after = bound
      requests = SubscriptionChange.both(SubscriptionChange.binding(bound), bound)
    } else {
      return nil
    }
  }

  /// Returns the change of the subscription, and that of the copy for its owner, if it has one.
  static func both(_ authority: DynamoRequest, _ row: SubscriptionRow) -> [DynamoRequest] {
    row.owner.isEmpty ? [authority] : [authority, .put(row.copyKey, row.arguments)]
  }

  private static func overwriting(_ row: SubscriptionRow, owner: Text) -> DynamoRequest {
    let isRevoking = row.revokedAtMs != nil
    var request = DynamoRequest.update(
      row.dynamoKey,
      if: isRevoking
        ? "#owner IN (:owner, :old_owner) AND #as_of_ms <= :as_of_ms"
        : """
        #owner IN (:owner, :old_owner) \
        AND (#as_of_ms < :as_of_ms OR #as_of_ms = :as_of_ms AND #evidence = :evidence)
        """,
      [("old_owner", .text(owner))])
    request.set(row.state)
    return request
  }

  static func binding(_ row: SubscriptionRow) -> DynamoRequest {
    .update(
      row.dynamoKey, "SET #owner = :owner", if: "#owner = :none AND #as_of_ms = :as_of_ms",
      [("owner", .text(row.owner)), ("none", .text("")), ("as_of_ms", .integer(row.asOfMs))])
  }
}

extension SubscriptionRow {
  private static let columns: [StaticString] = [
    "environment", "original_transaction_id", "owner", "product", "plan", "transaction_id",
    "purchased_at_ms", "expires_at_ms", "grace_expires_at_ms", "revoked_at_ms", "as_of_ms",
    "evidence", "deactivated_at_ms", "transfers", "transferred_at_ms", "updated_at_ms",
    "next_check_at_ms", "is_renewing", "commitment_ends_at_ms", "commitment_period",
    "commitment_of",
  ]

  init(_ item: DynamoItem) throws(LedgerSuspension) {
    try self.init(try item.row(SubscriptionRow.columns))
  }

  var dynamoKey: DynamoKey { .subscription(environment, originalTransactionId) }

  var copyKey: DynamoKey { .copy(of: owner, environment, originalTransactionId) }

  /// The attributes in the index of due rows.
  fileprivate var due: DynamoRequest.Values {
    [
      ("due_pk", nextCheckAtMs == nil ? .null : .text(dynamoKey.due("SUBSCRIPTION#"))),
      ("due_at_ms", DatabaseValue(nextCheckAtMs)),
    ]
  }

  /// The attributes that evidence sets: all but those of transfers.
  fileprivate var state: DynamoRequest.Values {
    arguments.filter {
      !$0.name.hasSameBytes(as: "transfers") && !$0.name.hasSameBytes(as: "transferred_at_ms")
    } + due
  }

  /// Whether `next` would change nothing: another account owns the subscription, or its state is as
  /// new.
  fileprivate func saysAsMuch(as next: SubscriptionRow) -> Bool {
    guard owner == next.owner else { return !owner.isEmpty }
    return asOfMs > next.asOfMs
      || asOfMs == next.asOfMs && evidence == next.evidence && deactivatedAtMs == nil
  }

  /// Whether this state is replaced by `next`: by later evidence, by the same, and by a revocation
  /// of the same time (STO-40, STO-41).
  fileprivate func gives(way next: SubscriptionRow) -> Bool {
    if next.asOfMs != asOfMs { return next.asOfMs > asOfMs }
    return next.evidence == evidence || next.revokedAtMs != nil
  }
}
