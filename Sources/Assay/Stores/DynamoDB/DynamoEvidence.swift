/// Kept texts on DynamoDB (STM-2, docs/spec/store-statements.md §3).
extension StoreTalk {
  /// A row holds 400 KiB; longer texts are not kept.
  private static let evidenceByteCap = 350 << 10

  /// The text as an element of the transaction that changes a line; a text that is there
  /// stays as it was kept first. Empty: it is not kept.
  func dynamoKeeping(_ evidence: StoreEvidence) -> [DynamoRequest] {
    let text = dynamoText(evidence)
    guard !text.isEmpty else { return [] }
    return [
      .update(
        .evidence(evidence.sha256),
        """
        SET #digest = if_not_exists(#digest, :digest), #body = if_not_exists(#body, :body), \
        #at_ms = if_not_exists(#at_ms, :at_ms)
        """, if: "", text)
    ]
  }

  /// After a row of the ledger was changed: the text, where the row names it.
  mutating func dynamoKeep(
    _ evidence: StoreEvidence, of row: LedgerRow
  ) throws(StoreStop) {
    guard row.evidence == evidence.sha256 else { return }
    let text = dynamoText(evidence)
    guard !text.isEmpty else { return }
    var request = DynamoRequest.insert(.evidence(evidence.sha256), text)
    // The same text under the same digest: nobody needs it back.
    request.showsRow = false
    _ = try dynamoChange(request)
  }

  private func dynamoText(_ evidence: StoreEvidence) -> DynamoRequest.Values {
    guard context.policy.keepEvidence else { return [] }
    let body = evidence.body
    guard body.count <= Self.evidenceByteCap else { return [] }
    return [
      ("digest", .text(evidence.sha256)), ("body", .text(body)),
      ("at_ms", .integer(context.nowMs)),
    ]
  }

  mutating func dynamoEvidence(_ digests: [Text]) throws(StoreStop) -> [EvidenceRead.Kept] {
    let results = try dynamo { table in
      digests.map { DynamoRequest.get(.evidence($0)).call(table) }
    }
    var kept: [EvidenceRead.Kept] = []
    for place in results.indices {
      guard let item = try results.item(place) else { continue }
      kept.append(
        EvidenceRead.Kept(
          sha256: try item.text("digest"), body: try item.text("body"),
          atMs: try item.integer("at_ms")))
    }
    return kept
  }
}
