/// Reads requests from a connection in turn, and refuses long ones.
struct HTTPReader {
  /// A request that cannot be served, with its status; nothing more is read.
  struct Fault: Error { let status: Int }

  static let headCap = 65_536
  static let bodyCap = 16 << 20

  private let connection: MockConnection
  private var pending: [UInt8] = []

  init(_ connection: MockConnection) { self.connection = connection }

  /// Reads the next request; `nil` if the client has closed, or was silent for too long.
  mutating func next() throws(Fault) -> HTTPRequest? {
    guard let head = try head() else { return nil }
    let lines = HTTPReader.lines(head)
    let words = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[2].hasPrefix("HTTP/1."), words[1].hasPrefix("/") else {
      throw Fault(status: 400)
    }
    var headers: [(name: String, value: String)] = []
    for line in lines.dropFirst() {
      let sides = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2, !sides[0].isEmpty else { throw Fault(status: 400) }
      headers.append((sides[0].lowercased(), HTTPReader.trimmed(sides[1])))
    }
    let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var request = HTTPRequest(
      method: String(words[0]),
      host: HTTPReader.name(headers.first { $0.name == "host" }?.value ?? ""),
      path: String(target[0]),
      query: target.count > 1 ? HTTPRequest.pairs(String(target[1])) : [], headers: headers)
    request.body = try body(request)
    return request
  }

  /// Reads the bytes before the empty line; `nil` at the end.
  private mutating func head() throws(Fault) -> [UInt8]? {
    var searched = 0
    while true {
      if let end = HTTPReader.end(of: pending, from: searched) {
        let head = Array(pending[..<end])
        pending.removeFirst(end + 4)
        return head
      }
      if pending.count > HTTPReader.headCap { throw Fault(status: 431) }
      searched = max(0, pending.count - 3)
      let more = connection.read(HTTPReader.headCap)
      if more.isEmpty { return nil }
      pending += more
    }
  }

  private mutating func body(_ request: HTTPRequest) throws(Fault) -> [UInt8] {
    if request.header("transfer-encoding") != nil { throw Fault(status: 411) }
    guard let text = request.header("content-length") else { return [] }
    guard let count = Int(text), count >= 0 else { throw Fault(status: 400) }
    if count > HTTPReader.bodyCap { throw Fault(status: 413) }
    if request.header("expect")?.lowercased() == "100-continue", pending.count < count {
      _ = connection.write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    }
    while pending.count < count {
      let more = connection.read(count - pending.count)
      if more.isEmpty { throw Fault(status: 400) }
      pending += more
    }
    let body = Array(pending[..<count])
    pending.removeFirst(count)
    return body
  }

  private static func end(of bytes: [UInt8], from start: Int) -> Int? {
    guard bytes.count >= 4 else { return nil }
    return (start...max(start, bytes.count - 4)).first { at in
      at + 4 <= bytes.count && bytes[at] == 0x0d && bytes[at + 1] == 0x0a
        && bytes[at + 2] == 0x0d && bytes[at + 3] == 0x0a
    }
  }

  private static func lines(_ head: [UInt8]) -> [String] {
    String(decoding: head, as: UTF8.self).split(separator: "\r\n").map(String.init)
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text
    while text.first == " " || text.first == "\t" { text.removeFirst() }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return String(text)
  }

  /// Returns a host without its port: `[::1]:80` and `a:80`.
  static func name(_ host: String) -> String {
    if host.hasPrefix("[") { return String(host.dropFirst().prefix { $0 != "]" }) }
    return String(host.prefix { $0 != ":" }).lowercased()
  }
}
