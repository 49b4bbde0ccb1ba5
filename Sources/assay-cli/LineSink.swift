/// Writes lines to a file or to standard output, a piece at a time.
struct LineSink: ~Copyable {
  /// nil: standard output.
  private var file: OutputFile?
  private var pending: [UInt8] = []
  private static let pieceBytes = 1 << 20

  /// - Parameter path: nil or "-" for standard output.
  init(_ path: String?) throws {
    if let path, path != "-" { file = try OutputFile(path) } else { file = nil }
  }

  mutating func write(_ line: [UInt8]) throws {
    pending += line
    if pending.count >= LineSink.pieceBytes { try flush() }
  }

  /// Writes what is left; a file has its name then.
  mutating func end() throws {
    try flush()
    try file?.end()
  }

  private mutating func flush() throws {
    if file == nil { Terminal.write(pending) } else { try file?.write(pending) }
    pending.removeAll(keepingCapacity: true)
  }
}
