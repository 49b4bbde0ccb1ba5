/// One transaction of verified evidence, as the stores remember it.
struct StorePurchase: Sendable {
  let facts: PurchaseFacts
  /// nil: the catalogue does not have it (STO-24).
  let product: Catalogue.Product?
  /// The newest renewal facts of its line (DCD-8).
  let renewal: RenewalFacts?
  let evidence: StoreEvidence
  /// The newest token reported for the transaction.
  let accountToken: Text?

  /// RPL-1; nil: an id that cannot be unique (RPL-3).
  var transactionKey: Text? {
    ReplayKeys.transaction(
      environment: facts.environment, transactionId: facts.transactionId)
  }

  /// JWS-94, by the catalogue's type.
  var purchaseKey: Text? {
    ReplayKeys.purchase(
      environment: facts.environment, type: product?.type ?? facts.type,
      transactionId: facts.transactionId,
      originalTransactionId: facts.originalTransactionId,
      webOrderLineItemId: facts.webOrderLineItemId, purchaseDate: facts.start)
  }

  /// Its line: one original transaction id of one environment; nil: RPL-3.
  var lineKey: Text? {
    ReplayKeys.subscription(
      environment: facts.environment, originalTransactionId: facts.originalTransactionId)
  }

  /// The smallest that is taken from evidence without a date is 0: it loses to any other.
  var purchasedMs: Int64 { facts.start ?? 0 }

  var quantity: Int64 { max(1, facts.quantity) }

  /// STO-36: what the purchase is worth by the catalogue of now.
  var units: Int64 {
    let (units, isTooMany) = quantity.multipliedReportingOverflow(by: product?.units ?? 1)
    return isTooMany ? MemberNode.exactInteger : min(units, MemberNode.exactInteger)
  }

  /// As of when the evidence says that the purchase is not revoked (RFD-2, RFD-5); nil: it is
  /// revoked, or evidence of this form could not tell.
  var stateToldMs: Int64? {
    guard facts.revokedAt == nil, facts.timeIsKnown, facts.shows.contains(.revocation) else {
      return nil
    }
    return facts.asOf
  }
}

extension StorePurchase {
  /// Every transaction of the evidence once, by the newest word about it (DCD-3), ordered
  /// by purchase date.
  ///
  /// - Throws: `misuse.exchange.evidence`, `rejected.payload.incomplete` (PAY-7).
  static func all(
    _ evidence: [VerifiedEvidence], _ catalogue: Catalogue
  ) throws(Refusal) -> [StorePurchase] {
    var items: [PurchaseEvidence] = []
    var sources: [StoreEvidence] = []
    for (index, item) in evidence.enumerated() {
      guard let source = item.purchaseSource else {
        throw Refusal(.misuseExchangeEvidence, "EXC-2", at: "evidence[" + String(index) + "]")
      }
      items.append(try item.purchases(catalogue))
      sources.append(StoreEvidence(source))
    }
    let merged = try MergedEvidence(items)
    var purchases: [StorePurchase] = []
    for statement in merged.transactions {
      let facts = statement.facts
      guard statement.document < sources.count else { continue }
      purchases.append(
        StorePurchase(
          facts: facts, product: catalogue.product(facts.productId),
          renewal: merged.renewal(of: facts.line)?.facts,
          evidence: sources[statement.document], accountToken: statement.account?.token))
    }
    return purchases.ordered { left, right in
      left.purchasedMs != right.purchasedMs
        ? left.purchasedMs < right.purchasedMs
        : Text.precedesAsNumber(left.facts.transactionId, right.facts.transactionId)
    }
  }
}
