/// The parameters of a DeviceCheck exchange (docs/spec/device-check.md §2).
struct DeviceCheckTask: Sendable {
  let call: DeviceCheckAnswer.Call
  let policy: DeviceCheckPolicy
  /// Whether the host asks if the device may have an offer (§2.3).
  let isForOffer: Bool
  /// The device token as Apple accepts it: standard base64.
  private let deviceToken: SecretBytes
  private let transactionId: Text
  /// The new values of the bits; `nil` leaves a bit unchanged (DVC-5).
  private let bit0: Bool?
  private let bit1: Bool?

  private static let idLength = 1...64

  /// - Throws: `config.exchange.block-missing`, `config.device-check.bits`,
  ///   `misuse.device-check.bits`, `misuse.device-check.transaction-id`,
  ///   `misuse.exchange.request`, and what is wrong with the device token.
  init(
    _ request: ExchangeRequest, _ call: DeviceCheckAnswer.Call, _ policy: DeviceCheckPolicy?
  ) throws(Refusal) {
    guard let policy, policy.privateKey != nil else {
      throw Refusal(
        .configExchangeBlockMissing, "EXC-8",
        at: policy == nil ? "deviceCheck" : "deviceCheck.privateKey")
    }
    self.call = call
    self.policy = policy
    var token = try DeviceCheckToken(request)
    defer { token.wipe() }
    deviceToken = SecretBytes(token.base64.utf8)
    transactionId = try DeviceCheckTask.transactionId(request)
    bit0 = try request["bit0"]?.boolean()
    bit1 = try request["bit1"]?.boolean()
    try require(
      call != .update || bit0 != nil || bit1 != nil, .misuseDeviceCheckBits, "DVC-5", at: "bit0")
    isForOffer = try request["offer"]?.boolean() ?? false
    try require(
      !isForOffer || policy.hasPromoBit, .configDeviceCheckBits, "DVC-15", at: "deviceCheck.bits")
  }

  /// Returns the transaction id, of 1 to 64 characters (DVC-4).
  private static func transactionId(_ request: ExchangeRequest) throws(Refusal) -> Text {
    let text = request["transactionId"]?.value.text
    guard let text, idLength.contains(text.characterCount) else {
      throw Refusal(.misuseDeviceCheckTransactionId, "DVC-4", at: "transactionId")
    }
    return text
  }

  /// Returns the HTTP request, with a timestamp and a token made for this step (DVC-13).
  ///
  /// - Parameter nowMs: the time of this step in milliseconds since 1970 UTC.
  /// - Throws: `internal.sign.self-check`.
  func request(nowMs: Int64) throws(Refusal) -> HTTPRequest {
    let bearer = try DeviceCheckBearer(policy, nowMs: nowMs)
    // The space is reserved, because a buffer that grows leaves copies of a secret behind.
    var writer = JSONWriter(capacity: deviceToken.bytes.count &+ 1024)
    writer.beginObject()
    writer.name("device_token")
    writer.string(utf8: deviceToken.bytes)
    writer.member("transaction_id", transactionId)
    writer.member("timestamp", integer: nowMs)
    if let bit0 { writer.member("bit0", boolean: bit0) }
    if let bit1 { writer.member("bit1", boolean: bit1) }
    writer.endObject()
    return HTTPRequest(
      method: "POST", url: url,
      authorization: HTTPRequest.bearer(bearer.token),
      headers: [("Content-Type", "application/json")], body: SecretBytes(writer.bytes),
      timeoutMs: 10_000, maxResponseBytes: Int64(DeviceCheckAnswer.bodyCap), responseHeaders: [],
      sensitivePaths: ["headers.authorization", "body.device_token"])
  }

  /// The URL of the configured environment; the other environment is never tried (DVC-9).
  private var url: Text {
    switch (call, policy.isDevelopment) {
    case (.query, false): return "https://api.devicecheck.apple.com/v1/query_two_bits"
    case (.update, false): return "https://api.devicecheck.apple.com/v1/update_two_bits"
    case (.validate, false): return "https://api.devicecheck.apple.com/v1/validate_device_token"
    case (.query, true):
      return "https://api.development.devicecheck.apple.com/v1/query_two_bits"
    case (.update, true):
      return "https://api.development.devicecheck.apple.com/v1/update_two_bits"
    case (.validate, true):
      return "https://api.development.devicecheck.apple.com/v1/validate_device_token"
    }
  }
}
