extension Verifier {
  /// `deviceCheck.read`: judges an answer of Apple's DeviceCheck endpoint that the
  /// host fetched (device-check.md §2.1), and with `offer` says what it means for
  /// an offer that a device gets once (§2.3).
  func readDeviceCheck(_ request: ExchangeRequest, _ checks: Checks, nowMs: Int64) -> Document {
    var checks = checks
    var result = DeviceCheckResult(policy: receipts.configuration.deviceCheck, nowMs: nowMs)
    do throws(Refusal) {
      try checks.make(ExchangeCheck.result.rawValue) {
        () throws(Refusal) in
        let (reading, policy) = try deviceCheckReading(request)
        try result.judge(reading, policy)
      }
      return answer(request, checks).done { result.write(&$0) }
    } catch {
      result.note(error.status)
      return answer(request, checks).refused(error) { result.write(&$0) }
    }
  }

  /// EXC-8, and the form of the request.
  private func deviceCheckReading(
    _ request: ExchangeRequest
  ) throws(Refusal) -> (DeviceCheckReading, DeviceCheckPolicy) {
    guard let policy = receipts.configuration.deviceCheck else {
      throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "deviceCheck")
    }
    let reading = try ExchangeInput.members(.misuseExchangeRequest, "EXC-1") {
      () throws(Refusal) in try DeviceCheckReading(request)
    }
    try require(
      !reading.isForOffer || policy.hasPromoBit, .configDevicecheckBits, "DVC-10",
      at: "deviceCheck.bits")
    return (reading, policy)
  }

  /// `deviceCheck.token`: a device token in the form that Apple takes (DVC-4).
  func formDeviceToken(_ request: ExchangeRequest, _ checks: Checks) -> Document {
    var checks = checks
    do throws(Refusal) {
      let token = try checks.make(ExchangeCheck.result.rawValue) {
        () throws(Refusal) in
        let member = try request.required("deviceToken")
        if let text = member.value.text ?? member["text"]?.value.text {
          defer { Secret.wipe(text.utf8) }
          return try DeviceCheckToken(text: text.utf8)
        }
        let body = try ExchangeInput.members(.misuseExchangeRequest, "EXC-1") {
          () throws(Refusal) in try ExchangeInput.body(member)
        }
        return try DeviceCheckToken(body: body)
      }
      let text = token.base64
      defer {
        Secret.wipe(token.bytes)
        Secret.wipe(text.utf8)
      }
      return answer(request, checks).done(room: text.count) { $0.member("deviceToken", text) }
    } catch {
      return answer(request, checks).refused(error)
    }
  }

  private func answer(_ request: ExchangeRequest, _ checks: Checks) -> ExchangeDocument {
    ExchangeDocument(kind: request.kind.name, configuration: fingerprint, checks: checks)
  }
}
