import CSystem

/// One sorted file while it is read.
struct RunFile: ~Copyable {
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var place = 0

  static let bufferBytes = 64 << 10

  init(_ path: String) throws {
    descriptor = unsafe system_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else {
      throw Problem("\(path) is missing from the work folder: begin anew with another --run")
    }
  }

  deinit { close(descriptor) }

  /// Returns the next record; `nil` at the end.
  mutating func next() throws -> [UInt8]? {
    guard try hold(4) else { return nil }
    let count = (0..<4).reduce(0) { $0 | Int(buffer[place + $1]) << (8 * $1) }
    guard try hold(4 + count) else { throw Problem("a file of the work folder is cut off") }
    defer { place += 4 + count }
    return Array(buffer[place + 4..<place + 4 + count])
  }

  /// Reads until so many bytes are in the buffer. Returns whether they are.
  private mutating func hold(_ count: Int) throws -> Bool {
    while buffer.count - place < count {
      var piece = [UInt8](repeating: 0, count: max(RunFile.bufferBytes, count))
      let got = unsafe piece.withUnsafeMutableBytes {
        unsafe system_read(descriptor, $0.baseAddress, $0.count)
      }
      if got < 0, system_error() == EINTR { continue }
      guard got >= 0 else { throw Problem("the work folder cannot be read") }
      if got == 0 { return false }
      buffer.removeFirst(place)
      place = 0
      buffer += piece.prefix(got)
    }
    return true
  }
}
