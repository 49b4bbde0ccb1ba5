/// Moves a run without evidence: gives it back, or passes over what Apple does not tell.
struct MoveRun: DurableOperation {
  let run: RunRow
  let next: RunRow
  /// A difference that is the reason; `nil` if there is none.
  var reason: DifferenceRow? = nil
  /// What Apple was asked about; `nil` if that is the place alone.
  var asked: AskedRow? = nil
  let report: RunReport

  var jitterSeed: Text { run.attemptId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    var update = RunUpdate(run)
    if let reason { update.add(.differs(reason.kind)) { _ in reason } }
    return try update.store(next, asked: asked, report, database)
  }
}
