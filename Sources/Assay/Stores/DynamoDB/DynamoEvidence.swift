/// Kept texts on DynamoDB (STM-2, docs/spec/store-statements.md §3).
extension StoreTalk {
  /// A row holds 400 KiB; longer texts are not kept.
  private static let evidenceByteCap = 350 << 10

  /// The call that keeps the text, before the row that names it.
  func dynamoKeeping(_ evidence: StoreEvidence) -> [DynamoRequest] {
    guard context.policy.keepEvidence else { return [] }
    let body = evidence.body
    guard body.count <= Self.evidenceByteCap else { return [] }
    var request = DynamoRequest.insert(
      .evidence(evidence.sha256),
      [
        ("digest", .text(evidence.sha256)), ("body", .text(body)),
        ("at_ms", .integer(context.nowMs)),
      ])
    // The same text under the same digest: nobody needs it back.
    request.showsRow = false
    return [request]
  }

  /// One change of one row, after the text of its evidence.
  mutating func dynamoChange(
    _ request: DynamoRequest, keeping evidence: StoreEvidence?
  ) throws(StoreStop) -> (isMade: Bool, row: DynamoItem?) {
    let kept = evidence.map { dynamoKeeping($0) } ?? []
    let results = try dynamo { table in (kept + [request]).map { $0.call(table) } }
    return try results.change(kept.count)
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
