import CSystem

/// A connection, with TLS or without. Used by one thread.
@safe
final class MockConnection {
  private let descriptor: Int32
  private let tls: MockTLS?
  private let session: UnsafeMutableRawPointer?
  private var isOpen = true

  /// How long the client may be silent, in milliseconds.
  private static let patienceMs = 30_000

  /// Accepts a connection; `nil` if the handshake failed, after which it is closed.
  init?(_ descriptor: Int32, _ tls: MockTLS?) {
    system_limit(descriptor, MockConnection.patienceMs)
    self.descriptor = descriptor
    self.tls = tls
    unsafe session = unsafe tls?.accept(descriptor)
    if tls != nil, unsafe session == nil {
      close(descriptor)
      isOpen = false
      return nil
    }
  }

  deinit { if isOpen { finish() } }

  /// Reads at most `count` bytes; empty at the end or after a fault.
  func read(_ count: Int) -> [UInt8] {
    var piece = [UInt8](repeating: 0, count: max(1, min(count, 65_536)))
    while true {
      let got = unsafe piece.withUnsafeMutableBytes { bytes in
        if let session = unsafe session, let tls {
          return unsafe tls.read(session, bytes)
        }
        return unsafe system_read(descriptor, bytes.baseAddress, bytes.count)
      }
      if got < 0, tls == nil, system_error() == EINTR { continue }
      return got > 0 ? Array(piece.prefix(got)) : []
    }
  }

  /// Writes bytes. Returns whether all of them were accepted.
  func write(_ bytes: [UInt8]) -> Bool {
    guard let session = unsafe session, let tls else {
      return OutputFile.write(bytes, to: descriptor) == 0
    }
    var done = 0
    while done < bytes.count {
      let wrote = unsafe bytes[done...].withUnsafeBytes { unsafe tls.write(session, $0) }
      if wrote <= 0 { return false }
      done += wrote
    }
    return true
  }

  /// Closes the connection in order.
  func finish() {
    guard isOpen else { return }
    isOpen = false
    if let session = unsafe session { unsafe tls?.end(session) }
    system_finish(descriptor)
  }

  /// Closes the connection so that the client sees a reset.
  func reset() {
    guard isOpen else { return }
    isOpen = false
    system_reset(descriptor)
  }
}
