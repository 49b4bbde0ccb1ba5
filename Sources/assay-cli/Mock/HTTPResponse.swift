import AssayAuthority

/// A response before it is written.
struct HTTPResponse: Sendable {
  var status: Int
  var headers: [(name: String, value: String)] = []
  /// The content type; `nil` to omit the header.
  var contentType: String?
  var body: [UInt8] = []

  static func empty(_ status: Int) -> HTTPResponse { HTTPResponse(status: status) }

  static func json(_ json: JSONText, status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, contentType: "application/json", body: json.bytes)
  }

  static func text(_ text: String, status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, contentType: "text/plain", body: Array(text.utf8))
  }

  static func octets(_ body: [UInt8], _ contentType: String) -> HTTPResponse {
    HTTPResponse(status: 200, contentType: contentType, body: body)
  }

  /// Returns a refusal by the App Store Server API: the first three digits of the code are the
  /// status.
  static func store(_ code: Int64, _ message: String) -> HTTPResponse {
    .json(
      ["errorCode": .integer(code), "errorMessage": .string(message)], status: Int(code / 10_000))
  }
}
