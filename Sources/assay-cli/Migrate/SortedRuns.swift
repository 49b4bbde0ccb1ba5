import CSystem
import Synchronization

/// The sorted files of one kind of record in the work folder (MIG-31). Workers fill a `RunBuffer`
/// each; a buffer that is full becomes a file.
final class SortedRuns: Sendable {
  private let folder: String
  private let kind: String
  private let state: Mutex<(next: Int, files: [String])>

  /// The most files that are merged at once; each takes a buffer of `RunFile.bufferBytes`.
  private static let fanIn = 64

  init(_ folder: String, _ kind: String, files: [String] = []) {
    self.folder = folder
    self.kind = kind
    let used = files.compactMap { $0.split(separator: "-").last.flatMap { Int($0) } }
    state = Mutex(((used.max() ?? -1) + 1, files))
  }

  /// The names of the files, in the order in which they were written.
  var files: [String] { state.withLock { $0.files } }

  /// Writes sorted records as one file. A file that is not whole is in no checkpoint, and is removed
  /// at the next start.
  func write(_ body: (borrowing WorkFile) throws -> Void) throws {
    let name = state.withLock { state in
      defer { state.next += 1 }
      return "\(kind)-\(state.next)"
    }
    let file = try WorkFile(folder + "/" + name)
    try body(file)
    try file.hold()
    state.withLock { $0.files.append(name) }
  }

  /// Returns all records in their order. Merges files until few enough are left to be read at once.
  func merged() throws -> RunMerge {
    while files.count > SortedRuns.fanIn {
      let some = Array(files.prefix(SortedRuns.fanIn))
      var merge = try RunMerge(some.map { folder + "/" + $0 })
      try write { file in
        var pending: [UInt8] = []
        while let record = try merge.next() {
          RunBuffer.append(record[...], to: &pending)
          if pending.count > 1 << 20 {
            try file.write(pending)
            pending.removeAll(keepingCapacity: true)
          }
        }
        try file.write(pending)
      }
      state.withLock { $0.files.removeFirst(some.count) }
      for name in some { unsafe unlink(folder + "/" + name) }
    }
    return try RunMerge(files.map { folder + "/" + $0 })
  }

  /// Removes all files.
  func remove() {
    for name in files { unsafe unlink(folder + "/" + name) }
    state.withLock { $0.files = [] }
  }
}

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

/// Records in memory, until they are enough for a sorted file.
struct RunBuffer {
  private let runs: SortedRuns
  private let byteCap: Int
  private var bytes: [UInt8] = []
  private var places: [Range<Int>] = []

  init(_ runs: SortedRuns, byteCap: Int) {
    self.runs = runs
    self.byteCap = byteCap
  }

  mutating func add(_ record: [UInt8]) throws {
    places.append(bytes.count..<bytes.count + record.count)
    bytes += record
    if bytes.count >= byteCap { try flush() }
  }

  /// Writes what is left as one file.
  mutating func flush() throws {
    guard !places.isEmpty else { return }
    let all = bytes
    places.sort { RunBuffer.precedes(all[$0], all[$1]) }
    var out: [UInt8] = []
    out.reserveCapacity(all.count + 4 * places.count)
    for place in places { RunBuffer.append(all[place], to: &out) }
    try runs.write { try $0.write(out) }
    bytes.removeAll(keepingCapacity: true)
    places.removeAll(keepingCapacity: true)
  }

  /// Appends a record with its length.
  static func append(_ record: ArraySlice<UInt8>, to out: inout [UInt8]) {
    let count = UInt32(record.count)
    for shift in [0, 8, 16, 24] as [UInt32] {
      out.append(UInt8(truncatingIfNeeded: count >> shift))
    }
    out += record
  }

  /// Whether one record comes before another, by their bytes.
  static func precedes(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
    unsafe left.withUnsafeBytes { left in
      unsafe right.withUnsafeBytes { right in
        let count = min(left.count, right.count)
        guard count > 0, let first = left.baseAddress, let other = right.baseAddress else {
          return left.count < right.count
        }
        let order = unsafe memcmp(first, other, count)
        return order == 0 ? left.count < right.count : order < 0
      }
    }
  }
}

/// One sorted file while it is read.
struct RunFile: ~Copyable {
  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var place = 0

  static let bufferBytes = 64 << 10

  init(_ path: String) throws {
    descriptor = unsafe system_open(path, O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else {
      throw Problem("\(path) is missing from the work folder: begin anew with another --run")
    }
  }

  deinit { close(descriptor) }

  /// Returns the next record; `nil` at the end.
  mutating func next() throws -> [UInt8]? {
    guard try hold(4) else { return nil }
    let count = (0..<4).reduce(0) { $0 | Int(buffer[place + $1]) << (8 * $1) }
    guard try hold(4 + count) else { throw Problem("a file of the work folder is cut off") }
    defer { place += 4 + count }
    return Array(buffer[place + 4..<place + 4 + count])
  }

  /// Reads until so many bytes are in the buffer. Returns whether they are.
  private mutating func hold(_ count: Int) throws -> Bool {
    while buffer.count - place < count {
      var piece = [UInt8](repeating: 0, count: max(RunFile.bufferBytes, count))
      let got = unsafe piece.withUnsafeMutableBytes {
        unsafe system_read(descriptor, $0.baseAddress, $0.count)
      }
      if got < 0, system_error() == EINTR { continue }
      guard got >= 0 else { throw Problem("the work folder cannot be read") }
      if got == 0 { return false }
      buffer.removeFirst(place)
      place = 0
      buffer += piece.prefix(got)
    }
    return true
  }
}

/// Several sorted files as one sequence of records, smallest first.
struct RunMerge: ~Copyable {
  /// A file with its next record.
  private final class Source {
    var file: RunFile
    var record: [UInt8] = []
    init(_ path: String) throws { file = try RunFile(path) }
    func advance() throws -> Bool {
      guard let next = try file.next() else { return false }
      record = next
      return true
    }
  }

  /// A heap: no source comes before the one at half its index.
  private var heap: [Source] = []

  init(_ paths: [String]) throws {
    for path in paths {
      let source = try Source(path)
      if try source.advance() {
        heap.append(source)
        rise(heap.count - 1)
      }
    }
  }

  mutating func next() throws -> [UInt8]? {
    guard let first = heap.first else { return nil }
    let record = first.record
    if try !first.advance() {
      heap.swapAt(0, heap.count - 1)
      heap.removeLast()
    }
    sink(0)
    return record
  }

  private func precedes(_ left: Int, _ right: Int) -> Bool {
    RunBuffer.precedes(heap[left].record[...], heap[right].record[...])
  }

  private mutating func rise(_ start: Int) {
    var place = start
    while place > 0, precedes(place, (place - 1) / 2) {
      heap.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  private mutating func sink(_ start: Int) {
    var place = start
    while true {
      var least = place
      for child in [2 * place + 1, 2 * place + 2]
      where child < heap.count && precedes(child, least) {
        least = child
      }
      if least == place { return }
      heap.swapAt(place, least)
      place = least
    }
  }
}
