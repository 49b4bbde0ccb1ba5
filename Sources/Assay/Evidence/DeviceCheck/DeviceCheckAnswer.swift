/// The meaning of a response of Apple's DeviceCheck endpoint (docs/spec/device-check.md §2.1).
/// The body counts beside the HTTP status, because one state is plain text under status 200, and
/// Apple's actual wording differs from the documented one.
enum DeviceCheckAnswer: Sendable, Equatable {
  /// The endpoint's path that was called.
  enum Call: Int, Sendable {
    case query, update, validate

    static let names: [StaticString] = ["query", "update", "validate"]
  }

  case bits(DeviceCheckBits)
  /// No bits are stored: a genuine device that this developer team has never written.
  case noBits
  case updated
  case valid

  /// The longest body that is read, in bytes; Apple's bodies are short.
  static let bodyCap = 4096

  /// Interprets one response (DVC-7 … DVC-9).
  ///
  /// - Parameters:
  ///   - status: the HTTP status; 0 if no response arrived.
  ///   - body: the body as received.
  /// - Throws: `rejected.device-check.*` when Apple refuses the token or our request,
  ///   `unavailable.device-check.*` when the response has no known meaning. Such a response is
  ///   never taken for clear bits, nor for set ones.
  init(_ call: Call, status: Int64, body: [UInt8]) throws(Refusal) {
    let text = ASCII.trimmed(body.count > Self.bodyCap ? [] : body[...])
    switch status {
    case 200:
      try require(
        body.count <= Self.bodyCap, .unavailableDeviceCheckResponse, "DVC-7", at: "body")
      guard let answer = Self.success(call, text) else {
        throw Refusal(.unavailableDeviceCheckResponse, "DVC-8", at: "body")
      }
      self = answer
    case 400 where call == .query && Self.saysNoBits(text): self = .noBits
    case 400, 401:
      for row in Self.refusals where row.status == status && Self.begins(text, row.text) {
        throw Refusal(row.refusal, "DVC-7", at: "body")
      }
      throw Refusal(.unavailableDeviceCheckResponse, "DVC-7", at: "body")
    case 403, 405: throw Refusal(.rejectedDeviceCheckRequest, "DVC-7", at: "status")
    case 0, 429, 500...599: throw Refusal(.unavailableDeviceCheckNoResponse, "DVC-7", at: "status")
    default: throw Refusal(.unavailableDeviceCheckResponse, "DVC-7", at: "status")
    }
  }

  // MARK: bodies

  /// Returns the success that `text` reports; `nil` if the call has no such success.
  private static func success(_ call: Call, _ text: ArraySlice<UInt8>) -> DeviceCheckAnswer? {
    guard call == .query else {
      guard text.isEmpty else { return nil }
      return call == .update ? .updated : .valid
    }
    return saysNoBits(text) ? .noBits : bits(text).map { .bits($0) }
  }

  private static func bits(_ text: ArraySlice<UInt8>) -> DeviceCheckBits? {
    guard let root = try? JSONReader.readObject(Array(text)).root,
      let bit0 = root.member("bit0")?.boolean, let bit1 = root.member("bit1")?.boolean
    else { return nil }
    guard let written = root.present("last_update_time") else {
      return DeviceCheckBits(bit0: bit0, bit1: bit1, month: nil)
    }
    guard let name = written.text, let month = CalendarMonth(name) else { return nil }
    return DeviceCheckBits(bit0: bit0, bit1: bit1, month: month)
  }

  /// Whether the text has Apple's actual wording for missing bits, or the documented one.
  private static func saysNoBits(_ text: ArraySlice<UInt8>) -> Bool {
    begins(text, "failed to find bit state") || begins(text, "bit state not found")
  }

  /// Whether the text begins with the words, ignoring case.
  private static func begins(_ text: ArraySlice<UInt8>, _ words: StaticString) -> Bool {
    Text(Array(text.prefix(words.utf8CodeUnitCount))).asciiLowercased.utf8[...]
      .elementsEqual(words)
  }

  // MARK: refusals

  private struct Row: Sendable {
    let status: Int64
    let text: StaticString
    let refusal: Status
  }

  private static let refusals: [Row] = [
    Row(
      status: 400, text: "missing or incorrectly formatted device token payload",
      refusal: .rejectedDeviceCheckToken),
    Row(status: 400, text: "bad device token", refusal: .rejectedDeviceCheckToken),
    Row(
      status: 400, text: "missing or incorrectly formatted bits",
      refusal: .rejectedDeviceCheckBits),
    Row(status: 400, text: "bad bits", refusal: .rejectedDeviceCheckBits),
    Row(
      status: 400, text: "missing or incorrectly formatted time stamp",
      refusal: .rejectedDeviceCheckTimestamp),
    Row(status: 400, text: "bad timestamp", refusal: .rejectedDeviceCheckTimestamp),
    Row(
      status: 400, text: "missing or badly formatted authorization token",
      refusal: .rejectedDeviceCheckUnauthorized),
    Row(
      status: 400, text: "bad authorization token", refusal: .rejectedDeviceCheckUnauthorized),
    Row(status: 400, text: "bad payload", refusal: .rejectedDeviceCheckPayload),
    Row(
      status: 401, text: "unable to verify authorization token",
      refusal: .rejectedDeviceCheckUnauthorized),
    Row(
      status: 401, text: "invalid authorization token",
      refusal: .rejectedDeviceCheckUnauthorized),
    Row(
      status: 401, text: "authorization token expired",
      refusal: .rejectedDeviceCheckUnauthorized),
  ]
}
