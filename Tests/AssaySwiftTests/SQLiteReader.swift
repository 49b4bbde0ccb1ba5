@testable import AssaySQLite

/// A connection of a test's own beside those of a ledger.
struct SQLiteReader {
  private let connection: SQLiteConnection

  init(_ path: String) throws { connection = try SQLiteConnection(path) }

  func rows(_ sql: String) throws -> [[SQLiteValue]] { try connection.run(sql) }
}
