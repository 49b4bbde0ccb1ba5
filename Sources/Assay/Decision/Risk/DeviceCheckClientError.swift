/// The error codes of Apple's client framework, domain `com.apple.devicecheck.error`
/// (docs/spec/device-check.md §3). A client can send any code: a code may select the text of a
/// reply, but never raises trust.
enum DeviceCheckClientError: Int64, Sendable, CaseIterable {
  case unknownSystemFailure = 0
  case featureUnsupported = 1
  case invalidInput = 2
  case invalidKey = 3
  case serverUnavailable = 4

  /// Writes `{"code","name","app","action","text"}`: the app's next step, the server's
  /// interpretation, and a text for the user.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("code", integer: rawValue)
    switch self {
    case .unknownSystemFailure:
      writer.member("name", "unknownSystemFailure")
      writer.member("app", "make a new key, once; then report the error")
      writer.member(
        "action", "let it try again later; repeated on one device, treat it as unsupported")
      writer.member("text", "This device could not be checked. Please try again later.")
    case .featureUnsupported:
      writer.member("name", "featureUnsupported")
      writer.member("app", "report that App Attest is unsupported here")
      writer.member("action", "treat the request as unattested, by these rules")
      writer.member(
        "text", "This device cannot be checked, so that some functions are limited.")
    case .invalidInput:
      writer.member("name", "invalidInput")
      writer.member(
        "app", "correct the call: a hash of 32 bytes, a key attested once; then a new key")
      writer.member("action", "a programming error of the app, no sign of fraud: report it")
      writer.member("text", "Something went wrong in the app. Please update it and try again.")
    case .invalidKey:
      writer.member("name", "invalidKey")
      writer.member("app", "forget the key, make and attest a new one")
      writer.member("action", "expected after a reinstall or a restore: accept a new key")
      writer.member("text", "This device has to be checked again. Please try again.")
    case .serverUnavailable:
      writer.member("name", "serverUnavailable")
      writer.member("app", "keep the key and try again, waiting longer each time")
      writer.member("action", "transient: a short grace for accounts with a history")
      writer.member(
        "text", "The check of this device is not available just now. Please try again later.")
    }
    writer.endObject()
  }
}
