import Assay

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads files with the system's own calls: without Foundation, and without a buffer that would
/// keep a copy of a secret.
enum File {
  /// Returns the bytes of a file; of a file that is longer than `cap` the first `cap` + 1, so that
  /// their reader refuses the length.
  ///
  /// - Throws: `FileError` if the file cannot be opened or read; with `EINVAL` for a path that
  ///   contains a NUL.
  static func bytes(of path: String, cap: Int) throws(FileError) -> [UInt8] {
    guard !path.utf8.contains(0) else { throw FileError(path: path, code: EINVAL) }
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw FileError(path: path, code: errno) }
    defer { close(descriptor) }
    var code: Int32 = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: cap + 1) { buffer, filled in
      while filled < buffer.count {
        let free = unsafe UnsafeMutableBufferPointer(rebasing: buffer[filled...])
        let count = unsafe read(descriptor, free.baseAddress, free.count)
        if count < 0, errno == EINTR { continue }
        if count < 0 { code = errno }
        if count <= 0 { return }
        filled += count
      }
    }
    guard code == 0 else { throw FileError(path: path, code: code) }
    return bytes
  }
}
