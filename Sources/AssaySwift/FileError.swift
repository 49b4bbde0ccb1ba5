#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The error for a file that cannot be read.
public struct FileError: Error, Sendable, CustomStringConvertible {
  /// The path as it was given.
  public let path: String
  /// The number of the system's error, such as `ENOENT`.
  public let code: Int32

  /// The path and the system's words for the error.
  public var description: String { unsafe path + ": " + String(cString: strerror(code)) }
}
