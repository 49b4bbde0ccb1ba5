/// The value of `exchange.deviceCheck`. The host can pass that of a query unchanged to
/// `assess-risk`, as the observation `deviceCheck`.
struct DeviceCheckResult {
  let policy: DeviceCheckPolicy?
  let nowMs: Int64
  private var answer: DeviceCheckAnswer? = nil
  private var fault: DeviceCheckFault? = nil
  private var offer: StaticString? = nil
  /// Whether a response of Apple was evaluated.
  private var wasJudged = false

  init(policy: DeviceCheckPolicy?, nowMs: Int64) {
    self.policy = policy
    self.nowMs = nowMs
  }

  /// Evaluates a response.
  ///
  /// - Throws: what `DeviceCheckAnswer` throws, and `rejected.promo.device-used` if the offer was
  ///   used on the device (DVC §2.3).
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

  /// Evaluates a response of an exchange.
  mutating func judge(_ answer: HTTPResponse, _ task: DeviceCheckTask) throws(Refusal) {
    wasJudged = true
    try judge(try DeviceCheckReading(answer, task), task.policy)
  }

  /// Stores the party at fault for a refused response (DVC-8).
  mutating func note(_ status: Status) {
    if wasJudged, answer == nil { fault = DeviceCheckFault(status) }
  }

  /// Writes `"deviceCheck":{"outcome","fault","month","ageMonths","bits":{"bit0","bit1"}|null,
  /// "offer"}`; null if no response was evaluated.
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

  /// A failed response counts as `unavailable` unless the client's token caused it.
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
