import Glibc

/// Writes lines to a file or to standard output, a piece at a time.
struct LineSink: ~Copyable {
  private let name: String
  private let descriptor: Int32
  private var pending: [UInt8] = []
  private static let pieceBytes = 1 << 20

  /// - Parameter path: nil or "-" for standard output.
  init(_ path: String?) throws {
    guard let path, path != "-" else {
      name = "standard output"
      descriptor = 1
      return
    }
    name = path
    descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    if descriptor < 0 { throw Problem("\(path) cannot be written") }
  }

  deinit {
    if descriptor > 1 { close(descriptor) }
  }

  mutating func write(_ line: [UInt8]) throws {
    pending += line
    if pending.count >= LineSink.pieceBytes { try flush() }
  }

  /// Writes what is left.
  mutating func end() throws { try flush() }

  private mutating func flush() throws {
    var done = 0
    while done < pending.count {
      let start = done
      let wrote = unsafe pending.withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress?.advanced(by: start), $0.count - start)
      }
      if wrote < 0, errno == EINTR { continue }
      if wrote <= 0 { throw Problem("\(name) cannot be written") }
      done += wrote
    }
    pending.removeAll(keepingCapacity: true)
  }
}
