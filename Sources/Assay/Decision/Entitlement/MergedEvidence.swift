/// All evidence of a decision: each transaction and each subscription's renewal info once, by the
/// newest statement about it and about each of its members (DCD-3, DCD-8).
struct MergedEvidence: Sendable {
  /// The transactions, sorted by environment and transaction id.
  let transactions: [StatedFacts<PurchaseFacts>]
  /// The renewal info, sorted by environment and original transaction id.
  let renewals: [StatedFacts<RenewalFacts>]

  /// - Throws: `rejected.payload.incomplete` (PAY-7).
  init(_ evidence: [PurchaseEvidence]) throws(Refusal) {
    try Self.requireIds(evidence)
    var purchases: [StatedFacts<PurchaseFacts>] = []
    var subscriptions: [StatedFacts<RenewalFacts>] = []
    for (document, item) in evidence.enumerated() {
      for facts in item.purchases {
        purchases.append(
          StatedFacts(
            facts: facts, kind: item.kind, document: document,
            account: facts.account.map {
              StatedAccount(token: $0.asciiLowercased, asOfMs: facts.asOfMs, document: document)
            }))
      }
      for facts in item.renewals {
        subscriptions.append(
          StatedFacts(
            facts: facts, kind: item.kind, document: document,
            account: facts.account.map {
              StatedAccount(token: $0.asciiLowercased, asOfMs: facts.asOfMs, document: document)
            }))
      }
    }
    let ids = purchases.map { ScopedId(environment: $0.facts.environment, id: Self.id(of: $0)) }
    transactions = EqualRuns.of(ids, by: ScopedId.precedes).compactMap { run in
      Self.merged(purchases: run.map { purchases[$0] })
    }
    let subscriptionIds = subscriptions.map { $0.facts.subscriptionId }
    renewals = EqualRuns.of(subscriptionIds, by: ScopedId.precedes).compactMap { run in
      Self.merged(renewals: run.map { subscriptions[$0] })
    }
  }

  /// Requires the ids without which a transaction or renewal info identifies nothing (PAY-7).
  private static func requireIds(_ evidence: [PurchaseEvidence]) throws(Refusal) {
    for (document, item) in evidence.enumerated() {
      for facts in item.purchases {
        try require(
          !facts.transactionId.isEmpty, .rejectedPayloadIncomplete, "PAY-7",
          at: "evidence[\(document)]/transactionId")
        try require(
          !facts.originalTransactionId.isEmpty, .rejectedPayloadIncomplete, "PAY-7",
          at: "evidence[\(document)]/originalTransactionId")
        try require(
          !facts.productId.isEmpty, .rejectedPayloadIncomplete, "PAY-7",
          at: "evidence[\(document)]/productId")
      }
      for facts in item.renewals {
        try require(
          !facts.originalTransactionId.isEmpty, .rejectedPayloadIncomplete, "PAY-7",
          at: "evidence[\(document)]/originalTransactionId")
      }
    }
  }

  /// Returns the id that distinguishes a transaction. Every purchase in Xcode's app receipts has
  /// the id "0": those are distinguished by all their facts (APR-20).
  private static func id(of statement: StatedFacts<PurchaseFacts>) -> Text {
    let facts = statement.facts
    let isOfReceipt = facts.evidenceClass == .signed && !facts.canReport.contains(.account)
    return isOfReceipt && facts.transactionId == "0"
      ? statement.canonical : facts.transactionId
  }

  /// Returns the newest renewal info of a subscription (DCD-8).
  func renewal(of subscription: ScopedId) -> StatedFacts<RenewalFacts>? {
    var low = 0
    var high = renewals.count
    while low < high {
      let middle = low &+ (high &- low) / 2
      if ScopedId.precedes(renewals[middle].facts.subscriptionId, subscription) {
        low = middle &+ 1
      } else {
        high = middle
      }
    }
    guard low < renewals.count, renewals[low].facts.subscriptionId == subscription else {
      return nil
    }
    return renewals[low]
  }

  // MARK: one transaction

