extension Verifier {
  /// `deviceCheck.read`: judges an answer of Apple's DeviceCheck endpoint that the
  /// host fetched (device-check.md §2.1), and with `offer` says what it means for
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
      let token = try deviceToken(request)
      let text = token.base64
      defer {
        Secret.wipe(token.bytes)
        Secret.wipe(text.utf8)
      }
      return answer.done(room: text.count) { $0.member("deviceToken", text) }
    } catch {
      return answer.refused(error)
    }
  }

  private func deviceToken(_ request: ExchangeRequest) throws(Refusal) -> DeviceCheckToken {
    let member = try request.required("deviceToken")
    if let text = member.value.text ?? member["text"]?.value.text {
      defer { Secret.wipe(text.utf8) }
      return try DeviceCheckToken(text: text.utf8)
    }
    return try DeviceCheckToken(body: try ExchangeInput.body(member))
  }

  /// The documents of a request whose result is being made.
  private func answer(
    _ request: ExchangeRequest, _ checks: Checks<ExchangeCheck>
  ) -> ExchangeDocument {
    var checks = checks
    checks.enter(.result)
    return ExchangeDocument(
      kind: request.kind.name, configuration: fingerprint, checks: checks.ledger)
  }
}

/// What the host says of an answer of Apple's.
struct DeviceCheckReading {
  let call: DeviceCheckAnswer.Call
  /// HTTP; 0: none came.
  let status: Int64
  let body: [UInt8]
  /// Whether the verdict on an offer is asked for.
  let isForOffer: Bool

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

/// The value of `exchange.deviceCheck`. That of a query can be handed to
/// `risk.assess` as it stands, as the observation `deviceCheck`.
struct DeviceCheckResult {
  let policy: DeviceCheckPolicy?
  let nowMs: Int64
  private var answer: DeviceCheckAnswer? = nil
  private var fault: DeviceCheckFault? = nil
  private var offer: StaticString? = nil
  /// Whether an answer of Apple's was looked at.
  private var wasJudged = false

  init(policy: DeviceCheckPolicy?, nowMs: Int64) {
    self.policy = policy
    self.nowMs = nowMs
  }

  /// - Throws: what `DeviceCheckAnswer` throws, and `rejected.promo.device-used`
  ///   when the offer was used on the device (DVC §2.3).
  mutating func judge(
    _ reading: DeviceCheckReading, _ policy: DeviceCheckPolicy
  ) throws(Refusal) {
    wasJudged = true
    let answer = try DeviceCheckAnswer(
      reading.call, status: reading.status, body: reading.body)
    self.answer = answer
    guard reading.isForOffer else { return }
    var isUsed = false
    if case .bits(let bits) = answer { isUsed = bits.promoIsSet(policy, nowMs: nowMs) }
    offer = isUsed ? "device-used" : "free"
    try require(!isUsed, .rejectedPromoDeviceUsed, "DVC-12")
  }

  /// DVC-8: whose fault a refused answer is.
  mutating func note(_ status: Status) {
    if wasJudged, answer == nil { fault = DeviceCheckFault(status) }
  }

  /// `"deviceCheck":{"outcome","fault","month","ageMonths","bits":{"bit0","bit1"}|null,
  /// "offer"}`; null where no answer was looked at.
  func write(_ writer: inout JSONWriter) {
    writer.name("deviceCheck")
    guard wasJudged else {
      writer.null()
      return
    }
    var bits: DeviceCheckBits? = nil
    if case .bits(let found) = answer { bits = found }
    writer.beginObject()
    writer.member("outcome", outcome)
    writer.name("fault")
    if let fault { writer.string(fault.name) } else { writer.null() }
    writer.member("month", bits?.month?.text)
    writer.member("ageMonths", integer: bits?.ageMonths(nowMs: nowMs))
    writer.name("bits")
    if let bits {
      let (first, second) = bits.judged(policy, nowMs: nowMs)
      writer.beginObject()
      first.write("bit0", &writer)
      second.write("bit1", &writer)
      writer.endObject()
    } else {
      writer.null()
    }
    writer.name("offer")
    if let offer { writer.string(offer) } else { writer.null() }
    writer.endObject()
  }

  /// An answer that the client is not to blame for is "unavailable".
  private var outcome: StaticString {
    switch answer {
    case .bits: return "bits"
    case .noBits: return "no-bits"
    case .updated: return "updated"
    case .valid: return "valid"
    case nil: return fault == .client ? "token-refused" : "unavailable"
    }
  }
}
