/// `revoke`: a refund, or the end of family sharing (docs/spec/stores.md §5.3).
struct RevokeOperation: StoreOperation {
  private enum Outcome {
    case wasGranted, wasClaimed, unclaimed, already
    /// A later state is stored.
    case stale
    /// The evidence shows no revocation of it.
    case notRevoked
    case refused

    var name: StaticString {
      switch self {
      case .wasGranted: return "wasGranted"
      case .wasClaimed: return "wasClaimed"
      case .unclaimed: return "unclaimed"
      case .already: return "already"
      case .stale: return "stale"
      case .notRevoked: return "not-revoked"
      case .refused: return "refused"
      }
    }
  }

  private struct Revocation {
    let purchase: StorePurchase
    var outcome: Outcome
    var row: LedgerRow? = nil

    var changed: Bool { outcome == .wasGranted || outcome == .wasClaimed }
  }

  private let purchases: [StorePurchase]

  /// - Throws: `misuse.exchange.evidence` where nothing is revoked,
  ///   `rejected.payload.incomplete`.
  init(_ parameters: StoreParameters, _ evidence: [VerifiedEvidence]) throws(Refusal) {
    purchases = try StorePurchase.all(evidence, parameters.context.configuration.products)
    try require(
      purchases.contains { $0.facts.revokedAt != nil }, .misuseExchangeEvidence, "EXC-2",
      at: "evidence")
  }

  var seed: Text { purchases.first?.evidence.sha256 ?? "" }

  var maxSteps: Int? { 6 &* purchases.count &+ 6 }

  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    var found: [Revocation] = []
    for purchase in purchases { found.append(try revoke(purchase, &talk)) }
    return StoreOutcome { writer in
      writer.name("revocations")
      writer.beginArray()
      for revocation in found { RevokeOperation.write(revocation, &writer) }
      writer.endArray()
      writer.member("changed", boolean: found.contains { $0.changed })
    }
  }

  private static func write(_ revocation: Revocation, _ writer: inout JSONWriter) {
    let (purchase, row) = (revocation.purchase, revocation.row)
    writer.beginObject()
    writer.member("purchaseKey", row?.purchaseKey ?? purchase.purchaseKey)
    writer.member("transactionId", purchase.facts.transactionId)
    writer.member("outcome", revocation.outcome.name)
    writer.member("account", row.flatMap { $0.owner.isEmpty ? nil : $0.owner })
    writer.member("product", row?.product ?? purchase.facts.productId)
    writer.member("quantity", integer: row?.quantity ?? purchase.quantity)
    writer.member("percentage", integer: purchase.facts.revocationPercentage)
    writer.member("grantId", row?.grantId)
    writer.member("revokedMs", integer: row?.revokedMs)
    writer.member("changed", boolean: revocation.changed)
    writer.endObject()
  }

  private func revoke(
    _ purchase: StorePurchase, _ talk: inout StoreTalk
  ) throws(StoreStop) -> Revocation {
    guard let revokedMs = purchase.facts.revokedAt else {
      return Revocation(purchase: purchase, outcome: .notRevoked)
    }
    guard let keys = PurchaseKeys(purchase) else {
      return Revocation(purchase: purchase, outcome: .refused)
    }
    let key = try talk.canonicalKey(keys)
    let tombstone = LedgerRow(
      purchaseKey: key, environment: Text(stringLiteral: purchase.facts.environment.name),
      transactionId: purchase.facts.transactionId,
      originalTransactionId: purchase.facts.originalTransactionId, state: .revoked, owner: "",
      product: purchase.facts.productId, quantity: purchase.quantity,
      purchasedMs: purchase.purchasedMs, asOfMs: purchase.facts.asOf,
      evidence: purchase.evidence.sha256, generation: 0,
      grantId: LedgerRow.grantId(key, generation: 0), attempt: "", tries: 0,
      claimedMs: talk.context.nowMs, leaseMs: 0, revokedMs: revokedMs)
    let (before, after) = try talk.revoke(tombstone, purchase.evidence)
    return Revocation(
      purchase: purchase, outcome: RevokeOperation.judge(before, after), row: after)
  }

  private static func judge(_ before: LedgerRow?, _ after: LedgerRow) -> Outcome {
    guard after.state == .revoked else { return .stale }
    if let before, before.state == .revoked { return .already }
    if after.grantedMs != nil { return .wasGranted }
    return after.owner.isEmpty ? .unclaimed : .wasClaimed
  }
}

extension StoreTalk {
  /// Puts the tombstone there, or revokes the row that stands there if that is not newer.
  fileprivate mutating func revoke(
    _ tombstone: LedgerRow, _ evidence: StoreEvidence
  ) throws(StoreStop) -> (before: LedgerRow?, after: LedgerRow) {
    let key = tombstone.purchaseKey
    if context.dialect == .dynamodb {
      let (before, after) = try dynamoRevoke(tombstone, evidence)
      return (try before?.checked(key), after)
    }
    let kept = keeping(evidence, of: key)
    let results = try sql(.whole) {
      let read: (SQLStatement, Arguments) = (.ledgerRead, [("pkey", .text(key))])
      var calls = [read]
      calls.append((.ledgerInsert, tombstone.arguments))
      calls.append((.ledgerRevoke, tombstone.arguments))
      calls += kept
      calls.append(read)
      return calls
    }
    let after = try LedgerRow(try results.row(results.count &- 1)).checked(key)
    guard let before = try results.rowIfAny(0) else { return (nil, after) }
    return (try LedgerRow(before).checked(key), after)
  }
}
