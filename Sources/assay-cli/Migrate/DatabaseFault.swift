/// A failure of a database.
struct DatabaseFault: Error {
  /// What the run does next.
  enum Remedy {
    /// The batch is rolled back and repeated: the row is busy, or the connection is lost.
    case repeats
    /// The run ends, to be started again: the disk is full, the file is read-only.
    case ends
  }

  /// The engine's own code.
  let code: String
  let message: String
  let remedy: Remedy

  var problem: MigrateFault {
    MigrateFault(
      "unavailable.migrate.store", "the database refuses: \(code) \(Terminal.safe(message))",
      exitCode: 3)
  }
}
