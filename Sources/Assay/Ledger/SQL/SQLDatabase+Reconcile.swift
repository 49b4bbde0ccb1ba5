/// Runs of `reconcile` and their differences (docs/spec/ledger-statements.md §2, "Reconcile").
extension SQLDatabase {
  // MARK: runs

  func runRow(_ id: Text) throws(LedgerSuspension) -> RunRow? {
    let results = try run { [(.runRead, [("id", .text(id))])] }
    return try results.rowIfAny(0).map { row throws(LedgerSuspension) in try RunRow(row) }
  }

  func insert(_ run: RunRow) throws(LedgerSuspension) -> RunRow {
    try change(.runInsert, run, [])
  }

  func take(_ run: RunRow) throws(LedgerSuspension) -> RunRow {
    try change(.runTake, run, [("now_ms", .integer(context.nowMs))])
  }

  func begin(_ run: RunRow, after last: Text) throws(LedgerSuspension) -> RunRow {
    try change(.runBegin, run, [("last_run", .text(last))])
  }

  private func change(
    _ statement: SQLStatement, _ next: RunRow, _ more: Arguments,
    after changes: [(SQLStatement, Arguments)] = []
  ) throws(LedgerSuspension) -> RunRow {
    let results = try run(changes.isEmpty ? nil : .single) {
      changes + [(statement, next.arguments + more), (.runRead, [("id", .text(next.id))])]
    }
    return try RunRow(try results.row(results.count &- 1))
  }

  func move(_ run: RunRow, _ changes: [DifferenceChange]) throws(LedgerSuspension) -> RunRow {
    let nowMs = context.nowMs
    return try change(
      .runMove, run, [],
      after: changes.map { change in
        switch change {
        case .find(let row): return (.differenceInsert, row.arguments)
        case .see(let row, _): return (.differenceSee, row.arguments)
        case .settle(let row):
          return (.differenceSettle, [("id", .text(row.id)), ("now_ms", .integer(nowMs))])
        }
      })
  }

  // MARK: differences

  func differences(_ ids: [Text]) throws(LedgerSuspension) -> [DifferenceRow?] {
    guard !ids.isEmpty else { return [] }
    let results = try run {
      ids.map { id in
        let arguments: Arguments = [("id", .text(id))]
        return (.differenceRead, arguments)
      }
    }
    var found: [DifferenceRow?] = []
    for place in results.indices {
      found.append(
        try results.rowIfAny(place).map { row throws(LedgerSuspension) in try DifferenceRow(row) })
    }
    return found
  }

  func differences(
    areOpen: Bool, in environment: Text, _ kind: DifferenceKind?, after place: DifferencePlace
  ) throws(LedgerSuspension) -> (rows: [DifferenceRow], next: DifferencePlace?) {
    let results = try run {
      let arguments: Arguments = [
        ("state", .text(areOpen ? "open" : "closed")), ("after_ms", .integer(place.atMs)),
        ("after_id", .text(place.key)), ("environment", .text(environment)),
        ("kind", .text(kind.map { Text(stringLiteral: $0.name) } ?? "")),
      ]
      return [(.differencesList, arguments)]
    }
    let rows = try results.rows(0).map { row throws(LedgerSuspension) in try DifferenceRow(row) }
    guard rows.count >= LedgerContext.dueCap, let last = rows.last else { return (rows, nil) }
    return (rows, DifferencePlace(atMs: last.foundAtMs, key: last.id))
  }

  func close(
    _ id: Text, note: Text
  ) throws(LedgerSuspension) -> (isMade: Bool, row: DifferenceRow)? {
    let nowMs = context.nowMs
    let results = try run(.single) {
      let key: Arguments = [("id", .text(id))]
      let change: Arguments = key + [("now_ms", .integer(nowMs)), ("note", .text(note))]
      return [(.differenceRead, key), (.differenceClose, change), (.differenceRead, key)]
    }
    guard let before = try results.rowIfAny(0), let after = try results.rowIfAny(2) else {
      return nil
    }
    return (try DifferenceRow(before).isOpen, try DifferenceRow(after))
  }

  // MARK: rows to look at

  func purchasesLeft(
    _ state: LedgerRow.State, in environment: Text, beforeMs: Int64, after place: DifferencePlace
  ) throws(LedgerSuspension) -> (rows: [LedgerRow], next: DifferencePlace?) {
    let results = try run {
      let arguments: Arguments = [
        ("state", .text(Text(stringLiteral: state.name))), ("environment", .text(environment)),
        ("before_ms", .integer(beforeMs)), ("after_ms", .integer(place.atMs)),
        ("after_key", .text(place.key)),
      ]
      return [(.purchasesLeft, arguments)]
    }
    let rows = try results.rows(0).map { row throws(LedgerSuspension) in try LedgerRow(row) }
    guard rows.count >= LedgerContext.dueCap, let last = rows.last else { return (rows, nil) }
    return (rows, DifferencePlace(atMs: last.leaseMs, key: last.purchaseKey))
  }

  func subscriptionsLeft(in environment: Text) throws(LedgerSuspension) -> [SubscriptionRow] {
    let nowMs = context.nowMs
    let results = try run {
      let arguments: Arguments = [
        ("now_ms", .integer(nowMs)), ("environment", .text(environment)),
      ]
      return [(.subscriptionsLeft, arguments)]
    }
    return try results.rows(0).map { row throws(LedgerSuspension) in try SubscriptionRow(row) }
  }
}
