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
        evidence, configuration: fingerprint, counts: request.kind.row.evidence,
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
      return (nil, carryOutAtOnce(request, evidence, checks, nowMs))
    }
    checks.enter(.request)
    var terms = try ExchangeTerms(request, configuration: fingerprint, nowMs: nowMs)
    let begun: Conversation
    do throws(Refusal) {
      begun = try conversation(request, evidence, terms, nowMs: nowMs)
    } catch {
      throw error.hinted(as: request.kind.row.hints)
    }
    if case .appStore(let conversation) = begun { terms.maxSteps = conversation.maxSteps }
    if case .store(let conversation) = begun {
      terms.maxSteps = conversation.maxSteps(terms.maxSteps)
      terms.end(within: conversation.requestMs, of: nowMs)
    }
    return Exchange.begin(begun, terms, nowMs: nowMs)
  }

  private func conversation(
    _ request: ExchangeRequest, _ evidence: [VerifiedEvidence], _ terms: ExchangeTerms,
    nowMs: Int64
  ) throws(Refusal) -> Conversation {
    switch request.kind {
    case .verifyReceipt:
      let task = try VerifyReceiptTask(
        request, evidence, receipts, firstLook, attempt: terms.attempt)
      return .verifyReceipt(VerifyReceiptConversation(task, receipts))
    case .deviceCheckQuery: return try deviceCheck(request, .query, nowMs)
    case .deviceCheckUpdate: return try deviceCheck(request, .update, nowMs)
    case .deviceCheckValidate: return try deviceCheck(request, .validate, nowMs)
    case .appStore(let endpoint):
      let task = try AppStoreTask(
        request, endpoint, evidence, configuration, attempt: terms.attempt, nowMs: nowMs)
      return .appStore(AppStoreConversation(task, trust))
    case .ocsp:
      let task = try OCSPTask(request, evidence, configuration, attempt: terms.attempt)
      return .ocsp(OCSPConversation(task))
    case .attestRefresh:
      let task = try AttestRefreshTask(
        evidence, attest.receipts, configuration.deviceCheck, attempt: terms.attempt)
      return .attestRefresh(AttestRefreshConversation(task, nowMs: nowMs))
    case .jwks:
      return .keyset(KeysetConversation(try KeysetTask(request, configuration, nowMs: nowMs)))
    case .appleIDExchangeCode:
      return .appleIDCode(
        try AppleIDCodeConversation(request, evidence, configuration, nowMs: nowMs))
    case .appleIDRevoke:
      return .appleIDRevocation(
        try AppleIDRevocation(request, configuration, attempt: terms.attempt))
    case .store(let kind):
      return .store(try storeConversation(request, kind, evidence, nowMs: nowMs))
    default: throw Refusal(.internalAssayBug, "EXC-3", at: "kind")
    }
  }

  private func deviceCheck(
    _ request: ExchangeRequest, _ call: DeviceCheckAnswer.Call, _ nowMs: Int64
  ) throws(Refusal) -> Conversation {
    let task = try DeviceCheckTask(request, call, receipts.configuration.deviceCheck)
    return .deviceCheck(DeviceCheckConversation(task, nowMs: nowMs))
  }

  /// The kinds that need nothing carried out.
  private func carryOutAtOnce(
    _ request: ExchangeRequest, _ evidence: [VerifiedEvidence],
    _ checks: Checks<ExchangeCheck>, _ nowMs: Int64
  ) -> Document {
    switch request.kind {
    case .riskAssess: return assessRisk(request, nowMs: nowMs)
    case .deviceCheckRead: return readDeviceCheck(request, checks, nowMs: nowMs)
    case .deviceCheckToken: return formDeviceToken(request, checks)
    case .attestKeyId: return formKeyIdentifier(request, checks)
    case .signAPIToken, .signPromotionalOfferV1, .signPromotionalOfferV2,
      .signIntroductoryOffer, .signDeviceCheckToken, .signAppleIDSecret:
      return sign(request, checks, nowMs: nowMs)
    case .sessionIssue: return issueSession(request, evidence, checks, nowMs: nowMs)
    case .sessionCheck: return checkSession(request, checks, nowMs: nowMs)
    case .deviceVerify: return verifyDevice(request, evidence, checks)
    case .schema: return describeSchema(request, checks, nowMs: nowMs)
    case .appleIDIdentity: return verifyAppleIdentity(request, evidence, checks, nowMs: nowMs)
    case .appleIDNotification:
      return verifyAppleNotification(request, evidence, checks, nowMs: nowMs)
    case .verifyReceipt, .deviceCheckQuery, .deviceCheckUpdate, .deviceCheckValidate, .ocsp,
      .attestRefresh, .appStore, .store, .jwks, .appleIDExchangeCode, .appleIDRevoke:
      return ExchangeDocument(
        kind: request.kind.name, configuration: fingerprint, checks: checks.ledger
      )
      .misused(Refusal(.internalAssayBug, "EXC-3", at: "kind"))
    }
  }
}
