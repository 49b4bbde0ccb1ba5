/// The value of `exchange.deviceCheck`. That of a query can be handed unchanged to
/// `risk.assess`, as the observation `deviceCheck`.
struct DeviceCheckResult {
  let policy: DeviceCheckPolicy?
  let nowMs: Int64
  private var answer: DeviceCheckAnswer? = nil
  private var fault: DeviceCheckFault? = nil
  private var offer: StaticString? = nil
  /// Whether an answer from Apple was read.
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

  /// The same for an answer to a conversation.
  mutating func judge(_ answer: HTTPAnswer, _ task: DeviceCheckTask) throws(Refusal) {
    wasJudged = true
    try judge(try DeviceCheckReading(answer, task), task.policy)
  }

  /// DVC-8: whose fault a refused answer is.
  mutating func note(_ status: Status) {
    if wasJudged, answer == nil { fault = DeviceCheckFault(status) }
  }

  /// `"deviceCheck":{"outcome","fault","month","ageMonths","bits":{"bit0","bit1"}|null,
  /// "offer"}`; null if no answer was read.
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
