/// Apple's questions about refunds (docs/spec/ledger-statements.md §3, "refund answers"). The index
/// of due rows lists them; it lags, and the row decides.
extension DynamoDatabase {
  /// The largest number of tries of a change that meets other changes.
  private static let refundRounds = 4

  func changeRefund(
    _ change: RefundChange
  ) throws(LedgerSuspension) -> (before: RefundRow, after: RefundRow)? {
    let key = DynamoKey.refund(change.id)
    var standing = try read(key).map { item throws(LedgerSuspension) in
      try RefundRow(item).checked(change.id)
    }
    for _ in 0..<Self.refundRounds {
      guard let before = standing ?? change.blank else { return nil }
      guard let next = change.next(before) else { return (before, before) }
      let request =
        standing.map { next.change(from: $0) } ?? .insert(key, next.attributes)
      let (isMade, met) = try self.change(request)
      if isMade { return (before, next) }
      guard let met else { throw .shape("item") }
      standing = try RefundRow(met).checked(change.id)
    }
    throw .refused(Refusal(.unavailableDatabaseContention, "STO-70", at: "refund"))
  }

  func takeDueRefunds(
    attemptId: Text, leaseMs: Int64
  ) throws(LedgerSuspension) -> [RefundRow] {
    let nowMs = context.nowMs
    let items = try takeDue(
      RefundRow.dueKind(areOpen: true), beforeMs: nowMs,
      { key in
        .update(
          key,
          """
          SET #attempt_id = :attempt_id, #lease_expires_at_ms = :lease_expires_at_ms, \
          #due_at_ms = :lease_expires_at_ms
          """,
          if: "#state = :open AND #lease_expires_at_ms <= :now_ms",
          [
            ("attempt_id", .text(attemptId)), ("lease_expires_at_ms", .integer(leaseMs)),
            ("open", .text("open")), ("now_ms", .integer(nowMs)),
          ])
      },
      // The row may have been taken by a call whose reply was lost.
      isOurs: { item throws(LedgerSuspension) in
        let row = try RefundRow(item)
        return row.state == .open && row.attemptId == attemptId && row.leaseMs == leaseMs
      })
    return try items.map(RefundRow.init).ordered { $0.dueAtMs < $1.dueAtMs }
  }

  func refunds(
    areOpen: Bool, in environment: Text, _ times: ClosedRange<Int64>, after place: DifferencePlace
  ) throws(LedgerSuspension) -> (rows: [RefundRow], next: DifferencePlace?) {
    let start = DifferencePlace(atMs: times.lowerBound &- 1, key: "")
    let place = start.precedes(place.atMs, place.key) ? place : start
    // Open cases stand in the index by the time of their next look, which is not before they were
    // asked about.
    let lastMs = areOpen ? MemberNode.exactInteger : times.upperBound
    // DynamoDB refuses a range whose bounds are the wrong way round.
    guard place.atMs <= lastMs else { return ([], nil) }
    let (keys, next) = try left(
      RefundRow.dueKind(areOpen: areOpen), beforeMs: lastMs, after: place
    ) { Text(Array($0.partition.utf8.dropFirst(DynamoKey.refunds.utf8CodeUnitCount))) }
    let rows = try items(keys.map { $0.key }).map(RefundRow.init)
    return (
      rows.filter { row in
        (row.state == .open) == areOpen && (environment.isEmpty || row.environment == environment)
          && times.contains(row.askedAtMs)
      }, next
    )
  }

  func refundSubjects(_ rows: [RefundRow]) throws(LedgerSuspension) -> [RefundSubject] {
    guard !rows.isEmpty else { return [] }
    // Both names of a purchase lead to its row (STO-11).
    let known = try targets(rows.map { $0.id })
    let keys = zip(try targets(known), known).map { $0 ?? $1 }
    guard keys.contains(where: { $0 != nil }) || rows.contains(where: { $0.isLasting }) else {
      return rows.map { _ in RefundSubject() }
    }
    let results = try run { table in
      var calls: [DatabaseCall] = []
      for (row, key) in zip(rows, keys) {
        if let key { calls.append(DynamoRequest.get(.ledger(key)).call(table)) }
        guard row.isLasting else { continue }
        let key = DynamoKey.subscription(row.environment, row.originalTransactionId)
        calls.append(DynamoRequest.get(key).call(table))
      }
      return calls
    }
    var subjects: [RefundSubject] = []
    var place = 0
    for (row, key) in zip(rows, keys) {
      var subject = RefundSubject()
      if key != nil {
        if let item = try results.item(place) { subject.purchase = try LedgerRow(item) }
        place &+= 1
      }
      if row.isLasting {
        if let item = try results.item(place) { subject.subscription = try SubscriptionRow(item) }
        place &+= 1
      }
      subjects.append(subject)
    }
    return subjects
  }

