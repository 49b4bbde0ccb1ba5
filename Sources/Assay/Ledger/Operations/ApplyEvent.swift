/// The operation `apply-event`: applies a notification from Apple to ledger and subscriptions in
/// one call (STO-34). Each part has an outcome of its own, and none stops another.
struct ApplyEvent: DurableOperation {
  private let purchases: [LedgerPurchase]
  private let subscriptions: UpdateSubscriptions
  private let event: PurchaseEvent
  /// What Apple has decided about refunds, by the notifications among the evidence (RFA-47).
  private let decisions: [RefundRow]
  /// The withdrawals of consent among the evidence; `nil` without an index of customers.
  private let rescissions: [Rescission]?

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.attempt-id`, `.lease`,
  ///   `misuse.exchange.evidence`, `rejected.payload.incomplete`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let evidence = parameters.evidence
    let context = parameters.context
    purchases = try LedgerPurchase.all(evidence, context.configuration.products)
    subscriptions = try UpdateSubscriptions(event: purchases, context)
    let revoker = try Revoker(parameters)
    let request = ClaimRequest(
      account: nil, attemptId: try parameters.attemptId(),
      leaseExpiresAtMs: try parameters.leaseUntil(), holdsExpiredLease: false,
      grantsInTransaction: revoker.mode == .transaction)
    event = PurchaseEvent(
      request: request, revoker: revoker, grantsHere: request.grantsInTransaction,
      isReversal: evidence.contains { $0.isReversal })
    decisions = RefundRow.decisions(evidence, context.configuration.products)
    rescissions = context.policy.customerKey.map { key in
      evidence.compactMap { Rescission($0, key) }
    }
  }

  var jitterSeed: Text { event.request.attemptId }

  /// The counts from which the most steps follow (EXC-15); a withdrawal of consent takes the steps
  /// of two purchases.
  var size: (purchases: Int, subscriptions: Int) {
    (purchases.count &+ 2 &* (rescissions?.count ?? 0), 0)
  }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    var effects: [PurchaseEvent.Effect] = []
    for purchase in purchases { effects.append(try event.apply(purchase, database)) }
    let subscriptions = try subscriptions.apply(database)
    // Apple's decision closes the case, so that nothing is sent after it (RFA-47).
    for decision in decisions { _ = try database.changeRefund(.decide(decision)) }
    var restricted: [RestrictedAccount] = []
    var hasMore = false
    for rescission in rescissions ?? [] {
      let (accounts, more) = try rescission.apply(database)
      restricted += accounts
      hasMore = hasMore || more
    }
    let (accounts, more, hasIndex) = (restricted, hasMore, rescissions != nil)
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
        boolean: effects.contains { $0.changed } || subscriptions.contains { $0.changed }
          || accounts.contains { $0.changed })
      guard hasIndex else { return }
      writer.name("restricted")
      writer.beginArray()
      for account in accounts { account.write(&writer) }
      writer.endArray()
      writer.member("hasMore", boolean: more)
    }
  }

  private func writeRefused(
    _ effects: [PurchaseEvent.Effect], _ subscriptions: [UpdatedSubscription],
    _ writer: inout JSONWriter
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
}
