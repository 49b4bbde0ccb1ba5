/// Closes the open differences that are in order by now, and tells anew what the others are about;
/// one page of them (docs/spec/reconcile.md RCN-3).
struct RecheckDifferences: DurableOperation {
  let run: RunRow
  let report: RunReport

  var jitterSeed: Text { run.attemptId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let nowMs = database.session.context.nowMs
    var update = RunUpdate(run)
    let (rows, next) = try database.differences(
      areOpen: true, in: update.environment, nil, after: run.place)
    for row in rows {
      let judgement = try judge(row, database, nowMs)
      if case .differs(let kind) = judgement, kind == row.kind { continue }
      update.add(judgement) { kind in
        DifferenceRow(row, kind, run: run.run, nowMs: nowMs)
      }
    }
    let after = next.map { run.at($0) } ?? run.afterPart(nowMs: nowMs)
    return try update.store(after, report, database)
  }

  private func judge(
    _ row: DifferenceRow, _ database: any DurableDatabase, _ nowMs: Int64
  ) throws(LedgerSuspension) -> DifferenceJudgement {
    if row.kind == .refundShareUnknown {
      // The row is in order. A person decides, or newer evidence of Apple's.
      return .undecided
    }
    if row.isOfPurchase {
      let stored = try database.ledgerRow(row.subject)
      // Newer evidence of a reversal was seen while the take-back was pending (STO-35).
      if let stored, stored.state == .revoked, !stored.isTakeBackPending,
        row.asOfMs > stored.asOfMs
      {
        return .differs(.reversalNotGivenBack)
      }
      return DifferenceJudgement(stored, nowMs: nowMs)
    }
    guard row.kind == .subscriptionUnowned, let id = row.subscriptionId else { return .undecided }
    return DifferenceJudgement(
      try database.subscription(environment: row.environment, id), nowMs: nowMs)
  }
}

extension DifferenceRow {
  /// Creates the same difference as one of another kind.
  fileprivate init(_ row: DifferenceRow, _ kind: DifferenceKind, run: Text, nowMs: Int64) {
    self = row
    self.kind = kind
    self.run = run
    foundAtMs = nowMs
    seenAtMs = nowMs
  }
}
