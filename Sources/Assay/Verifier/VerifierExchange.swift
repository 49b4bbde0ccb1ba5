extension Verifier {
  // MARK: exchanges

  /// The longest request that is read, in bytes.
  public static let requestByteCap = ExchangeInput.byteCap

  /// Starts a conversation (docs/spec/documents-and-exchanges.md §2).
  ///
  /// - Parameters:
  ///   - request: a JSON object with `kind` and the members of that kind.
  ///   - evidence: verified documents that it is about.
  ///   - nowMs: milliseconds since 1970 UTC, 2008 … 2100: the conversation's clock
  ///     for everything that is decided (EXC-6).
  /// - Returns: the exchange, and a document with its first step; no exchange, and
  ///   the result or a refusal, when it was done at once.
  public func startExchange(
    _ request: [UInt8], evidence: [Document] = [], nowMs: Int64
  ) -> (exchange: Exchange?, document: Document) {
    var checks = Checks<ExchangeCheck>()
    do throws(Refusal) {
      try TimeWindow.checkNow(nowMs)
      checks.enter(.request)
      let request = try ExchangeRequest(request)
      checks.enter(.evidence)
      let proven = try ExchangeEvidence.read(
        evidence, configuration: fingerprint, cap: request.kind.row.evidence,
        takes: { request.kind.takes($0) })
      return try carryOut(request, proven, &checks, nowMs)
    } catch {
      let envelope = Envelope(
        kind: "exchange", factsMember: "exchange", checks: checks.ledger,
        configuration: fingerprint)
      return (nil, envelope.refused(error))
    }
  }

  /// - Throws: what is wrong with a request whose kind takes steps.
  private func carryOut(
    _ request: ExchangeRequest, _ evidence: [VerifiedEvidence],
    _ checks: inout Checks<ExchangeCheck>,
    _ nowMs: Int64
  ) throws(Refusal) -> (exchange: Exchange?, document: Document) {
    if request.kind.row.maxSteps == 0 {
      checks.skip(.answer, .doesNotApply)
      return (nil, carryOutAtOnce(request, checks, nowMs))
    }
    checks.enter(.request)
    let terms = try ExchangeTerms(request, configuration: fingerprint, nowMs: nowMs)
    let begun: Conversation
    do throws(Refusal) {
      begun = try conversation(request, evidence, terms)
    } catch {
      throw error.hinted(as: request.kind.row.hints)
    }
    return Exchange.begin(begun, terms, nowMs: nowMs)
  }

  private func conversation(
    _ request: ExchangeRequest, _ evidence: [VerifiedEvidence], _ terms: ExchangeTerms
  ) throws(Refusal) -> Conversation {
    switch request.kind {
    case .verifyReceipt:
      let task = try VerifyReceiptTask(
        request, evidence, receipts, firstLook, attempt: terms.attempt)
      return .verifyReceipt(VerifyReceiptConversation(task, receipts))
    case .riskAssess, .deviceCheckRead, .deviceCheckToken, .attestKeyId:
      throw Refusal(.internalAssayBug, "EXC-3", at: "kind")
    }
  }

  /// The kinds that need nothing carried out.
  private func carryOutAtOnce(
    _ request: ExchangeRequest, _ checks: Checks<ExchangeCheck>, _ nowMs: Int64
  ) -> Document {
    switch request.kind {
    case .riskAssess: return assessRisk(request, nowMs: nowMs)
    case .deviceCheckRead: return readDeviceCheck(request, checks, nowMs: nowMs)
    case .deviceCheckToken: return formDeviceToken(request, checks)
    case .attestKeyId: return formKeyIdentifier(request, checks)
    case .verifyReceipt:
      return ExchangeDocument(
        kind: request.kind.name, configuration: fingerprint, checks: checks.ledger
      )
      .misused(Refusal(.internalAssayBug, "EXC-3", at: "kind"))
    }
  }
}
