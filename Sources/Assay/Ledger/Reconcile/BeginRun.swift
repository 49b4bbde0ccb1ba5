/// Takes the run of an environment and app: the open one, or the next one (docs/spec/reconcile.md
/// RCN-10).
struct BeginRun: DurableOperation {
  let environment: Text
  let bundleId: Text
  let attemptId: Text
  /// The names of the parts, joined by spaces.
  let parts: Text
  let fromMs: Int64?
  let untilMs: Int64
  let leaseExpiresAtMs: Int64
  let report: RunReport

  var jitterSeed: Text { attemptId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let nowMs = database.session.context.nowMs
    let id = RunRow.id(environment, bundleId)
    guard let stored = try database.runRow(id) else {
      return try end(try database.insert(row(id, after: nil, nowMs: nowMs)), nowMs)
    }
    if stored.isOpen {
      guard stored.attemptId != attemptId else { return try end(stored, nowMs) }
      guard stored.leaseMs <= nowMs else { return running(stored, nowMs) }
      var next = stored
      next.attemptId = attemptId
      next.leaseMs = leaseExpiresAtMs
      return try end(try database.take(next), nowMs)
    }
    // The same request again, after its last reply was lost.
    guard stored.run != attemptId else { return try end(stored, nowMs) }
    let next = row(id, after: stored, nowMs: nowMs)
    return try end(try database.begin(next, after: stored.run), nowMs)
  }

  private func row(_ id: Text, after last: RunRow?, nowMs: Int64) -> RunRow {
    let days = RunPlan.days(of: environment)
    let floorMs = nowMs &- days &* Milliseconds.day
    let isOfEvents = RunPlan(parts).parts.contains(.events)
    let lastMs = isOfEvents ? last?.eventsUntilMs : last?.failuresUntilMs
    let sinceLast = lastMs.flatMap { $0 == 0 ? nil : $0 &- RunPlan.overlapMs }
    let wanted = max(floorMs, fromMs ?? sinceLast ?? floorMs)
    return RunRow(
      id: id, run: attemptId, parts: parts, fromMs: min(wanted, untilMs), untilMs: untilMs,
      part: .recheck, atMs: 0, failuresUntilMs: last?.failuresUntilMs ?? 0,
      eventsUntilMs: last?.eventsUntilMs ?? 0, attemptId: attemptId, leaseMs: leaseExpiresAtMs,
      begunAtMs: nowMs)
  }

  private func end(_ stored: RunRow, _ nowMs: Int64) throws(LedgerSuspension) -> OperationResult {
    guard stored.attemptId == attemptId else { return running(stored, nowMs) }
    report.run = stored
    report.isResumed = stored.run != attemptId
    return OperationResult { _ in }
  }

  private func running(_ stored: RunRow, _ nowMs: Int64) -> OperationResult {
    report.retryAfterMs = max(1000, stored.leaseMs &- nowMs)
    let refusal = Refusal(.unavailableReconcileRunning, "RCN-2", at: "environment")
    return OperationResult(refusal) { _ in }
  }
}
