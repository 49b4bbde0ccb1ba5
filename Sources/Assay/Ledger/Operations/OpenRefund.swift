/// The operation `open-refund`: stores Apple's question about a refund (RFA-1). The row is its own
/// key, so that a repeated delivery finds it.
struct OpenRefund: DurableOperation {
  private let asked: RefundRow

  /// - Throws: `misuse.exchange.evidence`, `rejected.payload.incomplete`,
  ///   `rejected.purchase.invalid-id`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    guard let item = parameters.evidence.first else {
      throw Refusal(.misuseExchangeEvidence, "EXC-2", at: "evidence")
    }
    let context = parameters.context
    asked = try RefundRow(asking: item, context.configuration.products, nowMs: context.nowMs)
  }

  var jitterSeed: Text { asked.id }

  func run(_ database: any DurableDatabase) throws(LedgerSuspension) -> OperationResult {
    guard let (before, after) = try database.changeRefund(.ask(asked)) else { throw .rowMissing }
    let report = try RefundReport([after], database)
    return OperationResult { writer in
      let isNew = after.notificationId == asked.notificationId && before.askedAtMs < after.askedAtMs
      let outcome: StaticString =
        after.state == .decided ? "decided" : isNew ? "opened" : "already"
      writer.member("outcome", outcome)
      writer.name("refund")
      report.write(0, &writer)
    }
  }
}
