import AssayAuthority

/// One answer before it is written.
struct HTTPAnswer: Sendable {
  var status: Int
  var headers: [(name: String, value: String)] = []
  /// nil: the header is left out.
  var contentType: String?
  var body: [UInt8] = []

  static func empty(_ status: Int) -> HTTPAnswer { HTTPAnswer(status: status) }

  static func json(_ json: JSONText, status: Int = 200) -> HTTPAnswer {
    HTTPAnswer(status: status, contentType: "application/json", body: json.bytes)
  }

  static func text(_ text: String, status: Int = 200) -> HTTPAnswer {
    HTTPAnswer(status: status, contentType: "text/plain", body: Array(text.utf8))
  }

  static func octets(_ body: [UInt8], _ contentType: String) -> HTTPAnswer {
    HTTPAnswer(status: 200, contentType: contentType, body: body)
  }

  /// A refusal by the App Store Server API: the first three digits are the status.
  static func store(_ code: Int64, _ message: String) -> HTTPAnswer {
    .json(
      ["errorCode": .integer(code), "errorMessage": .string(message)], status: Int(code / 10_000))
  }
}
