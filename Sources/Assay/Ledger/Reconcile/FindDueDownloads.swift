/// Lists the customers about whom Apple is to be asked in this run; the part ends when there is
/// none (docs/spec/reconcile.md RCN-3).
struct FindDueDownloads: DurableOperation {
  let run: RunRow
  let report: RunReport

  var jitterSeed: Text { run.attemptId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let context = database.session.context
    let update = RunUpdate(run)
    // The setting may have been taken away since the run began.
    if context.policy.customerKey != nil {
      let due = try database.downloadsLeft(
        in: update.environment, of: update.bundleId, beforeMs: run.begunAtMs)
      guard due.isEmpty else {
        report.downloads = due
        return OperationResult { _ in }
      }
    }
    return try update.store(run.afterPart(nowMs: context.nowMs), report, database)
  }
}
