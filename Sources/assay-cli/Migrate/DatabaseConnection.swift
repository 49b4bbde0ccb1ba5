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
