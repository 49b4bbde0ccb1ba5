/// The operation `finish-signup`: records the result of an admitted sign-up (STO-57).
struct FinishSignup: GuardOperation {
  private enum Result: Int {
    case created, exists, providerBusy, providerError

    static let names: [StaticString] = ["created", "exists", "provider-busy", "provider-error"]
  }

  private let ticket: MeterTicket
  private let result: Result
  private let nowMs: Int64

  /// - Throws: `misuse.ledger.ticket`, `misuse.exchange.request`.
  init(_ parameters: OperationParameters) throws(Refusal) {
    ticket = try MeterTicket(try parameters.needed("ticket"), of: .admit)
    let node = try parameters.needed("result")
    guard let result = Result(rawValue: try node.choice(Result.names)) else {
      throw node.refusal(.range)
    }
    self.result = result
    nowMs = parameters.context.nowMs
  }

  var jitterSeed: Text { ticket.meter.seed(nowMs) }

  /// Releases the unit, unless the account was created.
  func run(_ database: any GuardDatabase) throws(LedgerSuspension) -> OperationResult {
    if result == .created { return end(isReleased: false) }
    return end(isReleased: try ticket.meter.giveBack(units: ticket.units, to: database) != nil)
  }

  private func end(isReleased: Bool) -> OperationResult {
    let result = result
    let isProvider = result == .providerBusy || result == .providerError
    let refusal = isProvider ? Refusal(.unavailableSignupProvider, "STO-57", at: "result") : nil
    return OperationResult(refusal) { writer in
      writer.member("outcome", Result.names[result.rawValue])
      writer.member("released", boolean: isReleased)
    }
  }
}
