extension Verifier {
  /// `deviceCheck.read`: judges an answer from Apple's DeviceCheck endpoint that the
  /// host fetched (docs/spec/device-check.md §2.1), and with `offer` says what it means for
  /// an offer that a device gets once (§2.3).
  func readDeviceCheck(
    _ request: ExchangeRequest, _ checks: Checks<ExchangeCheck>, nowMs: Int64
  ) -> Document {
    let answer = answer(request, checks)
    var result = DeviceCheckResult(policy: receipts.configuration.deviceCheck, nowMs: nowMs)
    do throws(Refusal) {
      let (reading, policy) = try deviceCheckReading(request)
      try result.judge(reading, policy)
      return answer.done { result.write(&$0) }
    } catch {
      result.note(error.status)
      return answer.refused(error) { result.write(&$0) }
    }
  }

  /// EXC-8, and the form of the request.
  private func deviceCheckReading(
    _ request: ExchangeRequest
  ) throws(Refusal) -> (DeviceCheckReading, DeviceCheckPolicy) {
    guard let policy = receipts.configuration.deviceCheck else {
      throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "deviceCheck")
    }
    let reading = try DeviceCheckReading(request)
    try require(
      !reading.isForOffer || policy.hasPromoBit, .configDevicecheckBits, "DVC-10",
      at: "deviceCheck.bits")
    return (reading, policy)
  }

  /// `deviceCheck.token`: a device token in the form that Apple takes (DVC-4).
  func formDeviceToken(_ request: ExchangeRequest, _ checks: Checks<ExchangeCheck>) -> Document {
    let answer = answer(request, checks)
    do throws(Refusal) {
      var token = try DeviceCheckToken(request)
      var text = token.base64.utf8
      defer {
        token.wipe()
        Secret.wipe(&text)
      }
      return answer.done(room: text.count) {
        $0.name("deviceToken")
        $0.string(utf8: text)
      }
    } catch {
      return answer.refused(error)
    }
  }

  /// The documents of a request whose result is being made.
  func answer(
    _ request: ExchangeRequest, _ checks: Checks<ExchangeCheck>
  ) -> ExchangeDocument {
    var checks = checks
    checks.enter(.result)
    return ExchangeDocument(
      kind: request.kind.name, configuration: fingerprint, checks: checks.ledger)
  }
}
