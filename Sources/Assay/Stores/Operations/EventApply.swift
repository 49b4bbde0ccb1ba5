/// The operation `apply-event`: applies a notification from Apple to ledger and subscriptions in
/// one call (STO-34). Each part has an outcome of its own, and none stops another.
struct EventApply: StoreOperation {
  /// The effect of an event on the ledger row of one purchase.
  private struct Effect {
    var take: TakeBack? = nil
    var give: Claim? = nil
    var refusal: Refusal? = nil
    var changed = false
    /// Whether a pending take-back has to be confirmed before this event takes effect (STO-35).
    var isWaiting = false
  }

  private let purchases: [StorePurchase]
  private let lines: SubscriptionApply
  private let revoker: Revoker
  private let claimant: Claimant
  /// Whether the notification reports a reversed refund.
  private let isReversal: Bool

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.attempt-id`, `.lease`,
  ///   `misuse.exchange.evidence`, `rejected.payload.incomplete`.
  init(_ parameters: StoreParameters) throws(Refusal) {
    let evidence = parameters.evidence
    let context = parameters.context
    purchases = try StorePurchase.all(evidence, context.configuration.products)
    lines = try SubscriptionApply(event: purchases, context)
    revoker = try Revoker(parameters)
    claimant = Claimant(
      account: nil, attempt: try parameters.attempt(),
      leaseExpiresAtMs: try parameters.leaseUntil(), holds: false,
      isInTransaction: revoker.mode == .transaction)
    isReversal = evidence.contains { item in
      guard case .storeKit(let payload) = item else { return false }
      return payload.fields.text("notificationType") == "REFUND_REVERSED"
    }
  }

  var seed: Text { claimant.attempt }

  var size: (purchases: Int, lines: Int) { (purchases.count, 0) }

  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    var effects: [Effect] = []
    for purchase in purchases { effects.append(try ledger(purchase, &talk)) }
    let lines = try lines.apply(&talk)
    let nowMs = talk.context.nowMs
    let isWaiting = effects.contains { $0.isWaiting }
    return StoreOutcome(isWaiting ? TakeBack.isPending("purchases") : nil) { writer in
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
      for line in lines { line.write(&writer) }
      writer.endArray()
      writeRefused(effects, lines, &writer)
      writer.member(
        "changed",
        boolean: effects.contains { $0.changed } || lines.contains { $0.changed })
    }
  }

  private func writeRefused(
    _ effects: [Effect], _ lines: [AppliedLine], _ writer: inout JSONWriter
  ) {
    writer.name("refused")
    writer.beginArray()
    for (purchase, effect) in zip(purchases, effects) {
      if let refusal = effect.refusal { EventApply.write("ledger", purchase, refusal, &writer) }
    }
    for line in lines {
      if let refusal = line.refusal {
        EventApply.write("subscription", line.purchase, refusal, &writer)
      }
    }
    writer.endArray()
  }

  private static func write(
    _ part: StaticString, _ purchase: StorePurchase, _ refusal: Refusal, _ writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.member("at", part)
    writer.member("transactionId", purchase.facts.transactionId)
    writer.member("status", refusal.status.name)
    writer.endObject()
  }

  // MARK: the ledger

  private func ledger(
    _ purchase: StorePurchase, _ talk: inout StoreTalk
  ) throws(StoreStop) -> Effect {
    if purchase.facts.revokedAtMs != nil {
      let revocation = try talk.revoke(purchase, revoker)
      var effect = Effect(take: revocation.take, changed: revocation.changed)
      effect.isWaiting = revocation.outcome == .inProgress
      if revocation.outcome == .refused { effect.refusal = ClaimOutcome.refused.refusal }
      return effect
    }
    guard let keys = PurchaseKeys(purchase) else {
      return Effect(refusal: ClaimOutcome.refused.refusal)
    }
    let key = try talk.canonicalKey(keys)
    guard var row = try standing(key, purchase, &talk) else { return Effect() }
    if row.state != .revoked {
      // A refund may have been faster; then the row that it left is evaluated.
      row = try talk.raised(row, purchase)
      guard row.state == .revoked else { return Effect() }
    }
    guard let toldMs = purchase.stateToldMs, toldMs > row.asOfMs else { return Effect() }
    guard !row.owner.isEmpty else {
      try talk.free(row, purchase)
      return Effect()
    }
    // The catalogue decides what may be given (STO-24), never what is taken back.
    guard purchase.product != nil else {
      return Effect(refusal: ClaimOutcome.unknownProduct.refusal)
    }
    return try effect(of: reversal(key, row, purchase, &talk), row)
  }

  /// Returns the row of the purchase. A reversal that arrives before its refund inserts one without
  /// owner, so that the older refund meets newer evidence (STO-33).
  private func standing(
    _ key: Text, _ purchase: StorePurchase, _ talk: inout StoreTalk
  ) throws(StoreStop) -> LedgerRow? {
    guard isReversal, purchase.stateToldMs != nil else { return try talk.ledgerRow(key) }
    var row = revoker.tombstone(key, purchase, revokedAtMs: 0)
    row.state = .claimed
    row.attempt = ""
    row.revokedAtMs = nil
    row.revokedShare = nil
    return try talk.insert(row, purchase.evidence)
  }

  /// Claims the purchase of a reversed refund for the owner of its row.
  private func reversal(
    _ key: Text, _ row: LedgerRow, _ purchase: StorePurchase, _ talk: inout StoreTalk
  ) throws(StoreStop) -> Claim {
    guard claimant.isInTransaction else { return try talk.judge(row, claimant, purchase, nil) }
    if talk.context.engine == .dynamodb {
      return try talk.dynamoGrant(key, nil, claimant, purchase, note: nil)
    }
    guard let locked = try talk.ledgerRow(key, .begin) else { throw .rowMissing }
    return try talk.payOut(try talk.judge(locked, claimant, purchase, .within))
  }

  private func effect(of claim: Claim, _ row: LedgerRow) -> Effect {
    var effect = Effect(changed: claim.isGranted)
    if claim.outcome.isOurs { effect.give = claim }
    effect.isWaiting = claim.outcome == .inProgress && row.state == .revoked
    return effect
  }
}
