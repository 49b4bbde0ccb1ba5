/// The operation `apply-event`: applies a notification from Apple to ledger and subscriptions in
/// one call (STO-34). Each part has an outcome of its own, and none stops another.
struct ApplyEvent: DurableOperation {
  /// The effect of an event on the ledger row of one purchase.
  private struct Effect {
    var take: TakeBack? = nil
    var give: Claim? = nil
    var refusal: Refusal? = nil
    var changed = false
    /// Whether a pending take-back has to be confirmed before this event takes effect (STO-35).
    var isWaiting = false
  }

  private let purchases: [LedgerPurchase]
  private let subscriptions: UpdateSubscriptions
  private let revoker: Revoker
  private let request: ClaimRequest
  /// Whether the notification reports a reversed refund.
  private let isReversal: Bool

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.attempt-id`, `.lease`,
  ///   `misuse.exchange.evidence`, `rejected.payload.incomplete`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let evidence = parameters.evidence
    let context = parameters.context
    purchases = try LedgerPurchase.all(evidence, context.configuration.products)
    subscriptions = try UpdateSubscriptions(event: purchases, context)
    revoker = try Revoker(parameters)
    request = ClaimRequest(
      account: nil, attemptId: try parameters.attemptId(),
      leaseExpiresAtMs: try parameters.leaseUntil(), holdsExpiredLease: false,
      grantsInTransaction: revoker.mode == .transaction)
    isReversal = evidence.contains { item in
      guard case .storeKit(let payload) = item else { return false }
      return payload.fields.text("notificationType") == "REFUND_REVERSED"
    }
  }

  var jitterSeed: Text { request.attemptId }

  var size: (purchases: Int, subscriptions: Int) { (purchases.count, 0) }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    var effects: [Effect] = []
    for purchase in purchases { effects.append(try ledger(purchase, database)) }
    let subscriptions = try subscriptions.apply(database)
    let nowMs = database.session.context.nowMs
    let isWaiting = effects.contains { $0.isWaiting }
    return OperationResult(isWaiting ? TakeBack.isPending("purchases") : nil) { writer in
      writer.name("take")
      writer.beginArray()
      for effect in effects { effect.take?.write(&writer) }
      writer.endArray()
      writer.name("give")
      writer.beginArray()
      for effect in effects { effect.give?.write(nowMs: nowMs, &writer) }
      writer.endArray()
      writer.name("subscriptions")
      writer.beginArray()
      for subscription in subscriptions { subscription.write(&writer) }
      writer.endArray()
      writeRefused(effects, subscriptions, &writer)
      writer.member(
        "changed",
        boolean: effects.contains { $0.changed } || subscriptions.contains { $0.changed })
    }
  }

  private func writeRefused(
    _ effects: [Effect], _ subscriptions: [UpdatedSubscription], _ writer: inout JSONWriter
  ) {
    writer.name("refused")
    writer.beginArray()
    for (purchase, effect) in zip(purchases, effects) {
      if let refusal = effect.refusal { ApplyEvent.write("ledger", purchase, refusal, &writer) }
    }
    for subscription in subscriptions {
      if let refusal = subscription.refusal {
        ApplyEvent.write("subscription", subscription.purchase, refusal, &writer)
      }
    }
    writer.endArray()
  }

  private static func write(
    _ part: StaticString, _ purchase: LedgerPurchase, _ refusal: Refusal, _ writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.member("at", part)
    writer.member("transactionId", purchase.facts.transactionId)
    writer.member("status", refusal.status.name)
    writer.endObject()
  }

  // MARK: the ledger

  private func ledger(
    _ purchase: LedgerPurchase, _ database: any DurableDatabase
  ) throws(LedgerSuspension) -> Effect {
    if purchase.facts.revokedAtMs != nil {
      let revocation = try revoker.revoke(purchase, on: database)
      var effect = Effect(take: revocation.take, changed: revocation.changed)
      effect.isWaiting = revocation.outcome == .inProgress
      if revocation.outcome == .refused { effect.refusal = ClaimOutcome.refused.refusal }
      return effect
    }
    guard let keys = PurchaseKeys(purchase) else {
      return Effect(refusal: ClaimOutcome.refused.refusal)
    }
    let key = try database.canonicalKey(keys)
    let evaluation = ClaimEvaluation(request: request, purchase: purchase, database: database)
    guard var row = try standing(key, purchase, database) else { return Effect() }
    if row.state != .revoked {
      // A refund may have been faster; then the row that it left is evaluated.
      row = try evaluation.raised(row)
      guard row.state == .revoked else { return Effect() }
    }
    guard let toldMs = purchase.stateToldMs, toldMs > row.asOfMs else { return Effect() }
    guard !row.owner.isEmpty else {
      try free(row, purchase, database)
      return Effect()
    }
    // The catalogue decides what may be given (STO-24), never what is taken back.
    guard purchase.product != nil else {
      return Effect(refusal: ClaimOutcome.unknownProduct.refusal)
    }
    let claim =
      request.grantsInTransaction
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
  ) throws(LedgerSuspension) {
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
  }

  private func effect(of claim: Claim, _ row: LedgerRow) -> Effect {
    var effect = Effect(changed: claim.isGranted)
    if claim.outcome.needsGrant { effect.give = claim }
    effect.isWaiting = claim.outcome == .inProgress && row.state == .revoked
    return effect
  }
}
