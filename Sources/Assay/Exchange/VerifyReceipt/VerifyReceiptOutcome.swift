/// What one answer from an endpoint means, whatever came before it.
enum VerifyReceiptOutcome {
  case answer(ReceiptResponse)
  /// 21007, 21008: the receipt is of the other environment. The refusal is for a
  /// conversation that must not go there; nil: it may.
  case otherEnvironment(Refusal?, code: Int64)
  /// 21002: a damaged receipt, or a temporary fault (VRR-7).
  case doubtful(Refusal)
  /// VRR-4: nothing usable; worth another try.
  case unusable(Refusal, notBeforeMs: Int64, ExchangeWait.Reason)
  case refused(Refusal, ExchangeCheck)

  /// VRR-4: only 200 with a JSON object is read.
  ///
  /// - Returns: the outcome, and Apple's own status if one was read.
  static func of(
    _ answer: HTTPAnswer, from endpoint: VerifyReceiptTask.Endpoint, _ trust: ReceiptTrust,
    nowMs: Int64
  ) -> (outcome: VerifyReceiptOutcome, appleStatus: Int64?) {
    guard answer.status == 200 else { return (ofHTTP(answer, nowMs: nowMs), nil) }
    guard !answer.isCut else {
      return (.refused(Refusal(.tooLargeVerifyReceiptBody, "VRR-20", at: "cut"), .answer), nil)
    }
    var reading = ReceiptResponseReading(trust, endpoint: endpoint.environment, nowMs: nowMs)
    do {
      return (.answer(try reading.run(answer.body)), reading.appleStatus)
    } catch {
      return (of(error, reading.appleStatus, nowMs: nowMs), reading.appleStatus)
    }
  }

  private static func ofHTTP(_ answer: HTTPAnswer, nowMs: Int64) -> VerifyReceiptOutcome {
    let status = answer.status
    let detail = status == 0 ? "" : "HTTP status " + String(status)
    guard status == 0 || status == 429 || (500...599).contains(status) else {
      return .refused(
        Refusal(.rejectedVerifyReceiptHttp, "VRR-4", at: "status", detail: detail), .answer)
    }
    var notBeforeMs = nowMs
    if status == 429 || status == 503, let text = answer.header("retry-after") {
      notBeforeMs = nowMs &+ RetryAfter.milliseconds(text)
    }
    return .unusable(
      Refusal(.unavailableVerifyReceiptNoAnswer, "VRR-4", at: "status", detail: detail),
      notBeforeMs: notBeforeMs, status == 429 ? .rateLimited : .retry)
  }

  /// What a refusal while reading an answer means here.
  private static func of(
    _ refusal: Refusal, _ appleStatus: Int64?, nowMs: Int64
  ) -> VerifyReceiptOutcome {
    switch appleStatus {
    case 21007, 21008:
      let isAccepted = refusal.retryClass?.hasSameBytes(as: "other-environment") == true
      return .otherEnvironment(isAccepted ? nil : refusal, code: appleStatus ?? 0)
    case 21002: return .doubtful(refusal)
    default: break
    }
    switch refusal.status {
    case .unavailableVerifyReceiptNoAnswer, .unavailableVerifyReceiptInternal:
      return .unusable(refusal, notBeforeMs: nowMs, .retry)
    default:
      return .refused(refusal, refusal.status.family == .rejected ? .result : .answer)
    }
  }
}
