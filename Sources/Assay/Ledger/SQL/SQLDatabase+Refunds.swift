/// Apple's questions about refunds (docs/spec/ledger-statements.md §2, "Refund answers").
extension SQLDatabase {
  func changeRefund(
    _ change: RefundChange
  ) throws(LedgerSuspension) -> (before: RefundRow, after: RefundRow)? {
    let key: Arguments = [("id", .text(change.id))]
    // A missing row cannot be locked: one that says nothing is inserted first.
    let results = try run(.begin) {
      let made = change.blank.map { [(SQLStatement.refundInsert, $0.arguments)] } ?? []
      return made + [(.refundLock, key)]
    }
    let row = try results.rowIfAny(results.count &- 1)
    let before = try row.map { row throws(LedgerSuspension) in
      try RefundRow(row).checked(change.id)
    }
    guard let before, let next = change.next(before) else {
      _ = try session.run { DatabaseStep(calls: [], transaction: .commit) }
      return before.map { ($0, $0) }
    }
    let after = try run(.commit) { [(.refundWrite, next.arguments), (.refundRead, key)] }
    return (before, try RefundRow(try after.row(1)).checked(change.id))
  }

  func takeDueRefunds(
    attemptId: Text, leaseMs: Int64
  ) throws(LedgerSuspension) -> [RefundRow] {
    let arguments: Arguments = [
      ("attempt_id", .text(attemptId)), ("lease_expires_at_ms", .integer(leaseMs)),
      ("now_ms", .integer(context.nowMs)),
    ]
    // Reads the rows of this attempt, also those taken by a step whose reply was lost.
    let own: (SQLStatement, Arguments) = (.refundsOwn, arguments)
    guard isMariaDB else { return try run { [(.refundsDue, arguments), own] }.refunds(1) }
    // Rows are locked, then changed one by one.
    let locked = try run(.begin) { [(.refundsDueLock, arguments)] }.rows(0)
    let ids = try locked.map { row throws(LedgerSuspension) in try row.onlyText() }
    return try run(.commit) {
      ids.map { (.refundsDueTake, arguments + [("id", .text($0))]) } + [own]
    }.refunds(ids.count)
  }

  func refunds(
    areOpen: Bool, in environment: Text, _ times: ClosedRange<Int64>, after place: DifferencePlace
  ) throws(LedgerSuspension) -> (rows: [RefundRow], next: DifferencePlace?) {
    let results = try run {
      let arguments: Arguments = [
        ("from_ms", .integer(times.lowerBound)), ("until_ms", .integer(times.upperBound)),
        ("after_ms", .integer(place.atMs)), ("after_id", .text(place.key)),
        ("environment", .text(environment)), ("state", .text(areOpen ? "open" : "closed")),
      ]
      return [(.refundsList, arguments)]
    }
    let rows = try results.refunds(0)
    guard rows.count >= LedgerContext.dueCap, let last = rows.last else { return (rows, nil) }
    return (rows, DifferencePlace(atMs: last.askedAtMs, key: last.id))
  }

  func refundSubjects(_ rows: [RefundRow]) throws(LedgerSuspension) -> [RefundSubject] {
    guard !rows.isEmpty else { return [] }
    let results = try run {
      var calls: [(SQLStatement, Arguments)] = []
      for row in rows {
        calls.append((.refundPurchase, [("transaction_key", .text(row.id))]))
        if row.isLasting { calls.append((.subscriptionRead, row.subscriptionKey)) }
      }
      return calls
    }
    var subjects: [RefundSubject] = []
    var place = 0
    for row in rows {
      var subject = RefundSubject()
      if let found = try results.rowIfAny(place) { subject.purchase = try LedgerRow(found) }
      place &+= 1
      if row.isLasting {
        if let found = try results.rowIfAny(place) {
          subject.subscription = try SubscriptionRow(found)
        }
        place &+= 1
      }
      subjects.append(subject)
    }
    return subjects
  }

  func refundHistories(
    of accounts: [Text], sinceMs: Int64
  ) throws(LedgerSuspension) -> [RefundCase.History] {
    guard !accounts.isEmpty else { return [] }
    let results = try run {
      accounts.map { account in
        let arguments: Arguments = [
          ("owner", .text(account)), ("since_ms", .integer(sinceMs)),
        ]
        return (.refundHistory, arguments)
      }
    }
    var histories: [RefundCase.History] = []
    for place in results.indices {
      var row = try results.row(place)
      let (purchases, refunds) = (try row.integer(), try row.integer())
      try row.end()
      histories.append(RefundCase.History(refunds: refunds, purchases: purchases))
    }
    return histories
  }
}

extension [DatabaseResult] {
  fileprivate func refunds(_ place: Int) throws(LedgerSuspension) -> [RefundRow] {
    try rows(place).map { row throws(LedgerSuspension) in try RefundRow(row) }
  }
}
