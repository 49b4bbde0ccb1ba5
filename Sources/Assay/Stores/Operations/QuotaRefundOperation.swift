/// The operation `release-quota`: releases units, because the metered work failed before anything
/// was delivered (STO-53).
struct QuotaRefundOperation: StoreOperation {
  private let ticket: MeterTicket
  private let nowMs: Int64

  /// - Throws: `misuse.ledger.ticket`.
  init(_ parameters: StoreParameters) throws(Refusal) {
    ticket = try MeterTicket(try parameters.needed("ticket"), of: .take)
    nowMs = parameters.context.nowMs
  }

  var seed: Text { ticket.meter.seed(nowMs) }

  func run(_ talk: inout StoreTalk) throws(StoreStop) -> StoreOutcome {
    let used = try talk.giveBack(ticket.meter, units: ticket.units)
    return StoreOutcome { writer in
      writer.member("outcome", used == nil ? "none" : "refunded")
      writer.member("used", integer: used)
    }
  }
}
