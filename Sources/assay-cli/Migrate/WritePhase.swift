import CSystem

import Assay

/// The second phase: the sorted runs are merged, each group is decided, and batches are written to
/// the ledger and the report (MIG-31).
struct WritePhase {
  let folder: WorkFolder
  let options: MigrateOptions
  let stored: StoredEvidence
  let report: MigrateReport
  let connection: (any DatabaseConnection)?
  /// Where the operations of the ledger are written; `nil` where they are run, or only counted.
  let lines: LedgerLines?

  /// The groups whose evidence is verified at once, on all cores.
  private static let chunkGroups = 64
  /// How often a batch is repeated, and how long the first wait is (MIG-35).
  private static let attempts = 8
  private static let firstWaitMs = 100
  private static let longestWaitMs = 30_000

  func run(
    _ runs: RunSet, _ journal: inout MigrateJournal, _ progress: inout MigrateProgress
  ) throws {
    try report.begin(journal.tally)
    var merge = try runs.facts.merged()
    let after = journal.lastKey.map { Array($0.utf8) + [0] }
    let total = journal.tally["purchases", "seen"]
    var (done, batch, size) = (0, [GroupPlan](), 0)
    var group: MigrateGroup?
    func end(_ journal: inout MigrateJournal) throws {
      try write(batch, &journal)
      (batch, size) = ([], 0)
      try MigrateStop.check()
    }
    while let record = try merge.next() {
      done += 1
      if let after, RunBuffer.precedes(record[...], after[...]) || record.starts(with: after) {
        continue
      }
      var cursor = RecordCursor(record)
      let key = cursor.key()
      if let whole = group, whole.key != key {
        batch.append(GroupPlan(whole, options, nowMs: folder.nowMs))
        size += max(1, whole.purchases.count)
        group = nil
        if size >= options.batch { try end(&journal) }
        progress.show(
          "write", done: done, of: total, rows: journal.tally["purchases", "distinct"],
          rejects: journal.tally["rows", "rejected"])
      }
      var open = group ?? MigrateGroup(key)
      group = nil
      open.add(MigrateFact(record))
      group = open
    }
    if let group { batch.append(GroupPlan(group, options, nowMs: folder.nowMs)) }
    if !batch.isEmpty { try end(&journal) }
  }

  // MARK: a batch

  private func write(_ batch: [GroupPlan], _ journal: inout MigrateJournal) throws {
    guard let last = batch.last?.group.key else { return }
    for attempt in 0... {
      do {
        return try write(batch, lastKey: last, &journal)
      } catch {
        connection?.rollBack()
        guard let fault = error as? DatabaseFault else { throw error }
        guard fault.remedy == .repeats, attempt < WritePhase.attempts else { throw fault.problem }
        try report.begin(journal.tally)
        system_sleep(min(WritePhase.firstWaitMs << attempt, WritePhase.longestWaitMs))
        try MigrateStop.check()
      }
    }
  }

  /// Writes a batch in one transaction; a dry run undoes it.
  private func write(
    _ batch: [GroupPlan], lastKey: String, _ journal: inout MigrateJournal
  ) throws {
    var tally = journal.tally
    tally.add("store", "batches")
    try connection?.begin()
    for start in stride(from: 0, to: batch.count, by: WritePhase.chunkGroups) {
      try write(batch[start..<min(start + WritePhase.chunkGroups, batch.count)], &tally)
    }
    try report.write(&tally)
    if options.isDryRun {
      connection?.rollBack()
    } else {
      try journal.write(tally, lastKey: lastKey)
      try connection?.commit()
    }
    journal.note(tally, lastKey: lastKey)
  }

  private func write(_ chunk: ArraySlice<GroupPlan>, _ tally: inout MigrateTally) throws {
    guard let connection else {
      for plan in chunk {
        report.add(plan, options, nowMs: folder.nowMs, &tally)
        if let lines { tally.add("files", "out", try lines.add(plan, options)) }
      }
      return
    }
    let places = chunk.reduce(into: Set<EvidencePlace>()) {
      $0.formUnion($1.evidence(options))
    }
    let documents = try stored.documents(places, jobs: options.jobs)
    var writer = GroupWriter(
      LedgerConversation(
        verifier: stored.evidence.verifier, connection: connection, nowMs: folder.nowMs),
      options, runName: folder.run, documents)
    for var plan in chunk {
      try writer.write(&plan)
      report.add(plan, options, nowMs: folder.nowMs, &tally)
    }
    tally.add("store", "changed", writer.changedCount)
  }
}
