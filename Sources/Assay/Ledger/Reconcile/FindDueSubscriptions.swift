/// Lists subscriptions about which Apple is to be asked; the part ends when there is none
/// (docs/spec/reconcile.md RCN-3).
struct FindDueSubscriptions: DurableOperation {
  let run: RunRow
  let report: RunReport

  var jitterSeed: Text { run.attemptId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let nowMs = database.session.context.nowMs
    let update = RunUpdate(run)
    let due = try database.subscriptionsLeft(in: update.environment)
    guard due.isEmpty else {
      report.due = due
      return OperationResult { _ in }
    }
    return try update.store(run.afterPart(nowMs: nowMs), report, database)
  }
}
