/// The operation `lease-due-refunds`: hands out open cases, those with less time first (RFA-4).
struct LeaseDueRefunds: DurableOperation {
  private let attemptId: Text
  private let leaseMs: Int64

  /// - Throws: `misuse.ledger.attempt-id`, `.lease`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    attemptId = try parameters.attemptId()
    leaseMs = try parameters.leaseUntil()
  }

  var jitterSeed: Text { attemptId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let rows = try database.takeDueRefunds(attemptId: attemptId, leaseMs: leaseMs)
    let report = try RefundReport(rows, database)
    return OperationResult { writer in
      report.writeRows(&writer)
      writer.member("hasMore", boolean: rows.count >= LedgerContext.dueCap)
    }
  }
}
