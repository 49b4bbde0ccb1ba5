import AssayAuthority
import CSystem

@_spi(AssaySwift) import Assay

/// The folder of a run, with its terms, its checkpoint and its sorted runs. One process has it at a
/// time.
final class WorkFolder {
  let path: String
  let run: String
  private(set) var inputs: [MigrateInput]
  /// The time of the run, in milliseconds since 1970 UTC (MIG-5).
  private(set) var nowMs: Int64
  /// The name of the run in the journal, which no other run has, even of a folder that was removed.
  private(set) var journalName = ""
  /// The counts of a run that is over.
  private(set) var finalTally: MigrateTally?
  private let terms: JSONText
  private let lock: Int32

  /// Opens the folder of a run, or makes it.
  ///
  /// - Parameters:
  ///   - terms: what a later start must have in common with the first.
  ///   - now: the time that the command line names, for a run that begins.
  /// - Throws: `unavailable.migrate.running`, `misuse.migrate.run`.
  init(
    _ path: String, run: String, inputs: [MigrateInput], terms: JSONText, now: String?
  ) throws {
    (self.path, self.run, self.inputs, self.terms) = (path, run, inputs, terms)
    nowMs = try Input.time(now, option: "--now")
    try FileSystem.makeFolder(path)
    lock = unsafe system_open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard lock >= 0, flock(lock, LOCK_EX | LOCK_NB) == 0 else {
      throw MigrateFault(
        "unavailable.migrate.running", "another process is at work in \(path)", exitCode: 3)
    }
    if FileSystem.exists(path + "/run.json") {
      try resume(now)
      return
    }
    journalName = "\(run)-\(FileSystem.now)"
    try write(done: nil)
  }

  deinit { close(lock) }

  private func resume(_ now: String?) throws {
    guard let known = DocumentValue(json: try FileSystem.read(path + "/run.json")) else {
      throw refusal("run.json in the work folder cannot be read")
    }
    let told = known.member("terms")
    let wanted = DocumentValue(json: terms.bytes)
    for (name, value) in wanted?.children ?? []
    where told?.children.first(where: { $0.name == name })?.value.json != value.json {
      throw refusal("\(name) differs from the run that was begun")
    }
    journalName = known.member("journal")?.text ?? run
    finalTally = known.member("tally").map { MigrateTally($0) }
    let begun = known.member("nowMs")?.integer ?? nowMs
    if now != nil, nowMs != begun { throw refusal("--now differs from the run that was begun") }
    nowMs = begun
  }

  private func refusal(_ text: String) -> MigrateFault {
    MigrateFault("misuse.migrate.run", text + ": --run NEW begins anew", exitCode: 2)
  }

  private func write(done tally: MigrateTally?) throws {
    let json = JSONText.object([
      .init("migrate", .integer(1)), .init("run", .string(run)), .init("nowMs", .integer(nowMs)),
      .init("journal", .string(journalName)), .init("tally", tally?.json ?? .null),
      .init("terms", terms),
    ])
    try OutputFile.write(json.bytes + [0x0a], to: path + "/run.json", mode: 0o600)
  }

  /// Notes that the run is over, and removes what only its phases needed.
  func end(_ tally: MigrateTally) throws {
    try write(done: tally)
    removeWork()
  }

  /// Removes what only the phases of a run need. A start that finds the run over repeats this,
  /// because the start before may have been killed on the way.
  func removeWork() {
    removeStrangers(keeping: [])
    WorkFolder.removeParts(in: path)
    unsafe unlink(path + "/checkpoint.json")
    unsafe unlink(path + "/input")
  }

  /// Removes sorted runs that are in no checkpoint.
  func removeStrangers(keeping files: [String]) {
    let known = Set(files)
    WorkFolder.remove(in: path) { name in
      RunSet.kinds.contains { name.hasPrefix($0 + "-") } && !known.contains(name)
    }
  }

  /// Removes the parts of files that a killed start has left in a folder.
  static func removeParts(in path: String) {
    remove(in: path) { name in
      let words = name.split(separator: ".", omittingEmptySubsequences: false)
      return name.hasPrefix("input.part-")
        || zip(words, words.dropFirst()).contains { $0.hasSuffix("json") && $1.hasPrefix("part-") }
    }
  }

  private static func remove(in path: String, _ isUnwanted: (String) -> Bool) {
    guard let folder = unsafe system_folder(path) else { return }
    defer { unsafe system_folder_end(folder) }
    while let entry = unsafe system_next_name(folder) {
      let name = unsafe String(cString: entry)
      if isUnwanted(name) { unsafe unlink(path + "/" + name) }
    }
  }

  // MARK: input

  /// Copies standard input into the folder, so that a later start finds it.
  func takeStandardInput() throws {
    guard let place = inputs.firstIndex(where: { $0.name == "-" }) else { return }
    let target = path + "/input"
    inputs[place].readPath = target
    if FileSystem.exists(target) { return }
    var piece = [UInt8](repeating: 0, count: 1 << 20)
    var file = try OutputFile(target, mode: 0o600)
    while true {
      let got = unsafe piece.withUnsafeMutableBytes {
        unsafe system_read(0, $0.baseAddress, $0.count)
      }
      if got < 0, system_error() == EINTR, !MigrateStop.isAsked { continue }
      try MigrateStop.check()
      guard got >= 0 else { throw Problem("standard input cannot be read") }
      if got == 0 { break }
      try file.write(Array(piece.prefix(got)))
    }
    try file.end()
  }

  /// The bytes of all input before a position.
  func bytes(before position: InputReader.Position) -> Int {
    inputs.prefix(position.file).reduce(position.offset) { $0 + $1.byteCount }
  }

  // MARK: checkpoint

  func write(_ checkpoint: Checkpoint) throws {
    let position = checkpoint.position
    let json = JSONText.object([
      .init("file", .integer(Int64(position.file))),
      .init("offset", .integer(Int64(position.offset))),
      .init("line", .integer(Int64(position.line))), .init("done", .boolean(checkpoint.isDone)),
      .init("files", .array(checkpoint.files.map { .string($0) })),
      .init("tally", checkpoint.tally.json),
    ])
    try OutputFile.write(json.bytes, to: path + "/checkpoint.json", mode: 0o600)
  }

  func checkpoint() throws -> Checkpoint {
    var checkpoint = Checkpoint()
    let path = path + "/checkpoint.json"
    guard FileSystem.exists(path), let json = DocumentValue(json: try FileSystem.read(path)) else {
      return checkpoint
    }
    checkpoint.position.file = Int(json.member("file")?.integer ?? 0)
    checkpoint.position.offset = Int(json.member("offset")?.integer ?? 0)
    checkpoint.position.line = Int(json.member("line")?.integer ?? 1)
    checkpoint.isDone = json.member("done")?.boolean == true
    checkpoint.files = json.member("files")?.children.compactMap(\.value.text) ?? []
    checkpoint.tally = MigrateTally(json.member("tally"))
    return checkpoint
  }
}
