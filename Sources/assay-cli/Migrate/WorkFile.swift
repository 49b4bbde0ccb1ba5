import CSystem

/// A file of the work folder or the report while it is written.
struct WorkFile: ~Copyable {
  private let path: String
  private let descriptor: Int32

  /// Opens the file for its owner alone.
  ///
  /// - Parameter byteCount: what is left of an existing file; more is appended.
  init(_ path: String, keeping byteCount: Int = 0) throws {
    self.path = path
    descriptor = unsafe system_open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw OutputFile.problem(path, system_error()) }
    guard ftruncate(descriptor, byteCount) == 0, lseek(descriptor, byteCount, SEEK_SET) >= 0 else {
      throw OutputFile.problem(path, system_error())
    }
  }

  deinit { close(descriptor) }

  func write(_ bytes: [UInt8]) throws {
    let code = OutputFile.write(bytes, to: descriptor)
    if code != 0 { throw OutputFile.problem(path, code) }
  }

  /// Waits until what was written is on the disk.
  func hold() throws {
    if fdatasync(descriptor) != 0 { throw OutputFile.problem(path, system_error()) }
  }
}
