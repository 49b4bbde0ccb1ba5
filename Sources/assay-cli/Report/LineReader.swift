import CSystem

/// Reads a file or a pipe as batches of whole lines. Stores one batch and the beginning of the
/// next; a line longer than `lineCap` is skipped without being stored.
struct LineReader {
  /// Whole lines; the last line of a file may lack its line feed.
  struct Batch {
    var bytes: [UInt8]
    /// Whether a line that is too long, and so not in `bytes`, follows them.
    var endsWithTooLong: Bool
  }

  private let descriptor: Int32
  private let lineCap: Int
  private let batchBytes: Int
  /// The bytes read after the last whole line.
  private var rest: [UInt8] = []
  private var isSkipping = false
  private var isAtEnd = false
  /// The number of bytes read so far.
  private(set) var bytesRead = 0

  init(_ descriptor: Int32, lineCap: Int, batchBytes: Int) {
    self.descriptor = descriptor
    self.lineCap = lineCap
    self.batchBytes = max(batchBytes, lineCap + 2)
  }

  struct Failure: Error {}

  /// Returns the next batch; `nil` at the end of the input.
  mutating func next() throws(Failure) -> Batch? {
    while !isAtEnd {
      var bytes = rest
      rest = []
      try fill(&bytes)
      if isSkipping {
        guard let feed = bytes.firstIndex(of: 0x0a) else { continue }
        bytes.removeFirst(feed + 1)
        isSkipping = false
      }
      if isAtEnd { return bytes.isEmpty ? nil : Batch(bytes: bytes, endsWithTooLong: false) }
      let whole = (bytes.lastIndex(of: 0x0a) ?? -1) + 1
      rest = Array(bytes[whole...])
      bytes.removeLast(bytes.count - whole)
      // One byte beyond the cap may be the carriage return of a line end.
      isSkipping = rest.count > lineCap + 1
      if isSkipping { rest = [] }
      return Batch(bytes: bytes, endsWithTooLong: isSkipping)
    }
    return nil
  }

  /// Reads until the batch is full or the input ends.
  private mutating func fill(_ bytes: inout [UInt8]) throws(Failure) {
    let kept = bytes.count
    var failed = false
    let descriptor = descriptor
    let filled = unsafe [UInt8](unsafeUninitializedCapacity: batchBytes + kept) { buffer, count in
      for (offset, byte) in bytes.enumerated() { unsafe buffer[offset] = byte }
      count = kept
      while count < buffer.count {
        let place = unsafe buffer.baseAddress?.advanced(by: count)
        let got = unsafe read(descriptor, place, buffer.count - count)
        if got < 0, system_error() == EINTR { continue }
        failed = got < 0
        if got <= 0 { break }
        count += got
      }
    }
    if failed { throw Failure() }
    isAtEnd = filled.count < batchBytes + kept
    bytesRead += filled.count - kept
    bytes = filled
  }
}
