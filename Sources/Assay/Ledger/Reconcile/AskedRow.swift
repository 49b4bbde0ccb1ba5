/// What one of Apple's answers is about, unless that is a time of its history of notifications. It
/// is stored after the place of the run: a run that is killed in between asks once more, and one
/// that another process has by now stores nothing (docs/spec/reconcile.md RCN-11).
///
/// Indirect, so that it is one pointer: with both rows in place, the compiler's test for `nil` also
/// reads bytes that only the larger case writes, which does no harm and which valgrind reports.
indirect enum AskedRow {
  /// A subscription, whose check is due later.
  case subscription(SubscriptionRow)
  /// A download as it was read, and with the revision of the answer.
  case download(DownloadRow, over: DownloadRow)

  func store(_ database: any DurableDatabase) throws(LedgerSuspension) {
    switch self {
    case .subscription(let row):
      if let dueMs = row.nextCheckAtMs { try database.scheduleNextChecks([row], leaseMs: dueMs) }
    case .download(let next, let read): try database.store(next, over: read)
    }
  }
}
