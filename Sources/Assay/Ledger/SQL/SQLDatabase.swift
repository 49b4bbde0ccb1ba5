/// The ledger on SQLite, PostgreSQL and MariaDB (docs/spec/ledger-statements.md §2).
final class SQLDatabase: GuardDatabase, DurableDatabase {
  typealias Arguments = DatabaseCall.Arguments

  let session: LedgerSession
  /// The place of the next step in the transaction of a grant; `nil` if none is open.
  var transaction: DatabaseStep.Transaction? = nil

  init(_ session: LedgerSession) { self.session = session }

  var context: LedgerContext { session.context }

  /// Whether the engine is MariaDB, whose version 10.6 has no UPDATE … RETURNING.
  var isMariaDB: Bool { context.engine == .mariadb }

  /// Executes statements in one step.
  func run(
    _ transaction: DatabaseStep.Transaction? = nil, isOnce: Bool = false,
    needsOneConnection: Bool = false, _ calls: () -> [(SQLStatement, Arguments)]
  ) throws(LedgerSuspension) -> [DatabaseResult] {
    try session.run {
      DatabaseStep(
        calls: calls().map { .sql($0.0, $0.1) }, isOnce: isOnce,
        needsOneConnection: needsOneConnection, transaction: transaction)
    }
  }

  /// Changes a number by one statement, and returns it as stored afterwards; `nil` if nothing was
  /// changed.
  ///
  /// - Parameter mariaDB: The statements for MariaDB. The last one reads, on the same connection,
  ///   what the one before has changed.
  func number(
    _ statement: SQLStatement, mariaDB: [SQLStatement], _ arguments: Arguments
  ) throws(LedgerSuspension) -> Int64? {
    guard isMariaDB else {
      let results = try run(isOnce: true) { [(statement, arguments)] }
      guard var row = try results.rowIfAny(0) else { return nil }
      let number = try row.integer()
      try row.end()
      return number
    }
    let place = mariaDB.count &- 1
    let results = try run(isOnce: true, needsOneConnection: true) {
      mariaDB.map { ($0, arguments) }
    }
    guard var row = try results.rowIfAny(place) else {
      throw .shape("results[" + String(place) + "].rows")
    }
    let changed = try row.integer()
    guard changed == 0 || changed == 1 else { throw .shape("column 0") }
    let number = try row.integer()
    try row.end()
    return changed == 1 ? number : nil
  }
}
