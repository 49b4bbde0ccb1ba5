/// Merged accounts (STO-92): the link rows first, in one transaction, then the
/// account's rows one by one, each only while `from` owns it.
extension DynamoDatabase {
  private struct Joined {
    var targets: (from: Text, to: Text)
    /// Accounts that were merged into `from` before.
    var followers: [Text]
  }

  func merge(_ link: MergeAccounts) throws(LedgerSuspension) -> OperationResult {
    let joined = try joined(link)
    if let refused = link.evaluate(joined.targets) { return refused }
    var followers = joined.followers
    if joined.targets.from.isEmpty {
      if let met = try join(link) {
        // Another merge was committed first.
        return link.evaluate(met) ?? link.done(met, MergeAccounts.Moved(), more: true)
      }
      // No account can be merged into `from` any more, but one may have been since the read.
      followers = try self.joined(link).followers
    }
    var more = try follow(followers, link)
    let account = try account(link.from)
    var moved = MergeAccounts.Moved()
    moved.subscriptions = try moveSubscriptions(account.subscriptions, link, &more)
    moved.meters = try addDays(account.days, link, &more)
    let purchases = account.purchases.map { Self.passing($0.dynamoKey, link) }
    moved.purchases = try changeEach(purchases)
    moved.keys = try changeEach(account.keys.map { Self.passing($0, link) })
    if context.policy.customerKey != nil, try !moveCustomers(from: link.from, to: link.to) {
      more = true
    }
    return link.done(joined.targets, moved, more: more || account.isCut)
  }

  // MARK: link rows

  private func joined(_ link: MergeAccounts) throws(LedgerSuspension) -> Joined {
    let results = try run { table in
      [link.from, link.to].map { DynamoRequest.get(.link($0)).call(table) }
    }
    let (from, to) = (try results.item(0), try results.item(1))
    return Joined(
      targets: (try Self.target(from), try Self.target(to)),
      followers: try from?.texts("joined") ?? [])
  }

  private static func target(_ row: DynamoItem?) throws(LedgerSuspension) -> Text {
    guard let row, case .text(let target) = try row.value("target") else { return "" }
    return target
  }

  /// Writes the link rows. Returns `nil` if that merged the accounts, otherwise what each of them
  /// had been merged into before.
  private func join(_ link: MergeAccounts) throws(LedgerSuspension) -> (from: Text, to: Text)? {
    let audit = AuditRow(
      "merge", link.attemptId, owner: link.to, other: link.from, note: link.reason, context)
    var to = DynamoRequest.update(
      .link(link.to), "SET #id = :id ADD #joined :from", if: "attribute_not_exists(#target)",
      [("id", .text(link.to))])
    to.sets = [("from", [link.from])]
    let changes: [DynamoRequest] = [
      .update(
        .link(link.from),
        "SET #id = :id, #target = :to, #stored_at_ms = :now_ms, #attempt_id = :attempt_id",
        if: "attribute_not_exists(#target) OR (#target = :to AND #attempt_id = :attempt_id)",
        [
          ("id", .text(link.from)), ("to", .text(link.to)), ("now_ms", .integer(context.nowMs)),
          ("attempt_id", .text(link.attemptId)),
        ]), to,
    ]
    let records = audit.dynamoRequests.map { DynamoRequest.put($0.key, $0.item) }
    guard let reasons = try transact(changes + records) else { return nil }
    let rows = reasons.map { $0.row }
    return (
      try Self.target(rows.first ?? nil),
      try Self.target(rows.dropFirst().first ?? nil)
    )
  }

  /// Merges the accounts that were merged into `from` before into `to`. Returns whether some are
  /// left.
  private func follow(_ followers: [Text], _ link: MergeAccounts) throws(LedgerSuspension) -> Bool {
    guard !followers.isEmpty else { return false }
    let batch = Array(followers.prefix(DynamoQuery.walkCap))
    var to = DynamoRequest.update(.link(link.to), "ADD #joined :batch")
    to.sets = [("batch", batch)]
    var from = DynamoRequest.update(.link(link.from), "DELETE #joined :batch")
    from.sets = [("batch", batch)]
    let changes = batch.map { follower in
      DynamoRequest.update(
        .link(follower), "SET #target = :to", if: "#target IN (:from, :to)",
        [("to", .text(link.to)), ("from", .text(link.from))])
    }
    _ = try transact(changes + [to, from])
    return followers.count > batch.count
  }

  // MARK: what it has

  private func moveSubscriptions(
    _ rows: [SubscriptionRow], _ link: MergeAccounts, _ more: inout Bool
  ) throws(LedgerSuspension) -> Int64 {
    let nowMs = context.nowMs
    let outcomes = try transactEach(
      rows.map { row in
        var next = row
        next.owner = link.to
        next.updatedMs = nowMs
        return [
          .update(
            row.dynamoKey, "SET #owner = :to, #updated_at_ms = :now_ms",
            if: "#owner = :from AND #as_of_ms = :as_of_ms AND #updated_at_ms = :read_ms",
            [
              ("to", .text(link.to)), ("now_ms", .integer(nowMs)), ("from", .text(link.from)),
              ("as_of_ms", .integer(row.asOfMs)), ("read_ms", .integer(row.updatedMs)),
            ]),
          .put(next.copyKey, next.arguments), .delete(row.copyKey),
        ]
      })
    // A subscription that changed since it was read waits for the next call.
    if outcomes.contains(where: { $0 != nil }) { more = true }
    return Int64(outcomes.count { $0 == nil })
  }

  /// Moves each count that is still the one that was read. An emptied row stays until it expires.
  private func addDays(
    _ days: [DynamoItem], _ link: MergeAccounts, _ more: inout Bool
  ) throws(LedgerSuspension) -> Int64 {
    var changes: [[DynamoRequest]] = []
    for day in days {
      let (key, ttl) = (try day.key(), try day.integer("ttl"))
      let other = DynamoKey(DynamoKey.account(link.to), key.sort)
      for (meter, count) in try day.numbers(after: "count_") {
        var (add, remove) = (
          DynamoRequest.update(
            other, "SET #ttl = if_not_exists(#ttl, :ttl) ADD #count :count",
            [("ttl", .integer(ttl)), ("count", .integer(count))]),
          DynamoRequest.update(
            key, "REMOVE #count", if: "#count = :count", [("count", .integer(count))])
        )
        add.attributes = [("count", Text("count_".utf8 + meter.utf8))]
        remove.attributes = add.attributes
        changes.append([remove, add])
      }
    }
    let outcomes = try transactEach(changes)
    if outcomes.contains(where: { $0 != nil }) { more = true }
    return Int64(outcomes.count { $0 == nil })
  }

  /// Returns the update that gives a row of the index of owners to `to`.
  private static func passing(_ key: DynamoKey, _ link: MergeAccounts) -> DynamoRequest {
    .update(
      key, "SET #owner = :to, #owner_pk = :owner_pk", if: "#owner = :from",
      [
        ("to", .text(link.to)), ("owner_pk", .text(DynamoKey.account(link.to))),
        ("from", .text(link.from)),
      ])
  }
}
