import CSystem

/// Folders, files and the clock of this machine.
enum FileSystem {
  /// The most bytes of a file, more than any evidence or configuration has.
  static let byteCap = 64 << 20

  static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

  /// Reads a file, or standard input for "-". Refuses more than 64 MiB.
  static func read(_ path: String) throws -> [UInt8] {
    if path == "-" { return try read(0, "standard input") }
    var there = stat()
    guard unsafe stat(path, &there) == 0 else {
      let code = system_error()
      if code == ENOENT || code == ENOTDIR { throw Problem("there is no file \(path)") }
      throw unreadable(path, code)
    }
    if system_is_folder(there.st_mode) != 0 { throw Problem("\(path) is a folder, not a file") }
    let descriptor = unsafe system_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else { throw unreadable(path, system_error()) }
    defer { close(descriptor) }
    return try read(descriptor, path)
  }

  private static func read(_ descriptor: Int32, _ name: String) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe piece.withUnsafeMutableBytes {
        unsafe system_read(descriptor, $0.baseAddress, $0.count)
      }
      if count < 0, system_error() == EINTR { continue }
      guard count >= 0 else { throw unreadable(name, system_error()) }
      if count == 0 { return bytes }
      bytes += piece.prefix(count)
      if bytes.count > byteCap { throw Problem("\(name) is longer than 64 MiB") }
    }
  }

  private static func unreadable(_ name: String, _ code: Int32) -> Problem {
    let reason = unsafe String(cString: strerror(code))
    return Problem("\(name) cannot be read: \(reason)")
  }

  /// Creates a folder and its missing parents, accessible to their owner only.
  static func makeFolder(_ path: String) throws {
    var above = path.hasPrefix("/") ? "/" : ""
    for part in path.split(separator: "/") {
      above += part + "/"
      if unsafe mkdir(above, 0o700) == 0 || system_error() == EEXIST { continue }
      let reason = unsafe String(cString: strerror(system_error()))
      throw Problem("the folder \(path) cannot be made: \(reason)", isOfOutput: true)
    }
    var there = stat()
    guard unsafe stat(path, &there) == 0, system_is_folder(there.st_mode) != 0 else {
      throw Problem("\(path) is not a folder", isOfOutput: true)
    }
  }

  /// Returns the part of a path after the last slash.
  static func lastPart(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? path
  }

  /// The current time in milliseconds since 1970 UTC.
  static var now: Int64 { clock(CLOCK_REALTIME) / 1_000_000 }

  /// The time of a monotonic clock in nanoseconds.
  static var monotonic: Int64 { clock(CLOCK_MONOTONIC) }

  private static func clock(_ id: clockid_t) -> Int64 {
    var time = timespec()
    unsafe clock_gettime(id, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
