/// The device token that an app obtains from `DCDevice.generateToken`: opaque bytes for a single,
/// prompt use (DVC-4, DVC-6).
struct DeviceCheckToken: Sendable {
  private(set) var bytes: [UInt8]

  static let byteCap = 8192
  /// The length of the base64 text of `byteCap` bytes.
  private static let textCap = (byteCap + 2) / 3 * 4

  /// Decodes the standard base64 text, without line breaks, that an app sent.
  ///
  /// - Throws: `malformed.device-check.token` for another text or an empty one,
  ///   `too-large.device-check.token` for more than 8,192 bytes.
  init(text: [UInt8]) throws(Refusal) {
    try require(
      text.count <= DeviceCheckToken.textCap, .tooLargeDeviceCheckToken, "DVC-4",
      at: "deviceToken")
    guard let bytes = Base64.decodeStandard(text[...]) else {
      throw Refusal(.malformedDeviceCheckToken, "DVC-4", at: "deviceToken")
    }
    try self.init(bytes: bytes)
  }

  /// Reads a request body that is either the token's bytes or their base64 text. The bytes of a
  /// genuine token are never such a text.
  init(body: [UInt8]) throws(Refusal) {
    try self.init(bytes: Base64.decodeStandard(body[...]) ?? body)
  }

  private init(bytes: [UInt8]) throws(Refusal) {
    try require(!bytes.isEmpty, .malformedDeviceCheckToken, "DVC-4", at: "deviceToken")
    try require(
      bytes.count <= DeviceCheckToken.byteCap, .tooLargeDeviceCheckToken, "DVC-4",
      at: "deviceToken")
    self.bytes = bytes
  }

  /// The token in the form that Apple's endpoint takes.
  var base64: Text { Text(Base64.encodeStandard(bytes)) }

  /// Overwrites the token's bytes, which are secret (EXC-22).
  mutating func wipe() { Secret.wipe(&bytes) }
}