  /// Returns the key to which each name leads; `nil` for `nil` and for a name that is not stored.
  private func targets(_ names: [Text?]) throws(LedgerSuspension) -> [Text?] {
    guard names.contains(where: { $0 != nil }) else { return names }
    let results = try run { table in
      names.compactMap { $0 }.map { DynamoRequest.get(.name($0)).call(table) }
    }
    var found: [Text?] = []
    var place = 0
    for name in names {
      guard name != nil else {
        found.append(nil)
        continue
      }
      found.append(
        try results.item(place).map { item throws(LedgerSuspension) in try item.text("target") })
      place &+= 1
    }
    return found
  }

  func refundHistories(
    of accounts: [Text], sinceMs: Int64
  ) throws(LedgerSuspension) -> [RefundCase.History] {
    guard !accounts.isEmpty else { return [] }
    let results = try run { table in
      accounts.map { account in
        DynamoQuery(
          index: "assay-owner",
          condition: "#owner_pk = :owner_pk AND #owner_sk BETWEEN :since AND :newest",
          values: [
            ("owner_pk", .text(DynamoKey.account(account))),
            ("since", .text(DynamoKey.ordered("L#", sinceMs))),
            ("newest", .text(DynamoKey.ordered("L#", .max))),
          ], limit: 100, isNewestFirst: true
        ).call(table)
      }
    }
    var histories: [RefundCase.History] = []
    for place in results.indices {
      let rows = try results.items(place).map(LedgerRow.init)
      histories.append(
        RefundCase.History(
          refunds: Int64(rows.count { $0.state == .revoked }), purchases: Int64(rows.count)))
    }
    return histories
  }
}

extension RefundRow {
  fileprivate init(_ item: DynamoItem) throws(LedgerSuspension) {
    try self.init(try item.row(RefundRow.columns))
  }

  /// The kind of cases in the index of due rows.
  fileprivate static func dueKind(areOpen: Bool) -> StaticString {
    areOpen ? "REFUND#" : "ANSWERED#"
  }

  /// How long a case is kept, in milliseconds (STM-3).
  private static let keptMs = 400 &* Milliseconds.day

  /// All attributes beside the key; `.null` for one that the row does not have.
  fileprivate var attributes: DynamoRequest.Values {
    // A decision without a question is in no list.
    let isListed = askedAtMs > 0
    let kind = RefundRow.dueKind(areOpen: state == .open)
    let newestMs = max(askedAtMs, outcomeAtMs)
    return arguments + [
      ("due_pk", isListed ? .text(DynamoKey.refund(id).due(kind)) : .null),
      ("due_at_ms", isListed ? .integer(max(askedAtMs, leaseMs)) : .null),
      ("ttl", .integer(Milliseconds.sum(newestMs, RefundRow.keptMs) / 1000)),
    ]
  }

  /// Returns the request that writes all of the row, unless another process changed what was read.
  fileprivate func change(from read: RefundRow) -> DynamoRequest {
    var request = DynamoRequest.update(
      .refund(id),
      if: """
        #state = :read_state AND #asked_at_ms = :read_asked_at_ms \
        AND #outcome_at_ms = :read_outcome_at_ms AND #attempt_id = :read_attempt_id \
        AND #lease_expires_at_ms = :read_lease_expires_at_ms
        """,
      [
        ("read_state", .text(Text(stringLiteral: read.state.name))),
        ("read_asked_at_ms", .integer(read.askedAtMs)),
        ("read_outcome_at_ms", .integer(read.outcomeAtMs)),
        ("read_attempt_id", .text(read.attemptId)),
        ("read_lease_expires_at_ms", .integer(read.leaseMs)),
      ])
    request.set(attributes)
    return request
  }
}
