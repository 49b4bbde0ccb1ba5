/// What an app gets from `DCDevice.generateToken`: opaque bytes for a single, prompt
/// use (DVC-4, DVC-6).
struct DeviceCheckToken: Sendable {
  private(set) var bytes: [UInt8]

  static let byteCap = 8192
  /// The longest base64 text for this many bytes.
  private static let textCap = (byteCap + 2) / 3 * 4

  /// From what an app sent as text: standard base64, without line breaks.
  ///
  /// - Throws: `malformed.devicecheck.token` for another text or an empty one,
  ///   `too-large.devicecheck.token` for more than 8,192 bytes.
  init(text: [UInt8]) throws(Refusal) {
    try require(
      text.count <= DeviceCheckToken.textCap, .tooLargeDevicecheckToken, "DVC-4",
      at: "deviceToken")
    guard let bytes = Base64.decodeStandard(text[...]) else {
      throw Refusal(.malformedDevicecheckToken, "DVC-4", at: "deviceToken")
    }
    try self.init(bytes: bytes)
  }

  /// From what an app sent as bytes: the token's own, or their base64 text. (The
  /// genuine bytes of a token are never such a text.)
  init(body: [UInt8]) throws(Refusal) {
    try self.init(bytes: Base64.decodeStandard(body[...]) ?? body)
  }

  private init(bytes: [UInt8]) throws(Refusal) {
    try require(!bytes.isEmpty, .malformedDevicecheckToken, "DVC-4", at: "deviceToken")
    try require(
      bytes.count <= DeviceCheckToken.byteCap, .tooLargeDevicecheckToken, "DVC-4",
      at: "deviceToken")
    self.bytes = bytes
  }

  /// As Apple takes it.
  var base64: Text { Text(Base64.encodeStandard(bytes)) }

  /// EXC-22.
  mutating func wipe() { Secret.wipe(&bytes) }
}
