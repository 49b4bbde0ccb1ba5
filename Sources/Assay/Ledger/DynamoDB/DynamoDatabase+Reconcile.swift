/// Runs of `reconcile` and their differences (docs/spec/ledger-statements.md §3, "reconcile"). The
/// index of due rows lists differences and rows to look at; it lags, and the row decides.
extension DynamoDatabase {
  // MARK: runs

  func runRow(_ id: Text) throws(LedgerSuspension) -> RunRow? {
    try read(.run(id)).map { item throws(LedgerSuspension) in try RunRow(item) }
  }

  func insert(_ run: RunRow) throws(LedgerSuspension) -> RunRow {
    let item = try insert(.run(run.id), run.arguments)
    return try item.map { item throws(LedgerSuspension) in try RunRow(item) } ?? run
  }

  func take(_ run: RunRow) throws(LedgerSuspension) -> RunRow {
    try change(
      .update(
        .run(run.id),
        """
        SET #attempt_id = :attempt_id, #lease_expires_at_ms = :lease_expires_at_ms \
        ADD #fencing_token :one
        """,
        if: """
          #state = :open AND #attempt_id <> :attempt_id AND #lease_expires_at_ms <= :now_ms
          """,
        run.arguments + [
          ("one", .integer(1)), ("open", .text("open")), ("now_ms", .integer(context.nowMs)),
        ]))
  }

  func begin(_ run: RunRow, after last: Text) throws(LedgerSuspension) -> RunRow {
    try change(
      .update(
        .run(run.id),
        """
        SET #run = :run, #state = :open, #parts = :parts, #from_ms = :from_ms, \
        #until_ms = :until_ms, #part = :part, #at_ms = :at_ms, #token = :token, \
        #attempt_id = :attempt_id, #lease_expires_at_ms = :lease_expires_at_ms, \
        #begun_at_ms = :begun_at_ms REMOVE #done_at_ms ADD #fencing_token :one
        """, if: "#state = :done AND #run = :last_run",
        run.arguments + [
          ("one", .integer(1)), ("open", .text("open")), ("done", .text("done")),
          ("last_run", .text(last)),
        ]))
  }

  private func change(_ request: DynamoRequest) throws(LedgerSuspension) -> RunRow {
    guard let (_, item) = try update(request) else { throw .rowMissing }
    return try RunRow(item)
  }

  func move(_ run: RunRow, _ changes: [DifferenceChange]) throws(LedgerSuspension) -> RunRow {
    let nowMs = context.nowMs
    try changeEach(changes.map { $0.request(nowMs: nowMs) })
    var request = DynamoRequest.update(
      .run(run.id),
      if: "#attempt_id = :attempt_id AND #fencing_token = :fencing_token AND #state = :open",
      run.arguments.filter {
        $0.name.hasSameBytes(as: "attempt_id") || $0.name.hasSameBytes(as: "fencing_token")
      } + [("open", .text("open"))])
    let set: [StaticString] = [
      "state", "part", "at_ms", "token", "failures_until_ms", "events_until_ms",
      "lease_expires_at_ms", "done_at_ms",
    ]
    request.set(
      run.arguments.filter { column in set.contains { $0.hasSameBytes(as: column.name) } })
    return try change(request)
  }

  // MARK: differences

  func differences(_ ids: [Text]) throws(LedgerSuspension) -> [DifferenceRow?] {
    guard !ids.isEmpty else { return [] }
    let results = try run { table in ids.map { DynamoRequest.get(.difference($0)).call(table) } }
    var found: [DifferenceRow?] = []
    for place in results.indices {
      found.append(
        try results.item(place).map { item throws(LedgerSuspension) in try DifferenceRow(item) })
    }
    return found
  }

