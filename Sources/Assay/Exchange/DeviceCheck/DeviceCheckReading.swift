/// A response of Apple's DeviceCheck server, from an exchange or as the host reports it.
struct DeviceCheckReading {
  let call: DeviceCheckAnswer.Call
  /// The HTTP status; 0 if there was no response.
  let status: Int64
  let body: [UInt8]
  /// Whether the host asks if the device may have an offer.
  let isForOffer: Bool

  /// Takes the response of an exchange.
  ///
  /// - Throws: `unavailable.device-check.response` if the body was truncated (DVC-13).
  init(_ answer: HTTPResponse, _ task: DeviceCheckTask) throws(Refusal) {
    try require(!answer.isTruncated, .unavailableDeviceCheckResponse, "DVC-13", at: "truncated")
    call = task.call
    status = answer.status
    body = answer.body
    isForOffer = task.isForOffer
  }

  init(_ request: ExchangeRequest) throws(Refusal) {
    let place = try request.required("call").choice(DeviceCheckAnswer.Call.names)
    call = DeviceCheckAnswer.Call(rawValue: place) ?? .query
    status = try request.required("status").integer(0...599)
    if let node = request["body"] { body = try ExchangeInput.body(node) } else { body = [] }
    let offer = request["offer"]
    isForOffer = try offer?.boolean() ?? false
    // Only a query returns the bits that an offer depends on (DVC-12).
    if let offer { try require(!isForOffer || call == .query, offer) }
  }
}

extension DeviceCheckReading {
  /// `read-device-check-response`: evaluates a DeviceCheck response that the host fetched
  /// (docs/spec/device-check.md §2.1), and with `offer` whether the device has used an offer that
  /// each device gets once (§2.3).
  static func document(_ context: OperationContext) -> Document {
    let policy = context.configuration.deviceCheck
    var result = DeviceCheckResult(policy: policy, nowMs: context.nowMs)
    do throws(Refusal) {
      guard let policy else {
        throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "deviceCheck")
      }
      let reading = try DeviceCheckReading(context.request)
      try require(
        !reading.isForOffer || policy.hasPromoBit, .configDeviceCheckBits, "DVC-10",
        at: "deviceCheck.bits")
      try result.judge(reading, policy)
      return context.answer.done { result.write(&$0) }
    } catch {
      result.note(error.status)
      return context.answer.refused(error) { result.write(&$0) }
    }
  }
}
