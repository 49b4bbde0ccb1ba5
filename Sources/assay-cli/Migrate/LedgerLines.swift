import AssayAuthority

/// The file of `--out`: an operation of the ledger a line, with the evidence that the host verifies
/// again (MIG-43). It gets its name when all of it is written.
final class LedgerLines {
  private let stored: StoredEvidence
  private let run: String
  private var file: OutputFile

  init(_ path: String, _ stored: StoredEvidence, run: String) throws {
    (self.stored, self.run) = (stored, run)
    file = try OutputFile(path, mode: 0o600)
  }

  /// Writes what a group needs. Returns the number of lines.
  func add(_ plan: GroupPlan, _ options: MigrateOptions) throws -> Int {
    let operations = plan.operations(options, run: run)
    for operation in operations {
      let evidence = try operation.evidence.map { place in
        let (kind, text) = try stored.text(place)
        return JSONText.object([
          .init("kind", .string(kind)),
          .init("text", .string(String(decoding: text, as: UTF8.self))),
        ])
      }
      let line = JSONText.object(
        [
          .init("operation", .string(operation.name)),
          .init("nowMs", .integer(stored.evidence.nowMs)),
        ] + operation.request + [.init("evidence", .array(evidence))])
      try file.write(line.bytes + [0x0a])
    }
    return operations.count
  }

  func end() throws {
    try file.hold()
    try file.end()
  }
}
