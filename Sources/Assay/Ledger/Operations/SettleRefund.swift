/// The operation `settle-refund`: stores what was answered to Apple's question about a refund, or
/// why nothing was sent (RFA-6).
struct SettleRefund: DurableOperation {
  private let id: Text
  private let settlement: RefundSettlement

  private static let families: [(name: StaticString, family: Status.Family)] = [
    ("rejected", .rejected), ("malformed", .malformed), ("unsupported", .unsupported),
    ("too-large", .tooLarge), ("misuse", .misuse), ("config", .config),
    ("unavailable", .unavailable), ("internal", .internal), ("pending", .pending),
  ]

  /// - Throws: `misuse.exchange.request`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    let environment = try OperationParameters.environment(try parameters.needed("environment"))
    let node = try parameters.needed("transactionId")
    let transactionId = try node.text(1...20)
    try require(transactionId.isDecimal, node)
    id = Text(environment.utf8 + [0x2f] + transactionId.utf8)
    let answer = try parameters.needed("answer").object([
      "answer", "would", "request", "fields", "fired", "dueAtMs", "notBeforeMs",
    ])
    let times = 0...MemberNode.exactInteger
    settlement = RefundSettlement(
      dueAtMs: try answer.required("dueAtMs").integer(times),
      said: try RefundSaid(try answer.required("fields")),
      result: try SettleRefund.result(
        answer, parameters["status"], times, parameters.needed), nowMs: parameters.context.nowMs)
  }

  private static func result(
    _ answer: MemberNode, _ status: MemberNode?, _ times: ClosedRange<Int64>,
    _ needed: (StaticString) throws(Refusal) -> MemberNode
  ) throws(Refusal) -> RefundSettlement.Result {
    let action = try answer.required("answer").choice(["send", "silent", "late", "wait"])
    // Only what was to be sent has a status.
    if action != 0, let status { throw status.refusal(.range) }
    switch action {
    case 0: return try sending(try needed("status"))
    case 1: return .silent
    case 2: return .late
    default: return .wait(untilMs: try answer.required("notBeforeMs").integer(times))
    }
  }

  /// Returns the result of sending, by the name of a status.
  private static func sending(_ node: MemberNode) throws(Refusal) -> RefundSettlement.Result {
    let status = try node.text(2...64)
    if status == "ok" { return .sent }
    let word = status.utf8.prefix { $0 != 0x2e }
    let isName = status.utf8.allSatisfy { (0x61...0x7a).contains($0) || $0 == 0x2d || $0 == 0x2e }
    guard isName, word.count < status.count,
      let family = families.first(where: { word.elementsEqual($0.name) })?.family
    else { throw node.refusal(.range) }
    return family == .unavailable || family == .pending ? .unavailable : .failed(status)
  }

  var jitterSeed: Text { id }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    let changed = try database.changeRefund(.settle(id, settlement))
    let report = try RefundReport(changed.map { [$0.after] } ?? [], database)
    return OperationResult { writer in
      writer.member("outcome", outcome(changed))
      writer.name("refund")
      if changed == nil { writer.null() } else { report.write(0, &writer) }
    }
  }

  private func outcome(_ changed: (before: RefundRow, after: RefundRow)?) -> StaticString {
    guard let (before, after) = changed else { return "none" }
    guard settlement.isAbout(before) else { return "superseded" }
    if after.state == .open { return "open" }
    return before.settledAtMs != after.settledAtMs || before.sentAtMs != after.sentAtMs
      ? "settled" : "already"
  }
}
