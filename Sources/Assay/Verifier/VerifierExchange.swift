extension Verifier {
  // MARK: exchanges

  /// The longest request that is read, in bytes.
  public static let requestByteCap = ExchangeInput.byteCap

  /// Runs an operation that has no steps.
  ///
  /// - Parameters: those of `startExchange`.
  /// - Returns: the result or a refusal: `misuse.exchange.operation` for an operation that has
  ///   steps.
  public func call(_ request: [UInt8], evidence: [Document] = [], nowMs: Int64) -> Document {
    start(request, evidence, nowMs: nowMs, takesSteps: false).document
  }

  /// Starts an exchange (docs/spec/documents-and-exchanges.md §2).
  ///
  /// - Parameters:
  ///   - request: a JSON object with `kind` and the members of that operation.
  ///   - evidence: the verified documents that the operation needs.
  ///   - nowMs: milliseconds since 1970 UTC, 2008 … 2100; all evidence of the exchange is
  ///     verified at this time (EXC-6).
  /// - Returns: the exchange, and a document with its first step; no exchange and the result or a
  ///   refusal, if the operation ended at once.
  public func startExchange(
    _ request: [UInt8], evidence: [Document] = [], nowMs: Int64
  ) -> (exchange: Exchange?, document: Document) {
    start(request, evidence, nowMs: nowMs, takesSteps: true)
  }

  private func start(
    _ request: [UInt8], _ evidence: [Document], nowMs: Int64, takesSteps: Bool
  ) -> (exchange: Exchange?, document: Document) {
    var checks = Checks<ExchangeCheck>()
    do throws(Refusal) {
      try TimeWindow.checkNow(nowMs)
      checks.enter(.request)
      let request = try ExchangeRequest(request)
      let row = request.kind.row
      let isCall = row.steps.most() == 0
      try require(isCall || takesSteps, .misuseExchangeOperation, "EXC-1", at: "operation")
      checks.enter(.evidence)
      let proven = try ExchangeEvidence.read(evidence, configuration: fingerprint, of: row)
      if isCall {
        checks.skip(.answer, .doesNotApply)
        let context = context(of: request, proven, nowMs: nowMs, attempt: 1, checks)
        return (nil, context.document())
      }
      checks.enter(.request)
      let terms = try ExchangeOptions(request, configuration: fingerprint, nowMs: nowMs)
      let context = context(of: request, proven, nowMs: nowMs, attempt: terms.attempt, checks)
      return try begin(context, terms, row)
    } catch {
      let envelope = Envelope(
        kind: "exchange", factsMember: "exchange", checks: checks.log,
        configuration: fingerprint)
      return (nil, envelope.refused(error))
    }
  }

  private func context(
    of request: ExchangeRequest, _ evidence: [VerifiedEvidence], nowMs: Int64, attempt: Int64,
    _ checks: Checks<ExchangeCheck>
  ) -> OperationContext {
    OperationContext(
      request: request, evidence: evidence, nowMs: nowMs, attempt: attempt, trust: trust,
      receipts: receipts, attest: attest, triage: firstLook, fingerprint: fingerprint,
      checks: checks)
  }

  /// - Throws: the refusal of a request whose operation has steps.
  private func begin(
    _ context: OperationContext, _ terms: ExchangeOptions, _ row: OperationRow
  ) throws(Refusal) -> (exchange: Exchange?, document: Document) {
    var terms = terms
    let begun: AnyStateMachine
    do throws(Refusal) {
      begun = try context.machine()
    } catch {
      throw error.hinted(as: row.hints)
    }
    switch begun {
    case .appStore(let machine): terms.maxSteps = machine.maxSteps
    case .ledger(let machine):
      terms.maxSteps = machine.maxSteps(row.steps)
      terms.end(within: machine.requestMs, of: context.nowMs)
    case .reconcile(let machine): terms.maxSteps = machine.maxSteps
    default: break
    }
    return Exchange.begin(begun, terms, nowMs: context.nowMs)
  }
}
