/// What the host reports about an answer from Apple.
struct DeviceCheckReading {
  let call: DeviceCheckAnswer.Call
  /// HTTP; 0: no answer came.
  let status: Int64
  let body: [UInt8]
  /// Whether a verdict on an offer was asked for.
  let isForOffer: Bool

  /// An answer that came over the network.
  ///
  /// - Throws: `unavailable.devicecheck.response` for one that was cut (DVC-13).
  init(_ answer: HTTPAnswer, _ task: DeviceCheckTask) throws(Refusal) {
    try require(!answer.isCut, .unavailableDevicecheckResponse, "DVC-13", at: "cut")
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
    // DVC-12.
    if let offer { try require(!isForOffer || call == .query, offer) }
  }
}

extension DeviceCheckReading {
  /// `deviceCheck.read`: judges an answer from Apple's DeviceCheck endpoint that the host
  /// fetched (docs/spec/device-check.md §2.1), and with `offer` says what it means for an offer
  /// that a device gets once (§2.3).
  static func document(_ context: KindContext) -> Document {
    let policy = context.configuration.deviceCheck
    var result = DeviceCheckResult(policy: policy, nowMs: context.nowMs)
    do throws(Refusal) {
      guard let policy else {
        throw Refusal(.configExchangeBlockMissing, "EXC-8", at: "deviceCheck")
      }
      let reading = try DeviceCheckReading(context.request)
      try require(
        !reading.isForOffer || policy.hasPromoBit, .configDevicecheckBits, "DVC-10",
        at: "deviceCheck.bits")
      try result.judge(reading, policy)
      return context.answer.done { result.write(&$0) }
    } catch {
      result.note(error.status)
      return context.answer.refused(error) { result.write(&$0) }
    }
  }
}
