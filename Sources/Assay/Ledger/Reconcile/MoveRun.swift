/// Moves a run without evidence: gives it back, or passes over what Apple does not tell.
struct MoveRun: DurableOperation {
  let run: RunRow
  let next: RunRow
  /// A difference that is the reason; `nil` if there is none.
  var reason: DifferenceRow? = nil
  /// The subscription that Apple does not know, and whose check is due later; `nil` if there is
  /// none.
  var asked: SubscriptionRow? = nil
  let report: RunReport

  var jitterSeed: Text { run.attemptId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    var update = RunUpdate(run)
    if let reason { update.add(.differs(reason.kind)) { _ in reason } }
    if let asked, let dueMs = asked.nextCheckAtMs {
      try database.scheduleNextChecks([asked], leaseMs: dueMs)
    }
    return try update.store(next, report, database)
  }
}
