import AssayAuthority
import Synchronization

/// The first phase: rows are parsed, their evidence is verified on all cores, and the facts are
/// written as sorted runs (MIG-31). An epoch ends with a checkpoint, from which a killed run goes on.
struct ReadPhase {
  let folder: WorkFolder
  let format: RowFormat
  let options: MigrateOptions
  let evidence: EvidenceReader

  /// The bytes of input after which a checkpoint is written.
  private static let epochBytes = 64 << 20

  /// Reads what is left of the input.
  func run(_ checkpoint: inout Checkpoint, _ progress: inout MigrateProgress) throws {
    folder.removeStrangers(keeping: checkpoint.files)
    guard !checkpoint.isDone else { return }
    let runs = RunSet(folder.path, checkpoint)
    let input = InputReader(
      folder.inputs.map(\.readPath), isQuoted: format.isTable, from: checkpoint.position)
    let workers = (0..<options.jobs).map { _ in
      ReadWorker(input: input, format: format, options: options, evidence: evidence, runs: runs)
    }
    while !input.isAtEnd {
      input.beginEpoch(ReadPhase.epochBytes)
      let next = Mutex(0)
      Threads.perform(options.jobs) {
        let place = next.withLock { place in
          defer { place += 1 }
          return place
        }
        if place < workers.count { workers[place].work() }
      }
      for worker in workers {
        if let fault = worker.fault { throw fault }
        checkpoint.tally.merge(worker.takeTally())
      }
      checkpoint.position = input.position
      checkpoint.take(runs)
      try folder.write(checkpoint)
      progress.show(
        "read", done: folder.bytes(before: checkpoint.position),
        rows: checkpoint.tally["rows", "read"], rejects: checkpoint.tally["rows", "rejected"])
      try MigrateStop.check()
      if let most = options.maxRejects, checkpoint.tally["rows", "rejected"] > most {
        throw MigrateFault(
          "rejected.migrate.rows", "more than \(most) rows were rejected (--max-rejects)",
          exitCode: 1)
      }
    }
    try countTexts(runs, &checkpoint.tally)
    try joinTokens(runs)
    checkpoint.take(runs)
    checkpoint.isDone = true
    try folder.write(checkpoint)
    folder.removeStrangers(keeping: checkpoint.files)
  }

  /// Counts each text of evidence once, however many rows have it.
  private func countTexts(_ runs: RunSet, _ tally: inout MigrateTally) throws {
    var merge = try runs.texts.merged()
    var last = ""
    while let record = try merge.next() {
      var cursor = RecordCursor(record)
      let digest = cursor.key()
      if digest == last { continue }
      last = digest
      let isVerified = cursor.byte() != 0
      tally.add("evidence", "distinct")
      tally.add("evidence", isVerified ? "verified" : "refused")
      tally.add(isVerified ? "evidenceKinds" : "evidenceStatuses", cursor.text())
    }
    runs.texts.forget()
  }

  /// Tells each group the accounts whose `accountToken` its evidence has.
  private func joinTokens(_ runs: RunSet) throws {
    var merge = try runs.tokens.merged()
    var facts = RunBuffer(runs.facts, byteCap: 1 << 20)
    var (token, accounts, lastGroup) = ("", [String](), "")
    while let record = try merge.next() {
      var cursor = RecordCursor(record)
      let next = cursor.key()
      if next != token { (token, accounts, lastGroup) = (next, [], "") }
      let isAccount = cursor.byte() == 0
      let text = cursor.text()
      if isAccount {
        if accounts.last != text, accounts.count < ReadPhase.accountCap { accounts.append(text) }
        continue
      }
      if text == lastGroup { continue }
      lastGroup = text
      for account in accounts {
        try facts.add(MigrateFact.tokenAccount(account, of: text))
      }
    }
    try facts.flush()
    runs.tokens.forget()
  }

  /// The most accounts of one token that are told: two are a fault of the shop already.
  private static let accountCap = 8

  /// Writes the reject file, in the order of the input.
  static func writeRejects(_ runs: RunSet, to path: String, _ report: MigrateReport) throws {
    var file = try OutputFile(path, mode: 0o600)
    var merge = try runs.rejects.merged()
    while let record = try merge.next() {
      var cursor = RecordCursor(record)
      _ = cursor.key()
      let (status, at, message, digest) = (
        cursor.text(), cursor.text(), cursor.text(), cursor.text()
      )
      let place = RowPlace(&cursor)
      let line = JSONText.object([
        .init("file", .string(report.name(place.file))), .init("line", .integer(Int64(place.line))),
        .init("byte", .integer(Int64(place.offset))), .init("status", .string(status)),
        .init("at", at.isEmpty ? .null : .string(at)), .init("message", .string(message)),
        .init("sha256", digest.isEmpty ? .null : .string(digest)),
      ])
      try file.write(line.bytes + [0x0a])
    }
    try file.end()
  }
}
