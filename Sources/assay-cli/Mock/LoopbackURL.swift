import CSystem

/// A URL of this machine without TLS: `http://127.0.0.1:8080/path`.
struct LoopbackURL: Sendable {
  let address: String
  let port: UInt16
  /// The path with the query.
  let target: String

  init(_ text: String) throws {
    let wrong = Problem("\(Terminal.safe(text)): give http://127.0.0.1:PORT/PATH")
    guard text.hasPrefix("http://"), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw wrong
    }
    let rest = text.dropFirst("http://".count)
    let place = String(rest.prefix { $0 != "/" && $0 != "?" })
    guard let (address, port) = LoopbackURL.split(place) else { throw wrong }
    self.address = address
    self.port = port
    let target = String(rest.dropFirst(place.count))
    self.target = target.hasPrefix("/") ? target : "/" + target
  }

  /// Splits `127.0.0.1:80`, `[::1]:80` or `localhost:80`; `nil` for an address of another machine.
  static func split(_ text: String) -> (address: String, port: UInt16)? {
    guard let colon = text.lastIndex(of: ":"),
      let port = UInt16(text[text.index(after: colon)...])
    else { return nil }
    var address = String(text[..<colon])
    if address.hasPrefix("["), address.hasSuffix("]") {
      address = String(address.dropFirst().dropLast())
    }
    if address == "localhost" { address = "127.0.0.1" }
    guard unsafe system_is_loopback(address) == 1 else { return nil }
    return (address, port)
  }

  /// Posts JSON, and returns the status of the response, or 0 if none came.
  func post(_ body: [UInt8]) -> Int {
    let descriptor = unsafe system_connect(address, port, 5000)
    guard descriptor >= 0, let connection = MockConnection(descriptor, nil) else { return 0 }
    defer { connection.finish() }
    let head =
      "POST \(target) HTTP/1.1\r\nHost: \(address):\(port)\r\nContent-Type: application/json\r\n"
      + "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
    guard connection.write(Array(head.utf8) + body) else { return 0 }
    var answer: [UInt8] = []
    while answer.count < 12 {
      let more = connection.read(4096)
      if more.isEmpty { break }
      answer += more
    }
    let words = String(decoding: answer.prefix(12), as: UTF8.self).split(separator: " ")
    guard words.count == 2, words[0].hasPrefix("HTTP/1.") else { return 0 }
    return Int(words[1]) ?? 0
  }
}
