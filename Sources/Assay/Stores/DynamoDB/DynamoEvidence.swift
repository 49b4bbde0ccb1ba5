/// Kept texts on DynamoDB (STM-2, docs/spec/store-statements.md §3).
extension StoreTalk {
  /// A row holds 400 KiB; longer texts are not kept.
  private static let evidenceByteCap = 350 << 10

  /// The text as elements of the transaction that changes a line; a text that is there
  /// stays as it was kept first. Empty: it is not kept.
  func dynamoKeeping(_ evidence: StoreEvidence, of line: LineRow) -> [DynamoRequest] {
    let text = dynamoText(evidence)
    guard !text.isEmpty else { return [] }
    return [
      .update(
        .evidence(evidence.sha256),
        """
        SET #digest = if_not_exists(#digest, :digest), #body = if_not_exists(#body, :body), \
        #at_ms = if_not_exists(#at_ms, :at_ms)
        """, if: "", text), dynamoTextOf(line.dynamoKey, line.owner, evidence.sha256),
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
    try dynamoChanges([dynamoTextOf(row.dynamoKey, row.owner, evidence.sha256), request])
  }

  /// A row beside a line or a purchase that leads to a text: `account.forget` finds by it what
  /// the row named earlier, by the row and by who showed it (STO-93).
  private func dynamoTextOf(_ row: DynamoKey, _ owner: Text, _ sha256: Text) -> DynamoRequest {
    let index: DynamoRequest.Values = [
      ("ok", .text(DynamoKey.account(owner))),
      ("os", .text(DynamoKey.ordered("E#", context.nowMs))),
    ]
    return .put(row.text(sha256), [("digest", .text(sha256))] + (owner.isEmpty ? [] : index))
  }

  /// Deletes the texts that these rows have named, and those that the account showed elsewhere.
  ///
  /// - Returns: false: more of them are left.
  mutating func dynamoForgetTexts(
    of rows: [DynamoKey], _ account: Text
  ) throws(StoreStop) -> Bool {
    let results = try dynamo { table in
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
    try dynamoChanges(deletions)
    return isWhole
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
