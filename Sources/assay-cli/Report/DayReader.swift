import Assay
import CSystem
import Synchronization

/// Reads a day of requests and counts them. Several threads triage the lines, which are counted in
/// the order of the file.
struct DayReader {
  let verifier: Verifier
  let format: LineFormat
  let threads: Int

  private static let batchBytes = 4 << 20

  func tally(
    _ input: borrowing RequestFile, repeatBytes: Int, progress: inout ProgressBar
  ) throws -> DayTally {
    var tally = DayTally(repeatBytes: repeatBytes, products: format.prices?.prices.count ?? 0)
    var reader = LineReader(
      input.descriptor, lineCap: format.lineCap, batchBytes: DayReader.batchBytes)
    var isFirst = true
    do {
      while let batch = try reader.next() {
        if isFirst { try RequestFile.refuseCompressed(batch.bytes, input.name) }
        let start = isFirst ? RequestFile.byteOrderMark(batch.bytes) : 0
        isFirst = false
        for part in look(batch.bytes, from: start) { tally.add(part) }
        if batch.endsWithTooLong { tally.addTooLong() }
        progress.show(done: reader.bytesRead, lines: tally.lines)
      }
    } catch is LineReader.Failure {
      throw Problem("\(input.name) cannot be read to the end")
    }
    progress.end()
    return tally
  }

  /// Returns the findings of a batch, in the order of its lines.
  private func look(_ bytes: [UInt8], from start: Int) -> [LineFindings] {
    let parts = DayReader.parts(bytes, from: start, count: threads * 4)
    if threads == 1 || parts.count < 2 {
      return parts.map { LineFindings(bytes, $0, format, verifier) }
    }
    let found = Mutex([LineFindings?](repeating: nil, count: parts.count))
    let next = Atomic(0)
    Threads.perform(threads) {
      while true {
        let place = next.wrappingAdd(1, ordering: .relaxed).oldValue
        guard place < parts.count else { return }
        let findings = LineFindings(bytes, parts[place], format, verifier)
        found.withLock { $0[place] = findings }
      }
    }
    return found.withLock { $0.compactMap { $0 } }
  }

  /// Returns parts of about equal size that end after a line feed.
  private static func parts(_ bytes: [UInt8], from start: Int, count: Int) -> [Range<Int>] {
    var parts: [Range<Int>] = []
    let size = (bytes.count - start) / count + 1
    var begin = start
    while begin < bytes.count {
      let wanted = min(begin + size, bytes.count)
      let feed = wanted == bytes.count ? nil : bytes[(wanted - 1)...].firstIndex(of: 0x0a)
      let end = feed.map { $0 + 1 } ?? bytes.count
      parts.append(begin..<end)
      begin = end
    }
    return parts
  }
}

/// The file with the requests, opened.
struct RequestFile: ~Copyable {
  let name: String
  let descriptor: Int32
  /// The size of a file in bytes; `nil` for a pipe.
  let byteCount: Int?

  init(_ path: String) throws {
    name = path == "-" ? "standard input" : path
    descriptor = path == "-" ? 0 : unsafe system_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else {
      throw Problem(
        system_error() == ENOENT ? "there is no file \(path)" : "\(path) cannot be read")
    }
    var facts = stat()
    guard unsafe fstat(descriptor, &facts) == 0 else { throw Problem("\(path) cannot be read") }
    if system_is_folder(facts.st_mode) != 0 { throw Problem("\(path) is a folder, not a file") }
    byteCount = system_is_file(facts.st_mode) != 0 ? Int(facts.st_size) : nil
  }

  deinit {
    if descriptor > 0 { close(descriptor) }
  }

  /// Refuses a compressed file, whose bytes are not lines.
  static func refuseCompressed(_ bytes: [UInt8], _ name: String) throws {
    let formats: [(magic: [UInt8], name: String, reader: String)] = [
      ([0x1f, 0x8b], "gzip", "zcat"), ([0x28, 0xb5, 0x2f, 0xfd], "zstd", "zstdcat"),
      ([0xfd, 0x37, 0x7a, 0x58, 0x5a], "xz", "xzcat"), ([0x42, 0x5a, 0x68], "bzip2", "bzcat"),
    ]
    for format in formats where bytes.starts(with: format.magic) {
      throw Problem(
        "\(name) is compressed (\(format.name)); decompress it on the fly:\n"
          + "  \(format.reader) FILE | assay report - --config CONFIG")
    }
  }

  /// Returns the length of a UTF-8 byte order mark at the start.
  static func byteOrderMark(_ bytes: [UInt8]) -> Int {
    bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
  }
}
