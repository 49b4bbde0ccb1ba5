/// The end of each operation of a run: stores what was judged, and then the place of the run
/// (docs/spec/reconcile.md RCN-11).
struct RunUpdate {
  /// The run as it was stored.
  let run: RunRow
  private var judged: [(row: DifferenceRow, isDifference: Bool)] = []

  init(_ run: RunRow) { self.run = run }

  /// The environment of the run's rows.
  var environment: Text { Text(Array(run.id.utf8.prefix { $0 != 0x2f })) }

  /// The app of the run.
  var bundleId: Text { Text(Array(run.id.utf8.drop { $0 != 0x2f }.dropFirst())) }

  /// Adds what was judged of a subject.
  ///
  /// - Parameter row: Returns the difference of a kind.
  mutating func add(
    _ judgement: DifferenceJudgement, _ row: (DifferenceKind) -> DifferenceRow
  ) {
    switch judgement {
    case .differs(let kind): judged.append((row(kind), true))
    // The kind does not matter: what is open of the subject is closed.
    case .inOrder: judged.append((row(.paidNotGranted), false))
    case .undecided: break
    }
  }

  /// Stores the differences and moves the run.
  ///
  /// - Parameters:
  ///   - next: The run at its next place.
  ///   - asked: What Apple was asked about; `nil` if that is the place alone.
  /// - Throws: `rejected.reconcile.superseded` if another attempt has the run by now.
  func store(
    _ next: RunRow, asked: AskedRow? = nil, _ report: RunReport,
    _ database: any DurableDatabase
  ) throws(LedgerSuspension) -> OperationResult {
    let stored = try database.differences(judged.map { $0.row.id })
    var changes: [DifferenceChange] = []
    for ((row, isDifference), read) in zip(judged, stored) {
      switch (read, isDifference) {
      case (nil, true): changes.append(.find(row))
      case (let read?, true): if row.isNews(for: read) { changes.append(.see(row, over: read)) }
      case (let read?, false): if read.isOpen { changes.append(.settle(read)) }
      case (nil, false): break
      }
    }
    let after = try database.move(next, changes)
    guard after.isHeld(as: run) else {
      let refusal = Refusal(.rejectedReconcileSuperseded, "RCN-11", at: "attemptId")
      return OperationResult(refusal) { _ in }
    }
    try asked?.store(database)
    report.count(changes)
    report.run = next
    return OperationResult { _ in }
  }
}
