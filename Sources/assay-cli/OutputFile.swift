import CSystem

/// A file that gets its name only after all of it is written: a full disk, or a signal that ends
/// the process, leaves the old file or none. Devices and pipes are written directly.
struct OutputFile: ~Copyable {
  /// The path as it was given, for messages.
  private let path: String
  /// The path with links resolved.
  private let target: String
  /// The temporary file until the output is complete; `nil` for a device or a pipe.
  private let part: String?
  private var descriptor: Int32

  /// Opens the output.
  ///
  /// - Parameter mode: the mode of a new file; `nil` for that of the umask or of the old file.
  init(_ path: String, mode: mode_t? = nil) throws {
    self.path = path
    var there = stat()
    let exists = unsafe stat(path, &there) == 0
    if path.hasPrefix("/dev/") || (exists && system_is_file(there.st_mode) == 0) {
      target = path
      part = nil
      descriptor = unsafe system_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
      if descriptor < 0 { throw OutputFile.problem(path, system_error()) }
      return
    }
    target = exists ? OutputFile.resolved(path) : path
    let part = target + ".part-\(getpid())"
    self.part = part
    unsafe unlink(part)
    unsafe system_remove_at_end(part)
    descriptor = unsafe system_open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode ?? 0o666)
    if descriptor < 0 {
      let code = system_error()
      unsafe system_remove_at_end("")
      throw OutputFile.problem(path, code)
    }
    if let mode = mode ?? (exists ? there.st_mode & 0o7777 : nil) { fchmod(descriptor, mode) }
  }

  deinit {
    guard descriptor >= 0 else { return }
    close(descriptor)
    if let part { OutputFile.drop(part) }
  }

  private static func drop(_ part: String) {
    unsafe unlink(part)
    unsafe system_remove_at_end("")
  }

  func write(_ bytes: [UInt8]) throws {
    let code = OutputFile.write(bytes, to: descriptor)
    if code != 0 { throw OutputFile.problem(path, code) }
  }

  /// Waits until what was written is on the disk.
  func hold() throws {
    if fdatasync(descriptor) != 0 { throw OutputFile.problem(path, system_error()) }
  }

  /// Completes the file, which then gets its name.
  mutating func end() throws {
    let code = close(descriptor) == 0 ? 0 : system_error()
    descriptor = -1
    guard let part else {
      if code != 0 { throw OutputFile.problem(path, code) }
      return
    }
    if code == 0, unsafe rename(part, target) == 0 {
      return unsafe system_remove_at_end("")
    }
    let problem = OutputFile.problem(path, code == 0 ? system_error() : code)
    OutputFile.drop(part)
    throw problem
  }

  /// Writes a whole file at once.
  static func write(_ bytes: [UInt8], to path: String, mode: mode_t? = nil) throws {
    var file = try OutputFile(path, mode: mode)
    try file.write(bytes)
    try file.end()
  }

  /// Writes all bytes. Returns 0, or the system_error() of the failure.
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Int32 {
    var done = 0
    while done < bytes.count {
      let start = done
      let wrote = unsafe bytes.withUnsafeBytes {
        unsafe system_write(descriptor, $0.baseAddress?.advanced(by: start), $0.count - start)
      }
      if wrote < 0, system_error() == EINTR { continue }
      if wrote <= 0 { return wrote < 0 ? system_error() : EIO }
      done += wrote
    }
    return 0
  }

  /// Returns the failure as a message for people.
  static func problem(_ name: String, _ code: Int32) -> Problem {
    let reason = unsafe String(cString: strerror(code))
    return Problem("\(name) cannot be written: \(reason)", isOfOutput: true)
  }

  private static func resolved(_ path: String) -> String {
    guard let found = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(found) }
    return unsafe String(cString: found)
  }
}
