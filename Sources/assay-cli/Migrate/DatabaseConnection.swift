/// A value of a statement or of a row.
enum DatabaseValue {
  case text(String)
  case integer(Int64)
  case null
}

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

/// One connection to a database, used by one thread. Statements are those of the library, and the
/// three of `MigrateJournal`.
protocol DatabaseConnection: AnyObject {
  /// The name of the engine and the way in which it writes parameters, as the configuration has
  /// them.
  var engine: String { get }
  var placeholders: String { get }

  /// Begins a transaction, READ COMMITTED where the engine has levels.
  func begin() throws(DatabaseFault)
  func commit() throws(DatabaseFault)
  /// Undoes what is not committed. The next `begin` connects again if the connection is lost.
  func rollBack()
  /// Runs one statement and returns its rows.
  @discardableResult
  func run(
    _ sql: String, _ arguments: [DatabaseValue]
  ) throws(DatabaseFault) -> [[DatabaseValue]]
}

/// The database that `--ledger` names.
enum DatabaseURL {
  /// Connects.
  ///
  /// - Throws: `misuse.migrate.url`, `unsupported.migrate.store`.
  static func connection(_ url: String) throws -> any DatabaseConnection {
    let parts = url.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { throw refusal(url) }
    switch parts[0] {
    case "sqlite": return try SQLiteLedger(String(parts[1]))
    case "postgresql", "postgres":
      // libpq reads the rest of the URL.
      let authority = parts[1].dropFirst(2).prefix { $0 != "/" && $0 != "?" }
      let user = authority.split(separator: "@", omittingEmptySubsequences: false)
      guard parts[1].hasPrefix("//"), user.count < 2 || !user[0].contains(":"),
        !parts[1].contains("password=")
      else { throw refusal(url) }
      return try PostgresLedger(url)
    case "mysql", "mariadb":
      guard let place = DatabasePlace(url) else { throw refusal(url) }
      return try MariaDBLedger(place)
    default: throw refusal(url)
    }
  }

  private static func refusal(_ url: String) -> MigrateFault {
    let scheme = url.prefix { $0 != ":" }.prefix(32)
    return MigrateFault(
      "misuse.migrate.url",
      "--ledger \(Terminal.safe(String(scheme)))…: give sqlite:PATH, "
        + "postgresql://user@host/database or mysql://user@host/database; the password belongs "
        + "into PGPASSWORD or MYSQL_PWD", exitCode: 2)
  }
}
