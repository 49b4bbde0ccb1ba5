/// The operation `revoke`: applies a refund, or the end of family sharing (docs/spec/ledger.md
/// §5.3).
struct RevokePurchases: DurableOperation {
  private let purchases: [LedgerPurchase]
  private let revoker: Revoker

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.attempt-id`, `.lease`,
  ///   `misuse.exchange.evidence` where nothing is revoked, `rejected.payload.incomplete`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    purchases = try parameters.chosen(
      try LedgerPurchase.all(parameters.evidence, parameters.context.configuration.products))
    try require(
      purchases.contains { $0.facts.revokedAtMs != nil }, .misuseExchangeEvidence, "EXC-2",
      at: "evidence")
    revoker = try Revoker(parameters)
  }

  var jitterSeed: Text { revoker.attemptId ?? purchases.first?.evidence.sha256 ?? "" }

  var size: (purchases: Int, subscriptions: Int) { (purchases.count, 0) }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    var found: [Revocation] = []
    for purchase in purchases { found.append(try revoker.revoke(purchase, on: database)) }
    let isWaiting = found.contains { $0.outcome == .inProgress }
    return OperationResult(isWaiting ? TakeBack.isPending("revocations") : nil) { writer in
      writer.name("revocations")
      writer.beginArray()
      for revocation in found { revocation.write(&writer) }
      writer.endArray()
      writer.member("changed", boolean: found.contains { $0.changed })
    }
  }
}

extension TakeBack {
  /// Returns the refusal while a take-back is pending: effects follow states in their order, and
  /// the next one waits for `complete-revocation`.
  static func isPending(_ place: String) -> Refusal {
    Refusal(.unavailableClaimInProgress, "STO-35", at: place)
  }
}
