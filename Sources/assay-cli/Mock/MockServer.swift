import CSystem

/// Listens on loopback, with one thread a connection, until it is stopped.
struct MockServer: Sendable {
  let player: any HTTPService

  /// A port on which the server listens.
  struct Port: Sendable {
    let descriptor: Int32
    let tls: MockTLS?
    var number: Int { Int(system_port(descriptor)) }
  }

  /// Listens on an address of this machine; port 0 selects a free one.
  static func listen(_ address: String, _ port: UInt16, _ tls: MockTLS?) throws -> Port {
    let descriptor = unsafe system_listen(address, port)
    guard descriptor >= 0 else {
      let reason = unsafe String(cString: strerror(system_error()))
      throw Problem("\(address):\(port) cannot be listened on: \(reason)")
    }
    return Port(descriptor: descriptor, tls: tls)
  }

  /// Serves until SIGINT, SIGTERM, or the end of the pipe or socket that standard input is (PLY-1).
  ///
  /// - Parameter signals: the descriptor that `system_end_signals` returned.
  func run(_ ports: [Port], signals: Int32) throws {
    // poll(2) passes a negative descriptor by.
    let input: Int32 = system_input_is_held() != 0 ? 0 : -1
    let all = [signals, input] + ports.map(\.descriptor)
    while true {
      let ready = unsafe all.withUnsafeBufferPointer {
        unsafe system_wait($0.baseAddress, Int32($0.count))
      }
      if ready < 0 { throw Problem("waiting for connections failed") }
      if ready & 1 != 0 { return }
      if ready & 2 != 0, isInputOver() { return }
      for (place, port) in ports.enumerated() where ready & (4 << Int32(place)) != 0 {
        accept(port)
      }
    }
  }

  private func isInputOver() -> Bool {
    var piece = [UInt8](repeating: 0, count: 4096)
    let count = unsafe piece.withUnsafeMutableBytes {
      unsafe system_read(0, $0.baseAddress, $0.count)
    }
    return count == 0 || (count < 0 && system_error() != EINTR && system_error() != EAGAIN)
  }

  private func accept(_ port: Port) {
    let descriptor = system_accept(port.descriptor)
    guard descriptor >= 0 else { return }
    let player = player
    let isStarted = Threads.start {
      guard let connection = MockConnection(descriptor, port.tls) else { return }
      MockServer.serve(connection, player)
    }
    if !isStarted { close(descriptor) }
  }

  /// Serves requests in turn, until the client closes or a fault ends the connection.
  private static func serve(_ connection: MockConnection, _ player: any HTTPService) {
    var reader = HTTPReader(connection)
    do {
      while let request = try reader.next() {
        let (answer, fault) = player.answer(request)
        let writer = AnswerWriter(connection: connection, fault: fault)
        if !writer.write(answer, to: request) { return }
        if request.header("connection")?.lowercased() == "close" { break }
      }
    } catch {
      let head = "HTTP/1.1 \(error.status) Refused\r\nContent-Length: 0\r\n"
      _ = connection.write(Array((head + "Connection: close\r\n\r\n").utf8))
    }
    connection.finish()
  }
}