  func differences(
    areOpen: Bool, in environment: Text, _ kind: DifferenceKind?, after place: DifferencePlace
  ) throws(LedgerSuspension) -> (rows: [DifferenceRow], next: DifferencePlace?) {
    let kindOfDue = DifferenceRow.dueKind(areOpen: areOpen)
    let (keys, next) = try left(kindOfDue, beforeMs: MemberNode.exactInteger, after: place) {
      Text(Array($0.partition.utf8.dropFirst(DynamoKey.differences.utf8CodeUnitCount)))
    }
    let rows = try differences(keys.map { $0.name }).compactMap { $0 }
    return (
      rows.filter { row in
        row.isOpen == areOpen && (environment.isEmpty || row.environment == environment)
          && (kind.map { $0 == row.kind } ?? true)
      }, next
    )
  }

  func close(
    _ id: Text, note: Text
  ) throws(LedgerSuspension) -> (isMade: Bool, row: DifferenceRow)? {
    guard let standing = try differences([id]).first ?? nil else { return nil }
    var next = standing
    next.isOpen = false
    next.closedAtMs = context.nowMs
    next.closedBy = "person"
    next.note = note
    var request = DynamoRequest.update(
      .difference(id), if: "#state = :read_state", [("read_state", .text("open"))])
    request.set(next.attributes)
    guard let (isMade, item) = try update(request) else { return nil }
    return (isMade, try DifferenceRow(item))
  }

  // MARK: rows to look at

  /// Returns the rows of a kind in the index of due rows after a place, at most 25, and the place
  /// of the next page; `nil` if this is the last one.
  ///
  /// - Parameter name: Returns the key by which rows of one time are ordered.
  func left(
    _ kind: StaticString, beforeMs: Int64, after place: DifferencePlace,
    _ name: (DynamoKey) -> Text
  ) throws(LedgerSuspension) -> (keys: [(key: DynamoKey, name: Text)], next: DifferencePlace?) {
    try left({ DynamoKey.due(kind, $0) }, beforeMs: beforeMs, after: place, name)
  }

  /// Returns the rows of eight partitions of the index of due rows, likewise.
  ///
  /// - Parameter partition: Returns the partition of a number.
  func left(
    _ partition: (UInt8) -> Text, beforeMs: Int64, after place: DifferencePlace,
    _ name: (DynamoKey) -> Text
  ) throws(LedgerSuspension) -> (keys: [(key: DynamoKey, name: Text)], next: DifferencePlace?) {
    let results = try run { table in
      (0..<DynamoKey.duePartitions).map { number in
        DynamoQuery(
          index: "assay-due",
          condition: "#due_pk = :due_pk AND #due_at_ms BETWEEN :after_ms AND :before_ms",
          values: [
            ("due_pk", .text(partition(number))),
            ("after_ms", .integer(place.atMs)), ("before_ms", .integer(beforeMs)),
          ], limit: Int64(LedgerContext.dueCap) &* 2
        ).call(table)
      }
    }
    var found: [(key: DynamoKey, name: Text, atMs: Int64)] = []
    var isCut = false
    for number in results.indices {
      let items = try results.items(number)
      if items.count >= LedgerContext.dueCap &* 2 { isCut = true }
      for item in items {
        let (key, atMs) = (try item.key(), try item.integer("due_at_ms"))
        if place.precedes(atMs, name(key)) { found.append((key, name(key), atMs)) }
      }
    }
    let page = found.ordered { left, right in
      left.atMs != right.atMs ? left.atMs < right.atMs : Text.precedes(left.name, right.name)
    }.prefix(LedgerContext.dueCap)
    let hasMore = isCut || found.count > page.count
    let next = page.last.map { DifferencePlace(atMs: $0.atMs, key: $0.name) }
    return (page.map { ($0.key, $0.name) }, hasMore ? next : nil)
  }

  func purchasesLeft(
    _ state: LedgerRow.State, in environment: Text, beforeMs: Int64, after place: DifferencePlace
  ) throws(LedgerSuspension) -> (rows: [LedgerRow], next: DifferencePlace?) {
    let (keys, next) = try left(state.dueKind, beforeMs: beforeMs, after: place) {
      Text(Array($0.partition.utf8.dropFirst(DynamoKey.purchases.utf8CodeUnitCount)))
    }
    let rows = try items(keys.map { $0.key }).map(LedgerRow.init)
    return (
      rows.filter {
        $0.environment == environment && $0.state == state && $0.leaseMs <= beforeMs
      }, next
    )
  }

