struct ExchangeRefusal {
  let refusal: Refusal
  /// `.answer`: nothing usable came; `.result`: what came says no.
  let check: ExchangeCheck
  /// nil: the kind's own back-off (`Conversing.repeatsAt`).
  var notBeforeMs: Int64? = nil
  var reason = ExchangeWait.Reason.retry

  init(_ refusal: Refusal, _ check: ExchangeCheck, notBeforeMs: Int64? = nil) {
    self.refusal = refusal
    self.check = check
    self.notBeforeMs = notBeforeMs
  }

  /// The end of a conversation that cannot wait that long.
  init(_ wait: ExchangeWait) {
    self.init(wait.otherwise, .answer, notBeforeMs: wait.notBeforeMs)
    reason = wait.reason
  }
}
