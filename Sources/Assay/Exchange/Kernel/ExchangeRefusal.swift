struct ExchangeRefusal {
  let refusal: Refusal
  /// `.answer` if no usable response arrived, `.result` if the response was a refusal.
  let check: ExchangeCheck
  /// The earliest time of another attempt, in milliseconds since 1970 UTC; `nil` if the
  /// operation's own back-off applies (`ExchangeStateMachine.repeatsAt`).
  var notBeforeMs: Int64? = nil
  var reason = ExchangeWait.Reason.retry

  init(_ refusal: Refusal, _ check: ExchangeCheck, notBeforeMs: Int64? = nil) {
    self.refusal = refusal
    self.check = check
    self.notBeforeMs = notBeforeMs
  }

  /// Ends an exchange whose deadline comes before the end of `wait`.
  init(_ wait: ExchangeWait) {
    self.init(wait.otherwise, .answer, notBeforeMs: wait.notBeforeMs)
    reason = wait.reason
  }
}
