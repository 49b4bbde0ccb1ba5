/// The operation `release-quota`: releases units, because the metered work failed before anything
/// was delivered (STO-53).
struct ReleaseQuota: GuardOperation {
  private let ticket: MeterTicket
  private let nowMs: Int64

  /// - Throws: `misuse.ledger.ticket`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    ticket = try MeterTicket(try parameters.needed("ticket"), of: .take)
    nowMs = parameters.context.nowMs
  }

  var jitterSeed: Text { ticket.meter.seed(nowMs) }

  func run(_ database: any GuardDatabase) throws(LedgerSuspension) -> OperationResult {
    let used = try ticket.meter.giveBack(units: ticket.units, to: database)
    return OperationResult { writer in
      writer.member("outcome", used == nil ? "none" : "released")
      writer.member("used", integer: used)
    }
  }
}
