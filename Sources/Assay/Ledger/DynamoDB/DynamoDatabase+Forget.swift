/// Forgotten accounts: visits the same rows as a merge, for the account and for those merged into
/// it, and replaces the ids of these accounts by the hash (STO-93).
extension DynamoDatabase {
  /// The largest number of merged accounts that one exchange forgets (EXC-15).
  private static let joinedCap = 20

  func forget(_ operation: ForgetAccount) throws(LedgerSuspension) -> OperationResult {
    let link = try read(.link(operation.account))
    let joined = try link?.texts("joined") ?? []
    var counts = MergeAccounts.Moved()
    let isWhole = try forget(operation.account, operation, &counts)
    var gone: [Text] = []
    for account in joined.prefix(Self.joinedCap) {
      if try forget(account, operation, &counts) { gone.append(account) }
    }
    let isLast = isWhole && gone.count == joined.count
    try forgetLinks(link, gone, isLast: isLast, operation)
    try insert([
      AuditRow(
        id: operation.auditId, action: "forget", owner: operation.hash, other: "", note: nil,
        atMs: context.nowMs)
    ])
    return operation.done(counts, joined: gone.count, more: !isLast)
  }

  /// Forgets the rows of one account.
  ///
  /// - Returns: Whether all were forgotten; `false` if more are left.
  private func forget(
    _ name: Text, _ operation: ForgetAccount, _ counts: inout MergeAccounts.Moved
  ) throws(LedgerSuspension) -> Bool {
    let account = try account(name)
    if context.policy.keepEvidence {
      // Texts go first, while the rows that lead to them still have this owner.
      let rows = account.subscriptions.map { $0.dynamoKey } + account.purchases.map { $0.dynamoKey }
      guard try forgetTexts(of: rows, name) else { return false }
      // Texts that were kept before rows led to them are found by the digests.
      let digests =
        account.subscriptions.map { $0.evidence } + account.purchases.map { $0.evidence }
      try changeEach(digests.map { .delete(.evidence($0)) })
    }
    var more = account.isCut
    counts.subscriptions &+= try forgetSubscriptions(account.subscriptions, name, operation, &more)
    counts.purchases &+= try changeEach(
      account.purchases.map { operation.forgetting($0.dynamoKey, of: name, remove: ["note"]) })
    counts.keys &+= try changeEach(
      account.keys.map {
        operation.forgetting(
          $0, of: name,
          set: [("state", .text("retired")), ("used_at_ms", .integer(context.nowMs))],
          remove: ["receipt"])
      })
    var deletions: [DynamoRequest] = []
    for day in account.days {
      counts.meters &+= Int64(try day.numbers(after: "count_").count)
      deletions.append(.delete(try day.key()))
    }
    try changeEach(deletions)
    try forgetAudits(account.audits, name, operation)
    // Last: by these rows `forget-customer` finds the account again while it has others.
    if !more, context.policy.customerKey != nil, try !forgetCustomer(name) { more = true }
    return !more
  }

  private func forgetSubscriptions(
    _ rows: [SubscriptionRow], _ name: Text, _ operation: ForgetAccount, _ more: inout Bool
  ) throws(LedgerSuspension) -> Int64 {
    let nowMs = context.nowMs
    let outcomes = try transactEach(
      rows.map { row in
        [
          .update(
            row.dynamoKey,
            """
            SET #owner = :hash, #deactivated_at_ms = if_not_exists(#deactivated_at_ms, :now_ms), \
            #updated_at_ms = :now_ms REMOVE #next_check_at_ms, #due_pk, #due_at_ms
            """, if: "#owner = :owner",
            [
              ("hash", .text(operation.hash)), ("now_ms", .integer(nowMs)),
              ("owner", .text(name)),
            ]), .delete(row.copyKey),
        ]
      })
    if outcomes.contains(where: { $0 != nil }) { more = true }
    return Int64(outcomes.count { $0 == nil })
  }

  /// Deletes the link rows of the forgotten accounts. After the last of them deletes the account's
  /// own link row, and its id in the row of the account that it was merged into.
  private func forgetLinks(
    _ link: DynamoItem?, _ gone: [Text], isLast: Bool, _ operation: ForgetAccount
  ) throws(LedgerSuspension) {
    guard let link else { return }
    var changes = gone.map { follower in
      DynamoRequest.delete(
        .link(follower), if: "#target = :owner", [("owner", .text(operation.account))])
    }
    if isLast {
      if case .text(let target) = try link.value("target") {
        var request = DynamoRequest.update(
          .link(target), "DELETE #joined :owner", if: "attribute_exists(#PK)")
        request.sets = [("owner", [operation.account])]
        changes.append(request)
      }
      changes.append(.delete(.link(operation.account)))
    } else if !gone.isEmpty {
      var request = DynamoRequest.update(.link(operation.account), "DELETE #joined :batch")
      request.sets = [("batch", gone)]
      changes.append(request)
    }
    try changeEach(changes)
  }

  /// Replaces the account in its audit rows, and in those that name it as the other account. A
  /// merge names two accounts, and both are forgotten.
  private func forgetAudits(
    _ audits: [(key: DynamoKey, isLink: Bool)], _ name: Text, _ operation: ForgetAccount
  ) throws(LedgerSuspension) {
    var changes: [DynamoRequest] = []
    for (key, isLink) in audits {
      guard key.sort == AuditRow.otherSort else {
        let other: DynamoRequest.Values = isLink ? [("other", .text(operation.hash))] : []
        changes.append(operation.forgetting(key, of: name, set: other, remove: ["note"]))
        if isLink { changes.append(.delete(AuditRow.otherKey(key))) }
        continue
      }
      changes.append(
        .update(
          DynamoKey(key.partition, DynamoKey.audit("").sort),
          "SET #other = :hash REMOVE #note", if: "#other = :owner",
          [("hash", .text(operation.hash)), ("owner", .text(name))]))
      changes.append(.delete(key))
    }
    try changeEach(changes)
  }
}

extension ForgetAccount {
  /// Returns the update that puts the hash in the account's place, in the row and in the index.
  fileprivate func forgetting(
    _ key: DynamoKey, of account: Text, set changes: DynamoRequest.Values = [],
    remove: [StaticString]
  ) -> DynamoRequest {
    var request = DynamoRequest.update(
      key, if: "#owner = :account", [("account", .text(account))])
    request.set(
      [("owner", .text(hash)), ("owner_pk", .text(DynamoKey.account(hash)))] + changes
        + remove.map { ($0, DatabaseValue.null) })
    return request
  }
}
