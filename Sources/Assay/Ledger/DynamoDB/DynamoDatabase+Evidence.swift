/// Kept evidence (STM-2).
extension DynamoDatabase {
  /// The largest text that is kept, in bytes: an item of DynamoDB holds 400 KiB.
  private static let evidenceByteCap = 350 << 10

  /// Returns the text as elements of the transaction that changes a subscription; empty if it is
  /// not kept. A text that is stored already stays as it was kept first.
  func keeping(_ evidence: StoredEvidence, of subscription: SubscriptionRow) -> [DynamoRequest] {
    let text = text(evidence)
    guard !text.isEmpty else { return [] }
    return [
      .update(
        .evidence(evidence.sha256),
        evidence.assumedBundleId == nil
          ? """
          SET #digest = if_not_exists(#digest, :digest), #body = if_not_exists(#body, :body), \
          #stored_at_ms = if_not_exists(#stored_at_ms, :stored_at_ms)
          """
          : """
          SET #digest = if_not_exists(#digest, :digest), #body = if_not_exists(#body, :body), \
          #stored_at_ms = if_not_exists(#stored_at_ms, :stored_at_ms), \
          #bundle_id = if_not_exists(#bundle_id, :bundle_id)
          """, if: "", text),
      textOf(subscription.dynamoKey, subscription.owner, evidence.sha256),
    ]
  }

  /// Keeps the text after a ledger row was changed, if the row names it.
  func keep(_ evidence: StoredEvidence, of row: LedgerRow) throws(LedgerSuspension) {
    guard row.evidence == evidence.sha256 else { return }
    let text = text(evidence)
    guard !text.isEmpty else { return }
    var request = DynamoRequest.insert(.evidence(evidence.sha256), text)
    // The stored row is not needed: it has the same text under the same digest.
    request.showsRow = false
    try changeEach([textOf(row.dynamoKey, row.owner, evidence.sha256), request])
  }

  /// Returns the put of a row beside a subscription or purchase that leads to a text. By such rows
  /// `forget-account` finds texts named earlier, of a row or of the account that sent them
  /// (STO-93).
  private func textOf(_ row: DynamoKey, _ owner: Text, _ sha256: Text) -> DynamoRequest {
    let index: DynamoRequest.Values = [
      ("owner_pk", .text(DynamoKey.account(owner))),
      ("owner_sk", .text(DynamoKey.ordered("E#", context.nowMs))),
    ]
    return .put(row.text(sha256), [("digest", .text(sha256))] + (owner.isEmpty ? [] : index))
  }

  /// Deletes the texts that these rows have named, and those that the account has sent elsewhere.
  ///
  /// - Returns: Whether all were deleted; `false` if more are left.
  func forgetTexts(of rows: [DynamoKey], _ account: Text) throws(LedgerSuspension) -> Bool {
    let results = try run { table in
      [DynamoQuery.owned(by: account, "E#").call(table)]
        + rows.map { DynamoQuery.texts(of: $0).call(table) }
    }
    var isWhole = true
    var deletions: [DynamoRequest] = []
    for place in results.indices {
      let items = try results.items(place)
      if items.count >= DynamoQuery.walkCap { isWhole = false }
      for item in items {
        deletions.append(.delete(.evidence(try item.text("digest"))))
        deletions.append(.delete(try item.key()))
      }
    }
    try changeEach(deletions)
    return isWhole
  }

  private func text(_ evidence: StoredEvidence) -> DynamoRequest.Values {
    guard context.policy.keepEvidence else { return [] }
    let body = evidence.body
    guard body.count <= Self.evidenceByteCap else { return [] }
    return [
      ("digest", .text(evidence.sha256)), ("body", .text(body)),
      ("stored_at_ms", .integer(context.nowMs)),
      ("bundle_id", DatabaseValue(evidence.assumedBundleId)),
    ]
  }

  func digest(ofPurchase key: Text) throws(LedgerSuspension) -> Text? {
    guard let item = try read(.ledger(key)) else { return nil }
    return try LedgerRow(item).evidence
  }

  func digest(ofSubscription environment: Text, _ id: Text) throws(LedgerSuspension) -> Text? {
    try subscription(environment: environment, id)?.evidence
  }

  func keptEvidence(_ digests: [Text]) throws(LedgerSuspension) -> [GetEvidence.Kept] {
    let results = try run { table in
      digests.map { DynamoRequest.get(.evidence($0)).call(table) }
    }
    var kept: [GetEvidence.Kept] = []
    for place in results.indices {
      guard let item = try results.item(place) else { continue }
      kept.append(
        GetEvidence.Kept(
          sha256: try item.text("digest"), body: try item.text("body"),
          atMs: try item.integer("stored_at_ms"), bundleId: try item.textIfAny("bundle_id")))
    }
    return kept
  }
}
