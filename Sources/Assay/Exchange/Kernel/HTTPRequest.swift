/// An HTTP request for the host's client to send (EXC-6).
struct HTTPRequest {
  let method: StaticString
  let url: Text
  /// The value of the header Authorization, which is written first; `nil` if there is none.
  var authorization: SecretBytes? = nil
  let headers: [(name: StaticString, value: Text)]
  /// JSON or a form; `nil` if the request has no body.
  let body: SecretBytes?
  /// Whether the step contains the body as base64.
  var isBinary = false
  let timeoutMs: Int64
  let maxResponseBytes: Int64
  /// The response headers that the exchange reads, in lower case.
  let responseHeaders: [StaticString]
  /// The paths of the step's members that must not be logged (EXC-22).
  let sensitivePaths: [StaticString]

  /// Returns `Bearer` and the token, in one array that does not grow: growing leaves copies
  /// behind.
  static func bearer(_ token: SecretBytes) -> SecretBytes {
    var text: [UInt8] = []
    text.reserveCapacity(token.bytes.count &+ 7)
    text.append(contentsOf: "Bearer ".utf8)
    text.append(contentsOf: token.bytes)
    return SecretBytes(text)
  }

  /// The number of bytes that the secrets take at most when they are written as JSON.
  var room: Int { (body?.bytes.count ?? 0) &* 2 &+ (authorization?.bytes.count ?? 0) }

  /// Writes the value of the step's member `request`.
  func write(id: Int64, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("id", integer: id)
    writer.member("method", method)
    writer.member("url", url)
    writer.name("headers")
    writer.beginArray()
    if let authorization {
      writer.beginArray()
      writer.string("Authorization")
      writer.string(utf8: authorization.bytes)
      writer.endArray()
    }
    for header in headers {
      writer.beginArray()
      writer.string(header.name)
      writer.string(header.value)
      writer.endArray()
    }
    writer.endArray()
    writeBody(&writer)
    writer.member("timeoutMs", integer: timeoutMs)
    writer.member("maxResponseBytes", integer: maxResponseBytes)
    HTTPRequest.write("responseHeaders", responseHeaders, &writer)
    HTTPRequest.write("sensitivePaths", sensitivePaths, &writer)
    writer.endObject()
  }

  private func writeBody(_ writer: inout JSONWriter) {
    writer.name("body")
    guard let body else {
      writer.null()
      return
    }
    writer.beginObject()
    if isBinary {
      writer.member("base64", Text(Base64.encodeStandard(body.bytes)))
    } else {
      writer.name("text")
      writer.string(utf8: body.bytes)
    }
    writer.endObject()
  }

  private static func write(
    _ name: StaticString, _ list: [StaticString], _ writer: inout JSONWriter
  ) {
    writer.name(name)
    writer.beginArray()
    for entry in list { writer.string(entry) }
    writer.endArray()
  }
}