  func subscriptionsLeft(in environment: Text) throws(LedgerSuspension) -> [SubscriptionRow] {
    let nowMs = context.nowMs
    var place = DifferencePlace.start
    // Those of other environments are in the same index.
    for _ in 0..<Self.duePageCap {
      let (keys, next) = try left("SUBSCRIPTION#", beforeMs: nowMs, after: place) { $0.partition }
      let rows = try items(keys.map { $0.key }).map(SubscriptionRow.init).filter {
        $0.environment == environment && ($0.nextCheckAtMs ?? .max) <= nowMs
      }
      guard rows.isEmpty, let next else { return rows }
      place = next
    }
    return []
  }

  /// The largest number of pages in which rows are looked for that the index still lists and that
  /// are not due, or are of another environment.
  static let duePageCap = 8

  func items(_ keys: [DynamoKey]) throws(LedgerSuspension) -> [DynamoItem] {
    guard !keys.isEmpty else { return [] }
    let results = try run { table in keys.map { DynamoRequest.get($0).call(table) } }
    var items: [DynamoItem] = []
    for place in results.indices {
      if let item = try results.item(place) { items.append(item) }
    }
    return items
  }
}

extension RunRow {
  fileprivate init(_ item: DynamoItem) throws(LedgerSuspension) {
    try self.init(try item.row(RunRow.columns))
  }
}

extension DifferenceRow {
  fileprivate init(_ item: DynamoItem) throws(LedgerSuspension) {
    try self.init(try item.row(DifferenceRow.columns))
  }

  /// The kind of differences in the index of due rows.
  fileprivate static func dueKind(areOpen: Bool) -> StaticString { areOpen ? "OPEN#" : "CLOSED#" }

  /// How long a closed difference is kept, in milliseconds (STM-3).
  private static let keptMs = 400 &* Milliseconds.day

  /// All attributes beside the key; `.null` for one that the row does not have.
  fileprivate var attributes: DynamoRequest.Values {
    arguments + [
      ("due_pk", .text(DynamoKey.difference(id).due(DifferenceRow.dueKind(areOpen: isOpen)))),
      ("due_at_ms", .integer(foundAtMs)),
      ("ttl", DatabaseValue(closedAtMs.map { Milliseconds.sum($0, DifferenceRow.keptMs) / 1000 })),
    ]
  }
}

extension DifferenceChange {
  /// Returns the request, whose condition fails where another process has changed the row since.
  fileprivate func request(nowMs: Int64) -> DynamoRequest {
    switch self {
    case .find(let row): return .insert(.difference(row.id), row.attributes)
    case .see(let row, let read):
      var next = row
      if read.isOpen && read.kind == row.kind { next.foundAtMs = read.foundAtMs }
      if read.isOpen { next.note = read.note }
      return DifferenceChange.request(next, over: read)
    case .settle(let read):
      var next = read
      next.isOpen = false
      next.closedAtMs = nowMs
      next.closedBy = "run"
      return DifferenceChange.request(next, over: read)
    }
  }

  private static func request(_ next: DifferenceRow, over read: DifferenceRow) -> DynamoRequest {
    var request = DynamoRequest.update(
      .difference(read.id),
      if: """
        #state = :read_state AND #kind = :read_kind AND #as_of_ms = :read_as_of_ms \
        AND #seen_at_ms = :read_seen_at_ms
        """,
      [
        ("read_state", .text(read.isOpen ? "open" : "closed")),
        ("read_kind", .text(Text(stringLiteral: read.kind.name))),
        ("read_as_of_ms", .integer(read.asOfMs)), ("read_seen_at_ms", .integer(read.seenAtMs)),
      ])
    request.set(next.attributes)
    return request
  }
}
