import CSystem
import Synchronization

/// The input files, read once from their beginning to their end as packets of whole records
/// (MIG-51). Workers take a packet each.
final class InputReader: Sendable {
  /// Records of one file. A record that is too long is not in `bytes` and follows them.
  struct Packet {
    let file: Int
    let offset: Int
    let line: Int
    var bytes: [UInt8]
    var endsWithTooLong = false
  }

  /// Where reading goes on: between two records.
  struct Position {
    var file = 0
    var offset = 0
    var line = 1
  }

  private struct State {
    var position: Position
    /// The bytes after `position` that are read already.
    var rest: [UInt8] = []
    /// How many bytes of `rest` are known to contain no end of a record.
    var scanned = 0
    var isInQuotes = false
    var isSkipping = false
    var descriptor: Int32 = -1
    var epochEnd = 0
  }

  private let paths: [String]
  private let isQuoted: Bool
  private let state: Mutex<State>

  /// The longest record (MIG-4).
  static let recordCap = 4 << 20
  private static let packetBytes = 256 << 10

  init(_ paths: [String], isQuoted: Bool, from position: Position) {
    self.paths = paths
    self.isQuoted = isQuoted
    state = Mutex(State(position: position))
  }

  deinit { state.withLock { if $0.descriptor >= 0 { close($0.descriptor) } } }

  /// Between two epochs: where reading goes on.
  var position: Position { state.withLock { $0.position } }

  /// Whether all files are read.
  var isAtEnd: Bool { state.withLock { $0.position.file >= paths.count } }

  /// Begins an epoch of about so many bytes, after which `next` returns nothing.
  func beginEpoch(_ byteCount: Int) { state.withLock { $0.epochEnd = byteCount } }

  /// Returns the next packet; `nil` at the end of the epoch or of the input.
  func next() throws -> Packet? {
    try state.withLock { state in
      while state.position.file < paths.count, state.epochEnd > 0 || state.isSkipping {
        if let packet = try next(&state) {
          state.epochEnd -= packet.bytes.count + 1
          return packet
        }
      }
      return nil
    }
  }

  private func next(_ state: inout State) throws -> Packet? {
    if state.descriptor < 0 { try open(&state) }
    while true {
      let isEnd = try !fill(&state)
      if let count = end(&state) ?? (isEnd && !state.rest.isEmpty ? state.rest.count : nil) {
        return take(count, &state)
      }
      if isEnd {
        close(state.descriptor)
        state = State(
          position: Position(file: state.position.file + 1), epochEnd: state.epochEnd)
        return nil
      }
      if state.rest.count > InputReader.recordCap { return skip(&state) }
    }
  }

  private func take(_ count: Int, _ state: inout State) -> Packet? {
    let at = state.position
    let bytes = Array(state.rest[..<count])
    state.rest.removeFirst(count)
    (state.scanned, state.isInQuotes) = (0, false)
    state.position.offset += count
    state.position.line += bytes.count { $0 == 0x0a }
    if state.isSkipping {
      state.isSkipping = false
      return nil
    }
    return Packet(file: at.file, offset: at.offset, line: at.line, bytes: bytes)
  }

  /// Reports a record that is too long, and skips what was read of it; its rest follows.
  private func skip(_ state: inout State) -> Packet? {
    let at = state.position
    let isFirst = !state.isSkipping
    state.position.offset += state.rest.count
    state.position.line += state.rest.count { $0 == 0x0a }
    state.rest = []
    state.scanned = 0
    state.isSkipping = true
    guard isFirst else { return nil }
    return Packet(
      file: at.file, offset: at.offset, line: at.line, bytes: [], endsWithTooLong: true)
  }

  private func open(_ state: inout State) throws {
    let path = paths[state.position.file]
    state.descriptor = unsafe system_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard state.descriptor >= 0, lseek(state.descriptor, state.position.offset, SEEK_SET) >= 0
    else { throw Problem("\(path) cannot be read") }
    guard state.position.offset == 0 else { return }
    while state.rest.count < 8, try fill(&state) {}
    try RequestFile.refuseCompressed(state.rest, path)
    let mark = RequestFile.byteOrderMark(state.rest)
    state.rest.removeFirst(mark)
    state.position.offset = mark
  }

  /// Reads more. Returns false at the end of the file.
  private func fill(_ state: inout State) throws -> Bool {
    var piece = [UInt8](repeating: 0, count: InputReader.packetBytes)
    while true {
      let got = unsafe piece.withUnsafeMutableBytes {
        unsafe system_read(state.descriptor, $0.baseAddress, $0.count)
      }
      if got < 0, system_error() == EINTR { continue }
      guard got >= 0 else { throw Problem("\(paths[state.position.file]) cannot be read") }
      state.rest += piece.prefix(got)
      return got > 0
    }
  }

  /// Returns the end of the last whole record in what was read; of the first one, if that is the
  /// rest of a record that is skipped.
  private func end(_ state: inout State) -> Int? {
    guard isQuoted else {
      let new = state.rest[state.scanned...]
      let feed = state.isSkipping ? new.firstIndex(of: 0x0a) : new.lastIndex(of: 0x0a)
      state.scanned = state.rest.count
      return feed.map { $0 + 1 }
    }
    var last: Int?
    while state.scanned < state.rest.count {
      let byte = state.rest[state.scanned]
      state.scanned += 1
      if byte == 0x22 { state.isInQuotes.toggle() }
      if byte == 0x0a, !state.isInQuotes {
        last = state.scanned
        if state.isSkipping { break }
      }
    }
    return last
  }

  /// Calls `visit` for each record of a packet, without its line end.
  func records(
    of packet: Packet, _ visit: (ArraySlice<UInt8>, RowPlace) throws -> Void
  ) rethrows {
    var (start, line, isInQuotes) = (0, packet.line, false)
    var (place, startLine) = (0, packet.line)
    func record(to end: Int) throws {
      var last = end
      if last > start, packet.bytes[last - 1] == 0x0a { last -= 1 }
      if last > start, packet.bytes[last - 1] == 0x0d { last -= 1 }
      try visit(
        packet.bytes[start..<last],
        RowPlace(
          file: packet.file, offset: packet.offset + start, byteCount: last - start,
          line: startLine))
    }
    while place < packet.bytes.count {
      let byte = packet.bytes[place]
      place += 1
      if isQuoted, byte == 0x22 { isInQuotes.toggle() }
      guard byte == 0x0a else { continue }
      line += 1
      if isInQuotes { continue }
      try record(to: place)
      (start, startLine) = (place, line)
    }
    if start < packet.bytes.count { try record(to: packet.bytes.count) }
  }
}
