/// The operation `report-refunds`: what was answered to Apple's questions about refunds, what Apple
/// decided, and what was taken back (RFA-60).
struct ReportRefunds: DurableOperation {
  private let areOpen: Bool
  /// The environment of the cases; empty for all.
  private let environment: Text
  /// When Apple asked, in milliseconds since 1970 UTC.
  private let times: ClosedRange<Int64>
  private let after: DifferencePlace

  /// The longest time of a report, in milliseconds.
  private static let spanMs = 92 &* Milliseconds.day

  /// - Throws: `misuse.exchange.request`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    areOpen = try parameters["state"]?.choice(["open", "closed"]) == 0
    environment = try parameters.environmentIfAny()
    let limits = 1...MemberNode.exactInteger
    let untilMs = try parameters["untilMs"]?.integer(limits) ?? max(1, parameters.context.nowMs)
    let earliestMs = max(1, untilMs &- Self.spanMs)
    var fromMs = earliestMs
    if let node = parameters["fromMs"] {
      fromMs = try node.integer(limits)
      try require((earliestMs...untilMs).contains(fromMs), node)
    }
    times = fromMs...untilMs
    guard let node = parameters["after"] else {
      after = .start
      return
    }
    guard let given = DifferencePlace(try node.text(3...177)) else { throw node.refusal(.range) }
    after = given
  }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let (rows, next) = try database.refunds(
      areOpen: areOpen, in: environment, times, after: after)
    let report = try RefundReport(rows, database)
    return OperationResult { writer in
      report.writeRows(&writer)
      report.writeCounts(&writer)
      writer.member("hasMore", boolean: next != nil)
      writer.member("after", next?.text)
    }
  }
}
