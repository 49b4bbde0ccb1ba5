/// The decision for one group of transactions.
struct GroupDecision: Sendable {
  /// The product's plan if entitled, else the default plan.
  var plan: Text
  /// The index of the product's plan in the configured order; `nil` if the product has none.
  var rank: Int?
  /// The subscription group, as signed or configured, else the product id.
  var group: Text
  /// The transaction that decides (DCD-6).
  var chosen: Candidate
  var outcome: TableOutcome
  /// The renewal info of the subscription; `nil` if the evidence has none for this period.
  var renewal: RenewalFacts?
  var reach: EvidenceCoverage
  /// The result of comparing accounts; `nil` if none was given or none is compared (DCD-20).
  var binding: AccountBinding?
  /// Every purchase of a consumable in the evidence; empty for other products.
  var purchases: [Candidate]

  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("plan", plan)
    writer.member("entitled", boolean: outcome.entitled)
    GroupDecision.write(self, nextCheckAtMs: outcome.nextCheckAtMs, reach: reach, &writer)
    writer.member("group", group)
    writer.member("type", chosen.product.type.name)
    writer.name("purchases")
    writer.beginArray()
    for purchase in purchases { purchase.write(&writer) }
    writer.endArray()
    writer.endObject()
  }

  /// Writes the members that a decision and each of its groups have in common.
  static func write(
    _ group: GroupDecision?, nextCheckAtMs: Int64?, reach: EvidenceCoverage,
    _ writer: inout JSONWriter
  ) {
    let outcome = group?.outcome ?? TableOutcome(.none, "DEC-2")
    writer.member("state", outcome.state.name)
    writer.member("rule", outcome.row)
    writer.name("flags")
    writer.beginArray()
    for flag in outcome.flags { writer.string(flag.name) }
    writer.endArray()
    writer.member("reasonCode", integer: outcome.reason)
    writer.member("expiresAtMs", integer: outcome.until)
    writer.member("wouldExpireAtMs", integer: outcome.wouldExpireAtMs)
    writer.member("nextPeriodExpiresAtMs", integer: outcome.nextPeriodExpiresAtMs)
    writer.member("graceExpiresAtMs", integer: outcome.graceExpiresAtMs)
    if let group { group.writeCommitment(&writer) }
    writer.member("productId", group?.chosen.facts.productId)
    writer.member("originalTransactionId", group?.chosen.facts.originalTransactionId)
    writer.member("transactionId", group?.chosen.facts.transactionId)
    writer.name("environment")
    if let group { writer.string(group.chosen.facts.environment.name) } else { writer.null() }
    writer.member("account", (group?.binding?.name).map { Text(stringLiteral: $0) })
    writer.member("stale", boolean: outcome.stale)
    writer.member("nextCheckAtMs", integer: nextCheckAtMs)
    writer.name("evidence")
    reach.write(&writer)
  }

  /// Writes the commitment of the deciding transaction; nothing if it has none (CMT-2).
  private func writeCommitment(_ writer: inout JSONWriter) {
    guard let commitment = chosen.facts.commitment else { return }
    let next = renewal?.commitment
    writer.name("commitment")
    writer.beginObject()
    writer.member("period", integer: commitment.period)
    writer.member("periods", integer: commitment.periods)
    writer.member("endsAtMs", integer: commitment.endsAtMs)
    writer.name("renews")
    if let status = next?.status, KnownValues.autoRenewStatus.contains(status) {
      writer.boolean(status == 1)
    } else {
      writer.null()
    }
    writer.member("renewsInto", next?.productId)
    writer.member("renewsPlan", next?.billingPlan)
    writer.member("renewsAtMs", integer: next?.atMs)
    writer.member("price", integer: commitment.price)
    writer.member("renewsPrice", integer: next?.price)
    writer.endObject()
  }
}

extension Candidate {
  /// Writes one purchase of a consumable: its key and quantity (DEC-24), and how much of it to
  /// take back after a refund (RFD-4).
  fileprivate func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("key", purchaseKey)
    writer.member("transactionId", facts.transactionId)
    writer.member("quantity", integer: facts.quantity)
    writer.member("revokedAtMs", integer: facts.revokedAtMs)
    writer.member("revocationPercentage", integer: facts.revocationPercentage)
    writer.endObject()
  }
}
