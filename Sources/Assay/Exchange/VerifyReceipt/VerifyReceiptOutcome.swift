/// The meaning of one response of an endpoint, independent of earlier ones.
enum VerifyReceiptOutcome {
  case answer(ReceiptResponse)
  /// 21007 or 21008: the receipt is of the other environment. The refusal is `nil` if the
  /// configuration accepts that environment.
  case otherEnvironment(Refusal?, code: Int64)
  /// 21002: the receipt is damaged, or Apple has a temporary fault (VRR-7).
  case doubtful(Refusal)
  /// The response is unusable; another attempt may succeed (VRR-4).
  case unusable(Refusal, notBeforeMs: Int64, ExchangeWait.Reason)
  case refused(Refusal, ExchangeCheck)

  /// Evaluates a response. The body is read only of a 200 (VRR-4).
  ///
  /// - Returns: the outcome, and Apple's own status if the body has one.
  static func of(
    _ answer: HTTPResponse, from endpoint: VerifyReceiptTask.Endpoint, _ trust: ReceiptTrust,
    nowMs: Int64
  ) -> (outcome: VerifyReceiptOutcome, appleStatus: Int64?) {
    guard answer.status == 200 else { return (ofHTTP(answer, nowMs: nowMs), nil) }
    guard !answer.isTruncated else {
      return (
        .refused(Refusal(.tooLargeVerifyReceiptBody, "VRR-20", at: "truncated"), .answer), nil
      )
    }
    var reading = ReceiptResponseReading(trust, endpoint: endpoint.environment, nowMs: nowMs)
    do {
      return (.answer(try reading.run(answer.body)), reading.appleStatus)
    } catch {
      return (of(error, reading.appleStatus, nowMs: nowMs), reading.appleStatus)
    }
  }

  private static func ofHTTP(_ answer: HTTPResponse, nowMs: Int64) -> VerifyReceiptOutcome {
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
      Refusal(.unavailableVerifyReceiptNoResponse, "VRR-4", at: "status", detail: detail),
      notBeforeMs: notBeforeMs, status == 429 ? .rateLimited : .retry)
  }

  /// Returns the outcome for a refusal of the response's body.
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
    case .unavailableVerifyReceiptNoResponse, .unavailableVerifyReceiptInternal:
      return .unusable(refusal, notBeforeMs: nowMs, .retry)
    default:
      return .refused(refusal, refusal.status.family == .rejected ? .result : .answer)
    }
  }
}
