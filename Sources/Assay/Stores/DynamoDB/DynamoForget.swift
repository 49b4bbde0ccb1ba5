/// `account.forget` on DynamoDB: the same walk as a link, under the hash (STO-93).
extension StoreTalk {
  mutating func dynamoForget(_ operation: AccountForget) throws(StoreStop) -> StoreOutcome {
    let account = try dynamoAccount(operation.account)
    let link = try dynamoRead(.link(operation.account))
    var more = account.isCut
    var counts = AccountLink.Moved()
    counts.lines = try dynamoForgetLines(account.lines, operation, &more)
    counts.purchases = try dynamoChanges(
      account.purchases.map { operation.forgetting($0.dynamoKey, remove: ["note"]) })
    counts.keys = try dynamoChanges(
      account.keys.map {
        operation.forgetting(
          $0, set: [("state", .text("retired")), ("used_ms", .integer(context.nowMs))],
          remove: ["receipt"])
      })
    for day in account.days {
      counts.meters &+= Int64(try day.numbers(after: "count_").count)
    }
    var deletions: [DynamoRequest] = []
    for day in account.days { deletions.append(.delete(try day.key())) }
    if context.policy.keepEvidence {
      let digests = account.lines.map { $0.evidence } + account.purchases.map { $0.evidence }
      deletions += digests.map { .delete(.evidence($0)) }
    }
    try dynamoChanges(deletions)
    try dynamoForgetLinks(link, operation, &more)
    try dynamoForgetAudits(account.audits, operation)
    let audit = AuditRow(
      id: Text("forget#".utf8 + operation.hash.utf8.suffix(64)), what: "forget",
      owner: operation.hash, other: "", note: nil, atMs: context.nowMs)
    try dynamoAudit(audit)
    return operation.done(counts, more: more)
  }

  private mutating func dynamoForgetLines(
    _ rows: [LineRow], _ operation: AccountForget, _ more: inout Bool
  ) throws(StoreStop) -> Int64 {
    let nowMs = context.nowMs
    let outcomes = try dynamoChanges(
      rows.map { row in
        [
          .update(
            row.dynamoKey,
            """
            SET #owner = :hash, #cleared_ms = if_not_exists(#cleared_ms, :now_ms), \
            #updated_ms = :now_ms REMOVE #next_check_ms, #dk, #dt
            """, if: "#owner = :owner",
            [
              ("hash", .text(operation.hash)), ("now_ms", .integer(nowMs)),
              ("owner", .text(operation.account)),
            ]), .delete(row.copyKey),
        ]
      })
    if outcomes.contains(where: { $0 != nil }) { more = true }
    return Int64(outcomes.count { $0 == nil })
  }

  /// The account's own link row, those joined into it, and its name in the row that it was
  /// joined into.
  private mutating func dynamoForgetLinks(
    _ link: DynamoItem?, _ operation: AccountForget, _ more: inout Bool
  ) throws(StoreStop) {
    guard let link else { return }
    let joined = try link.texts("joined")
    var changes = joined.prefix(DynamoQuery.walkCap).map { follower in
      DynamoRequest.delete(
        .link(follower), if: "#target = :owner", [("owner", .text(operation.account))])
    }
    if case .text(let target) = try link.value("target") {
      var request = DynamoRequest.update(
        .link(target), "DELETE #joined :owner", if: "attribute_exists(#PK)")
      request.sets = [("owner", [operation.account])]
      changes.append(request)
    }
    if joined.count > DynamoQuery.walkCap {
      var request = DynamoRequest.update(.link(operation.account), "DELETE #joined :batch")
      request.sets = [("batch", Array(joined.prefix(DynamoQuery.walkCap)))]
      changes.append(request)
      more = true
    } else {
      changes.append(.delete(.link(operation.account)))
    }
    try dynamoChanges(changes)
  }

  /// Audit rows of the account, and those that name it as the other one.
  private mutating func dynamoForgetAudits(
    _ keys: [DynamoKey], _ operation: AccountForget
  ) throws(StoreStop) {
    var changes: [DynamoRequest] = []
    for key in keys {
      guard key.sort == AuditRow.otherSort else {
        changes.append(operation.forgetting(key, remove: ["note"]))
        continue
      }
      changes.append(
        .update(
          DynamoKey(key.partition, DynamoKey.audit("").sort),
          "SET #other = :hash REMOVE #note", if: "#other = :owner",
          [("hash", .text(operation.hash)), ("owner", .text(operation.account))]))
      changes.append(.delete(key))
    }
    try dynamoChanges(changes)
  }
}

extension AccountForget {
  /// The hash in the account's place, in the row and in the index.
  fileprivate func forgetting(
    _ key: DynamoKey, set changes: DynamoRequest.Values = [], remove: [StaticString]
  ) -> DynamoRequest {
    var request = DynamoRequest.update(
      key, if: "#owner = :account", [("account", .text(account))])
    request.set(
      [("owner", .text(hash)), ("ok", .text(DynamoKey.account(hash)))] + changes
        + remove.map { ($0, StoreValue.null) })
    return request
  }
}
