/// Writes lines to a file or to standard output, in chunks.
struct LineSink: ~Copyable {
  /// The file; `nil` for standard output.
  private var file: OutputFile?
  private var pending: [UInt8] = []
  private static let pieceBytes = 1 << 20

  /// Opens the output.
  ///
  /// - Parameter path: the path; `nil` or "-" for standard output.
  init(_ path: String?) throws {
    if let path, path != "-" { file = try OutputFile(path) } else { file = nil }
  }

  mutating func write(_ line: [UInt8]) throws {
    pending += line
    if pending.count >= LineSink.pieceBytes { try flush() }
  }

  /// Writes what is left, and gives a file its name.
  mutating func end() throws {
    try flush()
    try file?.end()
  }

  private mutating func flush() throws {
    if file == nil { Terminal.write(pending) } else { try file?.write(pending) }
    pending.removeAll(keepingCapacity: true)
  }
}
