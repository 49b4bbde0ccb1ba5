/// Applies one of Apple's answers to ledger and subscriptions, reports what differs, and moves the
/// run (docs/spec/reconcile.md §3).
///
/// What takes comes before what gives: refunds, subscriptions, then all other purchases (RCN-21).
struct ApplyHistory: DurableOperation {
  /// The text of a purchase and what only its signed form says.
  private struct Source {
    let sha256: Text
    let uuid: Text?
    let isReversal: Bool
    let price: Int64?
    let currency: Text?

    /// Creates the source; `nil` for evidence of another kind.
    init?(_ item: VerifiedEvidence) {
      guard case .storeKit(let payload) = item, let source = item.purchaseSource else { return nil }
      let signed = payload.notification?.nested(.transaction) ?? payload
      sha256 = StoredEvidence(source).sha256
      uuid = payload.text("notificationUUID")
      isReversal = item.isReversal
      price = signed.integer("price")
      currency = signed.text("currency")
    }
  }

  private let run: RunRow
  private let next: RunRow
  private let purchases: [LedgerPurchase]
  private let subscriptions: UpdateSubscriptions
  private let sources: [Source]
  /// Apple's questions about refunds that still wait, and its decisions (RCN-28).
  private let refunds: [RefundChange]
  /// The withdrawals of consent (RCN-32) and the notifications that report them; empty without an
  /// index of customers.
  private let rescissions: [(rescission: Rescission, uuid: Text?)]
  private let refused: [(refusal: Refusal, sha256: Text)]
  /// Whether purchases that were never granted are claimed for an owner that is known (RCN-25).
  private let claimsOwned: Bool
  /// What the answer is about; `nil` for a window of the history of notifications.
  private let asked: AskedRow?
  private let report: RunReport

  /// - Parameters:
  ///   - refused: Why texts of the answer were refused, with their places, and their SHA-256.
  ///   - claimsOwned: Whether purchases are claimed for an owner that is known.
  ///   - next: The run at its place after the answer.
  /// - Throws: the refusals of evidence that contradicts itself.
  init(
    _ evidence: [VerifiedEvidence], refused: [(refusal: Refusal, sha256: Text)],
    claimsOwned: Bool, asked: AskedRow?, run: RunRow, next: RunRow, _ report: RunReport,
    _ context: LedgerContext
  ) throws(Refusal) {
    let products = context.configuration.products
    var refused = refused
    var items: [VerifiedEvidence] = []
    for (index, item) in evidence.enumerated() {
      guard let source = item.purchaseSource else { continue }
      do throws(Refusal) {
        // An incomplete one must not stop the others.
        _ = try LedgerPurchase.all([item], products)
        items.append(item)
      } catch {
        refused.append(
          (error.inside("item[" + String(index) + "]"), StoredEvidence(source).sha256))
      }
    }
    purchases = try LedgerPurchase.all(items, products)
    subscriptions = try UpdateSubscriptions(event: purchases, context)
    sources = items.compactMap { Source($0) }
    let questions = RefundRow.questions(items, products, nowMs: context.nowMs)
    refunds =
      questions.map { RefundChange.ask($0) }
      + RefundRow.decisions(items, products).map { RefundChange.decide($0) }
    var rescissions: [(rescission: Rescission, uuid: Text?)] = []
    if let key = context.policy.customerKey {
      for case .storeKit(let payload) in evidence {
        if let rescission = Rescission(.storeKit(payload), key) {
          rescissions.append((rescission, payload.text("notificationUUID")))
        }
      }
    }
    self.rescissions = rescissions
    self.refused = refused
    self.claimsOwned = claimsOwned
    self.asked = asked
    self.run = run
    self.next = next
    self.report = report
  }

  var jitterSeed: Text { run.attemptId }

