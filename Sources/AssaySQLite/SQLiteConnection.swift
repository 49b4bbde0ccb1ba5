import CSQLite

/// A value of a row, or of a statement's argument.
public enum SQLiteValue: Hashable, Sendable {
  case text(String)
  case integer(Int64)
  case null
}

extension SQLiteValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByNilLiteral
{
  public init(stringLiteral text: String) { self = .text(text) }
  public init(integerLiteral integer: Int64) { self = .integer(integer) }
  public init(nilLiteral: ()) { self = .null }
}

/// An error of SQLite or of its executor.
public struct SQLiteError: Error, Hashable, Sendable, CustomStringConvertible {
  /// SQLite's own code as text, such as "5"; "standby" and "transaction" are the executor's.
  public let code: String
  /// SQLite's text for the code, which contains no value of a statement.
  public let message: String

  public var description: String { code + ": " + message }

  static let transaction = SQLiteError(code: "transaction", message: "no transaction is open")
}

/// The limits of a statement's time and of its wait for a lock, in milliseconds (STO-76).
struct SQLiteLimits: Hashable {
  var statement: Int64 = 5000
  var lock: Int64 = 2000
}

/// One connection to a file. SQLite serializes its use, and one exchange has it at a time.
@safe final class SQLiteConnection: @unchecked Sendable {
  private let handle: OpaquePointer?
  private var lock: Int64 = -1
  private var deadline: ContinuousClock.Instant?
  /// Whether a statement of the host tried to end the transaction (STO-38).
  private(set) var wantedEnd = false

  private static let settings = [
    "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA secure_delete = FAST",
    "PRAGMA foreign_keys = OFF",
  ]
  /// After how many steps of its virtual machine SQLite checks a statement's time limit.
  private static let asks: Int32 = 10_000

  /// Opens a file.
  ///
  /// - Parameter creates: whether to create a missing file (STO-78).
  init(_ path: String, creates: Bool = false) throws(SQLiteError) {
    var opened: OpaquePointer?
    let flags =
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX | (creates ? SQLITE_OPEN_CREATE : 0)
    let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
    unsafe handle = opened
    try check(code)
    limit(SQLiteLimits())
    guard unsafe sqlite3_db_readonly(opened, "main") == 0 else {
      throw SQLiteError(code: "standby", message: "the file cannot be written")
    }
    unsafe sqlite3_progress_handler(
      opened, SQLiteConnection.asks,
      { context in
        guard let context = unsafe context else { return 0 }
        let connection = unsafe Unmanaged<SQLiteConnection>.fromOpaque(context)
        return unsafe connection.takeUnretainedValue().isOver ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
    for setting in SQLiteConnection.settings { try run(setting) }
  }

  deinit { unsafe sqlite3_close_v2(handle) }

  private var isOver: Bool { deadline.map { $0 < .now } ?? false }

  /// Whether a transaction is open.
  var isOpen: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  func limit(_ limits: SQLiteLimits) {
    guard lock != limits.lock else { return }
    lock = limits.lock
    unsafe sqlite3_busy_timeout(handle, Int32(clamping: limits.lock))
  }

  func begin(_ limits: SQLiteLimits) throws(SQLiteError) {
    limit(limits)
    wantedEnd = false
    try run("BEGIN IMMEDIATE")
  }

  /// Rolls back an open transaction. After some errors, such as a full disk, SQLite has done so.
  func rollBack() throws(SQLiteError) {
    if isOpen { try run("ROLLBACK") }
  }

  /// Runs a statement of the host in the transaction of a claim, and refuses one that would end it.
  func runOfHost(
    _ sql: String, _ arguments: [SQLiteValue], _ limits: SQLiteLimits
  ) throws(SQLiteError) -> [[SQLiteValue]] {
    unsafe sqlite3_set_authorizer(
      handle,
      { _, action, _, _, _, _ in action == SQLITE_TRANSACTION ? SQLITE_DENY : SQLITE_OK }, nil)
    defer { unsafe sqlite3_set_authorizer(handle, nil, nil) }
    do {
      return try run(sql, arguments, limits)
    } catch {
      if error.code == "\(SQLITE_AUTH)" { wantedEnd = true }
      throw error
    }
  }

  /// Runs one statement and returns its rows.
  @discardableResult
  func run(
    _ sql: String, _ arguments: [SQLiteValue] = [], _ limits: SQLiteLimits? = nil
  ) throws(SQLiteError) -> [[SQLiteValue]] {
    deadline = limits.map { .now + .milliseconds($0.statement) }
    defer { deadline = nil }
    var statement: OpaquePointer?
    let (code, rest) = unsafe sql.withCString { text in
      var end: UnsafePointer<CChar>?
      let code = unsafe sqlite3_prepare_v2(handle, text, -1, &statement, &end)
      return unsafe (code, end.map { unsafe String(cString: $0) } ?? "")
    }
    defer { unsafe sqlite3_finalize(statement) }
    try check(code)
    // SQLite would ignore a second statement.
    guard rest.allSatisfy(\.isWhitespace) else { throw error(SQLITE_MISUSE) }
    guard unsafe Int(sqlite3_bind_parameter_count(statement)) == arguments.count else {
      throw error(SQLITE_RANGE)
    }
    var place: Int32 = 0
    for value in arguments {
      place &+= 1
      try check(unsafe bind(value, place, statement))
    }
    var rows: [[SQLiteValue]] = []
    while true {
      let code = unsafe sqlite3_step(statement)
      if code == SQLITE_DONE { return rows }
      guard code == SQLITE_ROW else { throw error(code) }
      let count = unsafe sqlite3_column_count(statement)
      rows.append((0..<count).map { unsafe column($0, statement) })
    }
  }

  private func bind(_ value: SQLiteValue, _ place: Int32, _ statement: OpaquePointer?) -> Int32 {
    switch value {
    case .integer(let integer): return unsafe sqlite3_bind_int64(statement, place, integer)
    case .null: return unsafe sqlite3_bind_null(statement, place)
    case .text(let text):
      // SQLITE_TRANSIENT makes SQLite copy the text.
      let copies = unsafe unsafeBitCast(-1, to: sqlite3_destructor_type.self)
      let count = Int32(clamping: text.utf8.count)
      return unsafe sqlite3_bind_text(statement, place, text, count, copies)
    }
  }

  /// Returns text, an integer or null, whatever the type of the column is (STO-4).
  private func column(_ place: Int32, _ statement: OpaquePointer?) -> SQLiteValue {
    switch unsafe sqlite3_column_type(statement, place) {
    case SQLITE_INTEGER: return .integer(unsafe sqlite3_column_int64(statement, place))
    case SQLITE_NULL: return .null
    default:
      guard let text = unsafe sqlite3_column_text(statement, place) else { return .null }
      let count = unsafe Int(sqlite3_column_bytes(statement, place))
      let bytes = unsafe UnsafeBufferPointer(start: text, count: count)
      return .text(unsafe String(decoding: bytes, as: UTF8.self))
    }
  }

  private func check(_ code: Int32) throws(SQLiteError) {
    if code != SQLITE_OK { throw error(code) }
  }

  private func error(_ code: Int32) -> SQLiteError {
    let primary = code & 0xff
    let text = unsafe sqlite3_errstr(primary).map { unsafe String(cString: $0) }
    return SQLiteError(code: "\(primary)", message: text ?? "")
  }
}