  /// Merges the statements about one transaction: the latest `asOfMs` counts, and members that its
  /// form cannot report come from the newest evidence that can (DCD-3). `nil` without statements.
  private static func merged(
    purchases words: [StatedFacts<PurchaseFacts>]
  ) -> StatedFacts<PurchaseFacts>? {
    let words = newestFirst(words, { $0.canonical }, isLater)
    guard var merged = words.first else { return nil }
    func newest(_ tells: (PurchaseFacts) -> Bool) -> PurchaseFacts? {
      words.first { tells($0.facts) }?.facts
    }
    merged.account = words.reduce(nil) { StatedAccount.newer($0, $1.account) }
    merged.facts.takeRevocation(from: newest { $0.tellsRevocation })
    if let told = newest({ $0.isUpgraded || $0.canReport.contains(.upgrade) }) {
      merged.facts.isUpgraded = told.isUpgraded
      merged.facts.canReport.insert(.upgrade)
    }
    if let told = newest({ $0.ownership != nil }) { merged.facts.ownership = told.ownership }
    if newest({ $0.canReport.contains(.account) }) != nil {
      merged.facts.canReport.insert(.account)
    }
    if !merged.facts.canReport.contains(.offers),
      let told = newest({ $0.canReport.contains(.offers) })
    {
      merged.facts.takeOffers(from: told)
    }
    if let told = newest({ $0.type != nil || $0.typeIsUnknown }) {
      merged.facts.type = told.type
      merged.facts.typeIsUnknown = told.typeIsUnknown
    }
    if let told = newest({ $0.group != nil }) { merged.facts.group = told.group }
    // No receipt has these: a month stays one, whichever evidence is newest.
    if let told = newest({ $0.billingPlan != nil || $0.commitmentIsOdd }) {
      merged.facts.billingPlan = told.billingPlan
      merged.facts.commitment = told.commitment
      merged.facts.commitmentIsOdd = told.commitmentIsOdd
    }
    if let told = newest({ $0.webOrderLineItemId != nil }) {
      merged.facts.webOrderLineItemId = told.webOrderLineItemId
    }
    return merged
  }

  /// Sorts statements about one transaction or subscription, the newest first. Of the same
  /// millisecond, the one that grants less comes first, otherwise a fixed one, so that the order
  /// of the evidence has no influence.
  private static func newestFirst<Facts>(
    _ words: [StatedFacts<Facts>], _ text: (StatedFacts<Facts>) -> Text,
    _ isLater: (Facts, Facts) -> Bool?
  ) -> [StatedFacts<Facts>] {
    guard words.count > 1 else { return words }
    let texts = words.map(text)
    return Ordering.places(words.count) { left, right in
      isLater(words[left].facts, words[right].facts)
        ?? Text.precedes(texts[left], texts[right])
    }.map { words[$0] }
  }

  /// Whether `next` comes before `known`; `nil` if both are of one moment and grant the same.
  private static func isLater(_ next: PurchaseFacts, _ known: PurchaseFacts) -> Bool? {
    if next.asOfMs != known.asOfMs { return next.asOfMs > known.asOfMs }
    let (less, more) = (next.revokedAtMs != nil, known.revokedAtMs != nil)
    if less != more { return less }
    if next.isUpgraded != known.isUpgraded { return next.isUpgraded }
    let (end, otherEnd) = (next.end ?? .min, known.end ?? .min)
    return end == otherEnd ? nil : end < otherEnd
  }

  // MARK: one subscription

  private static func merged(
    renewals words: [StatedFacts<RenewalFacts>]
  ) -> StatedFacts<RenewalFacts>? {
    let words = newestFirst(words, { $0.canonical }, isLater)
    guard var merged = words.first else { return nil }
    merged.account = words.reduce(nil) { StatedAccount.newer($0, $1.account) }
    return merged
  }

  private static func isLater(_ next: RenewalFacts, _ known: RenewalFacts) -> Bool? {
    if next.asOfMs != known.asOfMs { return next.asOfMs > known.asOfMs }
    let (retries, others) = (next.isInBillingRetry == true, known.isInBillingRetry == true)
    if retries != others { return others }
    let (grace, otherGrace) = (next.graceEnd ?? .min, known.graceEnd ?? .min)
    if grace != otherGrace { return grace < otherGrace }
    let (ends, other) = (next.expirationIntent != nil, known.expirationIntent != nil)
    if ends != other { return ends }
    return nil
  }
}

extension PurchaseFacts {
  /// The subscription: the original transaction id in its environment.
  var subscriptionId: ScopedId { ScopedId(environment: environment, id: originalTransactionId) }

