import CSystem

/// A database of PostgreSQL, by the machine's libpq, which reads the password from PGPASSWORD or
/// from the file of passwords.
@safe
final class PostgresLedger: DatabaseConnection {
  let engine = "postgres"
  let placeholders = "dollar"

  private let functions: UnsafeMutablePointer<system_postgres>
  private let url: String
  private var handle: UnsafeMutableRawPointer?

  private static let settings = [
    "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "SET lock_timeout = 10000",
  ]

  init(_ url: String) throws {
    let functions = UnsafeMutablePointer<system_postgres>.allocate(capacity: 1)
    unsafe functions.initialize(to: system_postgres())
    unsafe self.functions = unsafe functions
    self.url = url
    guard unsafe system_postgres_load(functions) == 1 else {
      throw MigrateFault(
        "unsupported.migrate.store", "libpq.so.5 is not on this machine: install libpq5",
        exitCode: 2)
    }
    do throws(DatabaseFault) {
      try connect()
      let rows = try run(
        "SELECT pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on'", [])
      guard case .text("f")? = rows.first?.first else {
        throw DatabaseFault(code: "standby", message: "it cannot be written", remedy: .ends)
      }
    } catch { throw error.problem }
  }

  deinit {
    unsafe system_postgres_finish(functions, handle)
    unsafe functions.deallocate()
  }

  private func connect() throws(DatabaseFault) {
    unsafe system_postgres_finish(functions, handle)
    unsafe handle = unsafe system_postgres_connect(functions, url)
    guard unsafe system_postgres_is_open(functions, handle) != 0 else {
      let reason = unsafe String(cString: system_postgres_message(functions, handle))
      let line = reason.split(separator: "\n").first.map { String($0) }
      throw DatabaseFault(
        code: "connect", message: line ?? "no connection was made", remedy: .repeats)
    }
    for setting in PostgresLedger.settings { try run(setting, []) }
  }

  func begin() throws(DatabaseFault) {
    if unsafe system_postgres_is_open(functions, handle) == 0 { try connect() }
    try run("BEGIN ISOLATION LEVEL READ COMMITTED", [])
  }

  func commit() throws(DatabaseFault) { try run("COMMIT", []) }

  func rollBack() { _ = try? run("ROLLBACK", []) }

  @discardableResult
  func run(
    _ sql: String, _ arguments: [DatabaseValue]
  ) throws(DatabaseFault) -> [[DatabaseValue]] {
    let texts = arguments.map { value -> String? in
      switch value {
      case .text(let text): text
      case .integer(let integer): "\(integer)"
      case .null: nil
      }
    }
    let result = unsafe CTexts(texts).with { values in
      unsafe system_postgres_run(functions, handle, sql, Int32(texts.count), values)
    }
    defer { unsafe system_postgres_clear(functions, result) }
    guard unsafe system_postgres_ran(functions, result) != 0 else {
      throw fault(
        unsafe field(result, SYSTEM_POSTGRES_STATE), unsafe field(result, SYSTEM_POSTGRES_REASON))
    }
    let columns = unsafe system_postgres_columns(functions, result)
    let count = unsafe system_postgres_rows(functions, result)
    return (0..<count).map { row in
      (0..<columns).map { column in
        let value = unsafe system_postgres_value(functions, result, row, column)
        return unsafe value.map { .text(unsafe String(cString: $0)) } ?? .null
      }
    }
  }

  /// The beginnings of the codes after which a batch is repeated: conflicts, time limits, lost
  /// sessions.
  private static let passing = ["40001", "40P01", "55P03", "57", "08", "53300", "25P03"]

  /// Returns what the server says about a statement that did not run.
  private func field(_ result: UnsafeMutableRawPointer?, _ field: Int) -> String? {
    unsafe system_postgres_field(functions, result, Int32(field)).map {
      unsafe String(cString: $0)
    }
  }

  private func fault(_ code: String?, _ message: String?) -> DatabaseFault {
    guard let code else {
      return DatabaseFault(code: "connect", message: "the connection is lost", remedy: .repeats)
    }
    let isPassing = PostgresLedger.passing.contains { code.hasPrefix($0) }
    return DatabaseFault(code: code, message: message ?? "", remedy: isPassing ? .repeats : .ends)
  }
}