  var size: (purchases: Int, subscriptions: Int) { (purchases.count, 0) }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let context = database.session.context
    var effects: [(purchase: LedgerPurchase, effect: PurchaseEvent.Effect)] = []
    for purchase in purchases where purchase.facts.revokedAtMs != nil {
      effects.append((purchase, try apply(purchase, database)))
    }
    let updated = try subscriptions.apply(database)
    for purchase in purchases where purchase.facts.revokedAtMs == nil {
      effects.append((purchase, try apply(purchase, database)))
    }
    let claimed = try claimsOwned ? claim(&effects, database) : []
    for refund in refunds { _ = try database.changeRefund(refund) }
    var restricted: [[RestrictedAccount]] = []
    for (rescission, _) in rescissions {
      restricted.append(try rescission.apply(database).accounts)
    }
    var update = RunUpdate(run)
    for (purchase, effect) in effects {
      guard let key = effect.key else { continue }
      update.add(DifferenceJudgement(effect.row, purchase, context)) { kind in
        difference(kind, key, purchase, effect.row, context.nowMs)
      }
    }
    for subscription in updated {
      guard let row = subscription.row else { continue }
      update.add(DifferenceJudgement(row, nowMs: context.nowMs)) { kind in
        difference(kind, row, subscription.purchase, context.nowMs)
      }
    }
    let environment = update.environment
    for text in refused {
      update.add(.differs(.notVerified)) { kind in
        difference(kind, text, environment, context.nowMs)
      }
    }
    // Apple knows the customer, whatever it said before.
    if case .download(let row, _)? = asked {
      update.add(.inOrder) { kind in
        DifferenceRow(
          kind, DifferenceRow.download(row.id), in: environment, asOfMs: 0, run: run.run,
          nowMs: context.nowMs)
      }
    }
    let result = try update.store(next, asked: asked, report, database)
    if result.refusal == nil { count(effects, updated, claimed, restricted) }
    return result
  }

  private func apply(
    _ purchase: LedgerPurchase, _ database: any DurableDatabase
  ) throws(LedgerSuspension) -> PurchaseEvent.Effect {
    let nowMs = database.session.context.nowMs
    // The digest is the attempt: whoever applies the same evidence again repeats it.
    let attemptId = purchase.evidence.sha256
    let request = ClaimRequest(
      account: nil, attemptId: attemptId, leaseExpiresAtMs: nowMs, holdsExpiredLease: false,
      grantsInTransaction: true)
    return try PurchaseEvent(
      request: request, revoker: Revoker(sweptBy: attemptId, nowMs: nowMs), grantsHere: false,
      isReversal: source(of: purchase)?.isReversal ?? false
    ).apply(purchase, database)
  }

  /// Claims the purchases that were paid and not granted, for the accounts that are known by their
  /// tokens, and stores their rows in the effects (RCN-25).
  ///
  /// - Returns: The digests of the evidence of what was claimed.
  private func claim(
    _ effects: inout [(purchase: LedgerPurchase, effect: PurchaseEvent.Effect)],
    _ database: any DurableDatabase
  ) throws(LedgerSuspension) -> [Text] {
    let context = database.session.context
    let places = effects.indices.filter { place in
      let (purchase, effect) = effects[place]
      return effect.key != nil
        && DifferenceJudgement(effect.row, purchase, context).isPaidNotGranted
    }
    let owners = try OwnerClaim.owners(of: places.map { effects[$0].purchase }, database)
    var claimed: [Text] = []
    for (place, owner) in zip(places, owners) {
      let (purchase, effect) = effects[place]
      guard let owner, let key = effect.key else { continue }
      let claim = try OwnerClaim(purchase: purchase, owner: owner)
        .claim(key, effect.row, database)
      guard let claim else { continue }
      effects[place].effect.row = claim.row
      if claim.outcome == .new { claimed.append(purchase.evidence.sha256) }
    }
    return claimed
  }

  private func source(of purchase: LedgerPurchase) -> Source? {
    sources.first { $0.sha256 == purchase.evidence.sha256 }
  }

  // MARK: differences

  private func difference(
    _ kind: DifferenceKind, _ key: Text, _ purchase: LedgerPurchase, _ row: LedgerRow?,
    _ nowMs: Int64
  ) -> DifferenceRow {
    describe(
      DifferenceRow(
        kind, key, in: Text(stringLiteral: purchase.facts.environment.name),
        asOfMs: max(purchase.facts.asOfMs, row?.asOfMs ?? 0), run: run.run, nowMs: nowMs),
      purchase)
  }

  private func difference(
    _ kind: DifferenceKind, _ row: SubscriptionRow, _ purchase: LedgerPurchase, _ nowMs: Int64
  ) -> DifferenceRow {
    describe(
      DifferenceRow(
        kind, DifferenceRow.subscription(row.originalTransactionId), in: row.environment,
        asOfMs: row.asOfMs, run: run.run, nowMs: nowMs), purchase)
  }

  private func describe(_ row: DifferenceRow, _ purchase: LedgerPurchase) -> DifferenceRow {
    var row = row
    row.transactionId = purchase.facts.transactionId
    row.originalTransactionId = purchase.facts.originalTransactionId
    row.product = purchase.facts.productId
    row.quantity = purchase.quantity
    row.purchasedAtMs = purchase.purchasedAtMs
    let source = source(of: purchase)
    row.price = source?.price
    row.currency = source?.currency
    return row
  }

  /// Returns the difference of a refused text: the same, wherever the text is seen again.
  private func difference(
    _ kind: DifferenceKind, _ text: (refusal: Refusal, sha256: Text), _ environment: Text,
    _ nowMs: Int64
  ) -> DifferenceRow {
    var row = DifferenceRow(
      kind, Text(Array("text:".utf8) + text.sha256.utf8), in: environment, asOfMs: 0,
      run: run.run, nowMs: nowMs)
    let refusal = text.refusal
    let detail = Text(stringLiteral: refusal.status.name).utf8 + [0x20] + Array(refusal.place.utf8)
    row.detail = Text(Array(detail.prefix(255)))
    return row
  }

  // MARK: counts

  private func count(
    _ effects: [(purchase: LedgerPurchase, effect: PurchaseEvent.Effect)],
    _ updated: [UpdatedSubscription], _ claimed: [Text], _ restricted: [[RestrictedAccount]]
  ) {
    report.purchases &+= Int64(purchases.count)
    report.refused &+= Int64(refused.count)
    report.claimed &+= Int64(claimed.count)
    var changed = claimed
    for (purchase, effect) in effects {
      if effect.changed { report.revoked &+= 1 }
      if effect.give != nil { report.reopened &+= 1 }
      if effect.isFreed { report.freed &+= 1 }
      if effect.changed || effect.give != nil || effect.isFreed {
        changed.append(purchase.evidence.sha256)
      }
    }
    for subscription in updated where subscription.changed {
      report.applied &+= 1
      changed.append(subscription.purchase.evidence.sha256)
    }
    for source in sources where changed.contains(source.sha256) {
      if let uuid = source.uuid { report.lose(uuid) }
    }
    for ((_, uuid), accounts) in zip(rescissions, restricted) {
      let count = accounts.count { $0.changed }
      report.restricted &+= Int64(count)
      if count > 0, let uuid { report.lose(uuid) }
    }
  }
}
