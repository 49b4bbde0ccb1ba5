/// Reports claims and take-backs that nobody has completed, one page of them; the sweeps of
/// `resume-expired` and `resume-expired-revocations` finish them (docs/spec/reconcile.md RCN-3).
struct FindLeftBehind: DurableOperation {
  let run: RunRow
  let report: RunReport

  var jitterSeed: Text { run.attemptId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let nowMs = database.session.context.nowMs
    var update = RunUpdate(run)
    let (rows, next) = try database.purchasesLeft(
      run.part == .revocations ? .revoked : .claimed, in: update.environment,
      beforeMs: nowMs &- RunPlan.staleMs, after: run.place)
    for row in rows {
      update.add(DifferenceJudgement(row, nowMs: nowMs)) { kind in
        DifferenceRow(kind, row, run: run.run, nowMs: nowMs)
      }
    }
    let after = next.map { run.at($0) } ?? run.afterPart(nowMs: nowMs)
    return try update.store(after, report, database)
  }
}

extension DifferenceRow {
  /// Creates the difference of a purchase of which there is a row.
  init(_ kind: DifferenceKind, _ row: LedgerRow, run: Text, nowMs: Int64) {
    self.init(
      kind, row.purchaseKey, in: row.environment, asOfMs: row.asOfMs, run: run, nowMs: nowMs)
    transactionId = row.transactionId
    originalTransactionId = row.originalTransactionId
    product = row.product
    quantity = row.quantity
    purchasedAtMs = row.purchasedAtMs
  }
}
