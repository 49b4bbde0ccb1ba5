import CSystem

/// Writes a response to a connection, with the defects of its fault.
struct AnswerWriter {
  let connection: MockConnection
  let fault: MockFault

  /// Writes the response. Returns whether another request may follow on the connection.
  func write(_ answer: HTTPResponse, to request: HTTPRequest) -> Bool {
    if fault.isRefused {
      connection.reset()
      return false
    }
    if fault.slowMs > 0 { system_sleep(fault.slowMs) }
    let isLast =
      fault.cut != nil || fault.isReset
      || request.header("connection")?.lowercased() == "close"
    let head = head(answer, isLast: isLast)
    if fault.isReset { return reset(head) }
    let hasBody = request.method != "HEAD" && answer.status != 304 && answer.status != 204
    var body = hasBody ? answer.body : []
    if let chunks = fault.chunks, hasBody { body = AnswerWriter.chunked(body, chunks) }
    if let cut = fault.cut { body = Array(body.prefix(cut)) }
    guard deliver(head, body), !isLast else {
      connection.finish()
      return false
    }
    return true
  }

  /// Sends half of the head, then resets the connection.
  private func reset(_ head: [UInt8]) -> Bool {
    _ = connection.write(Array(head.prefix(head.count / 2)))
    system_sleep(20)
    connection.reset()
    return false
  }

  private func deliver(_ head: [UInt8], _ body: [UInt8]) -> Bool {
    if fault.dripHeadMs > 0 { return drip(head + body, everyMs: fault.dripHeadMs) }
    guard fault.dripMs > 0 else { return connection.write(head + body) }
    return connection.write(head) && drip(body, everyMs: fault.dripMs)
  }

  private func drip(_ bytes: [UInt8], everyMs pause: Int) -> Bool {
    for byte in bytes {
      system_sleep(pause)
      guard connection.write([byte]) else { return false }
    }
    return true
  }

  private func head(_ answer: HTTPResponse, isLast: Bool) -> [UInt8] {
    var lines = ["HTTP/1.1 \(answer.status) \(AnswerWriter.reasons[answer.status] ?? "Status")"]
    if let contentType = answer.contentType { lines.append("Content-Type: \(contentType)") }
    for header in answer.headers { lines.append("\(header.name): \(header.value)") }
    if fault.chunks != nil {
      lines.append("Transfer-Encoding: chunked")
    } else if answer.status != 204, answer.status >= 200 {
      lines.append("Content-Length: \(answer.body.count)")
    }
    lines.append(isLast ? "Connection: close" : "Connection: keep-alive")
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  private static func chunked(_ body: [UInt8], _ size: Int) -> [UInt8] {
    var out: [UInt8] = []
    for at in stride(from: 0, to: body.count, by: size) {
      let piece = body[at..<min(body.count, at + size)]
      out += Array((String(piece.count, radix: 16) + "\r\n").utf8) + piece + [0x0d, 0x0a]
    }
    return out + Array("0\r\n\r\n".utf8)
  }

  private static let reasons = [
    100: "Continue", 200: "OK", 202: "Accepted", 204: "No Content", 302: "Found",
    304: "Not Modified", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
    404: "Not Found", 405: "Method Not Allowed", 409: "Conflict", 411: "Length Required",
    413: "Content Too Large", 429: "Too Many Requests",
    431: "Request Header Fields Too Large", 500: "Internal Server Error",
    503: "Service Unavailable",
  ]
}
