/// One transaction of verified evidence, as the ledger stores it.
struct LedgerPurchase: Sendable {
  let facts: PurchaseFacts
  /// The product; `nil` if the catalogue does not contain it (STO-24).
  let product: Catalogue.Product?
  /// The newest renewal info of the purchase's subscription (DCD-8).
  let renewal: RenewalFacts?
  let evidence: StoredEvidence
  /// The newest appAccountToken reported for the transaction.
  let accountToken: Text?

  /// The transaction key (RPL-1); `nil` if the transaction id cannot be unique (RPL-3).
  var transactionKey: Text? {
    ReplayKeys.transaction(
      environment: facts.environment, transactionId: facts.transactionId)
  }

  /// The purchase key, by the product type of the catalogue (JWS-94).
  var purchaseKey: Text? {
    ReplayKeys.purchase(
      environment: facts.environment, type: product?.type ?? facts.type,
      transactionId: facts.transactionId,
      originalTransactionId: facts.originalTransactionId,
      webOrderLineItemId: facts.webOrderLineItemId, purchaseDate: facts.start)
  }

  /// The key of the subscription, from environment and original transaction id; `nil` if that id
  /// cannot be unique (RPL-3).
  var subscriptionKey: Text? {
    ReplayKeys.subscription(
      environment: facts.environment, originalTransactionId: facts.originalTransactionId)
  }

  /// The purchase date in milliseconds since 1970 UTC; 0 if the evidence has none, so that every
  /// dated purchase is newer.
  var purchasedAtMs: Int64 { facts.start ?? 0 }

  var quantity: Int64 { max(1, facts.quantity) }

  /// Units of the purchase by the current catalogue (STO-36).
  var units: Int64 {
    let (units, isTooMany) = quantity.multipliedReportingOverflow(by: product?.units ?? 1)
    return isTooMany ? MemberNode.exactInteger : min(units, MemberNode.exactInteger)
  }

  /// The time, in milliseconds since 1970 UTC, as of which the evidence proves that the purchase
  /// is not revoked (RFD-2, RFD-5); `nil` if the purchase is revoked, or if evidence of this form
  /// cannot report a revocation.
  var stateToldMs: Int64? {
    guard facts.revokedAtMs == nil, facts.timeIsKnown, facts.canReport.contains(.revocation) else {
      return nil
    }
    return facts.asOfMs
  }
}

extension LedgerPurchase {
  /// Returns every transaction of the evidence once, as its newest evidence reports it (DCD-3),
  /// ordered by purchase date.
  ///
  /// - Throws: `misuse.exchange.evidence`, `rejected.payload.incomplete` (PAY-7).
  static func all(
    _ evidence: [VerifiedEvidence], _ catalogue: Catalogue
  ) throws(Refusal) -> [LedgerPurchase] {
    var items: [PurchaseEvidence] = []
    var sources: [StoredEvidence] = []
    for (index, item) in evidence.enumerated() {
      guard let source = item.purchaseSource else {
        throw Refusal(.misuseExchangeEvidence, "EXC-2", at: "evidence[" + String(index) + "]")
      }
      items.append(try item.purchases(catalogue))
      sources.append(StoredEvidence(source, assumedBundleId: item.assumedBundleId))
    }
    let merged = try MergedEvidence(items)
    var purchases: [LedgerPurchase] = []
    for statement in merged.transactions {
      let facts = statement.facts
      guard statement.document < sources.count else { continue }
      purchases.append(
        LedgerPurchase(
          facts: facts, product: catalogue.product(facts.productId),
          renewal: merged.renewal(of: facts.subscriptionId)?.facts,
          evidence: sources[statement.document], accountToken: statement.account?.token))
    }
    return purchases.ordered { left, right in
      left.purchasedAtMs != right.purchasedAtMs
        ? left.purchasedAtMs < right.purchasedAtMs
        : Text.precedesAsNumber(left.facts.transactionId, right.facts.transactionId)
    }
  }
}
