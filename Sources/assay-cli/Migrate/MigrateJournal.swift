import AssayAuthority

@_spi(AssaySwift) import Assay

/// How far the second phase of a run is: the last group that was written, and the counts up to it.
/// The row of the run is written in the transaction of each batch, so that a batch is counted if and
/// only if it was committed (MIG-33).
struct MigrateJournal {
  private(set) var lastKey: String?
  private(set) var batchCount: Int64 = 0
  var tally: MigrateTally
  private let connection: (any DatabaseConnection)?
  private let table: String
  private let run: String

  /// Reads the row of the run, and makes the table if there is none.
  ///
  /// - Parameter connection: the ledger; `nil` for a run that writes none.
  init(
    _ connection: (any DatabaseConnection)?, prefix: String, run: String, tally: MigrateTally
  ) throws(DatabaseFault) {
    self.connection = connection
    self.run = run
    self.tally = tally
    table = prefix + "migration"
    guard let connection else { return }
    let text = connection.engine == "mariadb" ? "LONGTEXT" : "TEXT"
    try connection.run(
      "CREATE TABLE IF NOT EXISTS \(table) (run VARCHAR(64) NOT NULL PRIMARY KEY, "
        + "batches BIGINT NOT NULL, last_key VARCHAR(255) NOT NULL, tally \(text) NOT NULL)", [])
    let rows = try connection.run(
      "SELECT batches, last_key, tally FROM \(table) WHERE run = \(mark(1))", [.text(run)])
    guard let row = rows.first, case .text(let key) = row[1], case .text(let tally) = row[2] else {
      return
    }
    batchCount = row[0].integer ?? 0
    lastKey = key
    self.tally = MigrateTally(DocumentValue(json: Array(tally.utf8)))
  }

  /// Writes the row, in the open transaction. A second process at work on the same run would find
  /// another row than it wrote, and stops.
  func write(_ tally: MigrateTally, lastKey: String) throws {
    guard let connection else { return }
    let text = DatabaseValue.text(String(decoding: tally.json.bytes, as: UTF8.self))
    if batchCount == 0 {
      try connection.run(
        "INSERT INTO \(table) (run, batches, last_key, tally) "
          + "VALUES (\(mark(1)), \(mark(2)), \(mark(3)), \(mark(4)))",
        [.text(run), .integer(1), .text(lastKey), text])
      return
    }
    try connection.run(
      "UPDATE \(table) SET batches = batches + 1, last_key = \(mark(1)), tally = \(mark(2)) "
        + "WHERE run = \(mark(3)) AND batches = \(mark(4))",
      [.text(lastKey), text, .text(run), .integer(batchCount)])
    let rows = try connection.run(
      "SELECT last_key FROM \(table) WHERE run = \(mark(1))", [.text(run)])
    guard case .text(lastKey)? = rows.first?.first else {
      throw MigrateFault(
        "unavailable.migrate.running", "another process writes this run", exitCode: 3)
    }
  }

  /// Notes a batch that is committed.
  mutating func note(_ tally: MigrateTally, lastKey: String) {
    self.tally = tally
    self.lastKey = lastKey
    batchCount += 1
  }

  private func mark(_ place: Int) -> String {
    connection?.placeholders == "dollar" ? "$\(place)" : "?"
  }
}

extension DatabaseValue {
  /// The integer, which some clients return as text.
  var integer: Int64? {
    switch self {
    case .integer(let integer): integer
    case .text(let text): Int64(text)
    case .null: nil
    }
  }
}
