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
  /// Merged files stay, because the checkpoint names them until another one is written.
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
    }
    return try RunMerge(files.map { folder + "/" + $0 })
  }

  /// Forgets all files: the next checkpoint does not name them.
  func forget() { state.withLock { $0.files = [] } }
}
