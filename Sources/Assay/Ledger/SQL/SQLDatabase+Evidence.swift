/// Kept evidence (STM-2).
extension SQLDatabase {
  /// Returns the statement that keeps the evidence's text. It follows the change of the row that
  /// `key` names, and writes only if the row names the text.
  func keeping(
    _ evidence: StoredEvidence, _ statement: SQLStatement, _ key: Arguments
  ) -> [(SQLStatement, Arguments)] {
    guard context.policy.keepEvidence else { return [] }
    let arguments: Arguments = [
      ("digest", .text(evidence.sha256)), ("body", .text(evidence.body)),
      ("now_ms", .integer(context.nowMs)),
      ("bundle_id", DatabaseValue(evidence.assumedBundleId)),
    ]
    return [(statement, arguments + key)]
  }

  /// Returns the statement that keeps the evidence of a purchase.
  func keeping(_ evidence: StoredEvidence, of key: Text) -> [(SQLStatement, Arguments)] {
    keeping(evidence, .ledgerEvidence, [("purchase_key", .text(key))])
  }

  func digest(ofPurchase key: Text) throws(LedgerSuspension) -> Text? {
    try digest(.evidenceOfPurchase, [("purchase_key", .text(key))])
  }

  func digest(ofSubscription environment: Text, _ id: Text) throws(LedgerSuspension) -> Text? {
    try digest(
      .evidenceOfSubscription,
      [("environment", .text(environment)), ("original_transaction_id", .text(id))])
  }

  private func digest(
    _ statement: SQLStatement, _ arguments: Arguments
  ) throws(LedgerSuspension) -> Text? {
    let results = try run { [(statement, arguments)] }
    guard var row = try results.rowIfAny(0) else { return nil }
    return try row.text()
  }

  func keptEvidence(_ digests: [Text]) throws(LedgerSuspension) -> [GetEvidence.Kept] {
    let results = try run {
      digests.map { digest in
        let arguments: Arguments = [("digest", .text(digest))]
        return (.evidenceRead, arguments)
      }
    }
    var kept: [GetEvidence.Kept] = []
    for place in results.indices {
      guard var row = try results.rowIfAny(place) else { continue }
      let (digest, body) = (try row.text(), try row.text())
      kept.append(
        GetEvidence.Kept(
          sha256: digest, body: body, atMs: try row.integer(), bundleId: try row.textIfAny()))
    }
    return kept
  }
}
