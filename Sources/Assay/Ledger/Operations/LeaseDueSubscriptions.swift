/// The operation `lease-due-subscriptions`: reserves subscriptions about which Apple should be
/// asked now (STO-48).
struct LeaseDueSubscriptions: DurableOperation {
  private let attemptId: Text
  private let leaseMs: Int64

  private static let standardLease: Int64 = 300_000

  /// - Throws: `misuse.exchange.request`, `misuse.ledger.attempt-id`, `.lease`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    attemptId = try parameters.attemptId()
    let node = parameters["leaseMs"]?.refusing(.misuseLedgerLease, "STO-29")
    let span = try node?.integer(5000...3_600_000) ?? Self.standardLease
    leaseMs = Milliseconds.sum(parameters.context.nowMs, span)
  }

  var jitterSeed: Text { attemptId }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let rows = try database.leaseDueSubscriptions(leaseMs: leaseMs)
    if !rows.isEmpty { try database.scheduleNextChecks(rows, leaseMs: leaseMs) }
    return OperationResult { writer in
      writer.name("subscriptions")
      writer.beginArray()
      for row in rows { LeaseDueSubscriptions.write(row, &writer) }
      writer.endArray()
      writer.member("hasMore", boolean: rows.count >= LedgerContext.dueCap)
    }
  }

  private static func write(_ row: SubscriptionRow, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("environment", row.environment)
    writer.member("originalTransactionId", row.originalTransactionId)
    writer.member("transactionId", row.transactionId)
    writer.member("account", row.owner.isEmpty ? nil : row.owner)
    writer.member("productId", row.product)
    writer.member("expiresAtMs", integer: row.expiresAtMs)
    writer.member("graceExpiresAtMs", integer: row.graceExpiresAtMs)
    writer.member("asOfMs", integer: row.asOfMs)
    writer.member("evidence", row.evidence)
    writer.endObject()
  }
}
