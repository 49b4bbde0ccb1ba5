import AssayAuthority
import CSystem

/// One file of the input.
struct MigrateInput: Sendable {
  /// The path as it was given; `-` for standard input.
  let name: String
  /// The file to read, which for standard input is in the work folder.
  var readPath: String
  let byteCount: Int
  /// SHA-256 of its first and its last 64 KiB: what a later start must find again.
  let digest: String

  private static let edgeBytes = 64 << 10

  init(_ name: String) throws {
    self.name = name
    readPath = name
    guard name != "-" else {
      (byteCount, digest) = (0, "")
      return
    }
    let file = try RequestFile(name)
    guard let size = file.byteCount else {
      throw Problem("\(name) is no file: give - and the rows on standard input")
    }
    byteCount = size
    var edges = try MigrateInput.bytes(file.descriptor, name, 0, min(size, Self.edgeBytes))
    let tail = max(0, size - Self.edgeBytes)
    edges += try MigrateInput.bytes(file.descriptor, name, tail, size - tail)
    digest = ReadWorker.hex(AttestDigest.sha256(edges))
  }

  /// Reads bytes at a place of a file.
  static func bytes(
    _ descriptor: Int32, _ name: String, _ offset: Int, _ count: Int
  ) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let got = unsafe bytes.withUnsafeMutableBytes {
        unsafe pread(
          descriptor, $0.baseAddress?.advanced(by: done), count - done, off_t(offset + done))
      }
      if got < 0, system_error() == EINTR { continue }
      guard got > 0 else { throw Problem("\(name) cannot be read, or has become shorter") }
      done += got
    }
    return bytes
  }
}
