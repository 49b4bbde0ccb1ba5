/// The meaning of one response of Apple's App Attest server, independent of earlier ones (the
/// table under RFR-1).
enum AttestRefreshOutcome {
  case receipt(AttestReceipt)
  /// 304: the time in field 19, before which Apple makes no new receipt, has not come.
  case tooEarly(Refusal)
  /// 401: Apple refused the request's token.
  case unauthorized(Refusal)
  /// 404: Apple no longer has data about the key.
  case noData(Refusal)
  /// A transient failure. `pauseMs` is the pause that Apple asks for; 0 if it names none.
  case unusable(Refusal, pauseMs: Int64, ExchangeWait.Reason)
  case refused(Refusal, ExchangeCheck)

  static func of(
    _ answer: HTTPResponse, _ task: AttestRefreshTask, nowMs: Int64
  ) -> AttestRefreshOutcome {
    do throws(Refusal) {
      try require(
        !answer.isTruncated && answer.body.count <= AttestRefreshTask.bodyCap,
        .unavailableAttestRefreshResponse, "RFR-5", at: "body")
      switch answer.status {
      case 200:
        return .receipt(
          try AttestReceiptVerification.verifyRefreshed(
            answer.body, of: task.receipt, task.trust, nowMs: nowMs))
      case 304: return .tooEarly(refusal(.unavailableAttestRefreshTooEarly, answer))
      case 400:
        throw refusal(
          namesEnvironment(answer.body)
            ? .rejectedAttestRefreshEnvironment : .rejectedAttestRefreshPayload, answer)
      case 401: return .unauthorized(refusal(.rejectedAttestRefreshUnauthorized, answer))
      case 404: return .noData(refusal(.rejectedAttestRefreshNoData, answer))
      case 0, 429, 500, 503: return unusable(answer)
      default: throw refusal(.unavailableAttestRefreshResponse, answer)
      }
    } catch {
      return .refused(error, error.status.family == .unavailable ? .answer : .result)
    }
  }

  private static func refusal(_ status: Status, _ answer: HTTPResponse) -> Refusal {
    Refusal(
      status, "RFR-1", at: "status",
      detail: answer.status == 0 ? "" : "HTTP status " + String(answer.status))
  }

  private static func unusable(_ answer: HTTPResponse) -> AttestRefreshOutcome {
    .unusable(
      refusal(.unavailableAttestRefreshNoResponse, answer),
      pauseMs: answer.header("retry-after").map(RetryAfter.milliseconds) ?? 0,
      answer.status == 429 ? .rateLimited : .retry)
  }

  /// Whether the body begins with "Incorrect Environment", in upper or lower case.
  private static func namesEnvironment(_ body: [UInt8]) -> Bool {
    let words: StaticString = "incorrect environment"
    let text = Text(Array(ASCII.trimmed(body[...]).prefix(words.utf8CodeUnitCount)))
    return text.asciiLowercased.utf8[...].elementsEqual(words)
  }
}
