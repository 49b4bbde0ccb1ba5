import CSystem

/// A file of SQLite, by the machine's libsqlite3.
@safe
final class SQLiteLedger: DatabaseConnection {
  let engine = "sqlite"
  let placeholders = "qmark"

  /// The functions of libsqlite3, which stay loaded as long as the program runs.
  private let functions: UnsafeMutablePointer<system_sqlite>
  private var handle: UnsafeMutableRawPointer?
  /// The prepared statements, by their text: a migration has a few, and runs each often.
  private var statements: [String: UnsafeMutableRawPointer] = unsafe [:]

  /// As the executors of the bindings have them (docs/spec/ledger-statements.md §2).
  private static let settings = [
    "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = OFF",
  ]
  private static let busyMs: Int32 = 10_000

  /// Opens a file, and creates none.
  init(_ path: String) throws {
    let functions = UnsafeMutablePointer<system_sqlite>.allocate(capacity: 1)
    unsafe functions.initialize(to: system_sqlite())
    unsafe self.functions = unsafe functions
    guard unsafe system_sqlite_load(functions) == 1 else {
      throw MigrateFault(
        "unsupported.migrate.store",
        "libsqlite3.so.0 is not on this machine: install libsqlite3-0", exitCode: 2)
    }
    var opened: UnsafeMutableRawPointer?
    let code = unsafe system_sqlite_open(functions, path, &opened)
    unsafe handle = opened
    guard code == 0 else {
      throw MigrateFault(
        "misuse.migrate.url", "\(Terminal.safe(path)): \(fault(code).message)", exitCode: 2)
    }
    guard unsafe system_sqlite_read_only(functions, opened) == 0 else {
      throw MigrateFault(
        "unavailable.migrate.store", "\(Terminal.safe(path)) cannot be written", exitCode: 3)
    }
    unsafe system_sqlite_busy(functions, opened, SQLiteLedger.busyMs)
    do throws(DatabaseFault) {
      for setting in SQLiteLedger.settings { try run(setting, []) }
    } catch { throw error.problem }
  }

  deinit {
    unsafe statements.values.forEach { unsafe system_sqlite_finalize(functions, $0) }
    unsafe system_sqlite_close(functions, handle)
    unsafe functions.deallocate()
  }

  func begin() throws(DatabaseFault) { try run("BEGIN IMMEDIATE", []) }

  func commit() throws(DatabaseFault) { try run("COMMIT", []) }

  func rollBack() {
    if unsafe system_sqlite_is_open(functions, handle) != 0 { _ = try? run("ROLLBACK", []) }
  }

  @discardableResult
  func run(
    _ sql: String, _ arguments: [DatabaseValue]
  ) throws(DatabaseFault) -> [[DatabaseValue]] {
    let statement = unsafe try prepared(sql)
    defer { unsafe system_sqlite_reset(functions, statement) }
    guard unsafe Int(system_sqlite_parameters(functions, statement)) == arguments.count else {
      throw fault(21)
    }
    for (place, value) in arguments.enumerated() {
      let code = unsafe bind(value, Int32(place + 1), statement)
      if code != 0 { throw fault(code) }
    }
    var rows: [[DatabaseValue]] = []
    while true {
      switch unsafe system_sqlite_step(functions, statement) {
      case Int32(SYSTEM_SQLITE_DONE): return rows
      case Int32(SYSTEM_SQLITE_ROW):
        let count = unsafe system_sqlite_columns(functions, statement)
        rows.append((0..<count).map { unsafe column($0, statement) })
      case let code: throw fault(code)
      }
    }
  }

  private func prepared(_ sql: String) throws(DatabaseFault) -> UnsafeMutableRawPointer {
    if let known = unsafe statements[sql] { return unsafe known }
    var statement: UnsafeMutableRawPointer?
    let code = unsafe system_sqlite_prepare(functions, handle, sql, &statement)
    guard code == 0, let made = unsafe statement else { throw fault(code) }
    unsafe statements[sql] = unsafe made
    return unsafe made
  }

  private func bind(
    _ value: DatabaseValue, _ place: Int32, _ statement: UnsafeMutableRawPointer
  ) -> Int32 {
    switch value {
    case .integer(let integer):
      return unsafe system_sqlite_bind_integer(functions, statement, place, integer)
    case .null: return unsafe system_sqlite_bind_null(functions, statement, place)
    case .text(let text):
      return unsafe system_sqlite_bind_text(
        functions, statement, place, text, Int32(clamping: text.utf8.count))
    }
  }

  private func column(_ place: Int32, _ statement: UnsafeMutableRawPointer) -> DatabaseValue {
    switch unsafe system_sqlite_type(functions, statement, place) {
    case Int32(SYSTEM_SQLITE_INTEGER):
      return .integer(unsafe system_sqlite_integer(functions, statement, place))
    case Int32(SYSTEM_SQLITE_NULL): return .null
    default:
      var count: Int32 = 0
      guard let text = unsafe system_sqlite_text(functions, statement, place, &count) else {
        return .null
      }
      let bytes = unsafe UnsafeBufferPointer(start: text, count: Int(count))
      return .text(unsafe String(decoding: bytes, as: UTF8.self))
    }
  }

  /// The codes of a busy file: SQLITE_BUSY, SQLITE_LOCKED.
  private static let busy: Set<Int32> = [5, 6]

  private func fault(_ code: Int32) -> DatabaseFault {
    let primary = code & 0xff
    let text = unsafe system_sqlite_error(functions, primary).map { unsafe String(cString: $0) }
    return DatabaseFault(
      code: "\(primary)", message: text ?? "",
      remedy: SQLiteLedger.busy.contains(primary) ? .repeats : .ends)
  }
}