  /// Whether the evidence states that there is a revocation, or that there is none: only a form
  /// that can report one, of a known time, undoes a revocation (DCD-3, RFD-5).
  var tellsRevocation: Bool {
    revokedAtMs != nil || (canReport.contains(.revocation) && timeIsKnown)
  }

  /// Takes over the revocation of `told`, the newest evidence that reports on revocations; `nil` if
  /// no evidence does.
  mutating func takeRevocation(from told: PurchaseFacts?) {
    revocationToldAt = told?.revocationToldAt ?? told?.asOfMs
    guard let told, let date = told.revokedAtMs else { return }
    revokedAtMs = date
    revocationIsUndated = told.revocationIsUndated
    revocationReason = told.revocationReason
    revocationType = told.revocationType
    revocationPercentage = told.revocationPercentage
    canReport.insert(.revocation)
  }

  fileprivate mutating func takeOffers(from told: PurchaseFacts) {
    offerType = told.offerType
    offerDiscountType = told.offerDiscountType
    isTrial = told.isTrial
    isIntro = told.isIntro
    hasOffer = told.hasOffer
  }
}

extension RenewalFacts {
  var subscriptionId: ScopedId { ScopedId(environment: environment, id: originalTransactionId) }
}

extension Environment {
  /// The order of groups and transactions in a decision: Production first.
  var rank: Int {
    switch self {
    case .production: return 0
    case .sandbox: return 1
    case .xcode: return 2
    case .localTesting: return 3
    }
  }
}

/// All facts in a fixed order, which distinguishes two statements of one moment.
extension StatedFacts where Facts == PurchaseFacts {
  fileprivate var canonical: Text {
    var writer = JSONWriter()
    writer.beginArray()
    writer.string(kind)
    writer.string(facts.evidenceClass.name)
    writer.string(facts.originalTransactionId)
    writer.optional(facts.webOrderLineItemId)
    writer.string(facts.productId)
    writer.optional(facts.group)
    writer.optional(facts.type.map { Text(stringLiteral: $0.name) })
    writer.boolean(facts.typeIsUnknown)
    writer.optional(facts.start)
    writer.optional(facts.end)
    writer.optional(facts.revokedAtMs)
    writer.optional(facts.revocationReason)
    writer.optional(facts.revocationType)
    writer.optional(facts.revocationPercentage)
    writer.optional(facts.ownership)
    writer.optional(facts.offerType)
    writer.optional(facts.offerDiscountType)
    writer.integer(facts.quantity)
    writer.optional(facts.account)
    writer.integer(Int64(facts.canReport.rawValue))
    writer.boolean(facts.timeIsKnown)
    writer.boolean(facts.isTrial)
    writer.boolean(facts.isIntro)
    writer.boolean(facts.hasOffer)
    writer.boolean(facts.isExpiredAnswer)
    writer.optional(facts.billingPlan)
    writer.boolean(facts.commitmentIsOdd)
    writer.optional(facts.commitment?.period)
    writer.optional(facts.commitment?.periods)
    writer.optional(facts.commitment?.endsAtMs)
    writer.optional(facts.commitment?.price)
    writer.endArray()
    return Text(writer.bytes)
  }
}

extension StatedFacts where Facts == RenewalFacts {
  fileprivate var canonical: Text {
    var writer = JSONWriter()
    writer.beginArray()
    writer.string(kind)
    writer.string(facts.evidenceClass.name)
    writer.optional(facts.productId)
    writer.optional(facts.autoRenewProductId)
    writer.optional(facts.autoRenewStatus)
    writer.optional(facts.isInBillingRetry.map { $0 ? 1 : 0 })
    writer.optional(facts.graceEnd)
    writer.optional(facts.expirationIntent)
    writer.optional(facts.priceIncreaseStatus)
    writer.optional(facts.commitment?.status)
    writer.optional(facts.commitment?.productId)
    writer.optional(facts.commitment?.billingPlan)
    writer.optional(facts.commitment?.atMs)
    writer.optional(facts.commitment?.price)
    writer.optional(facts.account)
    writer.endArray()
    return Text(writer.bytes)
  }
}

// Not inlined: the copies took 6 KiB, because the functions are called so often in a row.
extension JSONWriter {
  @inline(never)
  fileprivate mutating func optional(_ value: Text?) {
    if let value { string(value) } else { null() }
  }

  @inline(never)
  fileprivate mutating func optional(_ value: Int64?) {
    if let value { integer(value) } else { null() }
  }
}
